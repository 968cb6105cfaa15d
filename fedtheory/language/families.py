"""Families of instances, whose runs have small numbers that can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Number
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language.assumptions import Assumption
from fedtheory.runfile import parse_run

Choices = tuple[fmpq, ...]

CURVATURES: Choices = (fmpq(1), fmpq(2), fmpq(4), fmpq(1, 2), fmpq(1, 4))
SPREADS: Choices = (fmpq(0), fmpq(1, 2), fmpq(1), fmpq(2))
NOISES: Choices = (fmpq(0), fmpq(1), fmpq(1, 4), fmpq(4))
UNITS: Choices = (fmpq(1), fmpq(1), fmpq(1, 64), fmpq(64))
STEP_FRACTIONS: Choices = (fmpq(1), fmpq(1), fmpq(1, 2), fmpq(1, 8))
"""Step sizes as fractions of 1/(4L); the limit of the usual condition occurs twice."""


_TURNS = ((0, 2, 2, 2, 2, 3, 3), (1, 2, 2, 2, 2, 3, 3))
"""Parts of a family: of seven consecutive members, each belongs to one of these parts; the next seven have others."""
_TURNS_OF_LADDERS = ((0, 1, 1, 1, 2, 3, 3), (0, 1, 1, 2, 2, 3, 3))
"""Parts of a family for rates: a rate takes several runs, and half as many members suffice."""
PARTS = (0, 1, 2, 3)
"""Parts of a family on which a claim is checked until the result suffices.

They are a fourteenth, a seventh, five sevenths, all; for a rate a seventh, half, five sevenths, all.
"""


@dataclass(frozen=True)
class Family:
    """A named generator of instances."""

    name: str
    description: str
    size: int
    build: Callable[[int], Run]
    in_floats: bool = False
    """Whether its runs are evaluated in floats first; violations and near ties are then evaluated in rationals."""
    in_enclosures: bool = False
    """Whether its runs have irrational values; enclosures take more time, so searches start with other families."""
    meant_for: Assumption | None = None
    """Only claims with this assumption are checked on the family, and on such families only.

    Families with None serve all other claims.
    """
    for_rates: bool = False
    """Whether its runs are the first ones of sequences for rates."""

    @property
    def instances(self) -> list[Instance]:
        """All members."""
        return [Instance(self.name, number) for number in range(self.size)]

    def part(self, part: int) -> list[Instance]:
        """Return the members of a part."""
        turns, found = _TURNS_OF_LADDERS if self.for_rates else _TURNS, []
        for member in self.instances:
            # The assignment is shifted every seven members, because families have patterns of their own.
            block, place = divmod(member.number, 7)
            if turns[block % len(turns)][(place + 3 * block) % 7] == part:
                found.append(member)
        return found


@dataclass(frozen=True)
class Instance:
    """One member of a family."""

    family: str
    number: int

    def run(self) -> Run:
        """Return the exact run."""
        return FAMILIES[self.family].build(self.number)


@dataclass(frozen=True)
class Given(Instance):
    """An instance given by the table of a run file."""

    table: dict[str, Any]

    def run(self) -> Run:
        return parse_run(self.table, RATIONAL)


class _Families(dict[str, Family]):
    """Families by name; families that are created on demand are not listed."""

    def __init__(self) -> None:
        super().__init__()
        self.makers: list[Callable[[str], Family | None]] = []

    def __missing__(self, name: str) -> Family:
        for make in self.makers:
            if (made := make(name)) is not None:
                return made
        raise KeyError(name)


FAMILIES = _Families()


def family(
    name: str,
    size: int,
    *,
    in_floats: bool = False,
    in_enclosures: bool = False,
    meant_for: Assumption | None = None,
    for_rates: bool = False,
) -> Callable[[Callable[[int], Run]], Callable[[int], Run]]:
    def register(build: Callable[[int], Run]) -> Callable[[int], Run]:
        description = (build.__doc__ or name).partition("\n")[0].rstrip(".")
        FAMILIES[name] = Family(name, description, size, build, in_floats, in_enclosures, meant_for, for_rates)
        return build

    return register


def pick(generator: np.random.Generator, choices: Choices) -> fmpq:
    return choices[int(generator.integers(len(choices)))]


def compute_smoothness(problem: Problem) -> Number:
    """Return L of a problem, independently of the algorithm."""
    return Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness


def with_fedavg(problem: Problem, fraction: fmpq, local_steps: int, rounds: int) -> Run:
    """Return FedAvg at a fraction of the step size 1/(4L)."""
    smoothness = compute_smoothness(problem)
    size = fraction / (4 * smoothness) if smoothness > 0 else fraction
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=local_steps))


def random_problem(generator: np.random.Generator, clients: int, dimension: int, shared: bool) -> Problem:
    """Return random quadratics, some scaled to other units, which reveals bounds with a missing factor."""
    unit = pick(generator, UNITS)
    spectra = [[unit * pick(generator, CURVATURES) for _ in range(dimension)] for _ in range(clients)]
    return draw_quadratics(
        generator,
        spectra,
        shared=shared,
        heterogeneity=pick(generator, SPREADS),
        noise=unit * unit * pick(generator, NOISES),
    )
