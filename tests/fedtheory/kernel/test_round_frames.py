"""Rounds over all outcomes, against rounds computed by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import enumeration as brute
import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_runs import Pair, data, quadratics

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.frames import RoundFrame, iterate_round_frames
from fedtheory.engine.frames.path import PathVector
from fedtheory.federation import Fixed, Multinomial, Uniform
from fedtheory.kernel.expressions import Expectation, Expr, LocalSum, PastSum, Selected, Value, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim_places import iterate_sites
from fedtheory.language.evaluation import compile_expression
from fedtheory.runfile import parse_run

Draw = Callable[[brute.Point], brute.Point]
"""A stochastic gradient for one random outcome, as a function of the point."""


@dataclass(frozen=True)
class Case:
    """A tiny run, and for each client the probabilities and outcomes of its oracle."""

    pair: Pair
    draws: list[list[tuple[fmpq, Draw]]]


@dataclass(frozen=True)
class Outcome:
    """One outcome of a round: weights, and steps (x, g(x), g(w) with the same sample) of each client."""

    probability: fmpq
    weights: brute.Point
    base: brute.Point
    steps: list[list[tuple[brute.Point, brute.Point, brute.Point]]]
    results: list[brute.Point]

    @property
    def selected_change(self) -> brute.Point:
        """Return sum_i w_i (result_i - w)."""
        return brute.mixture(self.weights, [brute.minus(x, self.base) for x in self.results])


def _noisy(pair: Pair, deviations: list[Any]) -> Case:
    draws: list[list[tuple[fmpq, Draw]]] = []
    size = len(pair.tiny.start)
    for client, deviation in zip(pair.tiny.clients, brute.point(*deviations), strict=True):
        noises = [tuple(s * deviation * (a == j) for j in range(size)) for a in range(size) for s in (1, -1)]
        noises = noises if deviation else noises[:1]
        draws.append([(fmpq(1, len(noises)), partial(_disturb, client, noise)) for noise in noises])
    return Case(pair, draws)


def _disturb(client: brute.Client, noise: brute.Point, at: brute.Point) -> brute.Point:
    return brute.plus(client.gradient(at), noise)


def _batch(rows: Any, **settings: Any) -> Case:
    draws: list[list[tuple[fmpq, Draw]]] = []
    for inputs, outputs in zip(*rows, strict=True):
        samples = [(brute.point(*x), brute.number(y)) for x, y in zip(inputs, outputs, strict=True)]
        with_replacement, size = settings.get("replacement", True), settings["batch"]
        ordered, sets = itertools.product(samples, repeat=size), itertools.combinations(samples, size)
        batches = list(ordered if with_replacement else sets)
        draws.append([(fmpq(1, len(batches)), partial(_of_batch, batch)) for batch in batches])
    return Case(data(*rows, **settings), draws)


def _of_batch(batch: Any, at: brute.Point) -> brute.Point:
    parts = [tuple(2 * (brute.dot(x, at) - y) * c for c in x) for x, y in batch]
    return brute.mixture([fmpq(1, len(batch))] * len(batch), parts)


LINE: dict[str, Any] = {
    "hessians": [[["2"]], [["1/2"]]],
    "linear": [["1"], ["-3"]],
    "start": ["3/2"],
    "importance": ["1/3", "2/3"],
}
THREE: dict[str, Any] = {"hessians": [[["2"]], [["1/2"]], [["3"]]], "linear": [["1"], ["-3"], ["2"]], "start": ["2"]}
PLANE: dict[str, Any] = {
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "-1"], ["-1", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "start": ["3", "-2"],
}
ROWS: Any = ([[["1/2"], [1], [-1]], [[1], ["1/3"]]], [[1, 0, 2], [0, 1]])
WIDE: tuple[Any, Any] = ([[["1/2", 1], [1, 0], [-1, 2]], [[1, 1], ["1/3", 0], [0, 2]]], [[1, 0, 2], [0, 1, 1]])
SHARES = brute.point("1/3", "2/3")
THIRDS = brute.point("1/3", "1/3", "1/3")
TWO_OF_THREE: dict[str, Any] = {"law": Multinomial(2), "weights": brute.multinomial_weights(THIRDS, 2)}
SUBSETS: dict[str, Any] = {"law": Uniform(2), "weights": brute.uniform_weights(THIRDS, 2)}
ONE_OF_TWO: dict[str, Any] = {"law": Uniform(1), "weights": brute.uniform_weights(SHARES, 1)}
SECOND: dict[str, Any] = {"law": Fixed((1,)), "weights": brute.fixed_weights(SHARES, (1,))}

CASES: dict[str, Case] = {
    "noise, unequal": _noisy(
        quadratics(**LINE, deviation=[1, 2], eta=["1/4", "1/3"], steps=(1, 3), server="3/2"), [1, 2]
    ),
    "noise, uniform": _noisy(quadratics(**LINE, deviation=[1, 2], steps=(2, 1), server="1/2", **ONE_OF_TWO), [1, 2]),
    "noise, fixed": _noisy(quadratics(**LINE, deviation=[1, 0], steps=(3, 2), **SECOND), [1, 0]),
    "three, multinomial": _noisy(
        quadratics(**THREE, deviation=[1, 0, 2], eta=["1/5", "1/4", "1/3"], steps=(2, 1, 1), **TWO_OF_THREE), [1, 0, 2]
    ),
    "three, subsets": _noisy(quadratics(**THREE, deviation=[0, 0, "1/2"], steps=(2, 1, 2), **SUBSETS), [0, 0, "1/2"]),
    "quiet, subsets": _noisy(quadratics(**THREE, deviation=[0, 0, 0], steps=(2, 1, 2), **SUBSETS), [0, 0, 0]),
    "plane": _noisy(quadratics(**PLANE, deviation=[1, "1/2"], eta="1/5", steps=(2, 1), server=2), [1, "1/2"]),
    "batches": _batch(ROWS, start=["2"], batch=1, eta=["1/10", "1/7"], steps=(2, 3)),
    "pairs with replacement": _batch(ROWS, start=["2"], batch=2, eta="1/10", steps=(1, 2), server="2/3"),
    "pairs without": _batch(WIDE, start=["2", 1], batch=2, replacement=False, eta="1/9", steps=(2, 2)),
}


def _rounds(case: Case) -> Iterator[tuple[RoundFrame, list[Outcome]]]:
    """Yield the engine's rounds, each with the enumerated one from the same model."""
    best = case.pair.tiny.minimiser()
    for frame in iterate_round_frames(case.pair.engine):
        base = brute.plus(tuple(frame.server.values[0, 0, 0]), best)
        yield frame, list(_roll_out(case, base))


