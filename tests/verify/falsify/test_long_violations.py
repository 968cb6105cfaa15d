"""Violations on long runs: enclosures decide those that are too long for rationals."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from misremembered import FALSE

from fedtheory import RATIONAL, Claim, InputError, parse_run
from fedtheory import quantities as q
from verify.falsify.regimes.confirmation import decide_table, estimate_exact_work
from verify.falsify.regimes.evaluation import Evaluation
from verify.falsify.regimes.factors import BASE, Point, normalise
from verify.falsify.regimes.problem_tables import build_problem, count_clients

eta, tau, smooth, rounds, drawn, distance, zeta = sp.symbols("eta tau L T m D zeta", positive=True)

LOST_STEPS = Claim(
    id="test:sampling-without-local-steps",
    lhs=q.average_suboptimality,
    rhs=distance**2 / (2 * eta * tau * rounds) + 18 * smooth * eta**2 * tau**2 * zeta**2 + eta * zeta**2 / drawn,
    where={
        eta: q.local_step_size,
        tau: q.local_steps,
        smooth: q.smoothness,
        rounds: q.rounds,
        drawn: q.participants,
        distance: q.initial_distance,
        zeta: q.gradient_dissimilarity,
    },
    conditions=[eta <= 1 / (8 * smooth * tau)],
)
"""The error of one sampled client of two is `eta tau zeta^2 / 2`; the last term has lost its `tau`."""


def _table(number: int) -> dict[str, Any]:
    """One of two clients in each round, with gradients x + 1 and x - 1, from the optimum."""
    return {
        "problem": {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]},
        "algorithm": {
            "local_step_size": "1/65536",
            "local_steps": 64,
            "rounds": number,
            "participation": {"kind": "uniform", "clients": 1},
        },
    }


def test_a_long_violation_is_decided() -> None:
    """The rounds are too many for rationals, and enclosures show the violation."""
    found = decide_table(LOST_STEPS, _table(512))
    assert found is not None
    assert found[1].applicable
    assert found[1].holds is False
    assert found[1].bits == 53


def test_work_of_long_runs_is_known() -> None:
    """A run whose rationals are too long takes more work than a shorter one, so that shorter ones are preferred."""
    assert 0 < estimate_exact_work(_table(512)) < estimate_exact_work(_table(8192))


def test_rationals_of_long_runs_are_refused_where_they_are_asked_for() -> None:
    """A run file can be read in rationals, for enclosures; its rationals themselves are refused."""
    run = parse_run(_table(512), RATIONAL)
    with pytest.raises(InputError, match="expected at most 20000 rounds times local steps in rationals, got 32768"):
        _ = run.trajectory


_LONG: list[tuple[str, Point]] = [
    ("dissimilarity-in-one-power-of-steps", {"sources": "p", "local steps": 16, "step size": -10}),
    (
        "thousand-times-the-floor-over-square-of-clients",
        {"sources": "n", "clients": 13, "local steps": 0, "curvatures": "alike", "horizon": ("mu", 5)},
    ),
    (
        "start-of-descent-less-two-percent",
        {
            "sources": "s",
            "clients": 0,
            "local steps": 0,
            "loss": "Huber, linear part",
            "horizon": ("L", 6),
            "step size": -2,
        },
    ),
]


@pytest.mark.parametrize(("name", "levels"), _LONG, ids=[name for name, _ in _LONG])
def test_a_point_with_large_counts_violates_and_is_decided(name: str, levels: Point) -> None:
    """The search reaches 65,536 local steps of quadratics, 256 of other losses without randomness, 8,192 clients."""
    (claim,) = (one for one in FALSE if one.id == f"misremembered:{name}")
    seen = Evaluation(claim).score({**BASE, **levels})
    assert seen.holds is False
    assert seen.table is not None
    found = decide_table(claim, seen.table)
    assert found is not None
    assert found[1].holds is False


@pytest.mark.parametrize(
    ("levels", "counts"),
    [
        ({"loss": "Huber", "sources": "sp"}, [4096, 4096]),
        ({"loss": "Huber", "sources": "sp", "curvatures": "one flat", "unlike gradients": "one"}, [1, 4096, 4095]),
        ({"loss": "Huber", "sources": "sp", "clients": 1.6}, None),
        ({"loss": "Huber", "sources": "snp", "local steps": 0}, None),
        ({"curvatures": "alike", "sources": "sn"}, [8192]),
        ({"curvatures": "alternate", "clients": 9.97}, None),
        ({"weights": "one heavy"}, None),
    ],
    ids=str,
)
def test_many_equal_clients_are_written_as_types(levels: Point, counts: list[int] | None) -> None:
    """The run has as many clients as its entries count; few clients, and those with weights, are written out."""
    point = normalise({**BASE, "clients": 13, **levels})
    problem = build_problem(point)
    assert problem.get("count") == counts
    entries = len(problem["linear" if "linear" in problem else "terms"])
    assert (sum(counts) if counts else entries) == count_clients(point)
