"""`fedtheory simulate`: compute the exact expectations of a run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.figure import require_figure, write_figure
from fedtheory.cli.output import ArithmeticName, FigureFile, Json, NoCode, RunFile, name_file_in_errors, print_json
from fedtheory.cli.simulation_tables import MEASURED, list_notes, measure_or_none, print_run, print_sampled_run
from fedtheory.errors import Diverging, InputError, NotApplicable

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from fedtheory.engine.constants import Bound
    from fedtheory.engine.random_clocks import DrawnRuns
    from fedtheory.engine.run import Run

NAME = "simulate"


def run(
    run_file: RunFile,
    arithmetic: ArithmeticName = "float",
    schedules: Annotated[int, typer.Option(help="Number of sampled schedules, if update times are random.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampled schedules.")] = 0,
    *,
    figure: FigureFile = None,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Run an algorithm exactly: expectations in closed form, without sampling error."""
    from fedtheory.arithmetic import select_arithmetic
    from fedtheory.arithmetic.enclosures import precise_enclosures
    from fedtheory.cli.simulated_models import print_models
    from fedtheory.engine.linear_models import LinearModelRun
    from fedtheory.engine.random_clocks import average_over_schedules
    from fedtheory.runfile import read_run

    require_figure(figure)
    given = read_run(run_file, select_arithmetic(arithmetic))
    bits = given.precisions[0]
    with name_file_in_errors(run_file), precise_enclosures(bits):
        simulated = given.refine(bits)
        _require_listable(simulated)
        write_figure(figure, lambda: draw_errors(simulated, schedules, seed))
        if simulated.algorithm.clock.is_random:
            found = average_over_schedules(simulated, schedules, seed)
            if as_json:
                print_json(encode_sampled_run(simulated, found, seed))
            else:
                print_sampled_run(simulated, encode_constants(simulated), found)
        elif as_json:
            print_json(encode_run(simulated))
        elif isinstance(simulated, LinearModelRun):
            print_models(simulated, encode_constants(simulated))
        else:
            print_run(simulated, encode_constants(simulated))


def draw_errors(simulated: Run, schedules: int, seed: int) -> Figure:
    """Return the figure of a run."""
    from report.pictures import error_figure

    return error_figure(simulated, schedules=schedules, seed=seed)


_MOST_NUMBERS = 3 * 10**7
"""Largest number of values, over all rounds, that are stored at once."""
_MOST_PRINTED = 2 * 10**7
"""Largest number of values in the JSON document of a run."""


def _require_listable(simulated: Run) -> None:
    """Raise `InputError` if a list over all rounds would not fit into memory, or rationals would be too long."""
    from fedtheory.arithmetic import FLOAT
    from fedtheory.engine.moments import require_short, rounds_repeat

    problem, algorithm = simulated.problem, simulated.algorithm
    if problem.arithmetic.is_rigorous:
        require_short(problem, algorithm)
    size = problem.dimension + 1
    # If all rounds are alike, floats need no stored second moments.
    keeps_moments = problem.is_quadratic and not (problem.arithmetic is FLOAT and rounds_repeat(problem, algorithm))
    most = _MOST_NUMBERS // size**2 if keeps_moments else _MOST_PRINTED // (size + 3)
    if simulated.algorithm.rounds > most:
        way_out = "use fewer rounds, or check and plan, which keep no list"
        expected = f"expected at most {most} to be listed, got {simulated.algorithm.rounds}"
        raise InputError("algorithm.rounds", f"{expected}: {way_out}")


def _has_short_steps(simulated: Run) -> bool:
    """Return whether the values of each client at each local step are few enough to list."""
    each = (max(simulated.algorithm.work.steps) + 1) * (simulated.clients + 1)
    return simulated.algorithm.rounds * each <= _MOST_NUMBERS


def _encode_facts(simulated: Run) -> dict[str, Any]:
    """Return the data that do not depend on the schedule."""
    return {
        "arithmetic": simulated.arithmetic.kind,
        "constants": encode_constants(simulated),
        "optimum": _encode_lists(simulated, measure_or_none(lambda: simulated.problem.lift(simulated.problem.optimum))),
        "optimal_value": _encode_lists(simulated, measure_or_none(lambda: simulated.problem.optimal_value)),
        "notes": list_notes(simulated),
    }


def encode_sampled_run(simulated: Run, found: DrawnRuns, seed: int) -> dict[str, Any]:
    """Return the JSON document of a run whose schedule is sampled: averages and their intervals."""
    estimates = {name: getattr(found, name) for name in MEASURED}
    return _encode_facts(simulated) | {
        "server": {"mean": _encode_lists(simulated, simulated.problem.lift(found.mean))}
        | {name: _encode_lists(simulated, estimate.mean) for name, estimate in estimates.items()},
        "local": None,
        "times": _encode_lists(simulated, found.times.mean),
        "diverges": None,
        "sampled": {
            "schedules": found.suboptimality.replicas,
            "seed": seed,
            "confidence": found.suboptimality.confidence,
            **{name: {"low": e.low.tolist(), "high": e.high.tolist()} for name, e in estimates.items()},
        },
    }


