"""Selection of figures for claims, and the experiments behind them."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq
from scipy.stats import linregress
from scipy.stats import t as student

from fedtheory.arithmetic import plain_float
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find, list_sharper_claims
from fedtheory.sources.lecture27.exhibits import TOTAL, compute_budget_cases
from fedtheory.sources.liu2022.exhibits import CLIENTS, ITERATIONS, fit_slope, measure_speed_ups
from report import gallery
from report.exhibits import collect_exhibits
from report.figures.rates import draw_over_clients, draw_rate
from verify.check.measured_ladders import MeasuredLadder
from verify.check.rates import LadderLevel, RateCheck

FIGURES = {
    "liu2022:architecture.ps": ["communication"],
    "liu2022:cor-2.speedup": ["speed-up-alike", "speed-up-unlike"],
    "liu2022:thm-1": ["over-rounds", "terms", "map"],
    "liu2022:lemma-1": ["drift"],
    "liu2022:cor-2.step": [],
    "lecture27:thm-1": ["along-path"],
    "lecture27:tau-choice": ["budget"],
    "vlaski2023:thm-5.1.limit.steady": ["steady-state"],
    "vlaski2023:problem-5.1.limit": ["limits"],
    "renard2022:thm-2.1": ["over-rounds", "terms", "map"],
    "renard2022:property-2.1": [],
    "fraboni2022:example-1": ["distances"],
    "fraboni2022:example-2": ["cycles"],
}
"""Suffixes of the names of a claim's figures, without ladders."""


def drawn(claim: Claim) -> list[str]:
    """Return suffixes of the names of the figures of a claim, from its paper and by its statement."""
    figures = [figure for shown in collect_exhibits(claim) for figure in shown.figures]
    figures += [figure for suits, draw in gallery._FIGURES if suits(claim) for figure in draw(claim)]
    for figure in figures:
        assert figure.svg.startswith("<svg")
        assert figure.caption.endswith(".")
    return [figure.name.removeprefix(f"{claim.slug}-") for figure in figures]


@pytest.mark.long
@pytest.mark.parametrize("claim_id", FIGURES)
def test_claims_get_the_figures_that_they_call_for(claim_id: str) -> None:
    """Claims have exactly the expected figures."""
    assert drawn(find(claim_id)) == FIGURES[claim_id]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ((0, 0, 0), "exactly zero on all of them"),
        ((0, 2, 1), "On 1 of the 3 levels"),
        ((4, 2, 1), "on the instance of this page."),
    ],
)
def test_a_ladder_says_what_a_logarithmic_axis_cannot_show(measured: tuple[int, ...], said: str) -> None:
    """Levels on which the quantity is zero are described, and drawn if all are."""
    claim = find("vlaski2023:claim.effective-step")
    levels = tuple(LadderLevel(fmpq(1, 2**n), fmpq(value), fmpq(1, 4**n)) for n, value in enumerate(measured))
    figure = draw_rate(claim, RateCheck(True, levels, 0.0, None))
    assert said in figure.caption
    assert figure.caption.count("zero") == (0 in measured)


def test_other_figures_name_what_is_zero() -> None:
    """Figures name zero curves, such as drift with one local step."""
    drift, *_ = gallery._draw_tightened(find("liu2022:thm-3.drift"))
    assert drift.caption.endswith(
        "Zero, below these axes: the exact value (local steps: 1); tightened (thm-3.drift.sharp) (local steps: 1)."
    )
    assert "Zero" not in gallery._draw_tightened(find("renard2022:lemma-2.3"))[0].caption
    _, terms = gallery._draw_stale_bounds(find("fraboni2022:thm-2"))
    assert r"Zero here, and not drawn: $8 L \frac1N" in terms.caption
    assert terms.caption.endswith(r"(\bar\theta^n)-F_j(\theta_j^*)]$.")


def test_the_map_ends_at_the_limit_of_the_claim() -> None:
    """The map ends at 1/(4L) for one theorem, and at 1/L for the other."""
    assert gallery._find_step_limit(find("renard2022:thm-2.1")) == 0.25
    assert gallery._find_step_limit(find("liu2022:thm-1")) == 1


