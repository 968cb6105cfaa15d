"""Edge cases of plans by hand: affordable runs, stable outcomes, contents of cards."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from planned_runs import LIU, THEOREM, a_run

from fedtheory.errors import NotApplicable
from fedtheory.language import quantities as q
from fedtheory.planner import alternatives, comparators, coverage, plan_rows, recommendation, rounds_needed, speed_up
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.alternatives import Alternatives
from fedtheory.planner.bound import ROUNDS, STEP, NumericBound
from fedtheory.planner.model_edges import _compute_growth
from fedtheory.planner.optimum import StepSizes
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.recommendation import Promise
from fedtheory.planner.rounds_needed import RoundsNeeded, find_planned_and_best
from fedtheory.planner.run_costs import count_operations

ETA, T, A, B = sp.symbols("eta T A B", positive=True)


def _bound(expression: sp.Expr, *conditions: Any, **values: float) -> NumericBound:
    names = {ETA: STEP, T: ROUNDS, A: "a", B: "b"}
    terms = tuple(sp.Add.make_args(sp.sympify(expression)))
    return NumericBound(THEOREM, terms, conditions, names, {STEP: 1.0, **values})


@pytest.mark.parametrize("kind", ["quadratic", "model", "closed"])
@pytest.mark.parametrize("name", [None, "scaffold"])
def test_settings_that_a_plan_may_look_at(kind: str, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are 25 runs of 4e9 operations, or 8e8 on models; closed forms are free; definitions need one path."""

    class Model:
        """A run on a linear model."""

    monkeypatch.setattr(alternatives, "LinearModelRun", Model)
    monkeypatch.setattr(alternatives, "has_closed_rounds", lambda _: kind == "closed")
    monkeypatch.setattr(alternatives, "_get_batch_size", lambda _: None)
    run: Any = Model() if kind == "model" else SimpleNamespace()
    run.algorithm = SimpleNamespace(rounds=7, clock=SimpleNamespace(is_synchronous=True), rounds_are_alike=True)
    least = 8e8 if kind == "model" else 4e9
    for operations_, path, error, cheap in (
        (least, True, "mean", True),
        (1.01 * least, True, "mean", False),
        (least, False, "mean", kind == "model" or name is None),
        (1e30, True, "final", kind == "closed"),
        (1e30, True, "mean", False),
    ):
        monkeypatch.setattr(alternatives, "is_deterministic", lambda _, path=path: path)
        monkeypatch.setattr(
            alternatives, "count_operations", lambda _, rounds, n=operations_: n if rounds == 7 else math.inf
        )
        known: Any = SimpleNamespace(run=run, objective=SimpleNamespace(error=error), _change_setting=lambda *_: run)
        known._spent = 0.0
        assert Alternatives.is_cheap(known, 3, name) is cheap
        # Settings share one limit, except for those with a closed form.
        known._spent = 0.1 * least
        assert Alternatives.is_cheap(known, 3, name) is (cheap and (kind, error) == ("closed", "final"))