def encode_run(simulated: Run) -> dict[str, Any]:
    """Return the JSON document of a run."""
    trajectory = simulated.attempted_trajectory
    divergence = trajectory.divergence
    facts = _encode_facts(simulated)
    if not _has_short_steps(simulated):
        facts["notes"].append(
            "local is null: the numbers of every client at every local step would be too many to list"
        )
    return facts | {
        "server": {
            "mean": _encode_lists(simulated, simulated.problem.lift(trajectory.server_mean)),
            **{
                name: _encode_lists(simulated, measure_or_none(partial(getattr, trajectory, f"server_{name}")))
                for name in MEASURED
            },
            **_summarise_models(simulated),
        },
        "local": _encode_local(simulated, trajectory),
        "times": _encode_lists(
            simulated,
            # Clock times are rationals in every arithmetic.
            [
                simulated.arithmetic.number(time, "times")
                for time in simulated.algorithm.times(simulated.problem.weights)
            ],
        ),
        "diverges": None if divergence is None else {"round": divergence.round, "reason": divergence.reason},
    }


def _summarise_models(simulated: Run) -> dict[str, Any]:
    """Return loss, accuracy and intervals of a run on linear models; empty for quadratics."""
    from fedtheory.cli.simulated_models import encode_models
    from fedtheory.engine.linear_models import LinearModelRun

    return encode_models(simulated) if isinstance(simulated, LinearModelRun) else {}


def _encode_local(simulated: Run, trajectory: Any) -> dict[str, Any] | None:
    """Return the errors and drifts at the local steps; None if the run has no common local steps."""
    has_iterates = simulated.algorithm.work.common_steps is not None and len(trajectory.server_mean) > 1
    if not (has_iterates and _has_short_steps(simulated)):
        return None
    try:
        suboptimality = measure_or_none(lambda: trajectory.local_suboptimality)
        inside = {"suboptimality": suboptimality, "drift": simulated.repeat_for_clients(trajectory.drift)}
    except (Diverging, NotApplicable):
        return None
    return {name: _encode_lists(simulated, values) for name, values in inside.items()}


def encode_constants(simulated: Run) -> dict[str, Any]:
    """Return the constants of a run; a constant that needs a region names it; null if unbounded, with the reason."""
    text, sqrt = simulated.arithmetic.text, simulated.arithmetic.sqrt
    found: dict[str, Any] = {
        "clients": _encode_count(simulated, simulated.clients),
        "dimension": _encode_count(simulated, simulated.problem.features),
        "smoothness": text(simulated.smoothness),
        "strong_convexity": _encode_or_none(text, lambda: simulated.strong_convexity),
        "initial_gap": _encode_or_none(text, lambda: simulated.initial_gap),
    }
    regions: dict[str, str] = {}
    bounds: dict[str, Callable[[], Bound]] = {
        "noise_deviation": lambda: simulated.noise_variance,
        "gradient_dissimilarity": lambda: simulated.dissimilarity_sq,
    }
    distance_sq = measure_or_none(lambda: simulated.initial_distance_sq)
    found |= _encode_with_root("initial_distance", distance_sq, text, sqrt)
    for name, bound in bounds.items():
        try:
            found |= _encode_with_root(name, bound().value, text, sqrt)
            regions[name] = f"on {bound().region.description}"
        except NotApplicable as reason:
            found |= {name: None, f"{name}_sq": None}
            regions[name] = f"none, so that theorems that need it do not apply: {reason}"
    return found | {"regions": regions}


def _encode_or_none(text: Any, measure: Callable[[], Any]) -> Any:
    """Return a number as JSON; null if it does not exist."""
    found = measure_or_none(measure)
    return None if found is None else text(found)


def _encode_count(simulated: Run, count: int) -> Any:
    """Return a whole number in the JSON format of the run's arithmetic."""
    return count if simulated.arithmetic.name == "float" else str(count)


def _encode_with_root(name: str, square: Any, text: Any, sqrt: Any) -> dict[str, Any]:
    """Return a constant and its square; the constant is null if it does not exist, or is not exact."""
    from fedtheory.arithmetic.enclosures import is_enclosed

    if square is None:
        return {name: None, f"{name}_sq": None}
    root = sqrt(square)
    return {name: None if is_enclosed(root) else text(root), f"{name}_sq": text(square)}


def _encode_lists(simulated: Run, values: Any) -> Any:
    """Return nested lists of JSON numbers, or of exact strings; null for None."""
    import numpy as np

    if values is None:
        return None
    if isinstance(values, np.ndarray) and values.dtype == float and np.isfinite(values).all():
        return values.tolist()
    if isinstance(values, list | np.ndarray):
        return [_encode_lists(simulated, value) for value in values]
    return simulated.arithmetic.text(values)
