"""The experiments of fraboni2022 on several splits: searches, stored tables, and findings that follow the tables."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory.federation.clock import Asynchronous
from fedtheory.federation.oracles import ExactOracle
from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.exhibits import over_splits
from fedtheory.sources.fraboni2022.experiments.curves import Curve, make_scenario
from fedtheory.sources.fraboni2022.experiments.digits import BATCH, SPLITS, make_digits_problem
from fedtheory.sources.fraboni2022.experiments.figure_4 import make_scheme_scenario
from fedtheory.sources.fraboni2022.experiments.findings import (
    compare_splits_of_figure_2,
    compare_splits_of_figure_3,
    compare_splits_of_figure_4,
    compare_splits_of_figures_5_to_7,
)
from fedtheory.sources.fraboni2022.experiments.moves import compute_squared_moves
from fedtheory.sources.fraboni2022.experiments.over_splits.local_work import (
    CHANGES,
    LocalWorkOnSplit,
    Mitigation,
    TunedLocalWork,
    compute_mitigations,
)
from fedtheory.sources.fraboni2022.experiments.over_splits.schemes import (
    BestScheme,
    average_final_loss,
    compute_best_schemes,
    repeat_for_hardware,
)
from fedtheory.sources.fraboni2022.experiments.over_splits.search import choose_best, compute_step_size, search
from fedtheory.sources.fraboni2022.experiments.over_splits.stored import TABLES, read_records, recompute
from fedtheory.sources.fraboni2022.experiments.over_splits.tables import read_table, write_table
from fedtheory.sources.fraboni2022.experiments.over_splits.weightings import WeightingOnSplit, compute_weightings

TOLERANCE = 1e-3
"""Relative tolerance for numbers stored with six digits and computed on another machine."""


def finding(findings: tuple[Finding, ...], words: str) -> Finding:
    """Return the only finding whose statement has these words."""
    (found,) = [each for each in findings if words in each.statement]
    return found


def assert_close(record: Any, other: Any) -> None:
    """Check for the same words, and for numbers that agree to the tolerance."""
    values, others = asdict(record), asdict(other)
    numbers = [name for name, value in values.items() if isinstance(value, float)]
    assert {name: values.pop(name) for name in numbers} == pytest.approx(
        {name: others.pop(name) for name in numbers}, rel=TOLERANCE, nan_ok=True
    )
    assert values == others


def test_the_search_refines_around_the_best_coarse_point() -> None:
    """For losses with one minimum the fine search finds it, also between coarse grid points."""
    optima = (-7, -14)
    found = search(lambda point: [float((point - optimum) ** 2) for optimum in optima], 0, -20)
    best = [choose_best(found, budget) for budget in range(2)]
    assert [each.point for each in best] == list(optima)
    assert all(each.is_interior for each in best)
    assert best[0].step_size == compute_step_size(-7) == 2 ** (-7 / 4)


def test_a_best_point_at_the_end_of_the_grid_is_not_interior() -> None:
    """Decreasing losses have their minimum at the end."""
    found = search(lambda point: [float(point)], 0, -8)
    assert not choose_best(found, 0).is_interior


def test_tables_are_read_as_they_are_written(tmp_path: Path) -> None:
    """Numbers, words, booleans, infinity and NaN are read as written."""
    works = [LocalWorkOnSplit("IID", 1, 0.25, 3, 0.5, inf, 1.5, inf, nan, nan)]
    tuned = [TunedLocalWork("Dirichlet", 0, 4, 0.1, 0.2, 0.3, 0.4, is_interior) for is_interior in (True, False)]
    for kind, records in ((LocalWorkOnSplit, works), (TunedLocalWork, tuned)):
        write_table(records, tmp_path / "table.csv")
        back = read_table(kind, tmp_path / "table.csv")
        for record, other in zip(records, back, strict=True):
            assert_close(record, other)


def test_moves_without_noise_are_differences_of_models() -> None:
    """With full gradients a run is one path, and its moves are |theta^{n+1} - theta^n|^2."""
    problem = replace(make_digits_problem(4, "Dirichlet"), oracle=ExactOracle())
    runs = make_scenario(problem, Asynchronous("one-by-one"), 80, "Time-based", local_steps=3, horizon=4)
    trajectory = runs.compute_trajectory(0.05)
    steps = np.diff(trajectory.server_mean, axis=0)
    assert compute_squared_moves(trajectory) == pytest.approx((steps * steps).sum(axis=1))


def test_the_first_move_is_that_of_one_batch() -> None:
    """The fastest client moves the model by its weight times a mini-batch gradient at zero."""
    problem = make_digits_problem(4, "Dirichlet")
    runs = make_scenario(problem, Asynchronous("one-by-one"), 80, "Identical", local_steps=1, horizon=1)
    assert problem.data is not None
    gradients = -2 * problem.data.outputs[0][:, None] * problem.data.inputs[0]
    mean, variance = gradients.mean(axis=0), np.cov(gradients.T, bias=True).trace() / BATCH
    assert compute_squared_moves(runs.compute_trajectory(0.1))[0] == pytest.approx(0.01 * (mean @ mean + variance))


def test_final_losses_are_over_the_end_of_the_time_budget() -> None:
    """Models of the last 5% of the budget count; a loss below the minimum is rounding of a diverging run."""
    times = np.arange(101.0)
    curve = Curve(0.1, times, 200 - times, np.ones((101, 1)), np.zeros(101), diverges=False)
    assert average_final_loss(curve, 100, 0) == np.mean(np.arange(100, 105))
    assert average_final_loss(curve, 20, 0) == 180
    assert average_final_loss(curve, 20, 101) == inf
    assert average_final_loss(replace(curve, diverges=True), 20, 0) == inf


def test_best_schemes_are_runs_at_their_step_sizes() -> None:
    """Each record agrees with the run at its step size; synchronous rounds are equal for all hardware."""
    records = list(repeat_for_hardware(compute_best_schemes("Dirichlet", 0, clients=4, times=(2, 4), local_steps=2)))
    problem = make_digits_problem(4, "Dirichlet")
    for each in records:
        runs = make_scheme_scenario(problem, each.scheme, each.slower, 2, 4)
        curve = replace(runs, server_step_size=each.server_step_size).compute_curve(each.step_size)
        loss = average_final_loss(curve, each.time, float(problem.optimal_value))
        assert loss - problem.optimal_value == pytest.approx(each.excess)
    synchronous = [each for each in records if (each.scheme, each.server_step_size) == ("synchronous", 1)]
    assert len(records) == 2 * 2 * 5
    assert {(each.time, each.excess) for each in synchronous if each.slower == 0} == {
        (each.time, each.excess) for each in synchronous if each.slower == 80
    }


def test_a_quarter_of_a_step_size_is_less_of_it() -> None:
    """The changes of a run give different numbers, and the server's step size multiplies the weights."""
    found = {each.change: each for each in compute_mitigations("Dirichlet", 0, 1 / 64, 4)}
    assert len({each.excess for each in found.values()}) == len(found)
    quarter = found["a quarter of the local steps"]
    problem = make_digits_problem(10, "Dirichlet")
    scenario = make_scenario(problem, Asynchronous("one-by-one"), 80, "Time-based", local_steps=1, horizon=50)
    assert quarter.deviation == pytest.approx(scenario.compute_curve(1 / 64).fluctuation)


