"""Describes a planned run in two lines: problem and algorithm, and the meaning of F*."""

from __future__ import annotations

import math

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, NoMinimiser
from fedtheory.federation.clock import Asynchronous, Clock, Cyclic, FedBuff, FedFix
from fedtheory.federation.linear_models import RowBatches
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.participation import Bernoulli, Full, Participation, Uniform
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.least_squares import list_data_notes
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.shown import short, short_below

_MOST_DECIMALS = 6
"""Number of decimals above which an error with an interval is written with an exponent."""


def describe_planned_run(run: Run) -> list[str]:
    """Return the description of the planned run, and of its smallest error."""
    return [_describe_plan(run), *filter(None, [_describe_optimal_value(run)])]


def list_notes(run: Run) -> list[str]:
    """Return notes for readers of the numbers."""
    return [f"note: {note}" for note in [*list_data_notes(run.problem), *_note_on_minimum(run), *_note_on_weights(run)]]


def _note_on_minimum(run: Run) -> list[str]:
    """Return the reason why errors are undefined; empty if F has a minimiser."""
    try:
        _ = run.problem.optimum
    except NoMinimiser as reason:
        return [f"errors are not defined: {reason}"]
    return []


def _note_on_weights(run: Run) -> list[str]:
    """Note that the weights of a round do not sum to one, whereas most implementations normalise them."""
    law = run.algorithm.aggregation.participation
    if not isinstance(law.of_clients, Uniform | Bernoulli) or law.averages(run.problem.weights):
        return []
    return [
        "a round's weights are p_i over the probability of taking part, and add up to one on average only; "
        'participation.weights = "normalised" divides them by their sum, as most trainers do'
    ]


def describe_counts(numbers: tuple[int, ...], what: str) -> str:
    """Return a count with its noun; several counts as a range."""
    least, most = min(numbers), max(numbers)
    count = str(most) if least == most else f"{least} to {most}"
    return f"{count} {what}{'s' * (most != 1)}"


def describe_step_size(run: Run, size: float) -> str:
    """Return a step size with its noun, for schedules and unlike clients as a multiple of the planned ones.

    `size` is the largest first step size of all clients.
    """
    work, first = run.algorithm.work, f"step size {short_below(size)}"
    planned = plain_float(max(work.step_sizes))
    if work.schedule is not None:
        return f"{first} at first, {short_below(size / planned)} times the planned {work.schedule.formula}"
    if min(work.step_sizes) != max(work.step_sizes):
        return f"{first} for the largest one, {short_below(size / planned)} times the planned ones"
    return first


def format_error(found: ErrorAtStepSize) -> str:
    """Return an exact error in few digits; of an average over replicas the digits that its 95 % interval leaves."""
    half = found.half_width
    if not half > 0 or math.isinf(found.error):
        return short(found.error)
    decimals = 1 - math.floor(math.log10(half))
    if decimals > _MOST_DECIMALS:
        return f"{found.error:.1e} ± {half:.1e}"
    return f"{found.error:.{max(decimals, 0)}f} ± {half:.2g}"


def _describe_plan(run: Run) -> str:
    """Return the settings of the run in words."""
    problem, algorithm = run.problem, run.algorithm
    work = algorithm.work
    parts = [
        _describe_planned_sizes(run),
        describe_counts(work.steps, "local step"),
        describe_counts((algorithm.rounds,), "round"),
        _describe_batch(run),
        _describe_participation(algorithm.aggregation.participation.of_clients, run.clients),
        _describe_clock(algorithm.clock),
    ]
    settings = ", ".join(part for part in parts if part)
    return f"{problem.description}: {describe_counts((run.clients,), 'client')}; planned: {algorithm.name}, {settings}"


def _describe_planned_sizes(run: Run) -> str:
    """Return the planned step sizes in words."""
    work = run.algorithm.work
    if work.schedule is not None:
        return f"step sizes {work.schedule.formula} in round n, from {short(max(work.step_sizes))}"
    least, most = short(min(work.step_sizes)), short(max(work.step_sizes))
    return f"step size {most}" if least == most else f"step sizes {least} to {most}"


def _describe_batch(run: Run) -> str:
    """Return the batch size in words; empty without mini-batches."""
    oracle = run.problem.oracle
    if not isinstance(oracle, MiniBatch | RowBatches):
        return ""
    drawn = "with" if oracle.replacement else "without"
    return f"batches of {oracle.batch} rows drawn {drawn} replacement"


def _describe_participation(law: Participation, clients: int) -> str:
    """Return the participation in words; empty if all clients take part."""
    if isinstance(law, Full):
        return ""
    return law.describe(clients)


def _describe_clock(clock: Clock) -> str:
    """Return the timing of updates in words; empty for synchronous rounds."""
    if clock.is_synchronous:
        return ""
    policy = clock.policy
    if isinstance(policy, Cyclic):
        return policy.describe(len(clock.times))
    if isinstance(policy, FedFix):
        name = f"an update every {short(policy.interval)} time units"
    elif isinstance(policy, FedBuff):
        weight = f" with weights {policy.staleness} for staleness s" if policy.staleness else ""
        name = f"an update for each {policy.buffer} reports{weight}"
    else:
        name = "an update for each report" if isinstance(policy, Asynchronous) else type(policy).__name__.lower()
    least, most = min(clock.times), max(clock.times)
    times = short(most) if least == most else f"{short(least)} to {short(most)}"
    return f"{name}, client times {times}"


def _describe_optimal_value(run: Run) -> str:
    """Describe F* of a least-squares problem and its root, with the unit of errors."""
    problem = run.problem
    if not isinstance(problem, Problem) or problem.data is None:
        return ""
    try:
        lowest = plain_float(problem.optimal_value)
    except FedtheoryError:
        return ""
    penalised = plain_float(problem.data.ridge) != 0
    what = "smallest mean squared error plus ridge penalty" if penalised else "smallest mean squared error"
    root = "" if penalised else f", RMSE {short(math.sqrt(max(lowest, 0.0)))}"
    return f"F* = {short(lowest)} ({what}{root}); errors are F - F*, in squared units of the target"
