"""Planted errors: true inequalities of the sources, weakened in ways in which bounds go wrong on paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.arithmetic import simplest_near
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.quantities.notion import Quantity
from fedtheory.language.registry import claims_of
from verify.check.settle import check_settled
from verify.instances import FAMILIES, Instance, families_for

MEASURES = (
    "local_step_size",
    "effective_step_size",
    "server_step_size",
    "noise_deviation",
    "gradient_dissimilarity",
    "smoothness",
)
COUNTS = ("local_steps", "clients", "rounds", "iterations")
"""Quantities whose exponent is easily off by one; counts are at least one, so that only fewer of them weaken."""


@dataclass(frozen=True)
class Mutant:
    """A weakened claim."""

    claim: Claim
    change: str
    known_false: bool
    """Whether an instance of the claim's families violates it by construction."""


def sound_inequalities() -> list[Claim]:
    """Claims that stand and are inequalities, not rates."""
    claims = [claim for claim in claims_of() if claim.verdict in ("supported", "proved") and claim.rate is None]
    return [claim for claim in claims if any(relation.operator != "==" for relation in claim.relations)]


def mutants(claim: Claim) -> Iterator[Mutant]:
    """All ways to weaken a claim, one relation at a time; not all of them are false."""
    for relation in claim.relations:
        if relation.operator != "==":
            yield from _without_terms(claim, relation)
            yield from _other_exponents(claim, relation)
            yield from _scaled(claim, relation)


def _without_terms(claim: Claim, relation: Relation) -> Iterator[Mutant]:
    terms = sp.Add.make_args(_larger(relation))
    for term in terms if len(terms) > 1 else ():
        if not term.could_extract_minus_sign():
            yield _mutant(claim, relation, _larger(relation) - term, f"without {term}")


def _other_exponents(claim: Claim, relation: Relation) -> Iterator[Mutant]:
    larger = _larger(relation)
    for term in sp.Add.make_args(larger):
        for symbol in sorted(term.free_symbols, key=str):
            notion = claim.notation.get(symbol)
            name = notion.name if isinstance(notion, Quantity) else ""
            changes = (symbol, 1 / symbol) if name in MEASURES else (1 / symbol,) if name in COUNTS else ()
            for change in changes:
                yield _mutant(claim, relation, larger - term + term * change, f"{term} times {change}")


def _scaled(claim: Claim, relation: Relation) -> Iterator[Mutant]:
    """The larger side times nine tenths and one half of the largest ratio in the claim's families."""
    largest = _largest_ratio(_with(claim, relation, _larger(relation)))
    for share in (sp.Rational(9, 10), sp.Rational(1, 2)):
        if largest is not None:
            factor = share * largest
            mutant = _mutant(claim, relation, _larger(relation) * factor, f"times {factor}")
            yield replace(mutant, known_false=True)


def _largest_ratio(claim: Claim) -> sp.Rational | None:
    """The largest ratio of a claim with one relation on its families; None where there is none, or not positive."""
    ratios = [0.0]
    for name in families_for(claim):
        for number in range(FAMILIES[name].size):
            run = Instance(name, number).run()
            found = check_settled(claim, run, run.as_floats() if FAMILIES[name].in_floats else None)
            ratios.append(found.ratio or 0.0)
    # Three digits, rounded down: nine tenths of it stay below the largest ratio.
    largest = simplest_near(max(ratios), 1e-3)
    return sp.Rational(int(largest.p), int(largest.q)) if max(ratios) > 0 else None


def _larger(relation: Relation) -> Expr:
    return relation.ordered[1]


def _mutant(claim: Claim, relation: Relation, larger: Expr, change: str) -> Mutant:
    return Mutant(_with(claim, relation, larger), change, known_false=False)


def _with(claim: Claim, relation: Relation, larger: Expr) -> Claim:
    """The claim with this relation only, and another larger side."""
    smaller, _ = relation.ordered
    operator: Operator = "<" if relation.operator in ("<", ">") else "<="
    return replace(
        claim,
        lhs=smaller,
        relation=operator,
        rhs=larger,
        chain=(),
        also=(),
        where={**claim.where, **claim.notation},
        verdict=None,
    )
