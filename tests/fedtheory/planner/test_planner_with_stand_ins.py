"""Parts of the planner with stand-ins for runs, bounds and workers, against values by hand."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation.oracles import MiniBatch
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.planner import model_comparators, planning, stability, target, worker
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.alternatives import Alternatives, _list_batch_sizes, _list_doubled, _list_halved
from fedtheory.planner.comparators import CURVED_DISSIMILARITY, CURVED_NOISE, DISSIMILARITY, DISTANCE, GAP, NOISE
from fedtheory.planner.model_comparators import ModelComparators

eta, L = sp.symbols("eta L", positive=True)
CLAIM = Claim(id="t:planned", lhs=q.average_suboptimality, rhs=eta * L, where={eta: q.local_step_size, L: q.smoothness})


@pytest.mark.parametrize(
    ("condition", "holds", "slack"),
    [
        (eta <= L, True, 0.0),
        (eta < L, False, 0.0),
        (2 * eta <= L, False, -3.0),
        (eta <= 2 * L, True, 3.0),
        (eta >= L, False, -2.0),
        (eta >= L / 2, True, 0.5),
        (2 * eta > L, True, 1.0),
    ],
)
def test_conditions_at_the_client_that_is_closest_to_failing(
    condition: sp.Basic, *, holds: bool, slack: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strict conditions fail on equality; conditions that belong to the bound itself are skipped."""
    values = {eta: np.array([3.0, 3.0]), L: np.array([5.0, 3.0])}

    def compiled(side: Any, _notation: Any) -> Any:
        return lambda _: np.asarray(sp.lambdify([eta, L], side, "numpy")(values[eta], values[L]), dtype=float)

    monkeypatch.setattr(planning, "compile_expression", compiled)
    monkeypatch.setattr(planning, "whole_run", lambda run: run)
    monkeypatch.setattr(planning, "restore_means", lambda _, one: one)
    claim: Any = SimpleNamespace(conditions=[condition], notation={})
    found = planning._list_slacks_of_clients(claim, SimpleNamespace(conditions=[]), None)  # type: ignore[arg-type]
    assert [(one.condition, one.holds, one.slack) for one in found] == [(condition, holds, slack)]
    known: Any = SimpleNamespace(conditions=[condition])
    assert planning._list_slacks_of_clients(claim, known, None) == []  # type: ignore[arg-type]


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return plans of a claim that fails on runs above a step size; each bound may be out of reach."""
    known: dict[str, Any] = {"below": math.inf, "setting": (), "refused": {}}

    def bound(_claim: Any, size: float) -> Any:
        if size in known["refused"]:
            raise known["refused"][size]
        return f"bound at {size:g}"

    monkeypatch.setattr(planning, "premises", lambda _: [])
    monkeypatch.setattr(
        planning, "list_failures_among", lambda _, size: known["setting"] if size > known["below"] else ()
    )
    monkeypatch.setattr(planning, "list_failures", lambda _, size: ["too large"] if size > known["below"] else [])
    monkeypatch.setattr(planning, "bound_of_run", bound)
    monkeypatch.setattr(planning, "require_bounded_error", lambda _: "error")
    monkeypatch.setattr(planning, "_plan", lambda _claim, _errors, bound, failures, _: (bound, failures))

    def made(**given: Any) -> Any:
        known.update({"below": math.inf, "setting": (), "refused": {}, **given})
        errors: Any = SimpleNamespace(planned=8.0, run=8.0, run_with=lambda size: size)
        return planning._plan_claim(errors, CLAIM, None)

    return made


def test_plans_of_a_claim_begin_at_the_planned_step_size(plans: Any) -> None:
    """Smaller step sizes are tried if the claim fails; failure at the smallest one excludes the claim."""
    assert plans() == ("bound at 8", [])
    assert plans(below=1.0) == ("bound at 1", ["too large"])
    assert plans(below=0.5) == ("bound at 0.125", ["too large"])
    never = plans(below=0.0)
    assert isinstance(never, ClaimPlan)
    assert (never.applicable, never.reason) == (False, "too large")
    without = plans(below=0.0, setting=("a", "b"))
    assert without.reason == "a; b"
    assert plans(below=1.0, setting=("a", "b"))[0] == "bound at 1"
    refused = plans(refused={8.0: NotApplicable("no value"), 1.0: Diverging("far")})
    assert refused.reason == "no value"
    later = plans(below=1.0, refused={1.0: Diverging("far"), 0.125: NotApplicable("no value"), 1 / 64: Diverging("x")})
    assert later.reason == "too large"


@pytest.mark.parametrize(
    ("synchronous", "cost"), [(True, (2.5, 6.0)), (False, (2.5, 2.0 * 7 / 4))], ids=["rounds", "reports"]
)
def test_costs_of_a_round(*, synchronous: bool, cost: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is the time per server update, and the vectors of participants or of reporting clients."""
    monkeypatch.setattr(target, "count_vectors_of_client", lambda _: 2)
    algorithm = SimpleNamespace(
        rounds=4,
        times=lambda _: [1.0, 10.0],
        clock=SimpleNamespace(is_synchronous=synchronous),
        aggregation=SimpleNamespace(participation=SimpleNamespace(participants=lambda clients: clients)),
        schedule=SimpleNamespace(participates=np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])),
    )
    run: Any = SimpleNamespace(algorithm=algorithm, problem=SimpleNamespace(weights=None, clients=3))
    found = target.compute_round_cost(run)
    assert tuple(vars(found).values()) == cost


