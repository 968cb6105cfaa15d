"""One run of a sweep: each claim's verdict and sides, as rows of the table of results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float, select_arithmetic
from fedtheory.engine.batches import compute_trajectories
from fedtheory.engine.linear_models.trajectory import CONFIDENCE
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import estimate_of
from fedtheory.errors import CodeError, Diverging, FedtheoryError, InputError, NotApplicable
from fedtheory.language import quantities
from fedtheory.language.targets import resolve
from fedtheory.runfile import RunReader, parse_run
from verify.check import Check, check
from verify.check.escalation import escalate, is_short
from verify.sweeps.columns import name_margin_column
from verify.sweeps.sweep_design import Design

VERDICTS = ("violated", "undecided", "holds", "diverging", "not applicable", "invalid", "failed")
"""Verdicts of a claim on a run, the most notable first.

"invalid": the run file is wrong for this combination of values. "failed": an unexpected error, which the reason names.
"""

_Found = TypeVar("_Found")

_MOST = 2**18
"""Largest total size of runs whose moments are computed jointly."""

_ONE_AT_A_TIME = threading.Lock()
"""Lock: the precision of enclosures is global to the process, and a cluster may run several tasks in one process."""


@dataclass(frozen=True)
class Task:
    """Some runs of a sweep, for one worker."""

    design: Design
    targets: Mapping[str, str]
    arithmetic: str
    folder: Path
    first: int
    stop: int
    errors: tuple[str, ...] = ()
    digest: str = ""
    """Digest of the sweep with its data files."""


@dataclass(frozen=True)
class _Member:
    """One of the runs."""

    number: int
    values: Mapping[str, Any]
    """Values of the swept keys."""
    run: Run | dict[str, Any]
    """The run, or the columns with the reason why the values give no valid run."""


def run_task(task: Task) -> tuple[int, list[dict[str, Any]]]:
    """Return the index of the first run, and the rows of all runs: one row for each run and claim."""
    # If a sampled path overflows in floats, rationals decide; warnings would only fill the terminal.
    with _ONE_AT_A_TIME, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return task.first, [row for block in _split_into_blocks(task) for row in _compute_rows(task, block)]


def _split_into_blocks(task: Task) -> Iterator[list[_Member]]:
    """Yield blocks of runs that together need little memory."""
    block: list[_Member] = []
    size = 0
    for number in range(task.first, task.stop):
        values = task.design.values(number)
        run = _guard_step(partial(_run, task, values))
        block.append(_Member(number, values, run))
        size += run.problem.clients * (run.problem.dimension + 1) ** 2 if isinstance(run, Run) else 0
        if size > _MOST:
            yield block
            block, size = [], 0
    if block:
        yield block


def _run(task: Task, values: Mapping[str, Any]) -> Run:
    return _get_reader(task.arithmetic, task.folder, task.digest).read(task.design.tables_with(values))


@lru_cache(maxsize=1)
def _get_reader(arithmetic: str, folder: Path, _digest: str) -> RunReader:
    """Return one reader for all runs of a sweep in a process, so that a shared problem is read and prepared once."""
    return RunReader(select_arithmetic(arithmetic), folder)


def _compute_rows(task: Task, block: list[_Member]) -> Iterator[dict[str, Any]]:
    """Yield the rows of runs with jointly computed moments; the time is divided evenly."""
    begin = perf_counter()
    compute_trajectories(member.run for member in block if isinstance(member.run, Run))
    each = (perf_counter() - begin) / len(block)
    for member in block:
        yield from _list_rows(task, member, each)


def _list_rows(task: Task, member: _Member, spent: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run whose moments took `spent` seconds."""
    begin, run = perf_counter() - spent, member.run
    swept = {"row": member.number, **member.values}
    swept |= {column: value for name in task.errors for column, value in _measure_errors(name, run).items()}
    if not task.targets:
        found = run if isinstance(run, dict) else _describe_divergence(run)
        yield swept | {"claim": None} | found | {"seconds": perf_counter() - begin}
    exactly = cache(partial(_read_exactly, task, member.values))
    for name, target in task.targets.items():
        found = run if isinstance(run, dict) else _guard_step(partial(_check_claim, target, run, exactly))
        end = perf_counter()
        # Shared computations, such as the run itself, count for the first claim.
        yield swept | {"claim": name} | found | {"seconds": end - begin}
        begin = end