def test_changing_step_sizes_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The maps of a round with another step size are compiled anew, unless the run has neither noise nor coins."""
    monkeypatch.setattr(alternatives, "has_closed_rounds", lambda _: False)
    monkeypatch.setattr(alternatives, "count_operations", lambda _run, rounds: 1e6 * rounds)
    for alike, synchronous, path, factor in (
        (True, True, False, 1),
        (False, True, False, 16),
        (False, True, True, 1),
        (False, False, False, 1),
    ):
        monkeypatch.setattr(alternatives, "is_deterministic", lambda _, path=path: path)
        clock = SimpleNamespace(is_synchronous=synchronous)
        run: Any = SimpleNamespace(algorithm=SimpleNamespace(rounds=7, clock=clock, rounds_are_alike=alike))
        assert alternatives._count_operations(run, "final") == factor * 25 * 7e6


def test_other_local_steps_are_tried_where_they_cost_little() -> None:
    """Twice the planned number of local steps decides; without a common number none are tried."""
    for steps, cheap, tried in ((3, True, True), (3, False, False), (None, True, False)):
        asked: list[int] = []
        known: Any = SimpleNamespace(
            steps=steps,
            planned="planned",
            is_cheap=lambda count, asked=asked, cheap=cheap: asked.append(count) or cheap,
            find_better_local_steps=lambda: "better",
            scaffold=lambda: "scaffold",
        )
        beside: Any = Alternatives.find_cheap_alternatives(known)
        assert (beside.planned, beside.better_steps, beside.has_tried_steps, beside.scaffold) == (
            "planned",
            "better" if tried else None,
            tried,
            "scaffold",
        )
        assert asked == ([] if steps is None else [6])


def test_scaffold_stands_beside_plain_fedavg() -> None:
    """SCAFFOLD is not tried for a definition, without a common number of local steps, or if expensive."""
    for defined, steps, cheap, found in (
        (None, 2, True, True),
        ("fedprox", 2, True, False),
        (None, None, True, False),
        (None, 2, False, False),
    ):
        known: Any = SimpleNamespace(
            run=SimpleNamespace(algorithm=SimpleNamespace(defined=defined), problem=SimpleNamespace(oracle=None)),
            steps=steps,
            is_cheap=lambda _, name, cheap=cheap: cheap and name == "scaffold",
            find_setting=lambda *given: given,
        )
        beside: Any = Alternatives.scaffold(known)
        assert beside == ((2, None, "scaffold") if found else None)


@pytest.mark.parametrize("names", [frozenset({comparators.GAP}), comparators.NAMES, comparators.CURVED])
def test_curvatures_of_clients_are_asked_for_by_name(names: frozenset[str]) -> None:
    """Noise and dissimilarity are always reported; with curvatures each client counts with its largest one."""
    run: Any = SimpleNamespace(
        problem=SimpleNamespace(weights=np.array([0.25, 0.75])),
        noise_forms=np.array([[[1.0]], [[2.0]]]),
        gradient_forms=SimpleNamespace(deviations=np.array([[[3.0]], [[5.0]]])),
        client_smoothness=np.array([2.0, 4.0]),
    )
    found = {name: float(form[0, 0]) for name, form in comparators._list_squares(run, names)}
    plain = {comparators.NOISE: 1.75, comparators.DISSIMILARITY: 4.5}
    curved = {comparators.CURVED_NOISE: 6.5, comparators.CURVED_DISSIMILARITY: 16.5}
    assert found == plain | (curved if names & comparators.CURVED else {})


def test_step_sizes_at_other_numbers() -> None:
    """Edges depend on numbers in conditions; another number changes the best step but not the edge."""
    sizes = StepSizes(_bound(A / ETA + ETA, ETA <= B, a=100.0, b=2.0))
    at = sizes.bound.with_numbers
    assert sizes.best(at({"b": 2.0})) == pytest.approx((2.0, 52.0))
    assert sizes.best(at({"b": 4.0})) == pytest.approx((4.0, 29.0))
    assert sizes.best(at({"b": 2.0, "a": 1.0})) == pytest.approx((1.0, 2.0))
    assert sizes.best(at({"b": 50.0})) == pytest.approx((10.0, 20.0))
    assert len(sizes._edges) == 3


def test_twice_the_clients_bring_exactly_half_of_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the clients give half of a linear speed-up up to eight clients, and more are not proposed."""

    def value_at(_sizes: Any, _name: str, number: float) -> float:
        half, is_odd = divmod(int(number), 2)
        if is_odd:
            return 1.0
        return (speed_up.HALF_OF_LINEAR if half <= 8 else 1.0) * value_at(None, "", half)

    monkeypatch.setattr(speed_up, "compute_best_value", value_at)
    bound: Any = SimpleNamespace(depends_on=lambda *_: True, expression=None)
    sizes: Any = SimpleNamespace(bound=bound, best=lambda _: (1.0, 1.0))
    assert speed_up.find_linear_clients(sizes) == 8
    sizes.best = lambda _: None
    assert speed_up.find_linear_clients(sizes) is None
    sizes.best, bound.depends_on = lambda _: (1.0, 1.0), lambda *_: False
    assert speed_up.find_linear_clients(sizes) is None