class Moments:
    """A recursion of second moments with given growth factors, after few and after many rounds."""

    def __init__(self, radius: float, few: float, many: float) -> None:
        self.spectral_radius, self._growth = radius, {stability._FEW: few, stability._ITERATIONS: many}

    def growth(self, start: Any, rounds: int) -> float:
        """Return a factor."""
        assert (start == np.eye(3)).all()
        return self._growth[rounds]


@pytest.mark.parametrize(
    ("moments", "stable"),
    [
        (Moments(1.1, 0.5, 0.5), False),
        (Moments(1.0, 0.79, 2.0), True),
        (Moments(1.0, 1.21, 0.5), False),
        (Moments(1.0, 0.9, 1.0), True),
        (Moments(1.0, 1.1, 1.0), True),
        (Moments(1.0, 0.9, 1.01), False),
    ],
)
def test_growth_of_second_moments(moments: Moments, *, stable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A growing mean is unstable; a few rounds decide if the factor is far from one."""
    monkeypatch.setattr(stability, "has_one_map", lambda _: True)
    run: Any = SimpleNamespace(problem=SimpleNamespace(dimension=2))
    run.with_rounds = lambda rounds: SimpleNamespace(attempted_trajectory=SimpleNamespace(recursion=moments, n=rounds))
    assert stability._is_stable(run) is stable
    monkeypatch.setattr(stability, "has_one_map", lambda _: False)
    monkeypatch.setattr(stability, "_stays_bounded", lambda _: "settling")
    assert stability._is_stable(run) == "settling"  # type: ignore[comparison-overlap]

    def diverge(_: Any) -> bool:
        raise Diverging("far")

    monkeypatch.setattr(stability, "_stays_bounded", diverge)
    assert stability._is_stable(run) is False


@pytest.mark.parametrize(
    ("errors", "settles"),
    [
        ([1.0, 1e6], True),
        ([1.0, 1.1e6], False),
        ([1.0, math.nan, 1.0], False),
        ([1.0, math.inf, 1.0], False),
        ([0.0, 0.0], True),
        ([0.0, 1.0], False),
    ],
)
def test_errors_that_stay_bounded(errors: list[float], *, settles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors must be finite and at most a million times the first; without an error nothing is known to diverge."""
    monkeypatch.setattr(stability, "is_deterministic", lambda _: False)

    class Trajectory:
        """A trajectory with errors."""

        divergence = None

        @property
        def server_suboptimality(self) -> list[float]:
            """The errors."""
            if not errors:
                raise NotApplicable("none")
            return errors

    trajectory: Any = Trajectory()
    run: Any = SimpleNamespace(attempted_trajectory=trajectory)
    assert stability._stays_bounded(run) is settles
    trajectory.divergence = "far"
    assert stability._stays_bounded(run) is False
    trajectory.divergence, errors = None, []
    assert stability._stays_bounded(run) is True


def test_growth_of_errors_of_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The growth is computed over the rounds of the run, and at least two hundred if they are alike."""
    asked: list[int] = []
    path = [[1.0, 1e6]]
    monkeypatch.setattr(stability, "is_deterministic", lambda _: True)
    monkeypatch.setattr(stability, "compute_path_errors", lambda _, rounds: asked.append(rounds) or path[0])  # type: ignore[func-returns-value]
    for rounds, last, settles, alike in (
        (3, 1e6, True, True),
        (300, 2e6, False, True),
        (200, math.inf, False, True),
        (3, 1e6, True, False),
    ):
        path[0] = [1.0, last]
        run: Any = SimpleNamespace(algorithm=SimpleNamespace(rounds=rounds, rounds_are_alike=alike))
        assert stability._stays_bounded(run) is settles
    assert asked == [200, 300, 200, 3]


@pytest.mark.parametrize(
    ("jobs", "cores", "pays", "shared"),
    [
        (2, 4, True, True),
        (-1, 4, True, True),
        (1, 4, True, False),
        (2, 1, True, False),
        (2, None, True, False),
        (2, 4, False, False),
    ],
)
def test_workers_that_save_time(
    jobs: int, cores: int | None, *, pays: bool, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is started for a second core and a long run; its tasks are cancelled at the end, also after an error."""
    files: list[Path | None] = []
    stopped: list[bool] = []

    class Recorded:
        """A worker with its file."""

        def __init__(self, errors: Any, file: str | None = None) -> None:
            assert errors.run == {"a": 1}
            files.append(None if file is None else Path(file))
            assert file is None or pickle.loads(Path(file).read_bytes()) == {"a": 1}

        def stop(self) -> None:
            """Record the end."""
            stopped.append(True)

    monkeypatch.setattr(worker, "PlanWorker", Recorded)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(worker, "_is_worth_a_worker", lambda _: pays)
    errors: Any = SimpleNamespace(run={"a": 1})
    with pytest.raises(ZeroDivisionError), worker.start_worker(errors, jobs):
        raise ZeroDivisionError
    assert [file is not None for file in files] == [shared]
    assert stopped == [True] * shared
    assert all(file is None or not file.exists() for file in files)


def test_long_runs_of_small_problems_pay_for_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "count_operations", lambda run, rounds: rounds * run.each)

    def pays(rows: int | None, clients: int, dimension: int, work: float) -> bool:
        data = None if rows is None else SimpleNamespace(inputs=[np.zeros(1), np.zeros(rows - 1)])
        problem = SimpleNamespace(data=data, clients=clients, dimension=dimension)
        run: Any = SimpleNamespace(problem=problem, algorithm=SimpleNamespace(rounds=2), each=work / 2)
        return worker._is_worth_a_worker(run)

    large = worker._LARGE
    assert pays(None, 1, 1, worker._LONG)
    assert not pays(None, 1, 1, worker._LONG - 2)
    assert pays(large - 9, 2, 2, worker._LONG)
    assert not pays(large - 8, 2, 2, worker._LONG)


