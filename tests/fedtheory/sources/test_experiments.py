"""The experiments of fraboni2022 at small sizes: exact points, tuned step sizes, findings that follow the numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from fedtheory.engine.moments import Trajectory
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import Asynchronous, Synchronous
from fedtheory.language.assumptions import half_of_one_time
from fedtheory.language.exhibits import Finding, Line, Mark
from fedtheory.language.quantities import doubled_server_gap
from fedtheory.sources.fraboni2022.exhibits.schemes import draw_figure_4, draw_figures_5_to_7
from fedtheory.sources.fraboni2022.exhibits.weightings import draw_figure_2, draw_figure_3
from fedtheory.sources.fraboni2022.experiments.curves import Curve, CurvesByStepSize, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import BATCH, SPLITS, Split, make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared, compute_figure_2
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared, compute_figure_3
from fedtheory.sources.fraboni2022.experiments.figure_4 import SchemesCompared, SplitCompared, compute_figure_4
from fedtheory.sources.fraboni2022.experiments.findings import (
    list_findings_2,
    list_findings_3,
    list_findings_4,
    list_findings_5_to_7,
)
from fedtheory.sources.fraboni2022.instances.experiments import half_intervals
from fedtheory.sources.fraboni2022.statements.experiments import CLAIMS
from verify.check import check

STEP_SIZES = (0.01, 0.1, 0.3)


@cache
def small_figure_2(split: Split) -> WeightsCompared:
    """Return the result for four clients and six units of time."""
    return compute_figure_2(split, clients=4, horizon=6, step_sizes=STEP_SIZES)


@cache
def small_figure_3() -> LocalWorkCompared:
    """Return the result for four clients and six units of time, with up to four local steps."""
    return compute_figure_3(0.1, clients=4, horizon=6, local_steps=(1, 2, 4))


@cache
def small_figure_4() -> SplitCompared:
    """Return the result for four clients and six units of time, with two local steps."""
    return compute_figure_4("Dirichlet", clients=4, horizon=6, local_steps=2, step_sizes=STEP_SIZES)


def finding(findings: tuple[Finding, ...], words: str) -> Finding:
    """Return the only finding whose statement has these words."""
    (found,) = [each for each in findings if words in each.statement]
    return found


@pytest.mark.parametrize("split", SPLITS)
def test_every_digit_is_dealt_to_one_client(split: Split) -> None:
    """The clients' data are the 1797 images, each client has some, and all clients have equal weight."""
    problem = make_digits_problem(10, split)
    assert problem.data is not None
    sizes = [len(outputs) for outputs in problem.data.outputs]
    assert sum(sizes) == 1797
    assert min(sizes) >= 1
    assert problem.weights == pytest.approx([0.1] * 10)
    assert problem.dimension == 17


def test_another_seed_deals_other_rows() -> None:
    """The seed determines the split."""
    sizes = [[len(y) for _, y in make_digits_problem(5, "Dirichlet", seed).data or ()] for seed in (0, 0, 1)]
    assert sizes[0] == sizes[1] != sizes[2]


def test_the_columns_are_standardised_and_divided_by_two() -> None:
    """Over all clients each feature has mean zero and mean square one quarter, and the last column is one."""
    data = make_digits_problem(3, "IID").data
    assert data is not None
    inputs = np.concatenate(data.inputs)
    assert inputs[:, :-1].mean(axis=0) == pytest.approx(np.zeros(16), abs=1e-12)
    assert (inputs[:, :-1] ** 2).mean(axis=0) == pytest.approx(np.full(16, 0.25))
    assert (inputs[:, -1] == 1).all()


def test_the_first_asynchronous_update_is_that_of_the_fastest_client() -> None:
    """Expected losses after one update are those of a gradient step plus the batch's variance, by hand."""
    problem = make_digits_problem(4, "Dirichlet")
    scenario = make_scenario(problem, Asynchronous("one-by-one"), 80, "Time-based", local_steps=1, horizon=1)
    curve = scenario.compute_curve(0.1)
    assert problem.data is not None
    inputs, outputs = problem.data.inputs[0], problem.data.outputs[0]
    gradients = -2 * outputs[:, None] * inputs
    # Client times 1/5, 7/15, 11/15, 1: d_1 = (5 + 15/7 + 15/11 + 1) (1/5) (1/4).
    weight = (5 + 15 / 7 + 15 / 11 + 1) / 20
    mean = -0.1 * weight * gradients.mean(axis=0)
    covariance = (0.1 * weight) ** 2 * np.cov(gradients.T, bias=True) / BATCH
    losses = [
        ((x @ mean - y) ** 2).mean() + ((x @ covariance) * x).sum(axis=1).mean()
        for x, y in zip(problem.data.inputs, problem.data.outputs, strict=True)
    ]
    assert curve.times[1] == pytest.approx(0.2)
    assert curve.client_losses[1] == pytest.approx(losses)
    assert curve.loss[1] == pytest.approx(np.mean(losses))
    assert curve.model_variance[1] == pytest.approx(covariance.trace())


