"""Fraboni et al., Theorem 1 relative to any point: quantities by hand, and false variants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import RATIONAL, Run
from fedtheory.engine.surrogate import Surrogate
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import prove
from fedtheory.sources.fraboni2022.statements.any_point import D_y, Xi_bar_y, Xi_y
from fedtheory.sources.fraboni2022.statements.notation import D_x, L, Xi, Xi_bar, theta0_distance
from verify.check import check
from verify.falsify import falsify

NAMES = ("progress", "spread", "alignment", "update", "mean")
STEPS = [find(f"fraboni2022:thm-1.any-point.{name}") for name in NAMES]
BOUND = find("fraboni2022:thm-1.any-point")


def run_of(optima: list[int], start: int, rounds: int, *, size: str = "1/2", in_turn: bool = False) -> Run:
    """Return clients with unit curvature in one dimension with one local step, all together or in turn."""
    linear = RATIONAL.array(optima)[:, None]
    problem = quadratic(linear[..., None] * 0 + 1, linear, RATIONAL.array([start]))
    clock = {"clock": Clock(Asynchronous("one-by-one"), (fmpq(1),) * len(optima))} if in_turn else {}
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=RATIONAL.number(size, "eta"), **clock))


def test_one_client_by_hand() -> None:
    """x^2/2 from 1 with two steps of 1/2: models 1, 1/2, 1/4, and y = 2/3 minimises y^2/2 + (1 - y)^2."""
    run = run_of([0], 1, 2)
    assert run.surrogate.comparator.tolist() == [fmpq(2, 3)]
    assert q.surrogate_comparator_distance.measure(run) == fmpq(1, 9)
    assert q.comparator_residual.measure(run) == fmpq(2, 9)
    assert q.mean_comparator_gap.measure(run) == fmpq(5, 16) - fmpq(2, 9)
    assert q.mean_comparator_progress.measure(run) == fmpq(1, 32)
    assert q.final_surrogate_comparator_distance_sq.measure(run) == fmpq(25, 144)


def test_clients_in_turn_have_a_residual_at_every_point() -> None:
    """With optima 1 and -1 in turn and weights 1, L^n(y) is 1/2 (y -+ 1)^2, and R_y is their average."""
    run = run_of([1, -1], 2, 4, size="1/8", in_turn=True)
    surrogate: Surrogate = run.surrogate
    (y,) = surrogate.comparator.tolist()
    (weight,) = {weight for row in surrogate.weights.tolist() for weight in row if weight}
    # The average weights are half of that, for (weight / 2) y^2 + (2 - y)^2 / (1/8 * 4).
    assert y == fmpq(4) / (2 + weight / 2)
    assert q.comparator_residual.measure(run) == weight * ((y - 1) ** 2 + (y + 1) ** 2) / 4
    for claim in (*STEPS, BOUND):
        assert check(claim, run).holds is not False


_FALSE: list[tuple[Claim, dict[str, Any]]] = [
    (STEPS[0], {"rhs": STEPS[0].rhs.subs(D_y, D_x)}),
    (STEPS[0], {"rhs": STEPS[0].rhs + D_y * sp.Rational(1, 8)}),
    (STEPS[1], {"rhs": STEPS[1].rhs.subs(Xi_y, Xi)}),
    (STEPS[1], {"rhs": STEPS[1].rhs.subs(L, L / 2)}),
    (STEPS[4], {"lhs": 2 * Xi_bar}),
]


@pytest.mark.long
@pytest.mark.parametrize(("claim", "change"), _FALSE, ids=range(len(_FALSE)))
def test_points_are_not_mixed_up(claim: Claim, change: dict[str, Any]) -> None:
    """The certificate does not prove false variants; a mixture of two points is refuted."""
    false = replace(claim, **change)
    assert prove(claim).verdict == "proved"
    assert prove(false).verdict != "proved"
    assert falsify(replace(false, verdict=None), 20, seed=2).verdict == "refuted"


def test_a_start_near_another_point_is_no_start() -> None:
    """The distance of the surrogate's optimum does not replace that of y in the certificate."""
    far = BOUND.rhs.subs(next(s for s in BOUND.rhs.free_symbols if str(s).startswith(r"\|")), theta0_distance)
    assert prove(replace(BOUND, chain=(Xi_bar_y, "<=", far))).verdict != "proved"