def test_stored_tables_have_all_splits() -> None:
    """Five splits of each kind in every table, and best step sizes inside their grids."""
    for name in TABLES:
        records = read_records(name)
        assert {(each.split, each.seed) for each in records} == {(split, n) for split in SPLITS for n in range(5)}
    assert all(each.is_interior for name in ("schemes", "tuned-local-work") for each in read_records(name))
    fifty = {(each.split, each.seed) for each in read_records("schemes") if each.clients == 50}
    assert fifty == {(split, n) for split in SPLITS for n in range(3)}


@pytest.mark.long
def test_the_first_stored_split_is_computed_again() -> None:
    """Both weightings on the first split are recomputed and agree with the stored record."""
    for record, other in zip(compute_weightings("IID", 0), read_records("weightings")[:2], strict=True):
        assert_close(record, other)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_stored_tables_are_computed_again(table: str) -> None:
    """Every record of a table is recomputed and agrees."""
    for record, other in zip(recompute(table), read_records(table), strict=True):
        assert_close(record, other)


def test_findings_of_figure_2_follow_the_records() -> None:
    """If the two weightings are exchanged, the findings are negated."""
    records = [
        WeightingOnSplit(split, seed, weighting, 0.1, *(level + 0.01 * seed,) * 5)
        for split, gap in (("IID", 1.0), ("Dirichlet", 2.0))
        for seed in range(3)
        for weighting, level in (("Identical", 1 + gap), ("Time-based", 1.0))
    ]
    exchanged = [
        replace(each, weighting="Time-based" if each.weighting == "Identical" else "Identical") for each in records
    ]
    found, other = compare_splits_of_figure_2(records), compare_splits_of_figure_2(exchanged)
    for words in ("lower loss of problem (2)", "differ less", "fast clients", "weighted spread"):
        assert finding(found, words).reproduces
        assert not finding(other, words).reproduces
    assert finding(found, "the gap in the loss is twice").reproduces
    assert not finding(found, "surrogate").reproduces
    assert finding(other, "surrogate").reproduces
    assert finding(found, "significantly different").reproduces


def test_weightings_with_overlapping_deviations_are_not_significantly_different() -> None:
    """A difference is significant only if the averages differ by more than the sum of the deviations."""
    records = [
        WeightingOnSplit(split, seed, weighting, 0.1, *(level + seed,) * 5)
        for split in SPLITS
        for seed in range(3)
        for weighting, level in (("Identical", 1.5), ("Time-based", 1.0))
    ]
    assert not finding(compare_splits_of_figure_2(records), "significantly different").reproduces


