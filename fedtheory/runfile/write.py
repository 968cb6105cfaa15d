"""Writes a run as the table of a run file, so that any instance can be run again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.run import Run
from fedtheory.federation import Algorithm, Bernoulli, Fixed, Full, Multinomial, Normalised, Participation, Uniform
from fedtheory.federation.clock import Asynchronous, Clock, Cyclic, FedBuff, FedFix, Synchronous, synchronous
from fedtheory.federation.linear_models import LinearModelProblem, RowBatches
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.losses.noise import TwoPointNoise
from fedtheory.federation.oracles import AdditiveNoise, MiniBatch
from fedtheory.federation.problem import Problem
from fedtheory.federation.step_sizes import StepSchedule


def run_table(run: Run) -> dict[str, Any]:
    """Return the run file, as nested dictionaries and lists; rational numbers are strings.

    The data of a least-squares problem are listed under the keys `inputs` and `outputs`.
    """
    problem = _write_problem(run.problem)
    if run.is_in_types:
        # Without weights, single clients have equal weight, not the types.
        problem |= {"count": list(run.counts), "weights": _write_numbers(run.problem.weights, run.problem)}
    return {"problem": problem, "algorithm": _write_algorithm(run.algorithm, run.problem)}


def _write_problem(problem: Problem) -> dict[str, Any]:
    """Return the table of a problem."""
    if isinstance(problem, LinearModelProblem):
        return _write_models(problem)
    if isinstance(problem, LossProblem):
        return _write_losses(problem)
    if problem.data is not None:
        return _write_least_squares(problem)
    table = {
        "kind": "quadratic",
        "hessians": _write_numbers(problem.hessians, problem),
        "linear": _write_numbers(problem.linear, problem),
        "start": _write_numbers(problem.start, problem),
    }
    if any(constant != 0 for constant in problem.constants):
        table["constants"] = _write_numbers(problem.constants, problem)
    if isinstance(problem.oracle, AdditiveNoise):
        table["noise"] = _write_numbers(problem.oracle.variances, problem)
    return table | _write_weights(problem)


def _write_least_squares(problem: Problem) -> dict[str, Any]:
    """Return the table of a least-squares problem."""
    given = problem if problem.span is None else problem.span
    assert given.data is not None
    table: dict[str, Any] = {
        "kind": "least-squares",
        "inputs": [_write_numbers(rows, problem) for rows in given.data.inputs],
        "outputs": [_write_numbers(rows, problem) for rows in given.data.outputs],
        "start": _write_numbers(given.start, problem),
    }
    if given.data.ridge != 0:
        table["ridge"] = problem.arithmetic.text(given.data.ridge)
        table |= {"penalize_intercept": False} if given.data.free else {}
    if isinstance(problem.oracle, MiniBatch):
        table |= {"batch": problem.oracle.batch, "replacement": problem.oracle.replacement}
    return table | _write_weights(problem)


def _write_models(problem: LinearModelProblem) -> dict[str, Any]:
    """Return the table of a problem with linear models."""
    model = problem.model
    rows = [model.rows_of(client) for client in range(model.clients)]
    outputs = model.offsets if problem.classes is None else model.labels
    table: dict[str, Any] = {
        "kind": model.loss.kind.name if problem.classes is None else "logistic",
        "inputs": [_write_numbers(model.inputs[own] * model.labels[own, None], problem) for own in rows],
        "outputs": [_write_numbers(outputs[own], problem) for own in rows],
        "start": _write_numbers(problem.start, problem),
        "ridge": problem.arithmetic.text(model.ridge),
    }
    if model.is_intercept_apart:
        table["penalize_intercept"] = False
    if problem.classes is None:
        table["width"] = problem.arithmetic.text(model.loss.width)
    if isinstance(problem.oracle, RowBatches):
        table |= {"batch": problem.oracle.batch, "replacement": problem.oracle.replacement}
    return table | _write_weights(problem)


def _write_losses(problem: LossProblem) -> dict[str, Any]:
    """Return the table of a problem with losses in one coordinate each."""
    table: dict[str, Any] = {
        "kind": problem.terms.kind.name,
        "terms": [_write_terms(problem, client) for client in range(problem.clients)],
        "start": _write_numbers(problem.start, problem),
    }
    if isinstance(problem.oracle, TwoPointNoise):
        table["noise"] = _write_numbers(problem.oracle.sizes, problem)
    return table | _write_weights(problem)


def _write_terms(problem: LossProblem, client: int) -> list[dict[str, Any]]:
    """Return the terms of a client; a negative width stands for a reflected loss."""
    own, text = problem.terms.select_clients([client]), problem.arithmetic.text
    columns = zip(own.coordinates.tolist(), own.weights, own.centres, own.widths, strict=True)
    return [
        {"coordinate": c, "weight": text(a), "centre": text(b), "width": text(abs(w))}
        | ({"reflected": True} if w < 0 else {})
        for c, a, b, w in columns
    ]


def _write_weights(problem: Problem) -> dict[str, Any]:
    """Return the client weights; an empty table if they are equal."""
    uniform = (problem.weights == problem.weights[0]).all()
    return {} if uniform else {"weights": _write_numbers(problem.weights, problem)}


def _write_algorithm(algorithm: Algorithm, problem: Problem) -> dict[str, Any]:
    """Return the table of an algorithm."""
    work = algorithm.work
    size, steps = work.common_step_size, work.common_steps
    sizes = _write_numbers(work.step_sizes, problem) if size is None else problem.arithmetic.text(size)
    table: dict[str, Any] = {
        "name": algorithm.name,
        "local_step_size": sizes
        if work.schedule is None
        else _write_formula(work.schedule, work.step_sizes[0], problem),
        "local_steps": list(work.steps) if steps is None else steps,
        "rounds": algorithm.rounds,
    }
    clock = algorithm.clock
    if isinstance(clock.policy, Cyclic):
        weights = {"weights": "normalised"} if clock.policy.normalised else {}
        table["participation"] = {"kind": "cyclic", "clients": clock.policy.clients} | weights
        clock = replace(clock, policy=Synchronous())
    if clock != synchronous(problem.clients):
        table["clock"] = _write_clock(clock)
    if algorithm.aggregation.chosen is not None:
        table["aggregation"] = _write_numbers(algorithm.aggregation.weights(problem.weights), problem)
    if algorithm.aggregation.server_step_size != 1:
        table["server_step_size"] = problem.arithmetic.text(algorithm.aggregation.server_step_size)
    law = algorithm.aggregation.participation.of_clients
    if not isinstance(law, Full):
        table["participation"] = _write_participation(law)
    return table | _write_parameters(algorithm, problem)


def _write_formula(schedule: StepSchedule, first: Number, problem: Problem) -> str:
    """Return the formula of the step sizes, with the factor by which they have been multiplied."""
    factor = first / problem.arithmetic.number(schedule.first, "local_step_size")
    return schedule.formula if factor == 1 else f"{problem.arithmetic.text(factor)}*({schedule.formula})"


def _write_parameters(algorithm: Algorithm, problem: Problem) -> dict[str, Any]:
    """Return the keys of a definition's own parameters."""
    if algorithm.defined is None:
        return {}
    table: dict[str, Any] = {}
    for parameter in algorithm.defined.algorithm.parameters:
        value = algorithm.defined.values[parameter.letter]
        table[parameter.key] = bool(value == 1) if parameter.is_flag else problem.arithmetic.text(value)
    mixing = algorithm.defined.mixing
    return table if mixing is None else table | {"mixing": _write_numbers(mixing, problem)}


