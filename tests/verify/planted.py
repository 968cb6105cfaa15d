"""Planted errors: true inequalities of the sources, weakened in ways in which bounds go wrong on paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.arithmetic import round_to_simplest
from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions, quantities
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Operator, Relation
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.registry import claims_of
from verify.check.escalation import check_decided
from verify.instances import FAMILIES, Instance, families_for

MEASURES = (
    "local_step_size",
    "effective_step_size",
    "client_step_size",
    "server_step_size",
    "noise_deviation",
    "noise_at_optimum",
    "comparator_noise",
    "gradient_dissimilarity",
    "dissimilarity_at_optimum",
    "comparator_dissimilarity",
    "gradient_bound",
    "second_moment",
    "initial_distance",
    "initial_gap",
    "smoothness",
    "sample_smoothness",
    "strong_convexity",
)
COUNTS = ("local_steps", "clients", "participants", "rounds", "iterations", "largest_staleness")
"""Quantities whose exponent is easily off by one; counts are at least one, so that only fewer of them weaken."""
WIDER = sp.Rational(11, 10)
PARTS = (sp.Rational(1, 2), sp.Rational(1, 10))
"""Constants that a term loses."""
GENEROUS = sp.Integer(40)
"""A constant in which no wrong exponent should hide."""


SWAPS = {
    "a max for a mean": (
        ("average_round_drift", "max_drift"),
        ("gradient_dissimilarity", "mean_dissimilarity"),
        ("average_suboptimality", "final_suboptimality"),
    ),
    "rounds for iterations": (("rounds", "iterations"),),
    "a constant at the optimum": (
        ("noise_deviation", "noise_at_optimum"),
        ("gradient_dissimilarity", "dissimilarity_at_optimum"),
    ),
    "the smoothness of the mean": (("smoothness", "objective_smoothness"),),
}
"""Quantities that are taken for others; where the exchange weakens a claim, it stays true."""
SETTINGS = (
    assumptions.unit_server_step,
    assumptions.server_step_of_one,
    assumptions.same_local_work,
    assumptions.full_participation,
    assumptions.uniform_sampling,
    assumptions.averaged_participants,
    assumptions.uniform_shares,
    assumptions.importance_weights,
    assumptions.full_gradients,
    assumptions.several_clients,
    assumptions.same_step_size,
)
"""Assumptions that a quotation forgets."""
OF_THE_PREMISES = ("a wider condition", "a missing condition", "a missing assumption", "convexity left out")
"""Kinds of errors that leave the relations unchanged."""


@dataclass(frozen=True)
class Mutant:
    """A weakened claim."""

    claim: Claim
    kind: str
    change: str


def sound_inequalities() -> list[Claim]:
    """Return the inequalities that are not refuted, without the rates."""
    claims = [claim for claim in claims_of() if claim.verdict in ("supported", "proved") and claim.rate is None]
    return [claim for claim in claims if any(relation.operator != "==" for relation in claim.relations)]


def mutants(claim: Claim) -> Iterator[Mutant]:
    """Yield all ways to weaken a claim, one relation at a time; not all of them are false."""
    for relation in claim.relations:
        if relation.operator != "==":
            for kind, larger in (
                *_without_terms(relation),
                *_smaller_terms(relation),
                *_other_exponents(claim, relation),
                *_multiply(claim, relation),
                *_fresh(claim, relation),
                *_gaps(claim, relation),
                *_swap(claim, relation.ordered[1]),
            ):
                yield _mutant(claim, relation, larger, kind)
            for kind, smaller in _swap(claim, relation.ordered[0]):
                yield Mutant(_with(claim, replace_smaller(relation, smaller), relation.ordered[1]), kind, str(smaller))
    yield from _wider(claim)
    yield from _unconditional(claim)
    yield from _forgetful(claim)


def _without_terms(relation: Relation) -> Iterator[tuple[str, Expr]]:
    terms = sp.Add.make_args(_larger(relation))
    for term in terms if len(terms) > 1 else ():
        if not term.could_extract_minus_sign():
            yield "a lost term", _larger(relation) - term


def _smaller_terms(relation: Relation) -> Iterator[tuple[str, Expr]]:
    larger = _larger(relation)
    for term in sp.Add.make_args(larger):
        for part in PARTS:
            if not term.could_extract_minus_sign():
                yield "a smaller constant of a term", larger - (1 - part) * term


def _other_exponents(claim: Claim, relation: Relation) -> Iterator[tuple[str, Expr]]:
    larger = _larger(relation)
    for term in sp.Add.make_args(larger):
        for symbol, name in _name_it(claim, term):
            changes = (symbol, 1 / symbol) if name in MEASURES else (1 / symbol,) if name in COUNTS else ()
            for change in changes:
                kind = "a lost number of clients" if name == "clients" else "a wrong exponent"
                yield kind, larger - term + term * change
                yield f"{kind}, generous", larger - term + term * change * GENEROUS


def _multiply(claim: Claim, relation: Relation) -> Iterator[tuple[str, Expr]]:
    """Multiply by the number of clients if a term is divided by it; there is at least one, so the claim stays true."""
    larger = _larger(relation)
    for term in sp.Add.make_args(larger):
        for symbol, name in _name_it(claim, term):
            if name == "clients" and sp.denom(term).has(symbol) and not sp.numer(term).has(symbol):
                yield "clients as a factor", larger - term + term * symbol**2


def _fresh(claim: Claim, relation: Relation) -> Iterator[tuple[str, Expr]]:
    """Replace stale models by the current model."""
    larger = _larger(relation)
    for symbol, name in _name_it(claim, larger):
        if name == "largest_staleness":
            without = larger.subs(symbol, 0)
            if without.is_finite is not False and without != larger:
                yield "staleness left out", without


def _name_it(claim: Claim, side: Expr) -> list[tuple[sp.Symbol, str]]:
    """Return the symbols of a side that stand for quantities, with the names of the quantities."""
    found = [(symbol, claim.notation.get(symbol)) for symbol in sorted(side.free_symbols, key=str)]
    return [(symbol, quantity.name) for symbol, quantity in found if isinstance(quantity, RunQuantity)]


def _gaps(claim: Claim, relation: Relation) -> Iterator[tuple[str, Expr]]:
    """Replace the squared distance by the initial gap, which smoothness bounds by L/2 times the distance squared."""
    for symbol, name in _name_it(claim, _larger(relation)):
        if name == "initial_distance":
            gap = sp.sqrt(2 * _dummy_of(claim, "initial_gap") / _dummy_of(claim, "smoothness"))
            yield "the initial gap for the distance", _larger(relation).subs(symbol, gap)


def _dummy_of(claim: Claim, name: str) -> sp.Symbol:
    """Return the symbol of a claim for a quantity, or a new symbol."""
    return next(
        (symbol for symbol, quantity in claim.where.items() if quantity is _NAMED[name]), sp.Symbol(name, **_SIGN)
    )


_SIGN: dict[str, bool] = {"positive": True}
_NAMED = {
    name: getattr(quantities, name)
    for name in ("initial_gap", "smoothness", *(other for pairs in SWAPS.values() for _, other in pairs))
}
_NEW = {sp.Symbol(name, **_SIGN): quantity for name, quantity in _NAMED.items()}


def _swap(claim: Claim, side: Expr) -> Iterator[tuple[str, Expr]]:
    for kind, pairs in SWAPS.items():
        for symbol, name in _name_it(claim, side):
            for given, other in pairs:
                if name == given:
                    yield kind, side.subs(symbol, _dummy_of(claim, other))


def _wider(claim: Claim) -> Iterator[Mutant]:
    """Yield the claim with each condition widened by a tenth."""
    for place, condition in enumerate(claim.conditions):
        if condition.rel_op in ("<=", "<", ">=", ">"):
            wider = condition.func(
                condition.lhs, condition.rhs * WIDER ** (1 if condition.rel_op in ("<=", "<") else -1)
            )
            conditions = [wider if n == place else other for n, other in enumerate(claim.conditions)]
            weakened = replace(claim, conditions=conditions, verdict=None)
            yield Mutant(weakened, "a wider condition", str(wider))


def _unconditional(claim: Claim) -> Iterator[Mutant]:
    """Yield the claim without each of its conditions."""
    for place, condition in enumerate(claim.conditions):
        conditions = [other for n, other in enumerate(claim.conditions) if n != place]
        yield Mutant(replace(claim, conditions=conditions, verdict=None), "a missing condition", str(condition))


def _forgetful(claim: Claim) -> Iterator[Mutant]:
    """Yield the claim without each assumption about the setting, or without convexity."""
    for assumption in claim.assumptions:
        if assumption in SETTINGS:
            yield _assuming(claim, assumption, ())
        if assumption is assumptions.convex_and_smooth:
            yield _assuming(claim, assumption, (assumptions.smooth,))


def _assuming(claim: Claim, forgotten: Assumption, instead: tuple[Assumption, ...]) -> Mutant:
    left = [other for other in claim.assumptions if other is not forgotten]
    kind = "convexity left out" if instead else "a missing assumption"
    return Mutant(replace(claim, assumptions=[*left, *instead], verdict=None), kind, forgotten.name)


def replace_smaller(relation: Relation, smaller: Expr) -> Relation:
    """Return the relation with another smaller side."""
    left, right = relation.in_order(smaller, relation.ordered[1])
    return replace(relation, left=left, right=right)


def smaller_constants(claim: Claim) -> Iterator[Mutant]:
    """Yield false claims: the larger side times nine tenths, or one half, of the largest ratio in the claim's
    families.
    """
    for relation in claim.relations:
        if relation.operator != "==":
            largest = _largest_ratio(_with(claim, relation, _larger(relation)))
            for share in (sp.Rational(9, 10), sp.Rational(1, 2)):
                if largest is not None:
                    yield _mutant(claim, relation, _larger(relation) * share * largest, "a smaller constant")


def _largest_ratio(claim: Claim) -> sp.Rational | None:
    """Return the largest ratio of a claim with one relation on its families, or None if it is not positive or
    missing.
    """
    ratios = [0.0]
    for name in families_for(claim):
        for number in range(FAMILIES[name].size):
            run = Instance(name, number).run()
            found = check_decided(claim, run, run.as_floats() if FAMILIES[name].in_floats else None)
            ratios.append(found.ratio or 0.0)
    # Three digits, rounded down: nine tenths of it stay below the largest ratio.
    largest = round_to_simplest(max(ratios), 1e-3)
    return sp.Rational(int(largest.p), int(largest.q)) if max(ratios) > 0 else None


def _larger(relation: Relation) -> Expr:
    return relation.ordered[1]


def _mutant(claim: Claim, relation: Relation, larger: Expr, kind: str) -> Mutant:
    return Mutant(_with(claim, relation, larger), kind, str(larger))


def _with(claim: Claim, relation: Relation, larger: Expr) -> Claim:
    """Return the claim with this relation only, and another larger side."""
    smaller, _ = relation.ordered
    operator: Operator = "<" if relation.operator in ("<", ">") else "<="
    symbols = {symbol: quantity for symbol, quantity in _NEW.items() if (smaller - larger).has(symbol)}
    where = {**symbols, **claim.where, **claim.notation}
    return replace(claim, lhs=smaller, relation=operator, rhs=larger, chain=(), also=(), where=where, verdict=None)
