"""Random bounds with a maximum or minimum: where one argument is said to suffice, it never makes the slack larger."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import quantities as q
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.cases import list_extremes, require_sufficient

eta, L = sp.symbols("eta L", positive=True)
tau = sp.Symbol("tau", positive=True, integer=True)
sigma, D = sp.symbols("sigma D", nonnegative=True)
WHERE: dict[Any, Any] = {
    **{eta: q.local_step_size, L: q.smoothness, tau: q.local_steps},
    **{sigma: q.noise_deviation, D: q.initial_distance},
}
SYMBOLS = (eta, L, tau, sigma, D)
_FORMS, _POINTS = 150, 25


def _draw_number(draw: Random, depth: int = 0) -> Expr:
    """Return a number of any sign."""
    kind = (
        "symbol"
        if depth > 2
        else draw.choice(["symbol", "symbol", "rational", "sum", "difference", "product", "power"])
    )
    if kind == "symbol":
        return draw.choice(SYMBOLS)
    if kind == "rational":
        return sp.Rational(draw.choice([1, 2, -1, -3]), draw.choice([1, 2]))
    if kind == "power":
        return draw.choice(SYMBOLS) ** draw.choice([2, -1, sp.S.Half])
    first, other = _draw_number(draw, depth + 1), _draw_number(draw, depth + 1)
    return {"sum": first + other, "difference": first - other, "product": first * other}[kind]


def _enclose(draw: Random, extreme: Expr, depth: int = 0) -> Expr:
    """Return a number that contains a maximum or minimum, often in a way that a bound must not allow."""
    if depth > 2 or draw.random() < 0.2:
        return extreme
    inner, number = _enclose(draw, extreme, depth + 1), _draw_number(draw, 1)
    forms = (
        inner * number,
        inner + number,
        inner - number * extreme,
        inner ** draw.choice([2, -1, sp.S.Half, tau, tau + 1, -2]),
        sp.Max(inner, number),
        sp.Min(inner, number),
        (1 - inner / 10) ** tau,
        number - inner,
    )
    return draw.choice(forms)


def _is_accepted(claim: Claim, extreme: Expr) -> bool:
    try:
        require_sufficient(claim, extreme)
    except (Rejected, FedtheoryError):
        return False
    return extreme in list_extremes(claim)


def _draw_point(draw: Random) -> dict[Expr, Expr]:
    point: dict[Expr, Expr] = {one: sp.Rational(draw.randint(1, 30), draw.randint(1, 12)) for one in SYMBOLS}
    zeros = {one: sp.S.Zero for one in (sigma, D) if draw.random() < 0.15}
    return point | zeros | {tau: sp.Integer(draw.randint(1, 4))}


def _evaluate(number: Expr, point: dict[Expr, Expr]) -> Expr | None:
    """Return a value; None if it is not a finite real number."""
    try:
        value = sp.sympify(number).xreplace(point)
    except ValueError:
        # A maximum of numbers that are not real.
        return None
    return value if value.is_finite and value.is_real else None


def _draw_claim(draw: Random) -> tuple[Claim, Expr] | None:
    """Return a bound and the extreme in its larger side; None if the extreme cancels or the side is no number."""
    extreme = draw.choice([sp.Max, sp.Min])(_draw_number(draw, 1), _draw_number(draw, 1))
    try:
        larger = _enclose(draw, extreme)
    except ValueError:
        # SymPy refuses a maximum with 1/0.
        return None
    conditions = [eta * L <= 1] if draw.random() < 0.5 else []
    if not isinstance(extreme, sp.Max | sp.Min) or not larger.has(extreme):
        return None
    return Claim(id="t:random", lhs=q.final_distance_sq, rhs=larger, where=WHERE, conditions=conditions), extreme


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
def test_an_accepted_argument_makes_no_slack_larger(seed: int) -> None:
    """The larger side with an argument in the place of the extreme is at most the side itself, at random points."""
    draw, accepted = Random(seed), 0
    for claim, extreme in filter(None, (_draw_claim(draw) for _ in range(_FORMS))):
        if not _is_accepted(claim, extreme):
            continue
        accepted += 1
        larger = claim.relations[0].right
        for point in (_draw_point(draw) for _ in range(_POINTS)):
            if claim.conditions and point[eta] * point[L] > 1:
                continue
            whole = _evaluate(larger, point)
            for argument in extreme.args:
                one = _evaluate(larger.xreplace({extreme: argument}), point)
                if whole is not None and one is not None:
                    assert not (whole - one).is_negative, (larger, extreme, argument, point)
    assert accepted > _FORMS // 20
