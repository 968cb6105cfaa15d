"""Rounds: steps that do not exist, what is refused there, and how many outcomes are too many."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from tiny_runs import data, quadratics

from fedtheory import Claim
from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, iterate_round_frames
from fedtheory.engine.frames.outcomes import MOST_OUTCOMES
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Uniform
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, LocalSum, PastSum, Selected, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim_places import iterate_sites
from fedtheory.language.evaluation import compile_expression
from verify.check import check

w, x, g, xi, new, Fi, p, wo, one, D, k, E = sp.symbols("w x g xi new F_i p wo one D k E", real=True)
WHERE: dict[Any, Any] = {
    w: q.server_model, x: q.local_iterate, g: q.stochastic_gradient, xi: q.gradient_noise, new: q.next_server_model,
    Fi: q.client_objective, p: q.point, wo: q.client_optimum, one: q.participates, k: q.local_step_index,
    E: q.client_local_steps,
}  # fmt: skip
LINE: dict[str, Any] = {"hessians": [[["2"]], [["1/2"]]], "linear": [["1"], ["-3"]], "start": ["3/2"]}
UNEQUAL = quadratics(**LINE, deviation=[1, 0], steps=(1, 3)).engine
EQUAL = quadratics(**LINE, deviation=[1, 0], steps=2).engine
FEW = quadratics(**LINE, deviation=[1, 0], steps=1).engine
"""A number of outcomes equal to the number of clients."""


def _claim(left: Expr, relation: Any, right: Expr, place: Any = "round", where: Any = None) -> Claim:
    return Claim(id="t:round", place=place, where=where or WHERE, lhs=left, relation=relation, rhs=sp.sympify(right))


def _holds(left: Expr, relation: Any, right: Any, run: Run) -> bool | None:
    return check(_claim(left, relation, right), run).holds


def _values(expression: Expr, run: Run) -> list[Array]:
    compiled = compile_expression(expression, WHERE)
    return [compiled(site) for site in iterate_sites(_claim(expression, "==", expression), run)]


@pytest.mark.parametrize(
    ("left", "relation", "right"),
    [
        (k, "<=", E - 1),
        (norm_sq(xi) * (1 - norm_sq(xi)), "==", 0),
        (norm_sq(xi), "<=", 1),
        (PastSum(sp.S.One), "==", k + 1),
        (norm_sq(x - w) * (k - 1) * (k - 2), "==", 0),
    ],
    ids=str,
)
def test_only_existing_steps_enter_relations(left: Expr, relation: Any, right: Any) -> None:
    """The relation holds at existing steps, and fails in the padding of shorter rounds."""
    assert _holds(left, relation, right, UNEQUAL) is True


def test_existing_steps_do_enter_and_are_found() -> None:
    """A claim that fails only at the last step of the longer round is refuted there."""
    found = check(_claim(k * E, "<=", sp.Integer(5)), UNEQUAL)
    assert found.holds is False
    assert found.worst is not None
    assert (found.worst.index["step"], found.worst.index["client"]) == (2, 1)
    assert (found.worst.lhs, found.worst.rhs) == (6, 5)
    turned = quadratics(**LINE, deviation=[1, 0], steps=(3, 1)).engine
    first = check(_claim(k * E, "<=", sp.Integer(5)), turned).worst
    assert first is not None
    assert (first.index["step"], first.index["client"]) == (2, 0)


def test_the_worst_outcome_is_named() -> None:
    """With noise of one client, the outcome index of a violation is one with a sample of -1 or 1."""
    found = check(_claim(norm_sq(xi), "<=", sp.Rational(1, 2)), UNEQUAL).worst
    assert found is not None
    frame = next(iterate_round_frames(UNEQUAL))
    assert found.lhs == 1
    place = tuple(int(found.index[axis]) for axis in Frame.axes if axis in found.index)
    assert place
    client, outcome = int(found.index["client"]), int(found.index.get("outcome", 0))
    assert client == 0
    noise = frame.noise.values  # type: ignore[attr-defined]
    assert noise[outcome, int(found.index.get("step", 0)), client, 0] in (1, -1)


def test_sums_know_how_many_steps_there_are() -> None:
    """Sums of terms that do not depend on the step count the client's own steps."""
    for values in _values(LocalSum(sp.S.One), UNEQUAL):
        assert values.tolist() == [[[1, 3]]]
    for total, single in zip(_values(norm_sq(LocalSum(w)), UNEQUAL), _values(norm_sq(w), UNEQUAL), strict=True):
        assert total.tolist() == [[[single.item(), 9 * single.item()]]]


def test_the_average_iterate_needs_equal_steps() -> None:
    """With different numbers of steps there is no averaged iterate."""
    claim = _claim(norm_sq(x), ">=", 0, where={x: q.average_iterate})
    assert check(claim, UNEQUAL).applicable is False
    assert check(claim, EQUAL).holds is True


def test_the_next_average_iterate_needs_equal_steps() -> None:
    """With different numbers of steps there is no averaged iterate after the step."""
    claim = _claim(norm_sq(x), ">=", 0, where={x: q.next_average_iterate})
    assert check(claim, UNEQUAL).applicable is False


@pytest.mark.parametrize("mean", [Average(norm_sq(xi)), norm_sq(Average(xi)), norm_sq(Selected(xi))], ids=str)
def test_averages_over_clients_leave_the_padding_out(mean: Expr) -> None:
    """Noise of norm at most one has such an average, whatever the padding contains."""
    assert _holds(mean, "<=", 1, UNEQUAL) is not False