def test_speed_up_is_linear_within_the_limit_and_ends_beyond_it() -> None:
    """The error falls like N^(-1/2) while K is within its limit; beyond it, more clients of two kinds increase it."""
    for alike in (True, False):
        one_step = measure_speed_ups(alike=alike)[0]
        assert one_step.local_steps**4 * one_step.clients[one_step.inside - 1] ** 3 <= ITERATIONS
        assert one_step.clients[one_step.inside] > one_step.limit
        slope = fit_slope(one_step, 0, one_step.inside)
        assert slope is not None
        assert slope[0] == pytest.approx(-0.5, abs=0.01)
        assert slope[1] < 0.01
    many = measure_speed_ups(alike=False)[-1]
    assert many.clients[0] > many.limit
    assert many.errors[-1] > 3 * many.errors[0]


def test_fitted_slopes_have_the_interval_of_linear_regression() -> None:
    """The slope and half its 95 % interval agree with SciPy's regression; two points have no interval."""
    curve = measure_speed_ups(alike=False)[1]
    fit = linregress(np.log(curve.clients), np.log(curve.errors))
    reach = student.ppf(0.975, len(curve.clients) - 2) * fit.stderr
    assert fit_slope(curve, 0, None) == pytest.approx((fit.slope, reach), rel=1e-9)
    assert fit_slope(curve, 0, 2) is None


def test_speed_ups_cover_the_range() -> None:
    """Speed-up is measured for one to 256 clients; for two kinds from two on."""
    assert (CLIENTS[0], CLIENTS[-1]) == (1, 256)
    assert measure_speed_ups(alike=True)[0].clients == CLIENTS
    assert measure_speed_ups(alike=False)[0].clients == CLIENTS[1:]


def test_no_budget_is_exceeded_and_the_controller_stays_near_the_best() -> None:
    """The controller respects all budgets, and is close to the best on every data set and split."""
    cases = compute_budget_cases()
    worst = dict.fromkeys(cases[0].comparison.fixed, 1.0)
    for case in cases:
        comparison = case.comparison
        assert all(run.spent[-1] <= TOTAL for run in (*comparison.fixed.values(), comparison.adaptive))
        best = comparison.fixed[comparison.best_fixed].final
        assert plain_float(comparison.adaptive.final) <= 1.5 * plain_float(best)
        for steps, run in comparison.fixed.items():
            worst[steps] = max(worst[steps], plain_float(run.final / best))
    assert min(worst.values()) > 1.05


def test_every_quantity_of_a_figure_is_measured_somewhere() -> None:
    """Every quantity of a figure is used by some claim."""
    used = {quantity for claim in all_claims().values() for quantity in claim.notation.values()}
    shown = (q.max_drift, q.average_suboptimality, q.average_local_gradient_sq, q.limiting_distance_sq)
    assert set(shown) <= used


def test_a_rate_that_an_explicit_bound_tightens_has_no_figure_beside_it() -> None:
    """(5.57) is an O(.) statement and its explicit form a bound, so there is no figure with both."""
    rate = find("vlaski2023:thm-5.1.limit")
    assert rate.rate is not None
    assert [claim.id for claim in list_sharper_claims(rate)] == ["vlaski2023:thm-5.1.limit.explicit"]
    assert gallery._draw_tightened(rate) == []


def test_a_rate_in_the_number_of_clients_begins_with_the_error_over_it() -> None:
    """A rate in the number of clients has a figure of the error over it; a rate in rounds has none."""
    claim = find("liu2022:cor-2.speedup.slope")
    rounds, clients = claim.rate.variables if claim.rate is not None else ()
    levels = tuple(LadderLevel(fmpq(1), fmpq(1, n), fmpq(1, n), (fmpq(n),)) for n in (1, 2, 4, 8))
    ladder = MeasuredLadder((clients,), levels, (1.0, 2.0, 4.0, 8.0), grows=True)
    figure = draw_over_clients(claim, RateCheck(True, levels, 1.0, None, (ladder,)))
    assert figure is not None
    assert figure.name == f"{claim.slug}-over-clients"
    assert figure.caption.endswith("Fitted slope on the last half: -1.000.")
    other = MeasuredLadder((rounds,), levels, (1.0, 2.0, 4.0, 8.0), grows=True)
    assert draw_over_clients(claim, RateCheck(True, levels, 1.0, None, (other,))) is None
