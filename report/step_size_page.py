"""Compare the step sizes that bounds recommend with the best ones, on data sets and families; map dominating terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.numbers import format_decimal
from fedtheory.language.typesetting import latex
from fedtheory.planner import (
    ExactErrors,
    NumericBound,
    RegimeMap,
    StepSizeComparison,
    bound_of_numbers,
    compare,
    covering_claims,
    regime_map,
)
from fedtheory.planner.coverage import find_bounded_error
from fedtheory.runfile import parse_run
from report.figures.formulas import shorten_for_legend
from report.figures.style import CYCLE, Figure, add_legend_below, choose_colour, finish, open_canvas
from verify.instances import FAMILIES, Instance

PLAN_PAGE = "plan.html"
_ERRORS = (q.average_suboptimality, q.average_local_gradient_sq)
"""Errors of the page's bounds, in order: averages over all local steps of a run."""

_LOCAL_STEPS, _ROUNDS, _CLIENTS, _BATCH = 5, 50, 10, 8
_SHARE_OF_LIMIT = 1 / 8
"""Planned step size as a fraction of 1/L."""
_DATA = (("digits:3-8", None), ("breast_cancer", None), ("diabetes", None), ("diabetes", _BATCH))
_FAMILY_MEMBERS = {"by hand": 16, "small quadratics": 24, "small data": 24, "wide quadratics": 10}
"""Number of members of each family that are planned, from the first on."""
_ZERO = 1e-12
"""Fraction of the error at the recommended step size below which the best error is zero, up to rounding."""
_MARKERS = "os^D"
"""Marker shapes; the next one is used when the colours repeat."""
_MAPS = (("eta", "tau"), ("eta", "M"))
_CONSTANTS = {"eta": 0.003, "L": 1, "M": 10, "tau": 5, "T": 100_000, "D": 2, "sigma": 1, "zeta": 0.1}
"""Constants of the maps."""

RUN_FILE = f"""[problem]
kind = "least-squares"
data = "diabetes"
clients = {_CLIENTS}
start = "zeros"

[algorithm]
local_step_size = 0.02
local_steps = {_LOCAL_STEPS}
rounds = {_ROUNDS}
"""


def list_comparable_claims() -> tuple[Claim, ...]:
    """Return the true bounds on these errors as published, corrected or tightened, without steps of their proofs."""
    stated = [claim for claim in covering_claims() if claim.printed or claim.corrects or claim.sharpens]
    return tuple(claim for error in _ERRORS for claim in stated if find_bounded_error(claim) is error)


def list_planned_claims() -> tuple[Claim, ...]:
    """Return the claims that apply to a run on data; raises `MissingExtra` without scikit-learn."""
    covering = {claim_id for case in plan_data_sets() for claim_id in case.compared}
    return tuple(claim for claim in list_comparable_claims() if claim.id in covering)


@dataclass(frozen=True)
class PlannedCase:
    """A run, and the two step sizes of each claim that covers it."""

    name: str
    compared: dict[str, StepSizeComparison]
    """Comparisons by claim."""


@dataclass(frozen=True)
class FamilyRow:
    """The ratios of one claim over the members of a family that it covers."""

    family: str
    claim: str
    members: int
    steps: tuple[float, float, float]
    """Smallest, median and largest ratio of the step sizes."""
    errors: tuple[float, float, float]
    """Smallest, median and largest ratio of the exact errors."""


@dataclass(frozen=True)
class PlanPage:
    """Everything on the page of plans."""

    setting: str
    rows: Sequence[tuple[str, str, Sequence[str]]]
    """Run, claim, and the numbers of `COLUMNS`."""
    families: Sequence[tuple[str, str, Sequence[str]]]
    figures: Sequence[Figure]
    run_file: str
    mapped: str
    """The claim of the maps."""
    constants: str
    """Constants of the maps, in the format of the command line."""


COLUMNS = ("theory's $\\eta$", "best $\\eta$", "ratio", "error at theory's", "best error", "ratio")
FAMILY_COLUMNS = (
    "members",
    "ratio of step sizes: smallest",
    "median",
    "largest",
    "of errors: smallest",
    "median",
    "largest",
)


def make_plan_page() -> PlanPage:
    """Plan runs on data and on families; raises `MissingExtra` without scikit-learn."""
    cases, bound = plan_data_sets(), select_bound_for_maps()
    return PlanPage(
        setting=(
            rf"Least squares, {_CLIENTS} clients, $\tau={_LOCAL_STEPS}$ local steps, $T={_ROUNDS}$ rounds from zero; "
            r"constants are those of the run at $\eta=1/(8L)$, full gradients unless batches are named."
        ),
        rows=[(case.name, claim, _list_numbers(found)) for case in cases for claim, found in case.compared.items()],
        families=[(row.family, row.claim, _list_family_numbers(row)) for row in compare_families()],
        figures=[draw_ratios(cases), *draw_maps(bound)],
        run_file=RUN_FILE,
        mapped=bound.claim.id,
        constants=" ".join(f"{name}={value}" for name, value in _CONSTANTS.items()),
    )


def _list_numbers(found: StepSizeComparison) -> list[str]:
    chosen = found.ratio * found.exact.step_size
    pairs = (chosen, found.exact.step_size, found.ratio, found.error_at_choice, found.exact.error, found.error_ratio)
    return [format_decimal(value, 3) for value in pairs]


def _list_family_numbers(row: FamilyRow) -> list[str]:
    return [str(row.members), *(format_decimal(value, 3) for value in (*row.steps, *row.errors))]