@pytest.mark.parametrize("run", [FEW, EQUAL, UNEQUAL], ids=["outcomes = clients", "equal steps", "unequal steps"])
@pytest.mark.parametrize("known", [wo, Gradient(Fi, p)], ids=str)
def test_expected_known_vectors(run: Run, known: Expr) -> None:
    """E v = v for vectors that are not random."""
    for values in _values(norm_sq(Expectation(known) - known), run):
        assert (values == 0).all()


@pytest.mark.parametrize("run", [FEW, UNEQUAL], ids=["one step", "unequal steps"])
@pytest.mark.parametrize("known", [wo, Gradient(Fi, p)], ids=str)
def test_sums_of_known_vectors(run: Run, known: Expr) -> None:
    """sum_k v = E_k v for vectors that do not change."""
    for values in _values(norm_sq(LocalSum(known) - E * known), run):
        assert (values == 0).all()


def test_quantities_over_rounds_are_refused() -> None:
    """A quantity with a value per round has none on the outcomes of one round."""
    run = quadratics(**LINE, deviation=[1, 0], rounds=2).engine
    claim = _claim(norm_sq(w), ">=", D, where={w: q.server_model, D: q.server_distance_sq})
    with pytest.raises(InputError, match="has a value for each round, not at place='round'"):
        check(claim, run)


def test_quantities_over_rounds_are_refused_in_runs_of_one_round() -> None:
    """E|x^0 - x*|^2 is rejected in a round, since it concerns the start of the run."""
    claim = _claim(norm_sq(w), "==", D, where={w: q.server_model, D: q.server_distance_sq})
    with pytest.raises(InputError, match="has a value for each round"):
        check(claim, EQUAL)


def test_expected_vectors_have_values_at_local_steps() -> None:
    """The squared norm of an expectation is at most the expected squared norm."""
    run = quadratics(**LINE, deviation=[1, 0], rounds=2).engine
    squares = Expectation(norm_sq(Expectation(x))), Expectation(norm_sq(x))
    assert check(_claim(squares[1], ">=", squares[0], "step"), run).holds
    assert not check(_claim(squares[0], ">=", squares[1], "step"), run).holds


@pytest.mark.parametrize(
    "claim",
    [
        _claim(Expectation(norm_sq(new)), ">=", 0, "step"),
        _claim(one, ">=", 0, "step"),
        _claim(one, ">=", 0, "run"),
        _claim(norm_sq(w), ">=", D, where={w: q.server_model, D: q.server_distance_sq}),
        _claim(norm_sq(x), ">=", 0, where={x: q.centralised_model}),
    ],
    ids=["next model", "participants", "participants of a run", "rounds", "centralised"],
)
def test_claims_at_the_wrong_place_are_input_errors(claim: Claim) -> None:
    """A quantity without a value at the claim's place gives an error with the claim's id."""
    run = quadratics(**LINE, deviation=[1, 0], rounds=2).engine
    with pytest.raises(InputError, match="t:round"):
        check(claim, run)


def _outcomes(run: Run) -> int:
    return len(next(iterate_round_frames(run)).selection)


def test_too_many_outcomes() -> None:
    """One more outcome than the stated limit makes the claim not applicable."""
    full = quadratics(**LINE, deviation=[1, 1], steps=(4, 5)).engine
    assert _outcomes(full) == 2**9 <= MOST_OUTCOMES
    more = quadratics(**LINE, deviation=[1, 1], steps=(5, 5)).engine
    with pytest.raises(NotApplicable, match="expected at most 600 outcomes of a round, got 1024"):
        _outcomes(more)
    halves = quadratics(**LINE, deviation=[1, 1], steps=(4, 5), law=Uniform(1)).engine
    found = check(_claim(norm_sq(w), ">=", 0), halves)
    assert found.applicable is False
    assert "got 1024" in str(found.reason)
    inputs, outputs = [[[j] for j in range(1, 6)]], [[0] * 5]
    assert _outcomes(data(inputs, outputs, ["1"], batch=2, steps=2, eta="1/99").engine) == 15**2
    with pytest.raises(NotApplicable, match="got 3375"):
        _outcomes(data(inputs, outputs, ["1"], batch=2, steps=3, eta="1/99").engine)
    with pytest.raises(NotApplicable, match="mini-batches to enumerate"):
        _outcomes(data(inputs, outputs, ["1"], batch=5, steps=1, eta="1/99").engine)


class _Unlisted(Uniform):
    """A law with too many outcomes to list."""

    def outcomes(self, weights: Array) -> tuple[Array, Array]:
        raise AssertionError(f"{len(weights)} clients were listed")


def test_too_many_participants_are_refused_before_they_are_listed() -> None:
    """12 of 24 clients have 2704156 subsets, which are rejected without listing them."""
    run = quadratics([[["1"]]] * 24, [["1"]] * 24, ["0"], law=_Unlisted(12)).engine
    with pytest.raises(NotApplicable, match="outcomes"):
        _outcomes(run)


def test_many_clients_without_noise() -> None:
    """Full gradients of 64 clients have a single outcome."""
    assert _outcomes(quadratics([[["1"]]] * 64, [["1"]] * 64, ["0"]).engine) == 1


def test_floats_agree() -> None:
    """Floats give the same rounds."""
    exact, floats = (next(iterate_round_frames(run)) for run in (UNEQUAL, UNEQUAL.as_floats()))
    assert exact.next_server.values.shape == floats.next_server.values.shape
    wanted = [float(fmpq(v).p) / float(fmpq(v).q) for v in exact.next_server.values.ravel()]
    assert floats.next_server.values.ravel() == pytest.approx(wanted, rel=1e-14)