def _roll_out(case: Case, base: brute.Point) -> Iterator[Outcome]:
    tiny = case.pair.tiny
    sequences: Any = [itertools.product(d, repeat=k) for d, k in zip(case.draws, tiny.steps, strict=True)]
    joint: Any = itertools.product(tiny.participation, *sequences)
    for (chance, weights), *drawn in joint:
        steps, results = [], []
        for client, sequence in enumerate(drawn):
            at, own = base, []
            for probability, draw in sequence:
                chance = chance * probability  # noqa: PLW2901
                own.append((at, draw(at), draw(base)))
                at = brute.plus(at, draw(at), -tiny.step_sizes[client])
            steps.append(own)
            results.append(at)
        yield Outcome(chance, weights, base, steps, results)


def _law(chances: list[fmpq], points: Any) -> dict[Any, fmpq]:
    return {outcome: chance for chance, outcome in brute.merged(list(zip(chances, points, strict=True)))}


@pytest.mark.parametrize("name", CASES)
def test_every_outcome_is_sgd_with_its_draws(name: str) -> None:
    """Joint distributions of weights, iterates, gradients, results and next model agree."""
    case = CASES[name]
    best, tiny = case.pair.tiny.minimiser(), case.pair.tiny
    for frame, outcomes in _rounds(case):
        vectors = (frame.local, frame.gradient, frame.gradient_at_server, frame.noise, frame.result)
        local, gradients, at_server, noise, ends = (_at_each_outcome(frame, vector) for vector in vectors)
        found = []
        for n in range(len(local)):
            steps = [
                tuple((brute.plus(tuple(local[n, k, i]), best), *map(tuple, (gradients[n, k, i], at_server[n, k, i])))
                      for k in range(count))
                for i, count in enumerate(tiny.steps)
            ]  # fmt: skip
            for i, own in enumerate(steps):
                for k, (x, g, _) in enumerate(own):
                    assert tuple(noise[n, k, i]) == brute.minus(g, tiny.clients[i].gradient(x))
            after = brute.plus(tuple(frame.next_server.values[n, 0, 0]), best)
            results = [brute.plus(tuple(x), best) for x in ends[n, 0]]
            found.append((tuple(frame.selection[n, 0]), tuple(steps), tuple(results), after))
        wanted = [
            (o.weights, tuple(map(tuple, o.steps)), tuple(o.results),
             brute.plus(o.base, o.selected_change, tiny.server_step_size)) for o in outcomes
        ]  # fmt: skip
        chances = [frame.take_expectation(_one_at(n, len(found))).item() for n in range(len(found))]
        assert sum(chances, fmpq(0)) == 1
        assert _law(chances, found) == _law([o.probability for o in outcomes], wanted)


