"""Bounds as functions: admissible edges, closed forms against numeric minimisation, rounds to a target, regimes."""

from __future__ import annotations

import itertools
import math

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planned_runs import LIU, SHARP, THEOREM, a_run

from fedtheory import InputError, NotApplicable, planner
from fedtheory.language.registry import find
from fedtheory.planner import NumericBound, StepSizes, bound_of_numbers, bound_of_run, largest
from fedtheory.planner.admissible import find_interval_end
from fedtheory.planner.bound import STEP, STEPS
from fedtheory.planner.optimum import find_closed_form, find_minimiser, minimise_numerically
from fedtheory.planner.speed_up import HALF_OF_LINEAR, compute_best_value, find_linear_clients
from fedtheory.planner.target import find_rounds_at_best_step, find_rounds_at_step, find_smallest_count
from verify.check import check

magnitudes = st.floats(-6, 6).map(lambda exponent: 10.0**exponent)
"""Positive numbers over twelve decades."""


@pytest.mark.long
@given(a=magnitudes, b=magnitudes, c=magnitudes, power=st.integers(1, 4), cubic=st.booleans())
@settings(max_examples=150, deadline=None)
def test_closed_forms_are_minimisers(a: float, b: float, c: float, power: int, cubic: bool) -> None:
    """The closed forms of a/eta + b eta^p and a/eta + b eta + c eta^2 agree with a numeric minimiser."""
    values = {-1: a, 1: b, 2: c} if cubic else {-1: a, power: b}
    found = find_minimiser(values)
    assert found is not None

    def bound(eta: float) -> float:
        return sum(value * eta**exponent for exponent, value in values.items())

    numeric = minimise_numerically(bound, found * 1e4, found * 1e-4)
    assert numeric == pytest.approx(found, rel=1e-6)
    assert bound(found) <= bound(numeric) * (1 + 1e-14)
    symbols = {exponent: sp.Symbol(f"c_{exponent + 1}", positive=True) for exponent in values}
    formula = find_closed_form(symbols, values)
    at = formula.subs({symbols[exponent]: value for exponent, value in values.items()})
    assert float(at) == pytest.approx(found, rel=1e-8)


