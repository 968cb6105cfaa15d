"""Random rewritings of expressions in vectors: what the kernel takes for an identity holds on exact runs.

Most rewritings are wrong: a factor leaves an average, a client's vector becomes the average, noise is left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Expr,
    Gradient,
    Inner,
    LocalSum,
    PastSum,
    Selected,
    Value,
    inner,
)
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Place
from fedtheory.proofs import Certificate, check_certificate
from verify.check import check

pytestmark = pytest.mark.long
_ATTEMPTS = 250

z, later, mean, later_mean, x, best, g, noise, v, F, f = VECTORS = sp.symbols("z z' m m' x o g n v F f", real=True)
result, following, y = sp.symbols("r w y", real=True)
eta, own, L_i, M, L, tau, E = sp.symbols("eta mu_i L_i M L tau E", positive=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
MEANINGS: dict[sp.Symbol, q.Quantity] = {
    **{z: q.local_iterate, later: q.next_local_iterate, mean: q.average_iterate, later_mean: q.next_average_iterate},
    **{x: q.server_model, best: q.optimum, g: q.stochastic_gradient, noise: q.gradient_noise, v: q.centralised_model},
    **{F: q.objective, f: q.client_objective, eta: q.local_step_size, own: q.client_step_size, M: q.clients},
    **{L_i: q.client_smoothness, L: q.smoothness, tau: q.local_steps, E: q.client_local_steps, k: q.local_step_index},
    **{result: q.local_result, following: q.next_server_model, y: q.point},
}
OF_PLACE: dict[Place, tuple[list[Expr], list[Expr], list[type]]] = {
    "step": ([z, later, mean, later_mean, x, best, g, noise, v], [eta, L_i, k, tau, M, L], []),
    "path": ([z, later, mean, later_mean, x, best, v], [eta, L_i, k, tau, M, L], []),
    "round": ([z, later, x, best, g, result, following], [own, L_i, k, E, M], [LocalSum, PastSum, Selected]),
    "points": ([y, best], [L_i, L, M], []),
}
ASSUMED = (
    *(a.same_local_work, a.full_participation, a.uniform_shares, a.unit_server_step, a.uniform_sampling),
    *(a.full_gradients, a.unbiased_bounded_variance, a.averaged_participants, a.one_client, a.same_step_size),
    *(a.convex_and_smooth, a.importance_weights, a.normalised_steps, a.synchronous, a.one_type),
)
NEEDED: dict[Place, tuple[a.Assumption, ...]] = {
    "round": (a.uniform_sampling, a.uniform_shares, a.unit_server_step),
}
"""Assumptions without which nothing is known at a place."""
CHANGES: dict[Expr, tuple[Expr, ...]] = {
    z: (mean, x),
    mean: (Average(z), x),
    later: (z - eta * g, z - own * g, z - eta * Gradient(f, z), z - eta * (Gradient(f, z) + noise)),
    later_mean: (Average(later), mean - eta * Average(g), mean - eta * Gradient(F, mean)),
    g: (Gradient(f, z), Gradient(f, z) + noise, noise),
    noise: (sp.S.Zero, g - Gradient(f, z)),
    v: (x, mean),
    following: (Selected(result), Average(result)),
    result: (x - own * LocalSum(g), later),
    k: (sp.S.Zero, tau - 1),
    L_i: (L,),
    E: (k + 1, Average(E)),
    own: (Average(own), eta),
    y: (best,),
}
"""Other expressions for a symbol, right ones and wrong ones."""


class Writer:
    """Write random statements about one place."""

    def __init__(self, seed: int, place: Place) -> None:
        self.random, self.place = random.Random(seed), place
        self._vectors, self._numbers, self._sums = OF_PLACE[place]

    def vector(self, depth: int = 2) -> Expr:
        """Return a vector that is not too deep."""
        if depth == 0:
            return self.random.choice(self._vectors)
        kind = self.random.randrange(7)
        if kind < 3:
            return self.vector(0)
        if kind == 3:
            points = [one for one in self._vectors if one not in (g, noise)]
            return Gradient(self.random.choice((F, f)), self.random.choice(points))
        if kind == 4:
            return Average(self.vector(depth - 1))
        if kind == 5:
            return self.vector(depth - 1) - self.vector(depth - 1)
        return self.random.choice(self._sums)(self.vector(depth - 1)) if self._sums else self.vector(depth - 1)

    def number(self) -> Expr:
        """Return an inner product, a value of an objective or a number, inside of sums."""
        kind = self.random.randrange(4)
        found: Expr = self.random.choice(self._numbers)
        if kind < 2:
            found = inner(self.vector(), self.vector())
        elif kind == 2:
            found = Value(self.random.choice((F, f)), self.vector(1))
        if self.place == "step" and found.has(Inner, Value):
            found = Expectation(found)
        if self.random.random() < 0.3:
            found *= self.random.choice(self._numbers)
        for _ in range(self.random.choice((0, 1, 1, 2))):
            found = self.random.choice((Average, Average, ClientSum, *self._sums))(found)
        return found

    def rewrite(self, expression: Expr) -> Expr:
        """Return the expression after one change, right or wrong."""
        changes = [(one, other) for part in sp.preorder_traversal(expression) for one, other in self._changes(part)]
        return expression.xreplace(dict([self.random.choice(changes)])) if changes else expression

    def _changes(self, part: Expr) -> Iterator[tuple[Expr, Expr]]:
        yield from ((part, other) for other in CHANGES.get(part, ()))
        if isinstance(part, Average | ClientSum | LocalSum | PastSum | Selected):
            (inside,) = part.args
            yield from ((part, other) for other in (inside, Average(inside), M * Average(inside), (k + 1) * inside))
            for number in set(sp.Mul.make_args(inside)).intersection(self._numbers):
                yield part, number * part.func(inside / number)
            if isinstance(inside, Inner):
                one, other = inside.args
                yield part, inner(part.func(one), other)
                yield part, inner(part.func(one), part.func(other))
        if isinstance(part, Inner):
            one, other = part.args
            yield from (
                (part, head(inner(one.args[0], other))) for head in (Average, Selected) if isinstance(one, head)
            )
        if isinstance(part, Gradient):
            yield part, Gradient(F if part.args[0] == f else f, part.args[1])


def make_runs() -> list[Run]:
    """Return exact runs with unequal clients, noise, sampling, unequal work, and one client."""
    two = {"kind": "quadratic", "hessians": [[["1"]], [["3"]]], "linear": [["1"], ["-2"]], "start": ["2"], "noise": "1"}
    alone = {**two, "hessians": [[["2"]]], "linear": [["1"]]}
    weighted = {**two, "weights": ["1/3", "2/3"], "noise": ["0", "2"]}
    quiet, alike = {**two, "noise": "0"}, {**two, "hessians": [[["2"]]] * 2, "linear": [["1"]] * 2}
    settings: list[dict[str, Any]] = [
        {"local_steps": 3},
        {"local_steps": 1},
        {"local_steps": 2, "participation": {"kind": "uniform", "clients": 1}},
        {"local_steps": [1, 3]},
        {"local_steps": [1, 2], "local_step_size": ["1/4", "1/8"]},
        {"local_steps": [2, 3], "participation": {"kind": "uniform", "clients": 1}},
    ]
    found = []
    for problem in (two, weighted, quiet, alike, alone):
        for setting in settings:
            algorithm = {"local_step_size": "1/4", "rounds": 2, **setting}
            try:
                found.append(parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL))
            except InputError:
                assert problem is alone
    return found


@pytest.mark.parametrize("place", OF_PLACE)
def test_proved_equations_hold_on_runs(place: Place) -> None:
    """An equation that is proved without any inequality holds at each place of the runs to which it applies."""
    writer, runs = Writer(20, place), make_runs()
    proved, applied = 0, 0
    for _ in range(_ATTEMPTS):
        left = writer.number()
        right = writer.rewrite(writer.rewrite(left))
        others = writer.random.sample(ASSUMED, writer.random.randrange(7))
        assumed = list(dict.fromkeys((*NEEDED.get(place, ()), *others)))
        used = {symbol: MEANINGS[symbol] for symbol in left.free_symbols | right.free_symbols}
        claim = Claim(id="t:identity", lhs=left, relation="==", rhs=right, where=used, place=place, assumptions=assumed)
        if left == right or check_certificate(claim, Certificate(claim=claim.id, links=[[]])).verdict != "proved":
            continue
        try:
            found = [check(claim, run) for run in runs]
        except InputError as outside:
            # The kernel knows the zero vector, which statements of people cannot contain.
            if "cannot evaluate 0" not in str(outside):
                raise
            continue
        proved, applied = proved + 1, applied + sum(one.applicable for one in found)
        assert all(one.holds is not False for one in found), (left, right, [one.name for one in assumed])
    assert proved > _ATTEMPTS / 50
    assert applied > proved
