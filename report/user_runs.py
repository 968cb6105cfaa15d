"""Evaluate claims on user-defined runs: conditions, both sides, and their dependence on step size and local steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from markupsafe import Markup

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.numbers import format_decimal
from fedtheory.language.quantities import max_drift
from fedtheory.language.targets import Target, resolve
from fedtheory.language.typesetting import latex
from fedtheory.planner.divergence import describe_divergence
from fedtheory.runfile import read_run
from report.curves import BoundCurve, check_if_applicable, compute_curve_up_to
from report.figures.bounds import draw_by_terms, draw_over_rounds
from report.figures.comparison import ComparedBound, draw_bounds
from report.figures.drift import draw_inside_rounds, draw_over_local_steps
from report.figures.errors import draw_exact_error
from report.figures.models import draw_loss_and_accuracy
from report.figures.ratios import draw_ratio
from report.figures.style import Figure
from report.mathml import typeset_formula, typeset_prose
from verify.check import Check
from verify.check.escalation import check_and_escalate
from verify.processes import run_in_order

_LISTED, _DRIFTING = 2000, 100
"""Largest numbers of rounds whose errors, and whose drifts, are drawn."""
_FACTORS = (1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16)
"""Multiples of the planned step size."""


@dataclass(frozen=True)
class UserRun:
    """A run file."""

    file: str

    @property
    def name(self) -> str:
        """Return its name on pages."""
        return Path(self.file).stem

    @property
    def slug(self) -> str:
        """Return its name as part of file and figure names."""
        return "run-" + re.sub(r"[^A-Za-z0-9]+", "-", self.name).strip("-")

    @property
    def page(self) -> str:
        """Return the file name of its page."""
        return f"{self.slug}.html"

    @property
    def run(self) -> Run:
        """Return the run in floats; raises `InputError` for an invalid file."""
        return _read_file(self.file)

    def with_changes(self, *, rounds: int | None = None, factor: float = 1, steps: int | None = None) -> Run:
        """Return the run with other rounds, a multiple of its step size, or a common number of local steps."""
        return _change_run(self.file, rounds, factor, steps)

    @property
    def divergence(self) -> str:
        """Return the reason of a divergence, with the largest stable step size; empty without divergence."""
        return "; ".join(describe_divergence(self.run))

    def convert_to_rationals(self) -> Run:
        """Return the run in rationals."""
        return read_run(self.file, RATIONAL)


@dataclass(frozen=True)
class Condition:
    """A condition on a run."""

    statement: Markup
    holds: str
    slack: str


@dataclass(frozen=True)
class Side:
    """One side of a claim, or a term of it, on a run."""

    name: Markup
    value: str


@dataclass(frozen=True)
class RunSummary:
    """Summary of a claim on the page of a run."""

    outcome: str
    """One of: holds, violated, undecided, not applicable."""
    remark: Markup
    left: str
    right: str
    ratio: str
    curve: ComparedBound | None
    """Both sides over rounds, if the claim is an applicable bound."""
    conditions: Sequence[Condition]


@dataclass(frozen=True)
class RunSection:
    """A claim on a run."""

    own: UserRun
    summary: RunSummary
    sides: Sequence[Side]
    regions: Sequence[str]
    figures: Sequence[Figure]


@cache
def _read_file(file: str) -> Run:
    return read_run(file, FLOAT)


@cache
def _change_run(file: str, rounds: int | None, factor: float, steps: int | None) -> Run:
    """Return the run with another setting; cached for all claims of a process."""
    run = _read_file(file)
    run = run if rounds is None else run.with_rounds(rounds)
    run = run if factor == 1 else run.with_step_factor(FLOAT.number(factor, "step"))
    if steps is None:
        return run
    return run.with_work((steps,) * run.problem.clients, run.algorithm.work.common_step_size)


def read_runs(files: Sequence[str]) -> list[UserRun]:
    """Read run files; raises `InputError` for an invalid file, or for two files with one name."""
    runs = [UserRun(file) for file in files]
    for number, own in enumerate(runs):
        if own.slug in {other.slug for other in runs[:number]}:
            raise InputError("--run", f"expected files of different names, got {own.name} twice")
        _ = own.run
    return runs


def make_run_sections(target: Target, runs: Sequence[UserRun], jobs: int = 1) -> Iterator[RunSection]:
    """Return the sections of a claim on each run.

    With several `jobs` other processes start at once; with one, each section is computed on request.
    """
    return run_in_order(_build_section, [(target, own) for own in runs], jobs)


def _build_section(target: Target, own: UserRun) -> RunSection:
    return make_run_section(resolve(target), own)


def make_run_section(claim: Claim, own: UserRun) -> RunSection:
    """Return the section of a claim on a run."""
    with claim.typesetting():
        found = check_and_escalate(claim, own.run, own.convert_to_rationals)
        curve = _compute_curve(claim, own) if found.applicable and _is_bound(found) else None
        worst = found.worst
        summary = RunSummary(
            outcome=_describe_outcome(found),
            remark=typeset_prose(_describe_finding(found)),
            left="" if worst is None else format_decimal(worst.lhs),
            right="" if worst is None else format_decimal(worst.rhs),
            ratio="" if worst is None or worst.ratio is None else format_decimal(worst.ratio, 3),
            curve=None if curve is None else ComparedBound(curve.horizons, curve.left, curve.right),
            conditions=[_build_condition(found, n) for n in range(len(found.conditions))],
        )
        return RunSection(
            own=own,
            summary=summary,
            sides=[] if worst is None else list(_list_sides(found)),
            regions=[f"{name.replace('_', ' ')}: on {region}" for name, region in found.regions.items()],
            figures=[] if curve is None else _draw_figures(claim, own, curve),
        )


def draw_together(own: UserRun, curves: Mapping[str, ComparedBound]) -> Figure | None:
    """Draw the bounds of several claims on one run, by displayed names; None if fewer than two apply."""
    if len(curves) < 2:
        return None
    words = f"Bounds that apply to the run “{own.name}”, over rounds, each with its {own.run.errors_are} left side."
    return draw_bounds(f"{own.slug}-together", curves, words)


def _is_bound(found: Check) -> bool:
    return found.worst is not None and found.worst.relation.operator in ("<=", "<")


def _describe_outcome(found: Check) -> str:
    if not found.applicable:
        return "not applicable"
    return {True: "holds", False: "violated", None: "undecided"}[found.holds]


def _describe_finding(found: Check) -> str:
    """Describe the decision on a run: the worst place, and the arithmetic that decided."""
    if found.reason and found.final_decision is None:
        return f"{found.reason}."
    place = "" if found.worst is None else ", ".join(f"{axis} {value}" for axis, value in found.worst.index.items())
    sentences = [f"worst at {place}"] if place else []
    if found.final_decision is not None:
        sentences.append(found.final_decision.reason)
    elif found.decided_in is not None:
        sentences.append(f"decided {found.decided_in}")
    return " ".join(f"{words[0].upper()}{words[1:]}." for words in sentences)


def _build_condition(found: Check, number: int) -> Condition:
    condition = found.conditions[number]
    holds = {True: "yes", False: "no", None: "undecided"}[condition.holds]
    return Condition(typeset_formula(latex(condition.expression)), holds, format_decimal(condition.slack))


def _list_sides(found: Check) -> Iterator[Side]:
    worst = found.worst
    assert worst is not None
    yield Side(typeset_prose("left side"), format_decimal(worst.lhs))
    if (seen := found.estimate) is not None:
        words = f"its {seen.confidence:.0%} interval, over {seen.replicas} replicas"
        yield Side(typeset_prose(words), f"{format_decimal(seen.low)} to {format_decimal(seen.high)}")
    yield Side(typeset_prose("right side"), format_decimal(worst.rhs))
    for term in worst.terms if len(worst.terms) > 1 else ():
        yield Side(typeset_prose(f"its term ${term.latex}$"), format_decimal(term.value))
    if worst.ratio is not None:
        yield Side(typeset_prose("ratio"), format_decimal(worst.ratio))


def _compute_curve(claim: Claim, own: UserRun) -> BoundCurve | None:
    return compute_curve_up_to(claim, own.run.algorithm.rounds, lambda rounds: own.with_changes(rounds=rounds))


def _draw_figures(claim: Claim, own: UserRun, curve: BoundCurve) -> list[Figure]:
    name, words = f"{claim.slug}-{own.slug}", f"On the run “{own.name}”."
    figures = [draw_over_rounds(name, curve, words), draw_by_terms(name, curve, words)]
    figures += [*_draw_over_step_sizes(claim, own, name), *_draw_over_local_steps(claim, own, name)]
    drift = max_drift is claim.notation.get(claim.relations[0].left)
    figures += _draw_possible(partial(_draw_drift, name, own, claim if drift else None))
    return (
        figures
        if own.run.algorithm.clock.is_synchronous
        else [*figures, *_draw_possible(partial(_draw_error, name, own))]
    )


def draw_run_figures(own: UserRun) -> list[Figure]:
    """Draw the exact error of a run over rounds or clock time, and the drift inside its rounds."""
    figures = (_draw_error, _draw_loss, _draw_drift)
    return _draw_possible(*(partial(figure, own.slug, own) for figure in figures))


def _draw_possible(*figures: Callable[[], Figure]) -> list[Figure]:
    """Draw the figures that the run has: a diverging run, or one with unequal local steps, has no drift."""
    drawn = []
    for figure in figures:
        try:
            drawn.append(figure())
        except (Diverging, NotApplicable, InputError):
            continue
    return drawn


def _draw_error(name: str, own: UserRun) -> Figure:
    run, words = _select_rounds(own, _LISTED)
    how = (
        "exact for each schedule, averaged over sampled ones"
        if run.algorithm.clock.is_random
        else _describe_errors(run)
    )
    return draw_exact_error(name, run, f"The expected error, {how}. {words}")


def _draw_loss(name: str, own: UserRun) -> Figure:
    run, words = _select_rounds(own, _LISTED)
    return draw_loss_and_accuracy(
        name,
        run,
        f"Loss and accuracy (the fraction of rows that are classified correctly), {_describe_errors(run)}. {words}",
    )


def _describe_errors(run: Run) -> str:
    """Return how the errors of a run are computed."""
    return f"by Monte-Carlo over {run.replicas} replicas, with 95 % intervals" if run.is_estimated else "exact"


def _draw_drift(name: str, own: UserRun, bound: Claim | None = None) -> Figure:
    """Draw the drift, with its bound if there is one."""
    if own.run.algorithm.work.common_steps is None:
        raise NotApplicable("the clients take different numbers of local steps")
    run, words = _select_rounds(own, _DRIFTING)
    return draw_inside_rounds(name, run, words) if bound is None else draw_over_local_steps(name, bound, run, words)


def _select_rounds(own: UserRun, most: int) -> tuple[Run, str]:
    """Return the run with at most `most` rounds, and a description."""
    if own.run.algorithm.rounds <= most:
        return own.run, f"On the run “{own.name}”."
    return own.with_changes(rounds=most), f"On the first {most} rounds of {own.name}."


def _draw_over_step_sizes(claim: Claim, own: UserRun, name: str) -> list[Figure]:
    """Draw the ratio of exact error to bound over the local step size."""
    planned = plain_float(max(own.run.algorithm.work.step_sizes))
    found = {f * planned: check_if_applicable(claim, partial(own.with_changes, factor=f)) for f in _FACTORS}
    words = f"Ratio of left side to bound over the local step size; all other settings are those of {own.name}."
    return _draw_ratios(f"{name}-step", found, planned, r"local step size $\eta$", words)


def _draw_over_local_steps(claim: Claim, own: UserRun, name: str) -> list[Figure]:
    """Draw the ratio of exact error to bound over the number of local steps."""
    work = own.run.algorithm.work
    steps = work.common_steps
    if steps is None or work.common_step_size is None:
        return []
    counts = sorted({1, 2, 4, 8, steps, 2 * steps})
    found = {float(k): check_if_applicable(claim, partial(own.with_changes, steps=k)) for k in counts}
    words = f"Ratio of left side to bound over the number of local steps; all other settings are those of {own.name}."
    return _draw_ratios(f"{name}-local-steps", found, float(steps), r"local steps $\tau$", words)


def _draw_ratios(
    name: str, found: Mapping[float, Check | None], planned: float, setting: str, words: str
) -> list[Figure]:
    """Return the figure of ratios; empty if the claim applies to fewer than two of the runs."""
    known = {v: c.worst.ratio for v, c in found.items() if c is not None and c.worst is not None}
    ratios = {value: plain_float(ratio) for value, ratio in known.items() if ratio is not None and ratio > 0}
    left_out = len(found) - len(ratios)
    more = (
        f" Not drawn: {left_out} of {len(found)} values, for which the claim does not apply or the ratio is undefined."
        if left_out
        else ""
    )
    return [draw_ratio(name, ratios, planned, setting, words + more)] if len(ratios) > 1 else []
