"""Families of FedAvg on small quadratics with the step sizes that a claim states."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Arithmetic
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language.claim import Claim
from fedtheory.language.families import CURVATURES, FAMILIES, NOISES, Family, pick
from fedtheory.language.schedules import StepSizes
from fedtheory.runfile import parse_run, run_table, run_with
from verify.instances.algorithms import SIZE, Keys, small_problem

_KNOWN: dict[str, Family] = {}
"""Names of families by stated step sizes."""


def register_families(claim: Claim) -> list[str]:
    """Return the families of the step sizes that a claim states; they are built on demand."""
    return [_register_family(one) for one in stated_by(claim)]


def stated_by(claim: Claim) -> Iterator[StepSizes]:
    """Yield the step sizes that a claim states."""
    yield from (one for one in claim.assumptions if isinstance(one, StepSizes))


def _register_family(stated: StepSizes) -> str:
    meaning = ", ".join(f"{symbol} = {quantity.name}" for symbol, quantity in stated.where)
    name = f"{stated.name}, {meaning}" if meaning else stated.name
    if name not in _KNOWN:
        description = f"FedAvg with {name}, on small quadratics"
        _KNOWN[name] = Family(name, description, SIZE // 2, partial(_run, stated))
    return name


FAMILIES.makers.append(_KNOWN.get)


def _run(stated: StepSizes, number: int) -> Run:
    generator = np.random.default_rng([31, number])
    problem = (
        small_problem(generator, number, shared=number % 4 == 0) if number % 3 else _draw_one_type(generator, number)
    )
    longest = (1, 2, 4, 8)[number // 4 % 4]
    rounds = 1 + int(generator.integers(4 * longest))
    keys: Keys = {"name": "fedavg", "local_steps": 1 + number // 16 % 4, "rounds": rounds}
    constant = run_with(problem, keys | {"local_step_size": 1})
    formula = stated.formula_on(constant)
    return constant if formula is None else run_with(problem, keys | {"local_step_size": formula})


def _draw_one_type(generator: np.random.Generator, number: int) -> Problem:
    """Return one to three clients with the same objective in one or two dimensions."""
    spectrum = [pick(generator, CURVATURES) for _ in range(1 + number % 2)]
    one = draw_quadratics(generator, [spectrum], shared=False, heterogeneity=fmpq(1), noise=pick(generator, NOISES))
    return one.repeat(1 + number // 3 % 3)


def with_stated_sizes(claim: Claim, run: Run) -> Run:
    """Return the run with the step sizes that a claim states, if they are admissible on the run."""
    for stated in stated_by(claim):
        with suppress(FedtheoryError):
            formula = stated.formula_on(_resize(run, 1, RATIONAL))
            run = run if formula is None else _resize(run, formula, run.arithmetic)
    return run


def _resize(run: Run, size: int | str, arithmetic: Arithmetic) -> Run:
    table = run_table(run)
    return parse_run(table | {"algorithm": table["algorithm"] | {"local_step_size": size}}, arithmetic)
