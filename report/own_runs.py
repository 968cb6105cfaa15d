"""Claims on runs of one's own: which conditions hold, both sides, and how they change with what one can choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from markupsafe import Markup

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, InputError
from fedtheory.language.claim import Claim
from fedtheory.language.numbers import decimal
from fedtheory.language.typesetting import latex
from fedtheory.runfile import read_run
from report.figures.bounds import BoundCurve, by_terms, over_rounds
from report.figures.clock import over_clock_time
from report.figures.comparison import Curve, bounds_together
from report.figures.ratios import ratio_over
from report.figures.style import Figure
from report.mathml import formula, prose
from verify.check import Check, check
from verify.check.nearby import nearby_runs
from verify.check.settle import settle

_FACTORS = (1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16)
"""Of the planned step size."""


@dataclass(frozen=True)
class OwnRun:
    """A run file."""

    file: str

    @property
    def name(self) -> str:
        """How pages call it."""
        return Path(self.file).stem

    @property
    def slug(self) -> str:
        """Its name, as part of names of files and figures."""
        return "run-" + re.sub(r"[^A-Za-z0-9]+", "-", self.name).strip("-")

    @property
    def page(self) -> str:
        """File name of its own page."""
        return f"{self.slug}.html"

    @cached_property
    def run(self) -> Run:
        """The run in floats; `InputError` where the file has none."""
        return read_run(self.file, FLOAT)

    def exactly(self) -> Run:
        """The run in rationals."""
        return read_run(self.file, RATIONAL)


@dataclass(frozen=True)
class Condition:
    """A condition on a run."""

    statement: Markup
    holds: str
    slack: str


@dataclass(frozen=True)
class Side:
    """A number of a claim on a run."""

    name: Markup
    value: str


@dataclass(frozen=True)
class RunSection:
    """A claim on a run."""

    own: OwnRun
    claim: Claim
    outcome: str
    """In a word: holds, violated, undecided, not applicable."""
    remark: Markup
    conditions: Sequence[Condition]
    sides: Sequence[Side]
    regions: Sequence[str]
    figures: Sequence[Figure]
    curve: BoundCurve | None
    """Both sides over rounds, where the claim is a bound that applies."""
    left: str
    right: str
    ratio: str


def own_runs(files: Sequence[str]) -> list[OwnRun]:
    """The runs of some files; `InputError` for a file that is none, and where two have one name."""
    runs = [OwnRun(file) for file in files]
    for number, own in enumerate(runs):
        if own.slug in {other.slug for other in runs[:number]}:
            raise InputError("--run", f"expected files of different names, got {own.name} twice")
        _ = own.run
    return runs


def run_section(claim: Claim, own: OwnRun) -> RunSection:
    """What there is to say of a claim on a run."""
    found = settle(check(claim, own.run, nearby_runs(own.run)), own.exactly)
    curve = _curve(claim, own.run) if found.applicable and _is_bound(found) else None
    worst = found.worst
    return RunSection(
        own=own,
        claim=claim,
        outcome=_outcome(found),
        remark=prose(_remark(found)),
        conditions=[_condition(found, n) for n in range(len(found.conditions))],
        sides=[] if worst is None else list(_sides(found)),
        regions=[f"{name.replace('_', ' ')}: on {region}" for name, region in found.regions.items()],
        figures=[] if curve is None else _figures(claim, own, curve),
        curve=curve,
        left="" if worst is None else decimal(worst.lhs),
        right="" if worst is None else decimal(worst.rhs),
        ratio="" if worst is None or worst.ratio is None else decimal(worst.ratio, 3),
    )


def together(own: OwnRun, curves: Mapping[str, Curve]) -> Figure | None:
    """The bounds of several claims, by what people call them, on one run; None where fewer than two apply."""
    if len(curves) < 2:
        return None
    words = f"The bounds that apply to {own.name} over rounds, each beside its own exact left side."
    return bounds_together(f"{own.slug}-together", curves, words)


def _is_bound(found: Check) -> bool:
    return found.worst is not None and found.worst.relation.operator in ("<=", "<")


def _outcome(found: Check) -> str:
    if not found.applicable:
        return "not applicable"
    return {True: "holds", False: "violated", None: "undecided"}[found.holds]


def _remark(found: Check) -> str:
    if found.settlement is not None:
        return found.settlement.reason
    if found.reason:
        return f"{found.reason}."
    place = "" if found.worst is None else ", ".join(f"{axis} {value}" for axis, value in found.worst.index.items())
    return f"Worst at {place}." if place else ""


def _condition(found: Check, number: int) -> Condition:
    condition = found.conditions[number]
    holds = {True: "yes", False: "no", None: "undecided"}[condition.holds]
    return Condition(formula(latex(condition.expression)), holds, decimal(condition.slack))


def _sides(found: Check) -> Iterator[Side]:
    worst = found.worst
    assert worst is not None
    yield Side(prose("left side"), decimal(worst.lhs))
    yield Side(prose("right side"), decimal(worst.rhs))
    for term in worst.terms if len(worst.terms) > 1 else ():
        yield Side(prose(f"its term ${term.latex}$"), decimal(term.value))
    if worst.ratio is not None:
        yield Side(prose("ratio"), decimal(worst.ratio))


def _curve(claim: Claim, run: Run) -> BoundCurve | None:
    """Both sides over rounds 1, 2, 4, .. T, wherever the claim applies."""
    last = run.algorithm.rounds
    horizons = [*(2**power for power in range(last.bit_length()) if 2**power < last), last]
    known = {horizon: _on(claim, partial(run.with_rounds, horizon)) for horizon in horizons}
    shown = {horizon: found for horizon, found in known.items() if found is not None and _is_positive(found)}
    return BoundCurve(list(shown), list(shown.values())) if shown else None


def _is_positive(found: Check) -> bool:
    worst = found.worst
    return worst is not None and plain_float(worst.lhs) > 0 and plain_float(worst.rhs) > 0


def _on(claim: Claim, run: Callable[[], Run]) -> Check | None:
    """The check on a run with other settings; None where the claim does not apply or there is no such run."""
    try:
        found = check(claim, run())
    except FedtheoryError:
        return None
    return found if found.applicable and found.worst is not None else None


def _figures(claim: Claim, own: OwnRun, curve: BoundCurve) -> list[Figure]:
    name, words = f"{claim.slug}-{own.slug}", f"On {own.name}."
    figures = [over_rounds(name, curve, words), by_terms(name, curve, words)]
    figures += [*_over_step_sizes(claim, own, name), *_over_local_steps(claim, own, name)]
    if not own.run.algorithm.clock.is_synchronous:
        figures.append(over_clock_time(name, {own.name: own.run}, words))
    return figures


def _over_step_sizes(claim: Claim, own: OwnRun, name: str) -> list[Figure]:
    planned = plain_float(max(own.run.algorithm.work.step_sizes))
    found = {f * planned: _on(claim, partial(own.run.with_step_factor, FLOAT.number(f, "step"))) for f in _FACTORS}
    words = f"How tight the bound is over the local step size, all else as in {own.name}."
    return _ratios(f"{name}-step", found, planned, r"local step size $\eta$", words)


def _over_local_steps(claim: Claim, own: OwnRun, name: str) -> list[Figure]:
    work, clients = own.run.algorithm.work, own.run.problem.clients
    steps, size = work.common_steps, work.common_step_size
    if steps is None or size is None:
        return []
    counts = sorted({1, 2, 4, 8, steps, 2 * steps})
    found = {float(k): _on(claim, partial(own.run.with_work, (k,) * clients, size)) for k in counts}
    words = f"How tight the bound is over the number of local steps, all else as in {own.name}."
    return _ratios(f"{name}-local-steps", found, float(steps), r"local steps $\tau$", words)


def _ratios(name: str, found: Mapping[float, Check | None], planned: float, setting: str, words: str) -> list[Figure]:
    """The figure of ratios; none where the claim applies to fewer than two of the runs."""
    known = {v: c.worst.ratio for v, c in found.items() if c is not None and c.worst is not None}
    ratios = {value: plain_float(ratio) for value, ratio in known.items() if ratio is not None and ratio > 0}
    left_out = len(found) - len(ratios)
    more = f" Left out: {left_out} where the claim does not apply, or no ratio makes sense." if left_out else ""
    return [ratio_over(name, ratios, planned, setting, words + more)] if len(ratios) > 1 else []
