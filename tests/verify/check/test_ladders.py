"""Ladders of step sizes, clients and rounds; and irrational sides that only algebra can tell to be equal."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import Claim, InputError, Rate
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import LocalWork, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from verify.check import Check, check
from verify.check.ladders import LADDERS, find_ladder
from verify.check.links import compile_relations

mu, M, T, N, L, tau, error = sp.symbols("mu M T N L tau error", positive=True)
WHERE = {
    mu: q.local_step_size, M: q.clients, N: q.clients, T: q.rounds, L: q.smoothness, tau: q.local_steps,
    error: q.final_distance_sq,
}  # fmt: skip


def _run(clients: int = 1, rounds: int = 1, steps: int = 1, start: int = 0) -> Run:
    """Clients that all want 0, with noise of variance one: from 0 the model's variance is mu^2/M after one step."""
    array = RATIONAL.array
    ones = array([1] * clients)
    problem = quadratic(array([[[1]]] * clients), array([[0]] * clients), array([start]), noise=ones)
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 2), local_steps=steps))


ONE = _run()


def _rate(measured: Any, order: Any, variable: Any, run: Run = ONE, conditions: Any = (), **keys: Any) -> Check:
    rate = Rate(sp.sympify(measured), sp.sympify(order), variable, **keys)
    return check(Claim(id="t:rate", rate=rate, where=WHERE, conditions=conditions), run)


@pytest.mark.parametrize("measured", [error, mu**2, 3 * mu**2 + mu**3])
@pytest.mark.parametrize("exact", [True, False])
def test_a_quantity_of_second_order_in_the_step_size(measured: Any, exact: bool) -> None:
    """O(mu^2) and O(mu) are supported; O(mu^3) and O(mu^4) are not: floats leave them open, an exact limit refutes."""
    run, too_small = (ONE, False) if exact else (ONE.as_floats(), None)
    for order, holds in ((mu**2, True), (mu, True), (sp.S.One, True), (mu**3, too_small), (mu**4, too_small)):
        found = _rate(measured, order, mu, run)
        assert found.holds is holds, order
        assert found.rate is not None
        assert found.rate.slope == pytest.approx(2, abs=0.05)
        # Floats continue where the first levels do not decide.
        assert len(found.rate.levels) == (5 if exact or holds else 7)


def test_the_levels_of_the_step_size() -> None:
    """Powers of four below the run's own step; the measured variance at each is its square."""
    found = _rate(error, mu**2, mu).rate
    assert found is not None
    assert [level.variable for level in found.levels] == [fmpq(1, 2 * 4**n) for n in range(5)]
    assert all(level.measured == level.order == level.variable**2 for level in found.levels)
    assert found.constant == 1


@pytest.mark.parametrize(
    ("constant", "holds"), [(sp.S.One, True), (sp.Rational(99, 100), False), (sp.Integer(2), True)]
)
def test_a_stated_constant_on_the_step_size_ladder(constant: Any, holds: bool) -> None:
    """The variance is mu^2 and no less."""
    assert _rate(error, mu**2, mu, constant=constant).holds is holds


def test_an_effective_step_size_shrinks_as_well() -> None:
    """The effective step size mu_k E_k of clients with different steps shrinks if all steps are divided together."""
    run = _run(2)
    work = LocalWork((1, 2), RATIONAL.array([fmpq(1, 2), fmpq(1, 4)]))
    run = Run(run.problem, type(run.algorithm)("fedavg", work, *_rest(run)))
    claim = Claim(
        id="t:rate", rate=Rate(error, mu**2, mu), where={mu: q.effective_step_size, error: q.final_distance_sq}
    )
    found = check(claim, run)
    assert found.holds is True
    assert found.rate is not None
    assert [level.variable for level in found.rate.levels] == [fmpq(1, 2 * 4**n) for n in range(5)]
    assert found.rate.slope == pytest.approx(2, abs=0.05)


def _rest(run: Run) -> tuple[Any, Any, int]:
    return run.algorithm.aggregation, run.algorithm.clock, run.algorithm.rounds


def test_more_clients() -> None:
    """Noise averages out: mu^2/M, which is O(1/M) and O(1/sqrt M), and not O(1/M^2)."""
    run = _run(2)
    for order, holds in ((1 / M, True), (1 / sp.sqrt(M), True), (1 / M**2, None)):
        found = _rate(error, order, M, run)
        assert found.holds is holds
        assert found.rate is not None
        assert [level.variable for level in found.rate.levels] == [2 * 4**n for n in range(4)]
        assert [level.measured for level in found.rate.levels] == [fmpq(1, 4 * 2 * 4**n) for n in range(4)]
        assert found.rate.slope == pytest.approx(-1)