def _at_each_outcome(frame: RoundFrame, vector: Any) -> Any:
    """Return the values of a vector, broadcast to all outcomes."""
    return np.broadcast_to(vector.values, (len(frame.probabilities), *vector.values.shape[1:]))


def _one_at(place: int, length: int) -> Any:
    return np.array([fmpq(int(n == place)) for n in range(length)], dtype=object)[:, None, None]


@pytest.mark.parametrize("name", CASES)
def test_moments_are_those_of_the_recursion(name: str) -> None:
    """E (1, x)(1, x)' of the next model agrees between engine, recursion and enumeration."""
    pair = CASES[name].pair
    recursion, best = pair.engine.trajectory.recursion, pair.tiny.minimiser()
    for frame in iterate_round_frames(pair.engine):
        base = frame.server.values[0, 0, 0]
        point = np.concatenate([pair.engine.arithmetic.identity(1)[0], base])
        mass = np.outer(point, point)
        after = recursion.propagate_round(mass, recursion.round_noise(mass))
        models = frame.next_server.values[:, 0, 0]
        homogeneous = np.concatenate([models[:, :1] * 0 + 1, models], axis=1)
        found = frame.take_expectation(homogeneous[:, :, None] * homogeneous[:, None, :])[0]
        assert found.tolist() == after.tolist()
        law = replace(pair.tiny, start=brute.plus(tuple(base), best), rounds=1).server_laws[1]
        away = brute.expectation(law, lambda at: brute.dot(brute.minus(at, best), brute.minus(at, best)))
        assert found[1:, 1:].trace() == away


w, x, g, ghat, psi, new, F, one, p = sp.symbols("w x g ghat psi new F one p")
WHERE: dict[Any, Any] = {
    w: q.server_model, x: q.local_iterate, g: q.stochastic_gradient, ghat: q.gradient_at_server_model,
    psi: q.local_result, new: q.next_server_model, F: q.objective, one: q.participates, p: q.point,
}  # fmt: skip


def _sq(vector: brute.Point) -> fmpq:
    return brute.dot(vector, vector)


def _total(points: list[brute.Point]) -> brute.Point:
    return brute.mixture([fmpq(1)] * len(points), points)


def _gradients(o: Outcome, i: int, k: int | None = None) -> list[brute.Point]:
    return [step[1] for step in o.steps[i][: None if k is None else k + 1]]


EXPRESSIONS: dict[str, tuple[Expr, Callable[[Case, Outcome, int, int], Any]]] = {
    "|sum g|^2": (norm_sq(LocalSum(g)), lambda _c, o, i, _k: _sq(_total(_gradients(o, i)))),
    "|past sum g|^2": (norm_sq(PastSum(g)), lambda _c, o, i, k: _sq(_total(_gradients(o, i, k)))),
    "past sum |g|^2": (PastSum(norm_sq(g)), lambda _c, o, i, k: sum(map(_sq, _gradients(o, i, k)), fmpq(0))),
    "(sum |g - ghat|^2)^2": (
        LocalSum(norm_sq(g - ghat)) ** 2,
        lambda _c, o, i, _k: sum((_sq(brute.minus(a, b)) for _, a, b in o.steps[i]), fmpq(0)) ** 2,
    ),
    "1 |x - w|^4": (
        one * norm_sq(x - w) ** 2,
        lambda _c, o, i, k: fmpq(int(o.weights[i] != 0)) * _sq(brute.minus(o.steps[i][k][0], o.base)) ** 2,
    ),
    "|selected psi - w|^2": (norm_sq(Selected(psi - w)), lambda _c, o, _i, _k: _sq(o.selected_change)),
    "F(new)": (
        Value(F, new),
        lambda c, o, _i, _k: c.pair.tiny.value(brute.plus(o.base, o.selected_change, c.pair.tiny.server_step_size)),
    ),
    "sum |psi - w|^2": (
        LocalSum(norm_sq(psi - w)),
        lambda _c, o, i, _k: len(o.steps[i]) * _sq(brute.minus(o.results[i], o.base)),
    ),
    "selected sum": (
        norm_sq(Selected(LocalSum(ghat))),
        lambda _c, o, _i, _k: _sq(brute.mixture(o.weights, [_total([s[2] for s in own]) for own in o.steps])),
    ),
    "max": (
        sp.Max(norm_sq(LocalSum(g)), sp.Integer(20)),
        lambda _c, o, i, _k: max(_sq(_total(_gradients(o, i))), fmpq(20)),
    ),
}