@given(a=st.fractions(1, 100), b=st.fractions(1, 100), power=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_closed_form_is_a_zero_of_the_derivative(a, b, power: int) -> None:
    """In exact numbers the derivative at the closed form is zero: its power p+1 is a / (p b)."""
    numbers = {-1: sp.Rational(a.numerator, a.denominator), power: sp.Rational(b.numerator, b.denominator)}
    formula = find_closed_form(numbers, {exponent: float(value) for exponent, value in numbers.items()})
    assert sp.simplify(formula ** (power + 1) * power * numbers[power] - numbers[-1]) == 0


def test_conditions_that_are_equations() -> None:
    """An equation holds up to a near tie, and fails on both sides of it."""
    bound = bound_of_numbers(THEOREM, {"eta": 0.1, "L": 1, "M": 2, "tau": 3, "T": 4, "D": 1, "sigma": 0, "zeta": 0})
    symbol = next(symbol for symbol, name in bound.names.items() if name == STEP)
    for value, holds in ((0.1, True), (0.1 * (1 + 1e-15), True), (0.09, False), (0.11, False)):
        found = bound.slack(sp.Eq(symbol, sp.Float(value), evaluate=False))
        assert found.holds is holds
        assert found.slack <= 0


def test_no_closed_form() -> None:
    """Increasing sums, negative coefficients, and more than three powers have no closed form here."""
    for values in ({1: 1.0}, {-1: 1.0, 1: -1.0}, {-1: 1.0, 1: 1.0, 3: 1.0}, {0: 2.0}):
        assert find_minimiser(values) is None
        assert find_closed_form({power: sp.Float(value) for power, value in values.items()}, values) is None


constants = st.fixed_dictionaries(
    {
        "D": st.floats(0.1, 10),
        "L": st.floats(0.1, 10),
        "M": st.integers(1, 100).map(float),
        "T": st.integers(1, 10**6).map(float),
        "tau": st.integers(1, 50).map(float),
        "sigma": st.floats(0, 5) | st.just(0.0),
        "zeta": st.floats(0.01, 5),
    }
)


@pytest.mark.long
@given(numbers=constants, claim=st.sampled_from([THEOREM, SHARP]))
@settings(max_examples=80, deadline=None)
def test_best_step_size(numbers: dict[str, float], claim) -> None:
    """The best step size is admissible, and no other admissible one has a smaller bound."""
    bound = bound_of_numbers(claim, numbers)
    assume(claim is THEOREM or (numbers["tau"] > 1 and numbers["M"] > 1))
    edge = largest(bound, STEP)
    found = StepSizes(bound).optimum(edge)
    assert found is not None
    assert found.step_size <= edge.value
    assert found.numeric == pytest.approx(found.step_size, rel=1e-5)
    for factor in (0.5, 0.9, 1.1, 2.0):
        if found.step_size * factor <= edge.value:
            assert bound.value({STEP: found.step_size * factor}) >= found.value * (1 - 1e-12)
    if found.formula is not None:
        assert bound.number(found.formula) == pytest.approx(found.step_size, rel=1e-9)


@given(numbers=constants)
@settings(max_examples=40, deadline=None)
def test_edges(numbers: dict[str, float]) -> None:
    """At the largest step size all conditions hold; just beyond one fails."""
    bound = bound_of_numbers(THEOREM, numbers)
    edge = largest(bound, STEP)
    assert edge.value == pytest.approx(1 / (4 * numbers["L"]), rel=1e-14)
    assert all(slack.holds for slack in bound.slacks({STEP: edge.value}))
    assert not all(slack.holds for slack in bound.slacks({STEP: edge.value * (1 + 1e-6)}))


@pytest.mark.parametrize("claim_id", [claim.id for claim in planner.covering_claims()])
def test_edges_on_a_run(claim_id: str) -> None:
    """For every bound of the sources that knows a run: conditions hold at the edges, and one fails beyond."""
    claim = find(claim_id)
    try:
        bound = bound_of_run(claim, a_run(step_size=0.0005, noise="0"))
    except NotApplicable:
        pytest.skip("the claim has no numbers on this run")
    for name in (STEP, STEPS, "server_step_size"):
        edge = largest(bound, name)
        if not 0 < edge.value < math.inf:
            continue
        concerned = [condition for condition in bound.conditions if bound.depends_on(condition, name)]
        inside = edge.value * (1 - 1e-7)
        assert all(bound.slack(condition, {name: inside}).holds for condition in concerned)
        assert not bound.slack(edge.condition, {name: edge.value * (1 + 1e-6)}).holds
        if edge.formula is not None:
            assert bound.number(edge.formula) == pytest.approx(edge.value, rel=1e-12)


@given(edge=magnitudes)
def test_search(edge: float) -> None:
    """Bisection finds where a condition ends to hold, and recognises one that never or always holds."""
    assert find_interval_end(lambda value: value <= edge, 1e-7) == pytest.approx(edge, rel=1e-13)
    assert find_interval_end(lambda value: value <= edge, 1e7) == 0
    assert find_interval_end(lambda value: value > 0, 1.0) == math.inf


@given(threshold=st.integers(1, 10**9))
def test_smallest_count(threshold: int) -> None:
    """The smallest count from which something holds."""
    assert find_smallest_count(lambda count: count >= threshold, 10**9) == threshold
    assert find_smallest_count(lambda count: count >= threshold, threshold - 1) is None or threshold == 1


@given(numbers=constants, accuracy=st.floats(0.01, 10), eta=st.floats(0.001, 0.02))
@settings(max_examples=60, deadline=None)
def test_rounds_to_a_target(numbers: dict[str, float], accuracy: float, eta: float) -> None:
    """bound(T) <= target < bound(T - 1), at a fixed step size and at best ones; otherwise the floor is the reason."""
    bound = bound_of_numbers(THEOREM, {**numbers, "eta": eta})
    sizes = StepSizes(bound)

    def best(rounds: int) -> float:
        return sizes.best(bound.with_numbers({"rounds": rounds}))[1]

    for found, promised in (
        (find_rounds_at_step(bound, accuracy), lambda rounds: bound.value({"rounds": rounds})),
        (find_rounds_at_best_step(sizes, accuracy), best),
    ):
        if found.rounds is None:
            assert found.floor >= accuracy
            assert f"{found.floor:.6g}" in found.reason
            continue
        assert promised(found.rounds) <= accuracy
        assert found.rounds == 1 or promised(found.rounds - 1) > accuracy
        assert found.floor < accuracy


def test_floor() -> None:
    """The floor at a fixed step size is the bound without the term that the rounds divide; at best ones it is zero."""
    bound = bound_of_run(THEOREM, a_run())
    found = find_rounds_at_step(bound, 1e-6)
    assert found.rounds is None
    constant = [term for term in bound.terms if not bound.depends_on(term, "rounds")]
    assert len(constant) == 3
    assert found.floor == pytest.approx(sum(map(bound.number, constant)), rel=1e-12)
    assert find_rounds_at_best_step(StepSizes(bound), 1e-6).floor == 0


def test_bounds_without_rounds() -> None:
    """A bound on the drift reaches a target at once or never."""
    bound = bound_of_run(find("renard2022:lemma-2.3"), a_run())
    value = bound.value()
    assert find_rounds_at_step(bound, value * 1.01).rounds == 1
    never = find_rounds_at_step(bound, value * 0.99)
    assert never.rounds is None
    assert "does not depend on the rounds" in never.reason


@pytest.mark.parametrize(
    "claim_id", ["renard2022:thm-2.1", "liu2022:thm-1", "liu2022:thm-3.sharp", "fraboni2022:cor-1.fixed"]
)
def test_numbers_agree_with_a_check(claim_id: str) -> None:
    """Terms, the bound and the slacks of its conditions are those of a check of the claim."""
    run = a_run(step_size=0.0005)
    checked = check(find(claim_id), run)
    assert checked.applicable
    bound = bound_of_run(find(claim_id), run)
    main = checked.comparisons[0]
    assert bound.value() == pytest.approx(main.rhs, rel=1e-12)
    assert bound.term_values() == pytest.approx([term.value for term in main.terms], rel=1e-12)
    assert [slack.slack for slack in bound.slacks()] == pytest.approx([float(c.slack) for c in checked.conditions])


def test_iterations_follow_from_rounds_and_steps() -> None:
    """T of a source that counts local steps grows with the rounds and with the local steps."""
    bound = bound_of_run(LIU, a_run(local_steps=5, rounds=50))
    assert bound.values["iterations"] == 250
    assert bound.with_numbers({"rounds": 100}).values["iterations"] == 500
    assert bound.with_numbers({"local_steps": 2}).values["iterations"] == 100
    assert bound.with_numbers({"iterations": 1000}).values["rounds"] == 200


@given(numbers=constants)
@settings(max_examples=20, deadline=None)
def test_linear_speed_up(numbers: dict[str, float]) -> None:
    """Up to the number of clients given, twice the clients lower the bound by half of what linear speed-up would."""
    assume(numbers["sigma"] > 0.1)
    sizes = StepSizes(bound_of_numbers(THEOREM, numbers))
    clients = find_linear_clients(sizes)

    def gain(count: float) -> float:
        return compute_best_value(sizes, "clients", 2 * count) / compute_best_value(sizes, "clients", count)

    assert clients is not None
    if math.isinf(clients):
        return
    assert clients == 1 or gain(clients) <= HALF_OF_LINEAR
    assert gain(clients + 1) > HALF_OF_LINEAR


def test_no_step_size_is_best() -> None:
    """If the noise of a single round outweighs all progress, a bound at any point only grows with the step size."""
    claim = find("renard2022:thm-2.1.any-point")
    noisy, quiet = (bound_of_run(claim, a_run(rounds=1, noise=noise)) for noise in ("10000", "100"))
    assert StepSizes(noisy).optimum(largest(noisy, STEP)) is None
    found = StepSizes(quiet).optimum(largest(quiet, STEP))
    assert 0.01 < found.step_size < 0.5
    assert found.value < 0.9 * quiet.value({STEP: 1e-6})


def test_regimes() -> None:
    """At every point of the map the named term is the largest, and the conditions are those of the bound."""
    bound = bound_of_run(THEOREM, a_run())
    found = planner.regime_map(bound, "eta", "rounds", points=9)
    assert (found.across, found.up) == ("local_step_size", "rounds")
    for (row, rounds), (column, eta) in itertools.product(enumerate(found.up_values), enumerate(found.across_values)):
        values = bound.term_values({"rounds": rounds, STEP: eta})
        assert values[found.dominating[row, column]] == max(values)
        assert found.admissible[row, column] == (eta <= 0.125 * (1 + 1e-9))
    with pytest.raises(InputError, match="expected two"):
        planner.regime_map(bound, "eta", "speed")
    with pytest.raises(InputError, match="different"):
        planner.regime_map(bound, "eta", STEP)


def test_a_bound_that_promises_nothing() -> None:
    """A negative or undefined bound has the value infinity."""
    eta = sp.Symbol("eta", positive=True)
    bound = NumericBound(THEOREM, (1 - eta, sp.Integer(0)), (), {eta: STEP}, {STEP: 2.0})
    assert bound.value() == math.inf
    assert bound.value({STEP: 0.5}) == 0.5
