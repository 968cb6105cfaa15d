"""The block matrices of definitions, evaluated on a run, against the expected round of the engine."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.joint import JointTrajectory
from fedtheory.federation.algorithms import definition, names
from fedtheory.federation.definition import Average, Mixed, Participants, Weighted
from fedtheory.kernel.expressions import Expr
from fedtheory.runfile import parse_run
from fedtheory.sources.landmarks.block_matrices import (
    BlockMap,
    Blocks,
    build_local_step,
    build_round_end,
    hessian,
    linear,
    rename_client,
)
from fedtheory.sources.landmarks.exhibits import list_matrices
from report.mathml import typeset_formula

SHARES = ["1/2", "1/3", "1/6"]
PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["2"]], [["1/2"]], [["3"]]],
    "linear": [["1"], ["-2"], ["1"]],
    "weights": SHARES,
    "start": ["3"],
}
"""A problem whose optimum is 0, the origin of the engine's coordinates."""
MIXING = [["1/2", "1/3", "1/6"], ["1/4", "1/2", "1/4"], ["1/4", "1/6", "7/12"]]
SIZES = ["1/5", "1/7", "1/9"]
OWN: dict[str, dict[str, Any]] = {
    "compressed": {"coordinates": 1},
    "dsgd": {"mixing": MIXING},
    "fedavgm": {"momentum": "2/5", "nesterov": True},
    "fedprox": {"proximal": "3/2"},
    "scaffnew": {"probability": "1/3"},
}
Numbers = dict[Expr, Expr]


def _trajectory(name: str) -> JointTrajectory:
    sizes = "1/5 + 0*k" if name == "fedavg" else SIZES
    keys = {"name": name, "local_step_size": sizes, "rounds": 1} | OWN.get(name, {})
    found = parse_run({"problem": PROBLEM, "algorithm": keys}, RATIONAL).trajectory
    assert isinstance(found, JointTrajectory)
    return found


class Round:
    """A round of one step in the symbols of all clients' vectors, from the block matrices."""

    def __init__(self, trajectory: JointTrajectory, coins: dict[Expr, int]) -> None:
        self.definition = trajectory.definition
        given = trajectory.parameters.evaluate(0, 0, coins)
        self.symbols = [{symbol: _of_client(value, i) for symbol, value in given.items()} for i in range(3)]
        for i, symbols in enumerate(self.symbols):
            symbols[hessian] = sp.Rational(PROBLEM["hessians"][i][0][0])
            symbols[linear] = sp.Rational(PROBLEM["linear"][i][0])
        self.vectors = [self._start(i) for i in range(3)]
        steps = [self._apply(build_local_step(self.definition), i) for i in range(3)]
        self.vectors = [vectors | moved for vectors, moved in zip(self.vectors, steps, strict=True)]

    def _start(self, i: int) -> Numbers:
        own = {c: sp.Symbol(f"{c}{i}") for c in self.definition.client}
        known = {s: s for s in self.definition.server} | own | {linear: self.symbols[i][linear]}
        return known | {step.vector: sp.sympify(step.start).xreplace(own) for step in self.definition.steps}

    def end(self, i: int) -> Numbers:
        """Return the vectors of client i at the end of the step."""
        return self._apply(build_round_end(self.definition), i)

    def _apply(self, found: BlockMap, i: int) -> Numbers:
        total = sp.zeros(len(found.rows), 1)
        for term in found.terms:
            total += self._own(term, i) if term.over is None else self._sum(term, i)
        return dict(zip(found.rows, total, strict=True))

    def _own(self, term: Blocks, i: int) -> sp.Matrix:
        return term.matrix.xreplace(self.symbols[i]) * sp.Matrix([self.vectors[i][v] for v in term.columns])

    def _sum(self, term: Blocks, i: int) -> sp.Matrix:
        total = sp.zeros(term.matrix.rows, 1)
        for j, share in enumerate(SHARES):
            factor = {Mixed: MIXING[i][j], Weighted: share, Participants: share, Average: share}[term.over]
            symbols = {rename_client(symbol): value for symbol, value in self.symbols[j].items()}
            vectors = {rename_client(vector): value for vector, value in self.vectors[j].items()}
            inside = term.matrix.xreplace(
                self.symbols[i] | {a: v for a, v in symbols.items() if a not in self.symbols[i]}
            )
            total += sp.Rational(factor) * inside * sp.Matrix([vectors[v] for v in term.columns])
        return total


def _of_client(value: Any, i: int) -> Expr:
    each = value[i] if hasattr(value, "__len__") else value
    return sp.Rational(str(each))


@pytest.mark.parametrize("name", names())
def test_block_matrices_agree_with_the_engine(name: str) -> None:
    trajectory = _trajectory(name)
    definition = trajectory.definition
    chances = [(coins, sp.Rational(str(chance))) for chance, coins in trajectory._iterate_outcomes()]
    rounds = [(Round(trajectory, coins), chance) for coins, chance in chances]
    columns = [sp.Integer(1), *definition.server, *(sp.Symbol(f"{c}{i}") for i in range(3) for c in definition.client)]
    symbols = sp.Matrix(columns)
    expected = [sp.Integer(1)]
    expected += [sum(chance * one.end(0).get(s, s) for one, chance in rounds) for s in definition.server]
    expected += [
        sum(chance * one.end(i).get(c, one.vectors[i][c]) for one, chance in rounds)
        for i in range(3)
        for c in definition.client
    ]
    found = sp.Matrix([[sp.Rational(str(entry)) for entry in row] for row in trajectory.mean_round()[0]]) * symbols
    assert (found - sp.Matrix(expected)).expand() == sp.zeros(len(expected), 1)


def test_sums_that_coins_keep_from_everybody_are_no_part_of_a_round() -> None:
    rounds = {chance: transition.maps for chance, transition in _trajectory("scaffnew").transitions(0)}
    reported, skipped = rounds[RATIONAL.number("1/3", "chance")], rounds[RATIONAL.number("2/3", "chance")]
    assert len(reported.reports) == 1
    assert reported.broadcast is not None
    assert not skipped.reports
    assert skipped.broadcast is None


@pytest.mark.parametrize("name", names())
def test_block_matrices_are_typeset(name: str) -> None:
    """A local step and the end of a round are typeset as formulas with their vectors on both sides."""
    for _, shown in list_matrices(definition(name)):
        assert shown.count(r"\begin{pmatrix}") == shown.count(r"\end{pmatrix}") >= 3
        assert str(typeset_formula(shown, "block")).count("<mtable") == shown.count(r"\begin{pmatrix}")