def test_more_rounds_and_iterations() -> None:
    """The levels of the number of rounds are rounds, and iterations are rounds times local steps."""
    run = _run(steps=2)
    rounds = _rate(1 / T, 1 / T, T, run).rate
    assert rounds is not None
    assert [level.variable for level in rounds.levels] == [1, 4, 16, 64, 256]
    claim = Claim(id="t:rate", rate=Rate(1 / T, 1 / T, T), where={T: q.iterations})
    iterations = check(claim, run).rate
    assert iterations is not None
    assert [level.variable for level in iterations.levels] == [32, 128, 512, 2048]


def test_more_local_steps() -> None:
    """Levels of local steps are multiples of them, at a fixed number of rounds, or of iterations if a rate has them."""
    run = _run(rounds=2, steps=3)
    local = _rate(1 / tau, 1 / tau, tau, run).rate
    assert local is not None
    assert [level.variable for level in local.levels] == [3, 12, 48, 192]
    where = {tau: q.local_steps, T: q.iterations}
    both = check(Claim(id="t:rate", rate=Rate(1 / (tau * T), 1 / (tau * T), (T, tau)), where=where), run)
    assert both.rate is not None
    in_iterations, in_steps = both.rate.ladders
    assert [level.values for level in in_iterations.levels] == [(3 * rounds, 3) for rounds in (16, 64, 256, 1024)]
    assert [level.values for level in in_steps.levels] == [(3072, 3 * factor) for factor in (1, 4, 16, 64)]


def test_each_variable_that_an_order_names_is_climbed() -> None:
    """A single variable brings those of the order with it; a tuple of variables is complete."""
    order = 1 / sp.sqrt(M * T)
    for variable, names in ((T, [(T,), (M,), (T, M)]), ((M, T), [(M,), (T,), (M, T)]), ((T,), [(T,)])):
        found = _rate(order, order, variable, _run(2)).rate
        assert found is not None
        assert [ladder.variables for ladder in found.ladders] == names
    joint = _rate(order, order, T, _run(2)).rate
    assert joint is not None
    assert [level.values for level in joint.ladders[1].levels] == [(256, 2), (256, 8), (256, 32)]
    assert [level.values for level in joint.ladders[2].levels] == [(16, 2), (64, 8), (256, 32)]


def test_quantities_set_by_a_rate_are_no_variables() -> None:
    """A step size that depends on the variable, and what a stated constant leaves open."""
    tuned = _rate(mu, mu, T, step_size=1 / sp.sqrt(T)).rate
    stated = _rate(1 / (tau * T), 1 / (tau * T), T, constant=sp.S.One).rate
    for found in (tuned, stated):
        assert found is not None
        assert [ladder.variables for ladder in found.ladders] == [(T,)]


def test_variables_vary_independently() -> None:
    """Two names of the number of rounds share one ladder."""
    where = {T: q.rounds, N: q.iterations}
    with pytest.raises(InputError, match="vary independently"):
        check(Claim(id="t:rate", rate=Rate(1 / T, 1 / (N * T), (N, T)), where=where), ONE)


def test_conditions_on_the_variable_drop_levels() -> None:
    """A condition on the step size is checked on each level, edges included; the run itself may violate the
    condition.
    """
    eighth = _rate(error, mu**2, mu, conditions=[mu <= sp.Rational(1, 8)])
    assert eighth.holds is True
    assert eighth.rate is not None
    assert [level.variable for level in eighth.rate.levels] == [fmpq(1, 2 * 4**n) for n in range(1, 5)]
    strictly = _rate(error, mu**2, mu, conditions=[mu < sp.Rational(1, 8)])
    assert strictly.rate is not None
    assert [level.variable for level in strictly.rate.levels] == [fmpq(1, 2 * 4**n) for n in range(2, 5)]
    few = _rate(error, mu**2, mu, conditions=[mu < sp.Rational(1, 32)])
    assert few.applicable is False
    assert "2 runs" in str(few.reason)
    small = _rate(1 / M, 1 / M, M, _run(2), conditions=[M <= 40])
    assert small.rate is not None
    assert [level.variable for level in small.rate.levels] == [2, 8, 32]


def test_conditions_on_something_else_are_asked_of_the_run() -> None:
    """Conditions that do not mention the variable drop no levels; if the run violates them, the claim is not
    applicable.
    """
    found = _rate(error, mu**2, mu, conditions=[2 * L <= 1])
    assert found.applicable is False
    assert "condition" in str(found.reason)