def _write_clock(clock: Clock) -> dict[str, Any]:
    """Return the table of a clock."""
    policy = clock.policy
    table: dict[str, Any]
    if isinstance(policy, FedFix):
        table = {"policy": "fedfix", "interval": str(policy.interval)}
    elif isinstance(policy, FedBuff):
        table = {"policy": "fedbuff", "buffer": policy.buffer, "ties": policy.ties}
        table |= {} if policy.staleness is None else {"staleness": str(policy.staleness)}
    elif isinstance(policy, Asynchronous):
        table = {"policy": "async", "ties": policy.ties}
    else:
        table = {"policy": "sync"}
    table["times"] = [str(time) for time in clock.times]
    return table | ({"law": clock.law} if clock.is_random else {})


def _write_participation(law: Participation) -> dict[str, Any]:
    """Return the table of a participation law."""
    if isinstance(law, Fixed):
        return {"kind": "fixed", "clients": list(law.selected)}
    if isinstance(law, Normalised):
        return _write_participation(law.law) | {"weights": "normalised"}
    if isinstance(law, Bernoulli):
        return {"kind": "bernoulli", "probability": str(law.probability)}
    if isinstance(law, Uniform):
        return {"kind": "uniform", "clients": law.selected}
    assert isinstance(law, Multinomial)
    return {"kind": "multinomial", "clients": law.selected}


def _write_numbers(array: Array, problem: Problem) -> Any:
    """Return the entries of an array as nested lists of text."""
    texts = np.array([problem.arithmetic.text(entry) for entry in array.ravel()], dtype=object)
    return texts.reshape(array.shape).tolist()


def run_toml(table: dict[str, Any]) -> str:
    """Return the text of a run file from its table, one line for each key."""
    lines: list[str] = []
    for name, section in table.items():
        plain = {key: value for key, value in section.items() if not isinstance(value, dict)}
        lines += [f"[{name}]", *(f"{key} = {_write_value(value)}" for key, value in plain.items())]
        nested = {f"{name}.{key}": value for key, value in section.items() if isinstance(value, dict)}
        lines += [run_toml(nested)] if nested else []
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _write_value(value: Any) -> str:
    """Return a value inside a section; tables in lists are written in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_write_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    # Strings, numbers and booleans are written alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)