@cache
def plan_data_sets() -> tuple[PlannedCase, ...]:
    """Return the planned runs on each data set, in both splits."""
    return tuple(
        PlannedCase(_name_case(data, split, batch), compare_step_sizes(make_data_run(data, split, batch)))
        for data, batch in _DATA
        for split in ("iid", "dirichlet")
    )


def _name_case(data: str, split: str, batch: int | None) -> str:
    return ", ".join([data.replace("_", " "), split] + ([] if batch is None else [f"batches of {batch}"]))


def make_data_run(data: str, split: str, batch: int | None) -> Run:
    """Return least squares on a data set, with FedAvg at a fraction of 1/L."""
    problem = {"kind": "least-squares", "data": data, "clients": _CLIENTS, "split": split, "start": "zeros"}
    algorithm = {"local_step_size": 1, "local_steps": _LOCAL_STEPS, "rounds": _ROUNDS}
    batches = {} if batch is None else {"batch": batch}
    run = parse_run({"problem": problem | batches, "algorithm": algorithm}, FLOAT)
    return run.with_step_factor(_SHARE_OF_LIMIT / run.smoothness)


def compare_step_sizes(run: Run) -> dict[str, StepSizeComparison]:
    """Compare the best step size of each claim that covers a run with the exact one, in floats."""
    errors = ExactErrors(run.as_floats())
    found = {claim.id: compare(claim, errors) for claim in list_comparable_claims()}
    return {claim_id: comparison for claim_id, comparison in found.items() if comparison is not None}


@cache
def compare_families() -> tuple[FamilyRow, ...]:
    """Return the ratios over the members of each family; members whose best exact error is zero are skipped."""
    return tuple(row for name, count in _FAMILY_MEMBERS.items() for row in _list_rows(name, count))


def _list_rows(family: str, count: int) -> Iterator[FamilyRow]:
    members = [_compare_member(family, number) for number in range(min(count, FAMILIES[family].size))]
    for claim in list_planned_claims():
        found = [member[claim.id] for member in members if claim.id in member]
        known = [comparison for comparison in found if comparison.exact.error > _ZERO * comparison.error_at_choice]
        if known:
            steps = _summarise_values([comparison.ratio for comparison in known])
            yield FamilyRow(family, claim.id, len(known), steps, _summarise_values([c.error_ratio for c in known]))


def _compare_member(family: str, number: int) -> dict[str, StepSizeComparison]:
    try:
        return compare_step_sizes(Instance(family, number).run())
    except (NotApplicable, Diverging):
        return {}


def _summarise_values(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), float(np.median(values)), max(values)


def draw_ratios(cases: Sequence[PlannedCase]) -> Figure:
    """Draw the recommended step size over the best one, for each run and claim."""
    with open_canvas() as (canvas, axes):
        for number, claim in enumerate(list_planned_claims()):
            places = [place for place, case in enumerate(cases) if claim.id in case.compared]
            ratios = [cases[place].compared[claim.id].ratio for place in places]
            marker = _MARKERS[number // len(CYCLE) % len(_MARKERS)]
            axes.plot(ratios, places, marker, color=choose_colour(number), label=claim.id)
        axes.axvline(1, color="k", linewidth=1)
        axes.set(xscale="log", xlabel="theory's step size / best step size")
        axes.set_yticks(range(len(cases)), [case.name for case in cases], fontsize=8)
        axes.invert_yaxis()
        axes.legend(loc="upper center", bbox_to_anchor=(0.3, -0.2), ncols=2, fontsize=7)
    caption = "Step size that minimises each bound over the one that minimises the exact error of the same run."
    return finish(canvas, "plan-ratios", caption)


def select_bound_for_maps() -> NumericBound:
    """Return the first of the page's bounds that the constants of the maps determine."""
    for claim in list_planned_claims():
        try:
            return bound_of_numbers(claim, _CONSTANTS)
        except NotApplicable:
            continue
    raise NotApplicable("no bound of the page is determined by the constants of the maps")


def draw_maps(bound: NumericBound) -> list[Figure]:
    """Draw the dominating terms of a bound, over pairs of its numbers."""
    return [draw_regimes(bound.claim, regime_map(bound, *symbols), name="-".join(symbols)) for symbols in _MAPS]


def draw_regimes(claim: Claim, regimes: RegimeMap, name: str = "map") -> Figure:
    """Draw the dominating term of a bound over two of its numbers; pale where a condition fails."""
    from matplotlib.colors import to_rgb

    shown = sorted(set(regimes.dominating.ravel().tolist()) - {-1})
    painted = np.zeros((*regimes.dominating.shape, 4))
    for number in shown:
        for part, opacity in ((regimes.admissible, 1.0), (~regimes.admissible, 0.3)):
            pale = [1 - opacity * (1 - light) for light in to_rgb(choose_colour(number))]
            painted[(regimes.dominating == number) & part] = (*pale, 1.0)
    with open_canvas() as (canvas, axes):
        axes.grid(visible=False)
        axes.pcolormesh(
            regimes.across_values, regimes.up_values, painted, shading="nearest", edgecolors="face", linewidth=0.4
        )
        for number in shown:
            axes.plot([], [], "s", color=choose_colour(number), label=shorten_for_legend(latex(regimes.terms[number])))
        axes.set(xscale="log", yscale="log", xlabel=_write_name(regimes.across), ylabel=_write_name(regimes.up))
        axes.set_title(f"dominating term of {claim.id}", fontsize=9)
        add_legend_below(canvas, axes)
    named = "; ".join(f"${latex(regimes.terms[number])}$" for number in shown)
    caption = f"The dominating term of the bound of {claim.id}, pale where a condition fails: {named}."
    return finish(canvas, f"{claim.slug}-regimes-{name}", caption)


def _write_name(name: str) -> str:
    """Write a name with spaces in place of underscores."""
    return name.replace("_", " ")