def _evaluate(expression: Expr, case: Case) -> list[Any]:
    claim = Claim(id="t:round", place="round", where=WHERE, lhs=expression, rhs=expression)
    return [compile_expression(expression, WHERE)(site) for site in iterate_sites(claim, case.pair.engine)]


@pytest.mark.parametrize("name", CASES)
def test_expectations_of_expressions(name: str) -> None:
    """Expectations of sums, higher powers and maxima agree at every existing step."""
    case = CASES[name]
    rolled = [outcomes for _, outcomes in _rounds(case)]
    for label, (expression, truth) in EXPRESSIONS.items():
        for values, outcomes in zip(_evaluate(Expectation(expression), case), rolled, strict=True):
            for i, count in enumerate(case.pair.tiny.steps):
                for k in range(count):
                    wanted = sum((o.probability * truth(case, o, i, k) for o in outcomes), fmpq(0))
                    entry = values[0, min(k, values.shape[1] - 1), min(i, values.shape[2] - 1)]
                    assert entry == wanted, (label, i, k)


@pytest.mark.parametrize("name", CASES)
def test_expected_vectors(name: str) -> None:
    """|E sum_k g_k|^2 and |E[psi] - w|^2 agree with the enumeration."""
    case = CASES[name]
    rolled = [outcomes for _, outcomes in _rounds(case)]
    sums, moves = (_evaluate(norm_sq(v), case) for v in (Expectation(LocalSum(g)), Expectation(psi) - w))
    for outcomes, total, move in zip(rolled, sums, moves, strict=True):
        chances = [o.probability for o in outcomes]
        for i in range(len(case.draws)):
            assert total[0, 0, i] == _sq(brute.mixture(chances, [_total(_gradients(o, i)) for o in outcomes]))
            mean = brute.mixture(chances, [o.results[i] for o in outcomes])
            assert move[0, 0, i] == _sq(brute.minus(mean, outcomes[0].base))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.fractions(min_value="-3", max_value="3", max_denominator=6), min_size=5, max_size=5),
    st.tuples(st.integers(1, 2), st.integers(1, 3)),
    st.sampled_from(["1/2", "1", "7/3"]),
)
def test_any_line(numbers: list[Any], steps: tuple[int, int], server: str) -> None:
    """The average over outcomes is one round of the exact trajectory."""
    b0, b1, start, d0, d1 = map(str, numbers)
    pair = quadratics([[["2"]], [["1/2"]]], [[b0], [b1]], [start], deviation=[d0, d1], steps=steps, server=server)
    frame = next(iterate_round_frames(pair.engine))
    assert (
        frame.take_expectation(frame.inner(frame.next_server, frame.next_server)).item()
        == pair.engine.trajectory.server_distance_sq[1]
    )


def test_clients_that_are_alike_do_the_same() -> None:
    """Clients 1 and 3 are equal, client 2 is not: the round is that of three clients rolled out one by one."""
    run = parse_run(
        {
            "problem": {
                "kind": "quadratic",
                "hessians": [[["1"]], [["2"]], [["1"]]],
                "linear": [["1"], ["0"], ["1"]],
                "start": ["3"],
            },
            "algorithm": {"name": "fedavg", "local_step_size": "1/4", "local_steps": 2, "rounds": 1},
        },
        RATIONAL,
    )
    frame = next(iter(iterate_round_frames(run)))
    assert isinstance(frame.local, PathVector)
    start, after = frame.local.values[0, 0, :, 0], frame.next_local.values[0, 1, :, 0]
    optimum = fmpq(1, 2)
    assert [start[0] + optimum] * 3 == [x + optimum for x in start]
    # x - 1 and x are multiplied by 3/4 and by 1/2 in a step.
    model = start[0] + optimum
    assert [x + optimum for x in after] == [1 + (model - 1) * fmpq(9, 16), model / 4, 1 + (model - 1) * fmpq(9, 16)]


def test_outcomes_share_what_clients_without_noise_do() -> None:
    """Only participants are drawn: iterates have one entry for all three outcomes, and the next model has three."""
    for frame in iterate_round_frames(CASES["quiet, subsets"].pair.engine):
        shared = (frame.local, frame.next_local, frame.result, frame.gradient, frame.gradient_at_server)
        assert [len(vector.values) for vector in shared] == [1] * 5
        assert len(frame.probabilities) == len(frame.next_server.values) == 3
