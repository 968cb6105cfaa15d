"""Worst case over a class of functions on a claim's page: compared with the bound, over the local steps of one
round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.errors import MissingExtra, NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.numbers import format_decimal
from fedtheory.language.quantities import local_step_size
from fedtheory.language.targets import Target, resolve
from fedtheory.language.typesetting import latex
from report.mathml import typeset_formula, typeset_prose
from verify.claim_verdict import ClaimVerdict
from verify.processes import run_in_order
from verify.worst_case import Case, WorstCase, find_worst_case
from verify.worst_case.statement import iterate_statements
from verify.worst_case.vocabulary import SCALES

CLIENTS, LOCAL_STEPS = 2, (1, 2, 3, 4, 5, 6)
_NEGLIGIBLE = 1e-5
"""Fraction of the bound, or of the scale if the bound is zero, below which a worst case is an error of the solver."""


@dataclass(frozen=True)
class StepsRow:
    """Results for one number of local steps."""

    local_steps: int
    step_size: str
    bound: str
    worst_case: str
    ratio: str


@dataclass(frozen=True)
class ConstantsGroup:
    """Results for one choice of the constants."""

    constants: Markup
    rows: Sequence[StepsRow]


@dataclass(frozen=True)
class WorstCaseSection:
    """Content of the section."""

    introduction: Markup
    groups: Sequence[ConstantsGroup]
    remarks: Sequence[str]
    command: str


def make_worst_case_section(verdict: ClaimVerdict, over_steps: Iterable[WorstCase | None]) -> WorstCaseSection | None:
    """Return the section of a claim's page from `compute_over_local_steps`; None for claims that do not bound one
    round.
    """
    claim = verdict.claim
    found = [case for case in over_steps if case is not None]
    if not found:
        return None
    symbols = f"$M={CLIENTS}$, $L=1$"
    return WorstCaseSection(
        introduction=typeset_prose(
            f"One round without noise, {symbols}: the largest left side over all clients' objectives that are "
            f"{found[0].functions}, in any dimension, by semidefinite programming, to about four digits."
        ),
        groups=[_build_group(claim, [each.cases[number] for each in found]) for number in range(len(found[0].cases))],
        remarks=_list_remarks(verdict, found[0]),
        command=f"fedtheory worst-case {claim.id} --clients {CLIENTS} --local-steps {LOCAL_STEPS[-1]}",
    )


def compute_over_local_steps(target: Target, jobs: int = 1) -> Iterator[WorstCase | None]:
    """Yield one result for each number of local steps, None without PEPit; nothing if no bound is positive.

    With several `jobs` other processes start at once; with one, each result is computed on request.
    """
    claim = resolve(target)
    if not _is_positive(claim):
        return iter(())
    tasks = [(target, steps) for steps in LOCAL_STEPS]
    return (None if found is None else WorstCase(claim, *found) for found in run_in_order(_compute_cases, tasks, jobs))


def _is_positive(claim: Claim) -> bool:
    """Return whether a claim bounds one round, and is not always zero."""
    try:
        stated = list(iterate_statements(claim, CLIENTS, LOCAL_STEPS[0])) if claim.kind == "bound" else []
    except NotApplicable:
        return False
    return any(statement.bound > 0 for statement in stated)


def _compute_cases(target: Target, local_steps: int) -> tuple[int, int, str | None, tuple[Case, ...]] | None:
    """Return the fields of a `WorstCase` without the claim, which cannot be pickled."""
    try:
        found = find_worst_case(resolve(target), CLIENTS, local_steps)
    except MissingExtra:
        return None
    return found.clients, found.local_steps, found.reason, found.cases


def _build_group(claim: Claim, cases: Sequence[Case]) -> ConstantsGroup:
    scales = {symbol: quantity for symbol, quantity in claim.notation.items() if quantity in SCALES}
    constants = [typeset_formula(f"{latex(s)}={cases[0].constants[quantity.name]}") for s, quantity in scales.items()]
    rows = [_make_row(steps, case) for steps, case in zip(LOCAL_STEPS, cases, strict=True)]
    return ConstantsGroup(Markup(", ").join(constants), rows)


def _make_row(local_steps: int, case: Case) -> StepsRow:
    step_size, bound = case.constants[local_step_size.name], format_decimal(case.bound, 4)
    if case.worst_case is None:
        return StepsRow(local_steps, step_size, bound, case.status, "")
    if case.worst_case <= _NEGLIGIBLE * (case.bound or 1):
        return StepsRow(local_steps, step_size, bound, "0", "0" if case.bound > 0 else "")
    ratio = "" if case.ratio is None else format_decimal(case.ratio, 3)
    return StepsRow(local_steps, step_size, bound, format_decimal(case.worst_case, 3), ratio)


def _list_remarks(verdict: ClaimVerdict, found: WorstCase) -> list[str]:
    """Return remarks on restrictions: relaxed assumptions, and a larger ratio that instances attain."""
    remarks = []
    if found.relaxed:
        names = " and ".join(name.replace("_", " ") for name in found.relaxed)
        remarks.append(
            f"The {names} is imposed at the points of the round alone, not everywhere: the worst case can only be "
            "smaller than shown."
        )
    if verdict.worst_ratio is not None and verdict.verdict != "refuted":
        remarks.append(
            "For comparison, the largest ratio on exact quadratics, of any number of clients, rounds and local steps, "
            f"with noise and without: {format_decimal(verdict.worst_ratio, 3)}."
        )
    return remarks
