"""Statement of a claim on one noiseless round, for given values of its constants."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from verify.worst_case.vocabulary import COUNTS, CURVATURES, MEASURED, MODELLED, OF_ONE_CLIENT, SCALES

Values = Mapping[RunQuantity, Expr]

LARGEST_STEP = sp.S.One
"""The local step size if no condition limits it: 1/L."""


@dataclass(frozen=True)
class BoundInNumbers:
    """``sum of measured terms <= bound`` with numerical constants."""

    constants: Values
    terms: Mapping[RunQuantity, float]
    """Coefficients of the measured quantities; terms of the right side are moved to the left."""
    bound: float
    convex: bool

    @property
    def step_size(self) -> float:
        """eta."""
        return float(self.constants[q.local_step_size])

    @property
    def curvature(self) -> float:
        """Return the strong convexity of the objectives, or 0."""
        return float(self.constants.get(q.strong_convexity, 0))

    @property
    def scales(self) -> list[RunQuantity]:
        """Return the constants of value 1 that bound objectives or start, those for all points last."""
        found = [quantity for quantity in SCALES if self.constants.get(quantity, 0) == 1]
        return sorted(found, key=lambda quantity: SCALES[quantity].for_all_points)

    @property
    def modelled(self) -> tuple[object, ...]:
        """Return all inputs of the worst case besides the numbers of clients and local steps."""
        terms = [(quantity.name, factor) for quantity, factor in self.terms.items()]
        scales = [quantity.name for quantity in self.scales]
        at_optimum = self.vanishes("start at the optimum")
        return self.convex, self.curvature, self.step_size, terms, scales, at_optimum

    def vanishes(self, meaning: str) -> bool:
        """Return whether the constant with this meaning is zero."""
        return any(SCALES[n].vanishing == meaning and self.constants[n] == 0 for n in SCALES if n in self.constants)


def is_convex(claim: Claim) -> bool:
    """Return whether the clients' objectives are convex: always, unless the claim assumes smoothness alone."""
    return a.smooth not in claim.assumptions


def is_strongly_convex(claim: Claim) -> bool:
    """Return whether the claim assumes strongly convex clients, or names their constant."""
    return a.strongly_convex_clients in claim.assumptions or q.strong_convexity in claim.notation.values()


def list_scales(claim: Claim) -> list[RunQuantity]:
    """Return the constants that set the scale of a claim, or those of the start if the claim has none."""
    found = [quantity for quantity in SCALES if quantity in claim.notation.values()]
    return found or [q.initial_distance if is_convex(claim) else q.initial_gap]


def iterate_statements(claim: Claim, clients: int, local_steps: int) -> Iterator[BoundInNumbers]:
    """Yield the statements for each choice of scales; raises `NotApplicable` if the claim cannot be modelled."""
    left, right = _order_sides(claim)
    _require_modelled(claim, clients)
    counts = {quantity: sp.Integer(count(clients, local_steps)) for quantity, count in COUNTS.items()}
    for chosen in _list_choices(claim, clients):
        constants = {**counts, **chosen}
        constants[q.local_step_size] = _find_largest_step_size(claim, constants)
        terms, bound = _split_linear(claim, _substitute(left - right, claim, constants))
        yield BoundInNumbers(constants, terms, bound, is_convex(claim))


def _order_sides(claim: Claim) -> tuple[Expr, Expr]:
    """Return the smaller and the larger side of the claim's only inequality."""
    if claim.place != "run":
        raise NotApplicable("the statement is about single steps, rounds or points, not about a run as a whole")
    if len(claim.relations) != 1 or claim.relations[0].operator == "==" or claim.for_all:
        raise NotApplicable("the statement is not a single inequality")
    return claim.relations[0].ordered