def test_client_losses_average_to_the_loss_all_along() -> None:
    """With the client weights, the weighted loss is E L(theta^n) of the trajectory."""
    problem = make_digits_problem(4, "Dirichlet")
    chosen = make_scenario(problem, Synchronous(), 80, "Time-based", local_steps=3, horizon=5)
    curve = chosen.compute_curve(0.1)
    trajectory = Trajectory(problem, chosen.make_algorithm(0.1))
    assert curve.compute_weighted_loss(problem.weights) == pytest.approx(curve.loss)
    assert curve.loss == pytest.approx(trajectory.server_suboptimality + problem.optimal_value)
    assert curve.times == pytest.approx(np.arange(6))


def test_the_spread_is_a_standard_deviation_over_clients() -> None:
    """With equal weights the spread is NumPy's standard deviation; for a single client it is zero."""
    curve = small_figure_2("Dirichlet").identical
    assert curve.compute_spread(np.full(4, 0.25)) == pytest.approx(curve.client_losses.std(axis=1))
    assert curve.compute_spread(np.array([0.0, 1.0, 0.0, 0.0])) == pytest.approx(np.zeros(len(curve.times)))


def test_final_values_are_over_the_last_twentieth() -> None:
    """Final values are over the last two of forty values, and a diverging run has none."""
    values = np.arange(40.0)
    curve = Curve(0.1, values, values, values[:, None], 2 * values, diverges=False)
    assert (curve.final_loss, curve.fluctuation, curve.final_model_variance) == (38.5, 0.5, 77.0)
    failed = replace(curve, diverges=True)
    assert failed.final_loss == failed.fluctuation == failed.final_model_variance == float("inf")


def test_the_first_model_below_a_level() -> None:
    """The time of the first model below a level is returned, also if the loss rises again; infinite without one."""
    curve = Curve(0.1, np.arange(4.0), np.array([3.0, 1.0, 2.0, 0.5]), np.ones((4, 1)), np.zeros(4), diverges=False)
    assert curve.find_first_time_below(1.5) == 1
    assert curve.find_first_time_below(0.6) == 3
    assert curve.find_first_time_below(0.5) == float("inf")


def test_tuned_step_sizes_minimise_the_final_loss_on_the_grid() -> None:
    """The best curve has the smallest final loss of all step sizes, tried one by one."""
    problem = make_digits_problem(4, "Dirichlet")
    chosen = make_scenario(problem, Asynchronous("one-by-one"), 80, "Identical", local_steps=1, horizon=6)
    losses = {size: chosen.compute_curve(size).final_loss for size in STEP_SIZES}
    best = min(losses, key=losses.__getitem__)
    assert small_figure_2("Dirichlet").step_size == best
    assert chosen.compute_curves(STEP_SIZES).best.final_loss == losses[best]


def test_the_search_ends_with_the_first_divergence() -> None:
    """Step sizes above a diverging one are not tried, and a diverging one is never the best."""
    problem = make_digits_problem(4, "IID")
    tuned = make_scenario(problem, Synchronous(), 0, "Time-based", local_steps=2, horizon=30).compute_curves(
        (0.1, 4.0, 8.0)
    )
    assert [curve.diverges for curve in tuned.curves] == [False, True]
    assert tuned.best.step_size == tuned.largest_stable == 0.1
    assert [curve.step_size for curve in tuned.curves] == [0.1, 4.0]


def test_shares_are_those_of_the_reports() -> None:
    """With identical weights a client counts as often as it reports, and the minimiser has a larger loss of (2)."""
    result = small_figure_2("Dirichlet")
    problem = make_digits_problem(4, "Dirichlet")
    chosen = make_scenario(problem, Asynchronous("one-by-one"), 80, "Identical", local_steps=1, horizon=6)
    reports = chosen.make_algorithm(0.1).schedule.participates.sum(axis=0)
    assert result.shares == pytest.approx(reports / reports.sum())
    assert result.minimum <= result.time_based_limit < result.identical_limit
    assert result.surrogate_minimum <= result.identical.compute_weighted_loss(result.shares).min()


