"""Tests of margins for losses with bounded derivatives, of runs that explode at first, and of changing step sizes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from plan_stand_ins import _answer, _outcome

from fedtheory.arithmetic import FLOAT
from fedtheory.cli.plan_document import encode_plan
from fedtheory.planner import plan
from fedtheory.planner.error_curves import ErrorCurve
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.margins import keep_margin
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import RoundsNeeded
from fedtheory.planner.sentences import describe_use
from fedtheory.planner.setting_in_words import describe_planned_run, describe_step_size
from fedtheory.runfile import parse_run


class _Search:
    """A search that reaches its target up to the step size `edge`, but not at the sizes in `missed`."""

    margin, planned_rounds = 0.5, 10

    def __init__(self, edge: float, missed: tuple[float, ...] = ()) -> None:
        self.edge, self.missed = edge, missed

    def outcome(self, step_size: float, _rounds: int) -> ErrorAtStepSize:
        reached = step_size <= self.edge and step_size not in self.missed
        return ErrorAtStepSize(step_size, math.ceil(8 / step_size), 0.1 if reached else 0.9, reached, False)

    confirm_outcome = outcome


def test_a_step_size_is_kept_if_a_larger_one_does_as_well() -> None:
    search = _Search(edge=4.0)
    best = search.outcome(2.0, 10)
    found = keep_margin(search, best)
    assert found.step_size == 2.0
    assert found.beyond == search.outcome(4.0, 10)
    search.margin = 0.0
    assert keep_margin(search, best) is best


def test_smaller_step_sizes_are_tried_at_the_edge() -> None:
    """Each step size is smaller by the margin; one that misses the target has no margin."""
    search = _Search(edge=4.0)
    found = keep_margin(search, search.outcome(4.0, 10))
    assert (found.step_size, found.beyond and found.beyond.step_size) == (2.0, 4.0)
    search = _Search(edge=4.0, missed=(2.0,))
    found = keep_margin(search, search.outcome(4.0, 10))
    assert (found.step_size, found.beyond and found.beyond.step_size) == (0.5, 1.0)


def test_without_a_margin_anywhere_the_best_step_size_is_kept() -> None:
    search = _Search(edge=4.0, missed=tuple(4.0 / 2**n for n in range(1, 40)))
    found = keep_margin(search, search.outcome(4.0, 10))
    assert found.step_size == 4.0
    assert found.beyond is not None
    assert not found.beyond.reached


@pytest.mark.parametrize(("beyond", "chosen"), [(0.19, 4.0), (0.21, 2.0)])
def test_without_a_target_errors_may_double(beyond: float, chosen: float) -> None:
    errors = {8.0: beyond, 4.0: 0.1, 2.0: 0.12, 1.0: 0.3}
    search: Any = SimpleNamespace(margin=0.5, planned_rounds=10)
    search.outcome = search.confirm_outcome = lambda size, _: ErrorAtStepSize(size, 10, errors[size], False, False)
    assert keep_margin(search, search.outcome(4.0, 10)).step_size == chosen


def test_sentences_about_margins() -> None:
    """The sentence names the larger step size and its result in place of a divergence that is far away."""
    reached = _outcome(reached=True, beyond=_outcome(reached=True))
    missed = _outcome(reached=True, beyond=_outcome())
    assert "step size 0.25 the error stays below 0.6 as well, a margin of 10% is kept;" in describe_use(
        _answer(accuracy=0.6, best=reached)
    )
    assert "does not stay below 0.6: no step size tried has a margin of 10%;" in describe_use(
        _answer(accuracy=0.6, best=missed)
    )
    free = describe_use(_answer(best=_outcome(beyond=_outcome(error=0.7))))
    assert "at step size 0.25, a margin of 10% above, it is 0.7;" in free
    assert "diverges" not in free


def _logistic(**algorithm: Any) -> Any:
    rows = np.random.default_rng(3).standard_normal((3, 12, 2)) * [1.0, 3.0]
    labels = (rows.sum(axis=2) + np.random.default_rng(4).standard_normal((3, 12)) > 0).astype(int)
    data = {"kind": "logistic", "inputs": rows.tolist(), "outputs": labels.tolist(), "start": [0, 0], "ridge": "1/50"}
    keys = {"local_step_size": 0.1, "local_steps": 3, "rounds": 30, **algorithm}
    return parse_run({"problem": data, "algorithm": keys}, FLOAT)


def test_plans_of_logistic_regression_keep_the_margin() -> None:
    """The recommended step size, and one larger by the margin, stay below the target in a run of their own."""
    run = _logistic()
    answer = plan(run, 0.002, claims=[]).answer
    assert answer is not None
    assert answer.best.reached
    assert answer.best.beyond is not None
    beyond = answer.best.beyond
    assert beyond.step_size == pytest.approx(answer.best.step_size / 0.9)
    assert beyond.reached
    for one in (answer.best, beyond):
        errors = ExactErrors(run).run_with(one.step_size).with_rounds(4 * one.rounds).trajectory.server_suboptimality
        assert (np.asarray(errors[one.rounds :], dtype=float) <= 0.002).all()


def test_errors_that_explode_at_first_are_not_recommended() -> None:
    """A schedule that diverges for its first rounds, and falls later, ranks behind everything that does not."""
    curves = {0.1: [4.0, 2.0, 1.0], 0.2: [4.0, 500.0, 0.5], 0.3: [4.0, 300.0, 0.5]}
    for size, explodes in ((0.1, False), (0.2, True), (0.3, False)):
        search: Any = SimpleNamespace(
            closed=None,
            accuracy=None,
            _has_equal_rounds=True,
            curve=lambda step, _: ErrorCurve(np.array(curves[step]), np.zeros(3)),
            _find_first_below=lambda _: None,
        )
        found = RoundsNeeded.outcome(search, size, 3)
        assert found.explodes is explodes
        assert RoundsNeeded._make_rank(search, found) == (True, 0, math.inf if explodes else found.error)


def _quadratic(size: Any) -> Any:
    problem = {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["0"]], "start": ["3"]}
    algorithm = {"local_step_size": size, "local_steps": 2, "rounds": 3}
    return parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)


def test_step_sizes_of_schedules_and_of_unlike_clients() -> None:
    """A recommended step size says how the planned schedule, or the clients' step sizes, are scaled."""
    schedule, unlike, plain = _quadratic("1/(4 + 2*n)"), _quadratic([0.1, 0.2]), _quadratic(0.1)
    assert describe_step_size(schedule, 0.5) == "step size 0.5 at first, 2 times the planned 1/(4 + 2*n)"
    assert describe_step_size(unlike, 0.5) == "step size 0.5 for the largest one, 2.5 times the planned ones"
    assert describe_step_size(plain, 0.5) == "step size 0.5"
    assert "step sizes 1/(4 + 2*n) in round n, from 0.25, 2 local steps" in describe_planned_run(schedule)[0]
    assert "step sizes 0.1 to 0.2, 2 local steps" in describe_planned_run(unlike)[0]
    assert "step size 0.1, 2 local steps" in describe_planned_run(plain)[0]


def test_schedules_that_end_are_not_followed_further() -> None:
    """A cosine is zero after its rounds: a target that is out of reach is answered within them."""
    cosine = "(1 + cos(pi*n/3))/8"
    assert [_quadratic(cosine).algorithm.work.has_sizes_until(rounds) for rounds in (3, 4)] == [True, False]
    assert _quadratic("1/(4 + n)").algorithm.work.has_sizes_until(100)
    assert _quadratic(0.1).algorithm.work.has_sizes_until(10**9)
    answer = plan(_quadratic(cosine), 1e-12, claims=[]).answer
    assert answer is not None
    assert not answer.best.reached
    assert answer.best.rounds == 3


def test_the_margin_in_json() -> None:
    """The JSON names the larger step size and its result; for quadratics the edge of divergence decides."""
    found = encode_plan(plan(_logistic(), 0.002, claims=[]))["use"]
    assert found["beyond"]["step_size"] == pytest.approx(found["step_size"] / 0.9)
    assert found["beyond"]["reached"] is True
    assert encode_plan(plan(_quadratic(0.1), claims=[]))["use"]["beyond"] is None
