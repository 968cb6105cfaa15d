"""Instances of algorithms given by definitions: small quadratics with admissible parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language.families import CURVATURES, NOISES, SPREADS, Choices, compute_smoothness, family, pick
from fedtheory.runfile import run_with

_FRACTIONS: Choices = (fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(1, 16))
"""Step sizes as fractions of 1/L, for one local step."""
_PROBABILITIES = ("1", "1/2", "1/5", "1/10")
_MOMENTA = ("0", "1/2", "9/10")
_CAUTIOUS: Choices = (fmpq(1, 4), fmpq(1, 4), fmpq(1, 8), fmpq(1, 16))
"""Sums of the step sizes of all local steps, in units of 1/L."""
SIZE = 240

Keys = dict[str, Any]


def small_problem(
    generator: np.random.Generator, number: int, shared: bool = False, noises: Choices = NOISES
) -> Problem:
    """Return a quadratic problem with one or two dimensions and two or three clients."""
    dimension, clients = 1 + number % 2, 2 + number // 2 % 2
    spectra = [[pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    spread, noise = pick(generator, SPREADS), pick(generator, noises)
    return draw_quadratics(generator, spectra, shared=shared, heterogeneity=spread, noise=noise)


def small_run(problem: Problem, generator: np.random.Generator, steps: int, keys: Keys) -> Run:
    """Return a run of one to four rounds with a step size that is admissible for its local steps."""
    size = pick(generator, _FRACTIONS) / (compute_smoothness(problem) * steps)
    rounds = 1 + int(generator.integers(4))
    return run_with(problem, {"local_step_size": str(size), "rounds": rounds} | keys)


def _choose_local_steps(generator: np.random.Generator, clients: int) -> list[int]:
    return [1 + int(count) for count in generator.integers(3, size=clients)]


@family("one local step", SIZE, meant_for=a.update_rule)
def one_local_step(number: int) -> Run:
    """FedAvg with one local step, at step sizes up to 1/L."""
    generator = np.random.default_rng([20, number])
    return small_run(small_problem(generator, number), generator, 1, {"name": "fedavg", "local_steps": 1})


@family("SCAFFOLD", SIZE, meant_for=a.scaffold)
def scaffold(number: int) -> Run:
    """SCAFFOLD with one to three local steps, equal or different between clients."""
    generator = np.random.default_rng([21, number])
    problem = small_problem(generator, number)
    return small_run(
        problem, generator, 3, {"name": "scaffold", "local_steps": _choose_local_steps(generator, problem.clients)}
    )


@family("SCAFFOLD with full gradients", SIZE, meant_for=a.scaffold)
def scaffold_without_noise(number: int) -> Run:
    """SCAFFOLD with one to four local steps, the same for all clients, at step sizes up to 1/(4 tau L)."""
    generator = np.random.default_rng([43, number])
    problem = small_problem(generator, number, noises=(fmpq(0),))
    steps, rounds = 1 + number // 4 % 4, 1 + int(generator.integers(6))
    size = pick(generator, _CAUTIOUS) / (compute_smoothness(problem) * steps)
    return run_with(problem, {"name": "scaffold", "local_steps": steps, "local_step_size": str(size), "rounds": rounds})


@family("Scaffnew", SIZE + SIZE // 4, meant_for=a.scaffnew)
def scaffnew(number: int) -> Run:
    """Scaffnew with high or low communication probability."""
    generator = np.random.default_rng([22, number])
    probability = _PROBABILITIES[number % len(_PROBABILITIES)]
    return small_run(small_problem(generator, number), generator, 1, {"name": "scaffnew", "probability": probability})


@family("server momentum", SIZE, meant_for=a.server_momentum)
def server_momentum(number: int) -> Run:
    """FedAvgM, heavy-ball and Nesterov, with one or two local steps."""
    generator = np.random.default_rng([23, number])
    keys = {"name": "fedavgm", "momentum": _MOMENTA[number % 3], "nesterov": number % 4 > 1}
    return small_run(
        small_problem(generator, number), generator, 2, keys | {"local_steps": 2 if number // 8 % 8 == 0 else 1}
    )


@family("graphs", SIZE, meant_for=a.dsgd)
def graphs(number: int) -> Run:
    """DSGD on two or three clients with different mixing weights; half of the runs have one Hessian."""
    generator = np.random.default_rng([24, number])
    problem = small_problem(generator, number, shared=number % 8 > 0)
    return small_run(
        problem, generator, 1, {"name": "dsgd", "mixing": build_mixing_matrix(problem.clients, fmpq(number % 3 + 1, 3))}
    )


def build_mixing_matrix(clients: int, averaged: fmpq) -> list[list[fmpq]]:
    """Return the mixing matrix of clients that keep a part of their own model and average the rest evenly."""
    shared = averaged / clients
    return [[shared + (1 - averaged if i == j else 0) for j in range(clients)] for i in range(clients)]


@family("compression", 2 * SIZE, meant_for=a.compressed)
def compression(number: int) -> Run:
    """Compressed FedAvg that sends one random coordinate of one or two, or all coordinates."""
    generator = np.random.default_rng([25, number])
    problem = small_problem(generator, number)
    kept = 1 + number // 4 % problem.dimension
    steps = 2 if number % 12 == 0 else 1
    return small_run(problem, generator, 1, {"name": "compressed", "coordinates": kept, "local_steps": steps})


@family("proximal terms", SIZE, meant_for=a.fedprox)
def proximal_terms(number: int) -> Run:
    """FedProx with one to three local steps."""
    generator = np.random.default_rng([26, number])
    keys = {"name": "fedprox", "proximal": ("0", "1/2", "1")[number % 3], "local_steps": 1 + number % 3}
    return small_run(small_problem(generator, number), generator, 4, keys)


@family("unequal local work in few rounds", SIZE, meant_for=a.fednova)
@family("unequal local work", 204, meant_for=a.fednova, for_rates=True)
def unequal_local_work(number: int) -> Run:
    """FedNova with one to three local steps, at small step sizes."""
    generator = np.random.default_rng([27, number])
    problem = small_problem(generator, number)
    return small_run(
        problem, generator, 12, {"name": "fednova", "local_steps": _choose_local_steps(generator, problem.clients)}
    )


@family("decreasing steps", SIZE, meant_for=a.decreasing_steps)
def decreasing_steps(number: int) -> Run:
    """FedAvg with steps 2/(mu tau (n + c)), the first at most 1/L, for one to three local steps."""
    generator = np.random.default_rng([28, number])
    problem, steps = small_problem(generator, number), 1 + number // 4 % 3
    plain = run_with(problem, {"name": "fedavg", "local_step_size": 1, "local_steps": steps, "rounds": 1})
    size = state_decreasing_steps(plain, pick(generator, (fmpq(1), fmpq(1), fmpq(1, 2))))
    return run_with(problem, {"local_step_size": size, "local_steps": steps, "rounds": 1 + int(generator.integers(6))})


def state_decreasing_steps(run: Run, first: Number) -> str:
    """Return the formula of steps 2/(mu tau (n + c)) of a strongly convex run, the first one `first` / L."""
    scale = run.strong_convexity * max(run.algorithm.work.steps) / 2
    return f"1/(({scale})*(n + ({run.smoothness / scale / first})))"


@family("heavy ball", SIZE, meant_for=a.heavy_ball)
def heavy_ball(number: int) -> Run:
    """FedAvgM with heavy-ball momentum and one local step, at effective step sizes up to 1/L."""
    generator = np.random.default_rng([29, number])
    momentum, effective = (("0", 1), ("1/2", 2), ("9/10", 10))[number % 3]
    keys = {"name": "fedavgm", "momentum": momentum, "local_steps": 1}
    return small_run(small_problem(generator, number), generator, effective, keys)