def test_findings_of_figure_2_follow_the_curves() -> None:
    """If the two weightings are exchanged, the findings are negated."""
    results = (small_figure_2("IID"), small_figure_2("Dirichlet"))
    exchanged = [replace(each, identical=each.time_based, time_based=each.identical) for each in results]
    before, after = list_findings_2(*results), list_findings_2(exchanged[0], exchanged[1])
    for words in ("faster than Time-based", "better than Time-based on the surrogate"):
        assert finding(before, words).reproduces
        assert not finding(after, words).reproduces
    for one, other in zip(before, after, strict=True):
        assert one.statement == other.statement
        assert one.evidence != other.evidence


def test_a_gap_is_twice_as_large_only_if_it_is() -> None:
    """The ratio of the gaps decides, not the name of the split."""
    iid = small_figure_2("IID")
    doubled = _with_gap(iid, 2 * 0.01)
    single = _with_gap(iid, 0.01)
    assert finding(list_findings_2(single, doubled), "twice as large").reproduces
    assert not finding(list_findings_2(single, _with_gap(iid, 0.05)), "twice as large").reproduces
    assert finding(list_findings_2(single, doubled), "widens the gap").reproduces
    assert not finding(list_findings_2(doubled, single), "widens the gap").reproduces


def _with_gap(result: WeightsCompared, gap: float) -> WeightsCompared:
    """Return the result with identical weights that are worse everywhere by `gap`."""
    worse = replace(result.time_based, loss=result.time_based.loss + gap)
    return replace(result, identical=worse)


def test_findings_of_figure_3_follow_the_curves() -> None:
    """The finding on sensitivity is negated if the weightings are exchanged, that on d_i if the clients are."""
    result = small_figure_3()
    exchanged = replace(result, identical=result.time_based, time_based=result.identical)
    words = "more sensitive"
    assert finding(list_findings_3(result), words).reproduces != finding(list_findings_3(exchanged), words).reproduces
    failing = {steps: replace(curve, diverges=steps == 4) for steps, curve in result.identical.items()}
    steady = {steps: replace(curve, diverges=False) for steps, curve in result.identical.items()}
    sooner = replace(result, identical=steady, time_based=failing)
    assert finding(list_findings_3(sooner), words).reproduces
    assert not finding(list_findings_3(replace(result, identical=failing, time_based=steady)), words).reproduces
    assert finding(list_findings_3(result), "fast clients").reproduces
    backwards = replace(result, weights=result.weights[::-1])
    assert not finding(list_findings_3(backwards), "fast clients").reproduces


def test_a_loss_falls_then_rises_if_its_minimum_is_inside() -> None:
    """The best number of local steps must be neither the smallest nor the largest."""
    result, curve = small_figure_3(), small_figure_3().identical[1]
    losses = {1: 2.0, 2: 1.0, 4: 3.0}
    bent = {steps: replace(curve, loss=np.full(20, loss)) for steps, loss in losses.items()}
    rising = {steps: replace(curve, loss=np.full(20, float(steps))) for steps in losses}
    words = "first falls, then rises"
    assert finding(list_findings_3(replace(result, identical=bent, time_based=bent)), words).reproduces
    assert not finding(list_findings_3(replace(result, identical=bent, time_based=rising)), words).reproduces


def test_findings_of_figure_4_follow_the_curves() -> None:
    """A scheme outperforms another one only by the order of their final losses."""
    result = small_figure_4()
    ordered = [_with_levels(each, (2.0, 1.0, 3.0)) for each in result.by_hardware]
    reversed_ = [_with_levels(each, (2.0, 3.0, 1.0)) for each in result.by_hardware]
    words = ("FedFix-0.5 always outperforms", "all clients are alike", "even with heterogeneous hardware")
    for word in words:
        assert finding(list_findings_4([replace(result, by_hardware=tuple(ordered))]), word).reproduces
        assert not finding(list_findings_4([replace(result, by_hardware=tuple(reversed_))]), word).reproduces