def test_comparators_start_from_the_nearest_known_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search starts from the comparator with the nearest logarithm of time; results are cached."""
    starts: list[Any] = []

    def comparator(_problem: Any, time: float, start: Any) -> Any:
        starts.append(start)
        squares = {"distance_sq": 4.0, "noise_sq": 9.0, "dissimilarity_sq": 16.0}
        return SimpleNamespace(
            point=f"at {time:g}",
            suboptimality=0.5,
            noise_sq_with=lambda _: 25.0,
            dissimilarity_sq_with=lambda _: 36.0,
            **squares,
        )

    monkeypatch.setattr(model_comparators, "find_comparator_model", comparator)
    problem: Any = SimpleNamespace(known_everywhere=SimpleNamespace(client_smoothness=None))
    comparators = ModelComparators(problem)
    names = (
        GAP,
        DISTANCE,
        NOISE,
        DISSIMILARITY,
    )
    found = comparators._measure(1.0)
    assert [found[name] for name in names] == [0.5, 2.0, 3.0, 4.0]
    assert found[CURVED_NOISE] == 5.0
    assert found[CURVED_DISSIMILARITY] == 6.0
    for time in (100.0, 8.0, 12.0):
        comparators._measure(time)
    assert starts == [None, "at 1", "at 1", "at 8"]


def test_settings_of_some_kinds() -> None:
    """All combinations are tried, fewer local steps first; a user-defined algorithm is not replaced."""
    asked: list[Any] = []

    def table(steps: int | None, defined: Any, *kinds: str) -> list[Any]:
        asked.clear()
        run = SimpleNamespace(
            algorithm=SimpleNamespace(defined=defined),
            problem=SimpleNamespace(oracle=None, data=SimpleNamespace(outputs=[[1] * 4, [1] * 9])),
        )

        def at(*setting: Any) -> Any:
            asked.append(setting)
            return None if setting[0] == 1 else setting

        given: Any = SimpleNamespace(steps=steps, run=run, find_setting=at)
        Alternatives.list_settings(given, kinds)
        return list(asked)

    assert table(3, None) == [(3, None, None)]
    assert [one[0] for one in table(3, None, "steps")] == [1, 3, *(3 * 2**power for power in range(1, 7))]
    assert [one[1] for one in table(3, None, "batch")] == [1, 4, None]
    assert table(3, None, "algorithm") == [(3, None, None), (3, None, "scaffold")]
    assert table(3, "mine", "algorithm") == [(3, None, None)]
    assert list(_list_halved(9)) == [4, 2, 1]
    assert list(_list_doubled(1)) == [2, 4, 8, 16, 32, 64]


def test_batches_around_the_planned_one() -> None:
    """Batches have at most the rows of the smallest client; one is planned without a batch."""

    def batches(planned: int | None, *rows: int) -> list[Any]:
        oracle = None if planned is None else MiniBatch(None, planned, replacement=True)  # type: ignore[arg-type]
        data = SimpleNamespace(outputs=[[0] * count for count in rows]) if rows else None
        run: Any = SimpleNamespace(problem=SimpleNamespace(oracle=oracle, data=data))
        return list(_list_batch_sizes(run))

    assert batches(None) == [None]
    assert batches(8, 64, 200) == [2, 8, 32, None]
    assert batches(8, 128, 200) == [2, 8, 32, 128, None]
    assert batches(2, 64) == [1, 2, 8, 32, None]
    assert batches(None, 64, 100) == [1, 4, 16, 64, None]
    assert batches(None, 10) == [1, 4, None]
    assert batches(16, 9) == [4, 16, None]