def _describe_divergence(run: Run) -> dict[str, Any]:
    """Return the columns of a run without claims: whether it diverges."""
    divergence = None if run.algorithm.clock.is_random else run.attempted_trajectory.divergence
    if divergence is None:
        return {"verdict": None, "reason": None}
    return {"verdict": "diverging", "reason": divergence.reason}


def _measure_errors(name: str, run: Run | dict[str, Any]) -> dict[str, float | None]:
    """Return a quantity on a run, and half of its interval if it is an average over replicas."""
    value = None if isinstance(run, dict) else _measure_error(name, run)
    if value is None or isinstance(run, dict) or not run.groups:
        return {name: value, name_margin_column(name): None}
    groups = np.array([_measure_error(name, group) for group in run.groups], dtype=float)
    spread = estimate_of(groups[None], CONFIDENCE)
    return {name: value, name_margin_column(name): FLOAT.text(spread.high[0] - spread.mean[0])}


def _measure_error(name: str, run: Run) -> float | None:
    """Return a quantity on a run, exact unless it is an average over replicas; None where it has no value."""
    quantity = getattr(quantities, name)
    try:
        value = quantity.on(run)
    except (Diverging, NotApplicable):
        return None
    number = FLOAT.text(plain_float(np.asarray(value).reshape(-1)[0]))
    return None if number is None else float(number) ** (0.5 if quantity.root else 1.0)


def _guard_step(step: Callable[[], _Found]) -> _Found | dict[str, Any]:
    """Return the result of a step, or the columns with the reason if it raises an error."""
    try:
        return step()
    except CodeError as error:
        return {"verdict": "failed", "reason": str(error)}
    except InputError as error:
        return {"verdict": "invalid", "reason": str(error)}
    except FedtheoryError:
        raise
    except Exception as error:
        # An unexpected error must not stop the other runs.
        return {"verdict": "failed", "reason": f"{type(error).__name__}: {error}"}


def _check_claim(target: str, run: Run, exactly: Callable[[], Run]) -> dict[str, Any]:
    """Return the columns of a claim on a run; `exactly` reads the run in rationals."""
    found = check(resolve(target), run)
    # A run that overflows in floats is reported as diverging, unless rationals can compute it as fast.
    decided = found if found.diverges and not is_short(run) else escalate(found, exactly)
    return {"verdict": classify_check(decided), "reason": _explain(decided)} | _encode_sides(decided)


def _read_exactly(task: Task, values: Mapping[str, Any]) -> Run:
    return parse_run(task.design.tables_with(values), RATIONAL, task.folder)


def classify_check(found: Check) -> str:
    """Return the verdict of a check, one of `VERDICTS`."""
    if not found.applicable:
        return "diverging" if found.diverges else "not applicable"
    return {True: "holds", False: "violated", None: "undecided"}[found.holds]


def _explain(found: Check) -> str | None:
    if found.final_decision is None or (found.reason is not None and not found.applicable):
        return found.reason
    return found.final_decision.reason


def _encode_sides(found: Check) -> dict[str, Any]:
    """Return both sides and their ratio where the claim is tightest, in rationals also as exact texts."""
    worst = found.worst
    if worst is None:
        return {}
    numbers = {"lhs": worst.lhs, "rhs": worst.rhs, "ratio": worst.ratio}
    known = {name: number for name, number in numbers.items() if number is not None}
    sides: dict[str, Any] = {name: FLOAT.text(plain_float(number)) for name, number in known.items()}
    if found.arithmetic.is_rigorous:
        sides |= {f"{name}_exact": found.arithmetic.text(number) for name, number in known.items()}
    return sides
