"""Searches for proofs: certificates from the statement of a claim alone.

Nothing rests on it: what a search returns is a document, which the kernel examines like any other.

    finding     the family for a claim, and its budget
    terms       statements about points and steps from named inequalities and squares
    candidates  the inequalities that a context has
    lengths     those between lengths
    lemmas      proved claims that a certificate about steps may name
    exact       coefficients as rational functions
    conic       which inequalities a sum needs, by semidefinite programs
    faces       vectors on which Gram matrices vanish, and feasible coefficients at samples
    fits        products of powers with given values
    blocks      scalars as rows and Gram matrices, and sums of squares
    dimensions  units, which coefficients have to agree with
    known       bounds on runs from proved claims and facts
    chains      bounds on runs by one step after the other, as lemmas of the document
    contractions the last model of strongly convex clients
    together    gradient descent and SGD, of one client or with one local step
    remainders  what a claim's slack leaves without multiples of premises
    workspace   the lemmas of a document
    restated    known claims in other symbols, by their recorded certificates
    premises    what is proved, as linear forms in the quantities of a claim
    positivity  numbers that are not negative, as sums of products
    samples     numbers at which conditions hold
    outcome     what a search returns
    tightening  the smallest numbers with which a bound is proved

Uses `language`, `proofs`, `kernel`, `arithmetic`.
"""

from fedtheory.search.finding import EFFORT, find_proof
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.tightening import Tightened, TightenedTerm, tighten

__all__ = ["EFFORT", "Found", "NotFound", "Tightened", "TightenedTerm", "find_proof", "tighten"]