def test_refuted_bounds_of_the_papers_that_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuted bounds are those of the papers of the given claims; user-defined claims select no paper."""

    def claim(source: str, verdict: str = "refuted", *, published: bool = True, error: bool = True) -> Any:
        return SimpleNamespace(source=source, verdict=verdict, is_published=published, error=error)

    known = [claim("a"), claim("b"), claim("a", "proved"), claim("b", error=False), claim("c")]
    monkeypatch.setattr(coverage, "all_claims", lambda: dict(enumerate(known)))
    monkeypatch.setattr(coverage, "find_bounded_error", lambda one: "error" if one.error else None)
    assert coverage.refuted_bounds() == (known[0], known[1], known[4])
    assert coverage.refuted_bounds([claim("b")]) == (known[1],)
    assert coverage.refuted_bounds([claim("b"), claim("c", published=False)]) == (known[1],)
    assert coverage.refuted_bounds([claim("c", published=False)]) == ()


def test_distant_models_grow_by_the_power_of_their_steps() -> None:
    """The growth is (1 - eta ridge)^K for each client, and the largest one without a synchronous clock."""

    def growth(size: float, steps: tuple[int, ...], *, synchronous: bool = True, server: float = 1.0) -> float:
        aggregation = SimpleNamespace(
            moments=lambda _: SimpleNamespace(mean=np.full(len(steps), 1 / len(steps))), server_step_size=server
        )
        work = SimpleNamespace(step_sizes=np.ones(len(steps)), steps=steps)
        clock = SimpleNamespace(is_synchronous=synchronous)
        run: Any = SimpleNamespace(
            algorithm=SimpleNamespace(work=work, aggregation=aggregation, clock=clock),
            problem=SimpleNamespace(model=SimpleNamespace(ridge=0.5), weights=None),
        )
        return _compute_growth(run, size)

    assert growth(1.0, (1,)) == pytest.approx(1 / 2)
    assert growth(1.0, (3,)) == pytest.approx(1 / 8)
    assert growth(1.0, (1, 3)) == pytest.approx(5 / 16)
    assert growth(1.0, (1, 3), synchronous=False) == pytest.approx(1 / 2)
    assert growth(6.0, (1, 3), synchronous=False) == pytest.approx(8.0)
    assert growth(1.0, (2,), server=2.0) == pytest.approx(1 / 2)


def _outcome(step: float, rounds: int, *, reached: bool = True, error: float = 0.1) -> ErrorAtStepSize:
    return ErrorAtStepSize(step, rounds, error, reached, False)


def _search(accuracy: float | None) -> Any:
    search: Any = SimpleNamespace(
        accuracy=accuracy, error=None, errors=SimpleNamespace(run_with=lambda step: step), _has_equal_rounds=True
    )
    search._make_rank = lambda one: RoundsNeeded._make_rank(search, one)
    return search


@pytest.mark.parametrize("lasting", [(), (0.5,), (0.25,), (0.125,), (0.5, 0.25), (0.25, 0.125)])
def test_the_first_outcome_that_lasts(lasting: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stable outcome in the order of rounds is chosen; without one the best is not reached."""
    monkeypatch.setattr(rounds_needed, "compute_limit", lambda *_: None)
    search = _search(1.0)
    search._confirm_later = lambda one: _outcome(one.step_size, one.rounds, reached=one.step_size in lasting)
    few, more, most = _outcome(0.5, 3), _outcome(0.25, 5), _outcome(0.125, 9)
    for others in ([more, most, few], [most, more]):
        settled = RoundsNeeded._choose_lasting(search, few, others)
        expected = {0.5: few, 0.25: more, 0.125: most}.get(max(lasting, default=0.0), few)
        assert (settled.step_size, settled.rounds) == (expected.step_size, expected.rounds)
        assert settled.reached is bool(lasting)


