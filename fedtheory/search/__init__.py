"""Searches for proofs: finds certificates from the statement of a claim alone.

No verdict depends on the search: its result is a document, which the kernel checks like any other.

    finding     selection of a search for a claim, and its budget
    terms       statements about points and steps from named inequalities and squares
    candidates  the inequalities that hold in a context
    lengths     inequalities between norms
    lemmas      proved claims that a certificate about steps may use
    exact       coefficients as rational functions
    conic       selection of inequalities for a sum, by semidefinite programs
    faces       vectors on which Gram matrices vanish, and feasible coefficients at samples
    fits        products of powers with given values
    blocks      scalars as linear parts and Gram matrices, and sums of squares
    dimensions  units, with which coefficients must agree
    known       bounds on runs from proved claims and facts
    cases       bounds with a maximum, by the cases in which each argument is the largest
    constants   constant terms by monomials
    chains      bounds on runs in several steps, each a lemma of the document
    contractions the last iterate of strongly convex clients
    together    gradient descent and SGD, of one client or with one local step
    remainders  slacks of claims minus multiples of premises
    workspace   the lemmas of a document
    restated    known claims in other symbols, by their recorded certificates
    premises    proved statements, as linear forms in the quantities of a claim
    positivity  non-negative numbers, as sums of products
    polynomials sums of polynomials with positive weights
    samples     numbers at which conditions hold
    outcome     results of a search
    tightening  the smallest constants with which a bound is proved
    worst_functions functions for which a step fails, if named inequalities are all that is known

Uses `language`, `proofs`, `kernel`, `arithmetic`.
"""

from fedtheory.search.finding import EFFORT, find_proof
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.tightening import Tightened, TightenedTerm, tighten
from fedtheory.search.worst_functions import SampledGradient, WorstFunction, find_worst_functions

__all__ = [
    "EFFORT",
    "Found",
    "NotFound",
    "SampledGradient",
    "Tightened",
    "TightenedTerm",
    "WorstFunction",
    "find_proof",
    "find_worst_functions",
    "tighten",
]