@pytest.mark.parametrize("quantity", [q.smoothness, q.server_step_size, q.point, q.final_distance_sq])
def test_variables_that_nothing_drives(quantity: Any) -> None:
    """A variable needs a ladder; the complaint names the claim and lists what has one."""
    v = sp.Symbol("v", positive=True)
    claim = Claim(id="t:rate", rate=Rate(1 / v, 1 / v, v), where={v: quantity})
    with pytest.raises(InputError, match=r"t:rate.*local_step_size"):
        check(claim, ONE)
    with pytest.raises(InputError, match="t:rate"):
        find_ladder(claim)


def test_ladders_belong_to_quantities() -> None:
    """Every ladder is called by the name of a quantity, and its levels go to the limit without repeating."""
    for name, ladder in LADDERS.items():
        assert getattr(q, name).name == name
        levels = [*ladder.levels, *ladder.longer]
        assert levels == sorted(set(levels))
        assert {b / a for a, b in itertools.pairwise(levels)} == {4}
        assert ladder.limit in (sp.oo, sp.S.Zero)


IRRATIONAL = _run(clients=2, rounds=3)
ROOTS = sp.sqrt(N * T, evaluate=False), sp.sqrt(N) * sp.sqrt(T)


def _claim(left: Any, relation: Any, right: Any) -> Claim:
    return Claim(id="t:equal", lhs=sp.sympify(left), relation=relation, rhs=sp.sympify(right), where=WHERE)


@pytest.mark.parametrize("relation", ["==", "<=", ">="])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.sqrt(N + T) * sp.sqrt(N + T + 1), sp.sqrt((N + T) * (N + T + 1))),
        (1 / (sp.sqrt(T) + sp.sqrt(N + T)), (sp.sqrt(N + T) - sp.sqrt(T)) / N),
        (sp.sqrt(N * T), sp.sqrt(N) * sp.sqrt(T)),
    ],
    ids=str,
)
def test_irrational_identities_are_decided(left: Any, relation: Any, right: Any) -> None:
    """Enclosures of equal roots always overlap; that the sides are the same is algebra."""
    claim = _claim(left, relation, right)
    assert compile_relations(claim)[0].is_identity
    assert check(claim, IRRATIONAL).holds is True
    assert check(claim, IRRATIONAL.as_floats()).holds is True


@pytest.mark.parametrize(
    ("left", "relation", "right"),
    [
        (sp.sqrt(N + T), "==", sp.sqrt(N) + sp.sqrt(T)),
        (sp.sqrt(N) * sp.sqrt(T), "<=", sp.sqrt(N * T) - sp.Rational(1, 10**6)),
        (sp.sqrt(N * T), "==", sp.sqrt(N) * sp.sqrt(T) * (1 + sp.Rational(1, 10**60))),
        (sp.sqrt(N + T) * sp.sqrt(N + T + 1), "<", sp.sqrt((N + T) * (N + T + 1))),
        (sp.sqrt(N + T) * sp.sqrt(N + T + 1), ">", sp.sqrt((N + T) * (N + T + 1))),
    ],
    ids=str,
)
def test_false_equations_are_never_decided_as_true(left: Any, relation: Any, right: Any) -> None:
    """Strict inequalities between equal sides are never decided as true either."""
    for run in (IRRATIONAL, IRRATIONAL.as_floats()):
        assert check(_claim(left, relation, right), run).holds is not True


def test_an_accident_is_no_identity() -> None:
    """sqrt(N + T + 1) = sqrt(N) sqrt(T) holds for N = 2, T = 3, where both are sqrt 6, and not in general."""
    claim = _claim(sp.sqrt(N + T + 1), "==", sp.sqrt(N) * sp.sqrt(T))
    assert not compile_relations(claim)[0].is_identity
    assert check(claim, IRRATIONAL).holds is True
    assert check(claim, IRRATIONAL.as_floats()).holds is None
    assert check(claim, IRRATIONAL.with_rounds(5)).holds is False


@pytest.mark.parametrize("run", [IRRATIONAL, _run(clients=3)], ids=["two clients", "three clients"])
def test_an_irrational_constant_that_is_attained_does_not_refute(run: Run) -> None:
    """sqrt(N T)/T <= sqrt(N) / sqrt(T) is an equation; overlapping enclosures are no violation."""
    claim = Claim(id="t:rate", rate=Rate(sp.sqrt(N * T) / T, 1 / sp.sqrt(T), T, constant=sp.sqrt(N)), where=WHERE)
    assert check(claim, run).holds is not False
