"""Prints a simulated run for a terminal: its constants, then some of its server updates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fedtheory.cli.output import escape, print_lines, print_table, short
from fedtheory.errors import NoMinimiser, NotApplicable, Unresolved

if TYPE_CHECKING:
    from collections.abc import Callable

    from fedtheory.engine.random_clocks import DrawnRuns
    from fedtheory.engine.run import Run

Found = TypeVar("Found")
MEASURED = ("suboptimality", "distance_sq", "gradient_sq")
"""Errors of the server's model that are printed."""


def measure_or_none(measure: Callable[[], Found]) -> Found | None:
    """Return a measured value; None if it does not exist on the run."""
    try:
        return measure()
    except NotApplicable:
        return None


def list_notes(simulated: Run) -> list[str]:
    """Return notes on missing or imprecise numbers."""
    from fedtheory.federation.problem.least_squares import list_data_notes

    try:
        _ = simulated.problem.optimum
    except NoMinimiser as reason:
        missing = "F* and all gaps and distances from x* are missing"
        return [*list_data_notes(simulated.problem), f"{reason}; {missing}"]
    notes = [*list_data_notes(simulated.problem), *_list_lost_digits(simulated)]
    return [*notes, *_list_rounded_constants(simulated)]


def _list_rounded_constants(simulated: Run) -> list[str]:
    """Return notes on constants whose fractions are bounds and not exact, in rational arithmetic."""
    from fedtheory.arithmetic import RATIONAL
    from fedtheory.language import quantities as q
    from verify.check.loose_constants import select_loose_constants

    if simulated.arithmetic is not RATIONAL:
        return []
    shown = (q.smoothness, q.strong_convexity, q.noise_deviation, q.gradient_dissimilarity)
    loose = (measure_or_none(partial(select_loose_constants, [one], simulated)) or () for one in shown)
    return [f"{one.quantity.name} is {one.meaning}" for some in loose for one in some]


def _list_lost_digits(simulated: Run) -> list[str]:
    """Return notes on errors whose digits are lost in floats, with the reason and a remedy."""
    if simulated.algorithm.clock.is_random:
        # The errors are those of sampled schedules, each simulated as its own run.
        return []
    found = []
    for name in MEASURED:
        try:
            getattr(simulated.attempted_trajectory, f"server_{name}")
        except Unresolved as reason:
            found.append(f"{name} is missing: {reason}")
    return found


def print_run(simulated: Run, constants: dict[str, Any]) -> None:
    """Print an exact run."""
    trajectory = simulated.attempted_trajectory
    print_constants(simulated, constants)
    times = [simulated.arithmetic.number(0, "time"), *simulated.algorithm.times(simulated.problem.weights)]
    measured = {name: measure_or_none(partial(getattr, trajectory, f"server_{name}")) for name in MEASURED}
    columns = {"time": times} | {name: values for name, values in measured.items() if values is not None}
    rows = [
        [str(n), *(short(values[n]) for values in columns.values())]
        for n in select_updates(len(trajectory.server_mean))
    ]
    print_table("exact expectations of the server's model", ["round", *columns], rows, whole=("round", *columns))
    print_divergence(simulated)


def print_divergence(simulated: Run) -> None:
    """Print that a run diverges, and why."""
    from fedtheory.planner.divergence import describe_divergence

    if sentences := describe_divergence(simulated):
        first, *others = map(escape, sentences)
        print_lines(f"[bold red]diverges[/bold red]: {first}", *others)


def print_sampled_run(simulated: Run, constants: dict[str, Any], found: DrawnRuns) -> None:
    """Print averages over sampled schedules, with their intervals."""
    print_constants(simulated, constants)
    estimates = {name: getattr(found, name) for name in MEASURED}
    shown = select_updates(len(found.suboptimality.mean))
    rows = [
        [str(n), *(f"{short(e.mean[n])} ({short(e.low[n])} to {short(e.high[n])})" for e in estimates.values())]
        for n in shown
    ]
    first = next(iter(estimates.values()))
    title = (
        f"means over {first.replicas} sampled schedules, with {first.confidence:.0%} intervals; exact given a schedule"
    )
    print_table(title, ["round", *estimates], rows, whole=("round",))


def print_constants(simulated: Run, constants: dict[str, Any]) -> None:
    """Print a run's problem, its constants and the notes on it."""
    kind = escape(simulated.problem.description)
    known = {name: value for name, value in constants.items() if name != "regions" and value is not None}
    print_lines(
        f"[bold]{kind}[/bold], {simulated.algorithm.name}, {simulated.arithmetic.kind} arithmetic",
        *(f"  {name}: {_shorten(value)}" for name, value in known.items()),
        *(f"  {name}: {escape(region)}" for name, region in constants["regions"].items()),
        *(f"[bold]note[/bold]: {escape(note)}" for note in list_notes(simulated)),
    )


def select_updates(count: int) -> list[int]:
    """Select the numbers of the updates to print, among 0 .. count - 1."""
    last = count - 1
    return sorted({0, last, *(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n < last)})


def _shorten(value: Any) -> str:
    """Return a JSON number or fraction, shortened for a terminal."""
    if isinstance(value, str) and value.startswith("["):
        # For an enclosure, the first digits suffice in a terminal.
        return f"{float(value[1:].partition('+/-')[0].strip() or 0):.6g}"
    text = short(value) if isinstance(value, float) else str(value)
    if len(text) <= _LONGEST or not isinstance(value, str):
        return text
    return f"about {_round(text)} (a fraction of {len(text)} characters, in --json)"


_LONGEST = 24
"""Length in characters of a fraction that a terminal shows exactly."""


def _round(fraction: str) -> str:
    """Return six digits of a fraction, however large or small it is."""
    from decimal import Decimal

    numerator, _, denominator = fraction.partition("/")
    return f"{Decimal(numerator) / Decimal(denominator or 1):.6g}"