def _with_levels(compared: SchemesCompared, levels: tuple[float, float, float]) -> SchemesCompared:
    """Return the comparison with a constant loss for each scheme, in the order synchronous, FedFix, asynchronous."""
    schemes = {}
    for (name, tuned), level in zip(compared.schemes.items(), levels, strict=True):
        curve = replace(tuned.best, loss=np.full(20, level), diverges=False)
        schemes[name] = CurvesByStepSize((curve,))
    return replace(compared, schemes=schemes)


def test_small_step_sizes_favour_many_updates() -> None:
    """At the smallest step size asynchronous beats FedFix beats synchronous, unless their curves are exchanged."""
    result = small_figure_4()
    words = "small enough step size"
    assert finding(list_findings_5_to_7([result]), words).reproduces
    exchanged = [
        replace(each, schemes=dict(zip(each.schemes, reversed(each.schemes.values()), strict=True)))
        for each in result.by_hardware
    ]
    assert not finding(list_findings_5_to_7([replace(result, by_hardware=tuple(exchanged))]), words).reproduces


def test_half_intervals_are_synchronous_rounds_of_twice_the_step_size() -> None:
    """Under F0 every second model of FedFix-0.5 has the moments of its synchronous twin, exactly in rationals."""
    assert all(doubled_server_gap.measure(half_intervals(number)) == 0 for number in range(8))
    assert small_figure_4().f0_gap < 1e-20


def test_without_the_closed_form_half_intervals_are_something_else() -> None:
    """With d_i = p_i FedFix-0.5 moves half as far as the twin, and the moments differ."""
    run = half_intervals(1)
    plain = replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, chosen=None))
    assert doubled_server_gap.measure(Run(run.problem, plain)) > 0


def test_the_published_form_holds_for_one_client_only() -> None:
    """Asynchronous FL with twice the server step size is equal for one client only, despite the published statement."""
    (printed,) = [claim for claim in CLAIMS if claim.id == "fraboni2022:fig-4.F0"]
    (repaired,) = [claim for claim in CLAIMS if claim.corrects == printed.id]
    assert [check(printed, half_intervals(number)).holds for number in (4, 1)] == [True, False]
    assert all(check(repaired, half_intervals(number)).holds for number in (4, 1))


def test_half_intervals_need_identical_clients_and_half_of_their_time() -> None:
    """The assumption fails for other policies, unequal times, other intervals, and odd numbers of updates."""
    run = half_intervals(1)
    half_of_one_time.require(run)
    clock = run.algorithm.clock
    for changed in (
        replace(clock, policy=Synchronous()),
        replace(clock, times=tuple(time * (1 + n) for n, time in enumerate(clock.times))),
        replace(clock, times=tuple(2 * time for time in clock.times)),
    ):
        with pytest.raises(NotApplicable):
            half_of_one_time.require(Run(run.problem, replace(run.algorithm, clock=changed)))
    with pytest.raises(NotApplicable):
        half_of_one_time.require(run.with_rounds(run.algorithm.rounds + 1))


def test_every_chart_has_a_name_of_its_own_and_says_what_comes_out() -> None:
    """The seven kinds of charts have different names, parts and a caption."""
    pair = (small_figure_2("IID"), small_figure_2("Dirichlet"))
    compared = small_figure_4().by_hardware[1]
    at_best = draw_figure_4(compared, "4 clients")
    charts = [
        *draw_figure_2(pair),
        draw_figure_3(small_figure_3()),
        at_best,
        draw_figures_5_to_7(compared, "4 clients"),
    ]
    assert len({chart.name for chart in charts}) == len(charts) == 7
    assert all(chart.parts and chart.caption.endswith(".") for chart in charts)
    assert f"{compared.best_losses['asynchronous'] - compared.minimum:.3g}" in at_best.caption


def test_a_cross_marks_where_a_scheme_diverges() -> None:
    """A cross of each scheme is at the step size at which it diverges; crosses are drawn one above the other."""
    compared = small_figure_4().by_hardware[1]
    schemes = {
        name: CurvesByStepSize((tuned.curves[0], replace(tuned.curves[1], diverges=True)))
        for name, tuned in compared.schemes.items()
    }
    parts = draw_figures_5_to_7(replace(compared, schemes=schemes), "4 clients").parts
    crosses = [part for part in parts if isinstance(part, Mark)]
    assert [(cross.x, cross.y, cross.marker) for cross in crosses] == [(0.1, 1.5**n, "x") for n in range(3)]
    assert [list(part.x) for part in parts if isinstance(part, Line)] == [[0.01]] * 3
