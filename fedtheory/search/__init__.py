"""Searches for proofs: finds certificates from the statement of a claim alone.

No verdict depends on the search: its result is a document, which the kernel checks like any other.

    proof_search     selects the searches for a claim, and limits their work
    nearest     the nearest known bound, and what it needs
    proof_outcome     results of a search
    workspace   the lemmas of a document

Bounds on runs:

    known       sums of multiples of proved claims and facts
    premises    proved claims and facts as linear forms in the quantities of a claim
    remainders  slacks of claims minus multiples of premises
    restated    recorded certificates for claims in other symbols
    chains      bounds in several steps, each a lemma of the document
    contractions lemmas on the last iterate of strongly convex clients
    together    lemmas for gradient descent and SGD, of one client or with one local step
    lyapunov    Lyapunov functions of algorithms with a definition
    templates   Lyapunov functions with unknown coefficients
    cases       bounds with a maximum
    reductions  proofs of a stronger statement
    restatements bounds with exponentials or square roots
    conditions  conditions that follow from those of a claim
    positivity  non-negative numbers as sums of products
    differences numbers that are written alike, subtracted part by part
    polynomials polynomials as sums of others with positive weights
    samples     values of symbols at which conditions hold
    tightening  the smallest constants with which a bound is proved

Statements about points and steps:

    certificate_terms       statements as sums of named inequalities and squares
    candidates  the inequalities that hold in a context
    lengths     inequalities between norms
    lemmas      proved claims that a certificate may use
    blocks      scalars as linear parts and Gram matrices
    constants   constant terms by their monomials
    conic       selection of inequalities by semidefinite programs
    coefficients       coefficients as rational functions
    multiples   coefficients that are multiples of others
    weighted_squares products split off by Young's inequality
    faces       optimal faces of the feasible coefficients
    fits        expressions from their values at samples
    dimensions  physical dimensions of coefficients
    worst_functions functions that satisfy the inequalities and violate a statement

Uses `federation`, `language`, `proofs`, `kernel`, `arithmetic`.
"""

from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.proof_search import EFFORT, find_proof
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