def _require_modelled(claim: Claim, clients: int) -> None:
    for assumption in claim.assumptions:
        if assumption in OF_ONE_CLIENT:
            # One client has one type; several types would need another class of functions.
            if clients > 1:
                raise NotApplicable(f"the assumption {assumption.name!r} is modelled with --clients 1 alone")
        elif assumption not in MODELLED:
            raise NotApplicable(f"the assumption {assumption.name!r} goes beyond one synchronous, noiseless round")
    known = {*MEASURED, *SCALES, *COUNTS, *CURVATURES, q.local_step_size}
    unknown = [quantity.name for quantity in claim.notation.values() if quantity not in known]
    if unknown:
        raise NotApplicable(f"{unknown[0]} is not linear in the inner products and function values of one round")
    if not any(quantity in MEASURED for quantity in claim.notation.values()):
        raise NotApplicable("the statement has no quantity of a run")


def _list_choices(claim: Claim, clients: int) -> Iterator[Values]:
    """Yield values of the scales: 1, or 0 where they may vanish, but not all 0 if this can be avoided."""
    scales = list_scales(claim)
    alike = clients == 1
    options = [
        _list_options(quantity, alike) if len(scales) > 1 else _list_options(quantity, alike)[:1] for quantity in scales
    ]
    for chosen in itertools.product(*options):
        if any(chosen) or len(chosen) == 1:
            of_scales = {quantity: sp.Integer(value) for quantity, value in zip(scales, chosen, strict=True)}
            yield from (of_scales | of_curvature for of_curvature in _list_curvatures(claim))


def _list_curvatures(claim: Claim) -> list[dict[RunQuantity, Expr]]:
    if not is_strongly_convex(claim):
        return [{}]
    return [{quantity: value} for quantity, values in CURVATURES.items() for value in values]


def _list_options(quantity: RunQuantity, alike: bool) -> tuple[int, ...]:
    vanishing = SCALES[quantity].vanishing
    if vanishing == "clients alike" and alike:
        return (0,)
    return (1,) if vanishing is None else (1, 0)


def _substitute(expression: Expr, claim: Claim, constants: Values) -> Expr:
    known = {s: constants[n] for s, n in claim.notation.items() if isinstance(n, RunQuantity) and n in constants}
    return sp.sympify(expression).subs(known)


def _find_largest_step_size(claim: Claim, constants: Values) -> Expr:
    """Return the largest step size that the conditions allow; raises `NotApplicable` if a condition fails there."""
    symbol = next((s for s, n in claim.notation.items() if n is q.local_step_size), sp.Dummy())
    conditions = [_substitute(condition, claim, constants) for condition in claim.conditions]
    edges = [edge for c in conditions if symbol in c.free_symbols for edge in sp.solve(c.lhs - c.rhs, symbol)]
    size = min((edge for edge in edges if edge.is_positive), default=LARGEST_STEP)
    for condition, asked in zip(conditions, claim.conditions, strict=True):
        if condition.subs(symbol, size) != sp.true:
            raise NotApplicable(f"the condition {claim.in_words(asked)} does not hold for these constants")
    return size


def _split_linear(claim: Claim, difference: Expr) -> tuple[dict[RunQuantity, float], float]:
    """Return the coefficients of the measured quantities, and the constant that bounds their sum."""
    measured = {symbol: n for symbol, n in claim.notation.items() if isinstance(n, RunQuantity) and n in MEASURED}
    if not difference.is_polynomial(*measured) or sp.Poly(difference, *measured).total_degree() > 1:
        raise NotApplicable("the statement is not linear in its quantities")
    polynomial = sp.Poly(difference, *measured)
    terms = {quantity: float(polynomial.coeff_monomial(symbol)) for symbol, quantity in measured.items()}
    if any(coefficient < 0 for quantity, coefficient in terms.items() if quantity is q.max_drift):
        raise NotApplicable("the statement bounds max_drift from below")
    constant = polynomial.coeff_monomial(1)
    if not constant.is_finite:
        raise NotApplicable("the bound is infinite for these constants")
    return terms, 0.0 - float(constant)