def test_limits_above_the_target_do_not_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit above the target is unstable, without another run; without a target the best is the answer."""
    for limit, reached in ((1.0, True), (1.01, False), (None, True)):
        monkeypatch.setattr(rounds_needed, "compute_limit", lambda *_, limit=limit: limit)
        search = _search(1.0)
        search._confirm_later = lambda one: one
        settled = RoundsNeeded._choose_lasting(search, _outcome(0.5, 3), [])
        assert settled.reached is reached
        free = _search(None)
        assert RoundsNeeded._choose_lasting(free, _outcome(0.5, 3, reached=False), []).limit == limit


@pytest.mark.parametrize(("noise", "bias"), [(2.0, 1.0), (1.0, 2.0), (1.0, 1.0)])
def test_why_no_step_size_is_small_enough(noise: float, bias: float) -> None:
    """The larger part of the limit at the smallest step size is named, biases above the target first."""
    places: list[float] = []

    def at(factor: float) -> Any:
        places.append(factor)
        return SimpleNamespace(noise_floor=noise, bias=bias, limit=noise + bias)

    work = SimpleNamespace(common_steps=3)
    run = SimpleNamespace(algorithm=SimpleNamespace(work=work))
    search: Any = SimpleNamespace(
        accuracy=3.0, closed=SimpleNamespace(scale_steps=at), largest=8.0, errors=SimpleNamespace(run=run, planned=2.0)
    )
    reason = str(RoundsNeeded.reason(search, _outcome(1.0, 1, reached=False)))
    assert places == [rounds_needed._LEAST * 4]
    assert reason.startswith("gradient noise" if noise > bias else "drift of unlike clients")
    assert f"{noise + bias:.6g}" in reason
    assert f"{rounds_needed._LEAST * 8:.3g}" in reason
    search.accuracy = bias
    assert "tend to a model" not in str(RoundsNeeded.reason(search, _outcome(1.0, 1, reached=False)))
    search.accuracy = bias * 0.99
    assert "unequal steps or weights" in str(RoundsNeeded.reason(search, _outcome(1.0, 1, reached=False)))
    work.common_steps = None
    assert "unequal local steps" in str(RoundsNeeded.reason(search, _outcome(1.0, 1, reached=False)))


def test_errors_without_averages_are_those_of_the_last_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The requested error comes first; without known errors there is none."""

    class Search:
        """A search that knows some errors."""

        known: tuple[Any, ...] = ()
        diverges_from = 7.0

        def __init__(self, _errors: Any, error: Any, _accuracy: Any, _margin: float) -> None:
            self.error = error

        def best(self) -> ErrorAtStepSize:
            if self.error not in self.known:
                raise NotApplicable("no such error")
            return _outcome(0.5, 12, reached=False)

        def confirm_outcome(self, step: float, rounds: int) -> tuple[float, int]:
            return step, rounds

        def reason(self, _: Any) -> None:
            return None

    monkeypatch.setattr(rounds_needed, "RoundsNeeded", Search)
    errors: Any = SimpleNamespace(planned=0.25, run=SimpleNamespace(algorithm=SimpleNamespace(rounds=10)))
    average, final = q.average_suboptimality, q.final_suboptimality
    monkeypatch.setattr(rounds_needed, "ERRORS", {"average": average, "final": final})
    for known, found in (((average, final), average), ((final,), final), ((), None)):
        Search.known = known
        reached: Any = find_planned_and_best(errors, "average", None)
        assert (None if reached is None else (reached.error, reached.planned)) == (
            None if found is None else (found, (0.25, 12))
        )


def test_operations_grow_with_rounds() -> None:
    """With identical rounds each round costs one map of (d + 1)^2 numbers."""
    run = a_run(local_steps=5, rounds=50)
    size = run.problem.dimension + 1
    assert count_operations(run, 10) == 10 * size**2
    assert count_operations(run, 30) == 3 * count_operations(run, 10)


def test_bounds_that_are_measured_on_the_run() -> None:
    """A promise lists the numbers that differ at its step size; without a bound in the plan there are none."""
    bound = _bound(A / ETA, a=3.0)
    plan: Any = SimpleNamespace(bound=_bound(A / ETA, a=2.0), select_measured=lambda names: names)
    assert Promise(plan, 0.5, bound.with_numbers({STEP: 0.5}), None).measured == ["a"]
    assert Promise(plan, 0.5, plan.bound.with_numbers({STEP: 0.5}), None).measured == []
    assert Promise(SimpleNamespace(bound=None), 0.5, bound, None).measured == []  # type: ignore[arg-type]


