"""Confirm counterexamples to an answer in exact arithmetic, and shrink them with a fixed amount of work.

No step depends on time, so the same answer gets the same counterexample on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_toml
from verify.check.escalation import check_rigorously
from verify.effort import measure_work
from verify.falsify import shrink
from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    count_clients,
    evaluate_run,
    find_most_steps,
    get,
    write_table,
)
from verify.falsify.search_state import estimate_exact_cost, halve_while_clear
from verify.grade.typed_relation import write_relation

_CONFIRMED = 4
"""Number of float violations that are checked exactly, the cheapest first."""
_SHRINKING = 8.0
"""Seconds of work for shrinking."""
_LIGHT = 200
"""Number of multiplications of short numbers below which a run is small."""
_CLEAR = 1.01
"""Ratio of the sides in floats that a run must keep while it is shortened."""
_SETTINGS = (
    ("step size", STEP_SIZE),
    ("server step size", "algorithm.server_step_size"),
    ("momentum", "algorithm.momentum"),
)
"""Settings of a run that are named next to its size, if it has them."""


@dataclass(frozen=True)
class Counterexample:
    """A run that violates an answer, with both sides."""

    run_file: str
    lhs: str
    """The left side, exact, or an enclosure if it is not rational."""
    rhs: str
    about: tuple[float, float]
    """Both sides, rounded."""
    size: str
    """The size of the run as text."""
    relation: str | None = None
    """The answer as a relation between quantities, which `fedtheory check` evaluates on the run."""


def confirm(claim: Claim, violations: Sequence[Table]) -> Table | None:
    """Return the first float violation that exact arithmetic confirms; None without one."""
    for table in sorted(violations, key=estimate_exact_cost)[:_CONFIRMED]:
        found = write_table(halve_while_clear(table, partial(_is_clear, claim), _LIGHT))
        if check_rigorously(claim, parse_run(found, RATIONAL)).holds is False:
            return found
    return None


def shrink_counterexample(claim: Claim, table: Table) -> Counterexample:
    """Return a violating run with few clients, steps and rounds, and both sides of the claim on it."""
    table = shrink(claim, table, measure_work() + _SHRINKING)
    found = check_rigorously(claim, parse_run(table, RATIONAL))
    worst = found.worst
    assert worst is not None
    sides = worst.lhs, worst.rhs
    lhs, rhs = (str(found.arithmetic.text(side)) for side in sides)
    about = (plain_float(worst.lhs), plain_float(worst.rhs))
    return Counterexample(run_toml(table), lhs, rhs, about, describe_size(table), write_relation(claim))


def describe_size(table: Table) -> str:
    """Describe the size of a run, and the settings that a run of its algorithm has."""
    parts = (
        (count_clients(table), "client"),
        (find_most_steps(table), "local step"),
        (table["algorithm"]["rounds"], "round"),
    )
    counts = [f"{count} {name}{'s' * (count > 1)}" for count, name in parts]
    settings = [f"{words} {value}" for words, key in _SETTINGS if (value := get(table, key)) is not None]
    return f"a run with {', '.join([*counts, *settings])}"


def _is_clear(claim: Claim, table: Table) -> bool:
    found = evaluate_run(claim, table, FLOAT)
    if found is None or found.holds is not False:
        return False
    return found.ratio is None or found.ratio > _CLEAR or found.ratio < 0