def _works(deviations: tuple[float, ...], excesses: tuple[float, ...]) -> list[LocalWorkOnSplit]:
    """Return time-based runs with these numbers for 8, 15, 16 and 20 local steps, and identical ones with ones."""
    return [
        LocalWorkOnSplit(split, seed, 0.1, steps, 1.0, excess, 1.0, deviation, 1.0, 2.0)
        for split in SPLITS
        for seed in range(2)
        for steps, deviation, excess in zip((1, 8, 15, 16, 20), (0.5, *deviations), (0.5, *excesses), strict=True)
    ]


def _changes(fedfix: float) -> list[Mitigation]:
    values = (1.0, 0.5, 0.5, 0.5, fedfix, 1.0)
    return [
        Mitigation(split, seed, 4, 0.1, change, 1.0, value)
        for split in SPLITS
        for seed in range(2)
        for change, value in zip(CHANGES, values, strict=True)
    ]


def _tune(time_based: float) -> list[TunedLocalWork]:
    return [TunedLocalWork(split, 0, 4, 0.1, 0.1, 1.0, time_based, True) for split in SPLITS]


def test_findings_of_figure_3_follow_the_records() -> None:
    """Records as in the source reproduce its findings; others do not."""
    as_published = compare_splits_of_figure_3(
        _works((0.5, 1.5, 1.5, 1.5), (0.5, 0.5, 1.5, inf)), _tune(0.5), _changes(2.0)
    )
    other = compare_splits_of_figure_3(_works((1.5, 1.5, 0.5, inf), (0.5, 0.5, 1.5, inf)), _tune(1.5), _changes(0.5))
    for words in ("very similar", "after $K=8$", "only these three", "grid search", "first, and then", "slow client"):
        assert finding(as_published, words).reproduces
    for words in ("after $K=8$", "only these three", "grid search"):
        assert not finding(other, words).reproduces
    assert finding(other, "mitigate the instability").reproduces
    moved = [replace(each, larger_moves=0.9) for each in _works((1.0,) * 4, (1.0,) * 4)]
    assert not finding(compare_splits_of_figure_3(moved, _tune(0.5), _changes(2.0)), "slow client").reproduces


def _schemes(fedfix: float, scaled: float) -> list[BestScheme]:
    """Return records with excess loss 2 for the synchronous scheme, and 3 for the asynchronous one."""
    levels = {("synchronous", 1): 2.0, ("FedFix-0.5", 1): fedfix, ("asynchronous", 1): 3.0, ("FedFix-0.5", 20): scaled}
    return [
        BestScheme(20, split, seed, slower, server, time, scheme, 0.1, level, True)
        for split in SPLITS
        for seed in range(2)
        for slower in (0, 80)
        for time in (10, 20)
        for (scheme, server), level in levels.items()
    ]


def test_findings_of_figure_4_follow_the_records() -> None:
    """The order of the final losses decides, for each server step size."""
    found = compare_splits_of_figure_4(_schemes(1.0, 4.0))
    other = compare_splits_of_figure_4(_schemes(4.0, 1.0))
    for words in ("FedFix-0.5 outperforms asynchronous", "FedFix-0.5 outperforms synchronous"):
        assert finding(found, words).reproduces
        assert not finding(other, words).reproduces
    assert finding(found, "all clients are alike").reproduces
    assert "16 of 16 comparisons" in finding(found, "FedFix-0.5 outperforms synchronous").evidence
    assert "8 of 8 comparisons on the IID splits" in finding(other, "asynchronous FedAvg in all").evidence


def test_convergence_is_not_monotone_only_if_sampled_runs_rise() -> None:
    """The finding needs more rises at larger step sizes; without rises it is negated."""
    records = read_records("rises")
    assert finding(compare_splits_of_figures_5_to_7(records), "not monotone").reproduces
    falling = [replace(each, sampled=0.0) for each in records]
    assert not finding(compare_splits_of_figures_5_to_7(falling), "not monotone").reproduces


def test_displays_say_that_their_tables_are_stored() -> None:
    """The heading of each display says that its table is stored; charts have different names and captions."""
    displays = [
        over_splits.show_figure_2(),
        over_splits.show_figure_3(),
        over_splits.show_figure_4(),
        over_splits.show_figures_5_to_7(),
    ]
    assert all("stored" in each.heading and each.findings for each in displays)
    charts = [chart for each in displays for chart in each.charts]
    assert len({chart.name for chart in charts}) == len(charts) == 6
    assert all(chart.parts and chart.caption.endswith(".") for chart in charts)
    assert not any(isnan(value) for each in read_records("schemes") for value in (each.excess, each.step_size))