def test_kinds_that_cannot_be_better_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds are tried in order; one that cannot beat the best bound is skipped without measuring."""
    measured: list[str] = []
    monkeypatch.setattr(recommendation, "_make_partial_rank", lambda plan, _: plan.kind)
    monkeypatch.setattr(
        recommendation, "_make_rank", lambda promise, _: (promise.kind[0], promise.vacuous, *promise.kind[1:], 0.0)
    )
    monkeypatch.setattr(recommendation, "_evaluate_at_best", lambda plan, _: [plan] if plan.covers else [])
    monkeypatch.setattr(recommendation, "_choose_best", lambda found, _: found[0] if found else None)

    def plan(name: str, kind: tuple[bool, int, int], *, covers: bool = True, vacuous: bool = False) -> Any:
        return SimpleNamespace(name=name, kind=kind, optimum=1, covers=covers, vacuous=vacuous)

    def best(at_hand: Any, *plans: Any) -> tuple[str | None, list[str]]:
        measured.clear()
        found: Any = recommendation._find_best_promise(
            plans,
            None,  # type: ignore[arg-type]
            lambda one: measured.append(one.name) or one,  # type: ignore[attr-defined, func-returns-value]
            None,  # type: ignore[arg-type]
            at_hand,
        )
        return (None if found is None else found.name), list(measured)

    near, far, other = plan("near", (False, 0, 0)), plan("far", (False, 1, 0)), plan("other", (True, 0, 0))
    assert best(None, far, near, other) == ("near", ["near"])
    assert best(far, near, other) == ("near", ["near"])
    assert best(near, far, other) == (None, [])
    assert best(far, plan("uncovered", (False, 0, 0), covers=False), other) == (None, ["uncovered"])
    assert best(plan("says little", (False, 0, 0), vacuous=True), near) == ("near", ["near"])
    without: Any = SimpleNamespace(name="no best step", kind=(False, 0, 0), optimum=None)
    assert best(None, without) == (None, [])


def test_details_of_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Details have the error, each condition with its slack, and each term with its value, the largest first."""
    monkeypatch.setattr(plan_rows, "_describe_limits", lambda *_: ["advice"])
    monkeypatch.setattr(plan_rows, "_list_round_lines", lambda *_: ["rounds"])
    plan: Any = SimpleNamespace(
        bound=_bound(A / ETA + T, a=8.0, **{ROUNDS: 2.0}),
        error=q.final_suboptimality,
        conditions=[SimpleNamespace(condition=ETA <= A, slack=7.0)],
        claim=None,
    )
    lines = plan_rows.list_details(plan, None, lambda _, one: str(one))
    assert lines[0].startswith(f"bounds {q.final_suboptimality.name}: ")
    assert [line.split() for line in lines[1:4]] == [
        ["condition", *str(ETA <= A).split()[:-1], f"{A!s}:", "slack", "7"],
        ["8", *str(A / ETA).split()],
        ["2", "T"],
    ]
    assert lines[4:] == ["advice", "rounds"]


def test_entries_of_bounds() -> None:
    """Entries have the known numbers; a bound without a best step size has none."""
    claim = LIU
    plain: dict[str, Any] = {"claim": claim, "error": q.final_suboptimality, "applicable": True, "reason": None}
    for optimum, bound in ((None, None), (SimpleNamespace(step_size=0.5, value=3.0), _bound(A / ETA, a=2.0))):
        entry = ClaimPlan.entry(SimpleNamespace(**plain, optimum=optimum, bound=bound))  # type: ignore[arg-type]
        assert entry["verdict"] == claim.verdict
        assert entry["bound"] == (None if bound is None else 2.0)
        assert (entry["best_step_size"], entry["bound_at_best"]) == ((None, None) if optimum is None else (0.5, 3.0))
