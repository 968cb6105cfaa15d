"""Parts of checks and verdicts against values by hand: ties, orders, worst places, ladders, what few instances say."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, T, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from verify import verdict
from verify.check import rates
from verify.check.climbs import Climb, RateCheck, Rung, _fit
from verify.check.comparison import ratio_of, tightest_places
from verify.check.decision import decide_by_values
from verify.check.dependencies import Dependencies
from verify.check.estimated import _decide, _differ, _interval
from verify.check.growth import Growth, _effort, _shown
from verify.check.growth import _compared as compare_growth
from verify.check.ladders import LADDERS, Ladder, _copies, _is_set, _longer_rounds
from verify.check.links import CompiledRelation, _differs_somewhere
from verify.check.orders import Order, _order_of_parts, _order_of_power, as_germ
from verify.check.outcome import Check, is_everywhere, unclearness
from verify.check.rates import _mark_at_most, _rise, _within
from verify.check.sides import Values
from verify.check.stationary_orders import _mean_distance_sq
from verify.check.together import _answer, _as_float, _is_evaluated_together, _least_first, _worst

RATIO = (None, 0.5, 1.0, 1.09, 1.1, 4.0)


def _link(operator: str = "<=") -> Any:
    relation = Relation(eta, operator, L)
    nothing: Any = None
    return CompiledRelation(relation, nothing, nothing)


def test_how_clear_violations_are() -> None:
    assert [unclearness(ratio) for ratio in RATIO] == [2, 1, 1, 1, 0, 0]
    assert is_everywhere({})
    assert not is_everywhere({"a": "a ball"})


def test_ratios_of_sides() -> None:
    """The side that is claimed to be smaller over the other; none of equations, and above zero only."""
    one, two, none = fmpq(1), fmpq(2), fmpq(0)
    assert [ratio_of(_link(op), one, two) for op in ("<=", "<", ">=", ">", "==")] == [
        fmpq(1, 2),
        fmpq(1, 2),
        2,
        2,
        None,
    ]
    assert ratio_of(_link(), one, none) is None
    assert ratio_of(_link(), one, -two) is None
    assert ratio_of(_link(), none, two) == 0


def _values(lhs: list[Any], rhs: list[Any], operator: str = "<=", scale: Any = None) -> Values:
    arrays = [np.array(side, dtype=object if scale is None else float) for side in (lhs, rhs)]
    return Values(_link(operator), *arrays, None if scale is None else np.array(scale))


@pytest.mark.parametrize(
    ("operator", "decided"),
    [("<=", [1, 1, -1]), ("<", [1, -1, -1]), (">=", [-1, 1, 1]), (">", [-1, -1, 1]), ("==", [-1, 1, -1])],
)
def test_decisions_of_rationals(operator: str, decided: list[int]) -> None:
    one, two = fmpq(1), fmpq(2)
    assert list(decide_by_values(_values([one, two, two], [two, two, one], operator))) == decided


@pytest.mark.parametrize(
    ("operator", "decided"), [("<=", [1, 0, -1, 1]), ("<", [1, 0, -1, -1]), ("==", [-1, 0, -1, 1])]
)
def test_decisions_of_floats(operator: str, decided: list[int]) -> None:
    """A gap of rounding decides nothing, where there is something to be rounded; NaN decides nothing at all."""
    found = _values([1.0, 1.0, 2.0, 0.0], [2.0, 1.0 + 1e-15, 1.0, 0.0], operator, [3.0, 2.0, 3.0, 0.0])
    assert list(decide_by_values(found)) == decided
    assert list(decide_by_values(_values([math.nan], [1.0], operator, [1.0]))) == [0]


def test_the_tightest_place() -> None:
    """A violation, then what is undecided, then the smallest relative gap; nothing is tight where all is zero."""
    zero, one, two, ten = fmpq(0), fmpq(1), fmpq(2), fmpq(10)

    def tightest(lhs: list[Any], rhs: list[Any], operator: str = "<=") -> int:
        found = _values(lhs, rhs, operator)
        return int(tightest_places(found, decide_by_values(found)))

    assert tightest([one, one, zero], [ten, two, zero]) == 1
    assert tightest([zero, one], [zero, ten]) == 1
    assert tightest([one, two, one], [two, two, two]) == 1
    assert tightest([one, ten, two], [two, two, one]) == 1
    assert tightest([one, ten, two], [two, two, one], "==") == 1
    assert tightest([-two, -ten], [one, -one]) == 1


def test_several_relations_and_runs() -> None:
    """The worst one decides: violations first, then the larger ratio; one that is open leaves a run to itself."""
    worst = [(1, 0.5), (-1, 2.0), (-1, None), (-1, 3.0), (1, 0.9), (1, None)]
    assert sorted(worst, key=_least_first) == [(-1, 3.0), (-1, 2.0), (-1, None), (1, 0.9), (1, 0.5), (1, None)]
    claim: Any = Claim(id="t:one", lhs=eta, rhs=1, where=WHERE)
    run: Any = None
    assert _answer(claim, run, [(1, 0.5), (0, None)]) is None
    holds, fails = _answer(claim, run, [(1, 0.5), (1, 0.7)]), _answer(claim, run, [(1, 0.5), (-1, 1.5)])
    assert holds is not None
    assert fails is not None
    assert (holds.holds, holds.ratio, fails.holds, fails.ratio) == (True, 0.7, False, 1.5)
    one, two, ten = fmpq(1), fmpq(2), fmpq(10)
    values = _values([[one, one], [two, ten]], [[ten, two], [two, two]])
    assert _worst(values, decide_by_values(values)) == [(1, 0.5), (-1, 5.0)]
    single = _values([[one], [ten]], [[ten], [two]])
    assert _worst(single, decide_by_values(single)) == [(1, 0.1), (-1, 5.0)]
    assert _worst(single, np.array([[0], [-1]])) == [(0, None), (-1, 5.0)]
    assert (_as_float(None), _as_float(fmpq(1, 2))) == (None, 0.5)


def test_what_is_evaluated_together() -> None:
    for rate, relations, together in ((None, (1,), True), (None, (), False), (1, (1,), False)):
        claim: Any = SimpleNamespace(rate=rate, relations=relations)
        assert _is_evaluated_together(claim) is together


def _check(*holds: tuple[bool | None, float | None], **given: Any) -> Check:
    compared: Any = tuple(SimpleNamespace(holds=one, ratio=ratio) for one, ratio in holds)
    claim = Claim(id="t:one", lhs=eta, rhs=1, where=WHERE)
    usual: dict[str, Any] = {"arithmetic": RATIONAL, "applicable": True, "reason": None, **given}
    return Check(claim, comparisons=compared, **usual)


def test_the_comparison_that_decides() -> None:
    """A violated link, else an undecided one, else the tightest; one without a ratio is the least tight."""
    assert _check((True, 9.0), (False, 0.1), (None, 1.0)).holds is False
    assert _check((True, 9.0), (None, 1.0)).holds is None
    assert _check((True, 0.1), (True, 0.7), (True, None)).ratio == 0.7
    assert _check((False, None), (False, 2.0)).ratio == 2.0
    assert (_check().holds, _check().ratio) == (None, None)
    for changes in ({"applicable": False}, {"is_steady": False}):
        assert _check((True, 0.5), **changes).holds is None
    final: Any = SimpleNamespace(holds=False, by="by hand")
    assert _check((True, 0.5), final_decision=final).holds is False
    assert _check((True, 0.5), final_decision=final).decided_in == "by hand"
    assert _check((True, 0.5)).decided_in == f"in {RATIONAL.numbers}"
    assert (_check((True, 0.5), bits=99).decided_in or "").endswith(" of 99 bits")
    assert _check((None, 0.5)).decided_in is None


def test_checks_that_rounding_has_no_say_in() -> None:
    """Checks that do not apply or compare nothing, that hold, and violations in rationals with no condition open."""
    open_condition: Any = (SimpleNamespace(holds=None),)
    known: Any = (SimpleNamespace(holds=True),)
    for holds, given, decided in (
        ((True, 0.5), {}, True),
        ((True, 0.5), {"arithmetic": FLOAT}, True),
        ((False, 2.0), {}, True),
        ((False, 2.0), {"arithmetic": FLOAT}, False),
        ((None, 1.0), {}, False),
        ((None, 1.0), {"applicable": False}, True),
        ((True, 0.5), {"is_steady": False}, False),
        ((True, 0.5), {"conditions": open_condition}, False),
        ((True, 0.5), {"conditions": known}, True),
    ):
        assert _check(holds, **given).is_decided is decided
    assert _check().is_decided
    rate: Any = SimpleNamespace(holds=None)
    assert not _check(rate=rate).is_decided


def _rungs(*values: tuple[int, int]) -> tuple[Rung, ...]:
    """Rungs with a measured value and an order."""
    return tuple(Rung(fmpq(4**n), fmpq(measured), fmpq(order)) for n, (measured, order) in enumerate(values))


def test_slopes_of_ladders() -> None:
    """Slopes of the last half, towards the limit, which is zero for step sizes."""
    assert _fit([1, 2, 4, 8], [9, 1, 4, 8]) == pytest.approx(1.0)
    assert _fit([1, 2, 4, 8, 16], [9, 9, 1, 2, 4]) == pytest.approx(1.0)
    rungs = _rungs((1, 1), (2, 1), (4, 1), (8, 1))
    for grows, rise in ((True, 0.5), (False, -0.5)):
        climb = Climb((eta,), rungs, (1.0, 4.0, 16.0, 64.0), grows)
        assert climb.rise_over(range(4)) == pytest.approx(rise)
        assert _rise(climb, climb.scale) == pytest.approx(rise)
    assert climb.slope == pytest.approx(0.5)
    assert climb.scale == 8
    zero = Climb((eta,), _rungs((0, 1), (0, 1), (0, 1)), (1.0, 4.0, 16.0), True)
    assert (_rise(zero, 1.0), zero.slope) == (0.0, None)
    assert climb.ratios == (1.0, 2.0, 4.0, 8.0)
    assert Climb((eta,), _rungs((-3, 2)), (1.0,), True).ratios == (1.5,)
    for rise_, rising in ((None, False), (0.1, False), (0.11, True), (-1.0, False)):
        assert Climb((eta,), (), (), True, rise_).is_rising is rising


def test_values_that_rounding_hides_have_no_slope() -> None:
    """Squares of rounding errors are left out, unless fewer than three rungs would be left."""

    def rise(*values: float) -> float:
        rungs = tuple(Rung(1, value, 1.0) for value in values)
        return _rise(Climb((eta,), rungs, tuple(4.0**n for n in range(len(values))), True), 1.0)

    assert rise(1.0, 1.0, 1.0, 1e-27, 1e-27) == pytest.approx(0.0)
    assert rise(1.0, 1e-27, 1e-28) == pytest.approx(math.log(0.1) / math.log(4))
    assert rise(1.0, 1.0, 1.0, 1e-26, 1e-26) < -10


def test_stated_constants() -> None:
    """A near tie of floats is left open, equal floats are none; one rung above is enough."""
    assert _mark_at_most(1.0, 1.0 + 1e-15) is None
    assert _mark_at_most(1.0 + 1e-15, 1.0) is None
    assert [_mark_at_most(*pair) for pair in ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0))] == [True, True, False]
    assert [_mark_at_most(fmpq(*one), fmpq(1)) for one in ((1, 1), (1, 2), (2, 1))] == [True, True, False]

    def within(*measured: float) -> bool | None:
        return _within((Climb((eta,), tuple(Rung(1, one, 1.0) for one in measured), (), True),), 2.0)

    assert within(1.0, 2.0) is True
    assert within(1.0, 2.0 + 1e-15) is None
    assert within(2.0 + 1e-15, 3.0) is False


def test_rungs_of_several_ladders_are_listed_once() -> None:
    """The first one of equal values; a quantity is zero where all of them are."""
    first, other = _rungs((1, 1), (0, 1)), (Rung(fmpq(4), fmpq(0), fmpq(1)), Rung(fmpq(9), fmpq(0), fmpq(1)))
    found = RateCheck(None, first, 1.0, None, (Climb((eta,), other, (), True),))
    assert found.all_rungs == (*first, other[1])
    assert not found.is_zero
    assert RateCheck(None, first[1:], 1.0, None, (Climb((eta,), other, (), True),)).is_zero
    assert found.slope is None
    assert RateCheck(None, _rungs((1, 1), (2, 1), (4, 1), (8, 1)), 1.0, None).slope == pytest.approx(0.5)


def test_rungs_of_ladders() -> None:
    """Counts are climbed further alone than beside others; horizons are held near their limit, and move on."""
    clients, rounds, steps = LADDERS["clients"], LADDERS["rounds"], LADDERS["local_step_size"]
    assert (clients.is_count, rounds.is_count, steps.is_count) == (True, False, False)
    assert [clients.steps(first, longer) for first in (True, False) for longer in (False, True)] == [
        *((1, 4, 16, 64), (1, 4, 16, 64, 256)),
        *((1, 4, 16), (1, 4, 16)),
    ]
    assert rounds.steps(False, True) == (1, 4, 16, 64, 256, 1024, 4096)
    assert [ladder.holds_at(longer) for ladder in (rounds, clients) for longer in (False, True)] == [256, 4096, 1, 1]
    assert [ladder.jointly(False) for ladder in (rounds, clients)] == [(16, 64, 256), (1, 4, 16)]
    assert rounds.jointly(True) == (256, 1024, 4096)
    for horizon in (rounds, LADDERS["iterations"]):
        assert horizon.held == horizon.rungs[-1]
        assert [*horizon.rungs, *horizon.longer] == [horizon.rungs[0] * 4**place for place in range(7)]
    nothing: Any = None
    plain = Ladder(sp.oo, (1,), (), nothing)
    assert (plain.beside, plain.longer_beside, plain.place, plain.climbs_jointly) == ((1, 4, 16), (1, 4, 16), 0, True)
    asked: list[int] = []
    run: Any = SimpleNamespace(
        with_copies=lambda count: asked.append(count) or "copies",
        with_rounds=lambda count: count,
        algorithm=SimpleNamespace(rounds=9),
    )
    run.with_local_steps_multiplied = lambda _: run
    assert (_copies(run, 1), _copies(run, 4), asked) == (run, "copies", [4])
    assert [_longer_rounds(run, factor) for factor in (1, 4, 16)] == [9, 2, 1]


def test_what_a_rate_sets() -> None:
    for local_steps, step_size, expected in (
        (None, None, (False, False, False)),
        (1, None, (True, False, False)),
        (None, 1, (False, True, False)),
    ):
        rate: Any = SimpleNamespace(local_steps=local_steps, step_size=step_size)
        assert tuple(_is_set(rate, name) for name in ("local_steps", "effective_step_size", "rounds")) == expected


def test_growth_in_words() -> None:
    """The power that the measured side is divided by, and a short fraction as it is."""
    name: Any = lambda _: "T"  # noqa: E731
    assert Growth(T, sp.oo, Fraction(0), fmpq(1, 3)).words(name) == (
        "measured tends to 1/3 as T grows, and order to 0: no constant serves for all T"
    )
    assert Growth(T, sp.oo, Fraction(-1), None).words(name) == (
        "measured * T tends to a positive number as T grows, and order * T to 0: no constant serves for all T"
    )
    assert Growth(T, sp.S.Zero, Fraction(2), fmpq(3)).words(name) == (
        "measured / T^2 tends to 3 as T tends to 0, and order / T^2 to 0: no constant serves for all T"
    )
    assert Growth(T, sp.S.Zero, None, None, exceeds=False).words(name) == (
        "measured / order stays bounded as T tends to 0, by an exact limit"
    )
    short, long = fmpq(10**10 - 1, 10**10 + 1), fmpq(10**10, 10**10 + 1)
    assert (_shown(short), len(_shown(long)) < 20) == (str(short), True)
    algorithm = SimpleNamespace(rounds=3, work=SimpleNamespace(steps=(2, 5)))
    run: Any = SimpleNamespace(algorithm=algorithm, problem=SimpleNamespace(clients=2, dimension=1))
    assert _effort(run) == 2 * 8 * 15**2


@pytest.mark.parametrize(
    ("power", "order", "is_exact", "exceeds"),
    [
        (1, 2, True, True),
        (2, 2, True, False),
        (3, 2, True, False),
        (1, 2, False, True),
        (2, 2, False, None),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_growth_beyond_an_order(  # noqa: PLR0917
    power: int, order: int, is_exact: bool, exceeds: bool | None, sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 h^p against the order of h^r, where the variable is 2 h or 2 / h: with h as its power, 3 times a power of 2."""
    growth = import_module("verify.check.growth")
    monkeypatch.setattr(growth, "_measured", lambda *_: (fmpq(3), Fraction(power)))
    monkeypatch.setattr(growth, "order_of", lambda *_: Order(Fraction(order), is_exact))
    claim: Any = SimpleNamespace(rate=SimpleNamespace(order=None))
    variable: Any = SimpleNamespace(power=sign, leading=fmpq(2))
    found = compare_growth(claim, None, None, T, variable)  # type: ignore[arg-type]
    if exceeds is None:
        assert found is None
        return
    assert found is not None
    assert (found.exceeds, found.power, found.limit) == (exceeds, sign * power, sp.S.Zero if sign > 0 else sp.oo)
    assert found.coefficient == 3 * fmpq(2) ** (-sign * power)


def test_orders_of_sums_and_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers add up in products; the least one decides in sums, exactly where no terms can cancel."""
    orders = import_module("verify.check.orders")
    x, y, z = sp.symbols("x y z")
    a, b = sp.symbols("a b", nonnegative=True)
    known = {x: Order(Fraction(1)), y: Order(Fraction(3), is_exact=False), a: Order(Fraction(2)), b: Order(Fraction(5))}
    known[sp.Integer(2)] = Order(Fraction(0))
    monkeypatch.setattr(orders, "order_of", lambda _, part, __: known.get(part))
    claim: Any = None

    def order(expression: sp.Expr) -> Order | None:
        return _order_of_parts(claim, expression, claim)

    assert order(x * y) == Order(Fraction(4), is_exact=False)
    assert order(x * a) == Order(Fraction(3))
    assert order(x + y) == Order(Fraction(1), is_exact=False)
    assert order(x + a) == Order(Fraction(1), is_exact=False)
    assert order(a + b) == Order(Fraction(2))
    assert order(sp.sqrt(x)) == Order(Fraction(1, 2))
    assert order(x**-2) == Order(Fraction(-2))
    assert order(x * z) is None
    assert order(sp.log(x, evaluate=False)) is None
    assert order(sp.sqrt(z)) is None
    assert _order_of_power(Order(Fraction(1), is_exact=False), Fraction(1, 2)) == Order(Fraction(1, 2), is_exact=False)
    assert as_germ(fmpq(3)) == 3
    with pytest.raises(TypeError, match="expected a rational function"):
        as_germ(3.0)


def test_differences_that_are_clear() -> None:
    """At rationals for one client: a difference that vanishes nowhere is none of an identity."""
    x, y = sp.symbols("x y", positive=True)
    for difference, differs in ((x - x, False), (x - y, True), (sp.sqrt(x) ** 2 - x, False), (sp.sqrt(x) - y, True)):
        assert _differs_somewhere(sp.sympify(difference)) is differs
    assert not _differs_somewhere((x + 1) ** 2 - x**2 - 2 * x - 1)


def test_what_expressions_ask_of_a_run() -> None:
    """Quantities of a run, and clients where means over them are taken; the largest shapes count."""
    claim = Claim(id="t:one", lhs=eta * L * D, rhs=1, where=WHERE)
    plain = Dependencies.by([eta * L, D], claim)
    assert ({one.name for one in plain.quantities}, plain.counts_clients) == (
        {"local_step_size", "smoothness", "initial_distance"},
        False,
    )
    assert Dependencies.by([eta, Average(eta)], claim).counts_clients
    assert Dependencies.by([], claim).quantities == ()
    one, two = (SimpleNamespace(on=lambda _, shape=shape: np.zeros(shape)) for shape in ((3, 1, 2), (1, 5, 1)))
    scalar = SimpleNamespace(on=lambda _: 7)
    given: Any = (one, two, scalar)
    memo = SimpleNamespace(once=lambda _, build: build())
    run: Any = SimpleNamespace(memo=memo, problem=SimpleNamespace(clients=4))
    asked = Dependencies(given, counts_clients=True)
    assert (asked.size(run), asked.kind(run)) == ((3, 5), ((2, 1, 1), 4))
    assert Dependencies((), counts_clients=False).size(run) == (1, 1)
    assert Dependencies(given, counts_clients=False).kind(run) == ((2, 1, 1), None)


def test_the_square_of_a_series_of_vectors() -> None:
    """(1, 2) + (3, 4) h: 5 + 22 h + ..., up to the power that is known."""
    moments: Any = [np.array([[1, 0, 0], [a, 0, 0], [b, 0, 0]], dtype=object) for a, b in ((1, 2), (3, 4), (0, 1))]
    assert _mean_distance_sq(None, moments) == [5, 22, 25 + 2 * 2]  # type: ignore[arg-type]


def test_intervals_of_replicas_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim holds where the whole interval of its slack is positive; nothing is refuted."""
    for operator, slack, holds, words in (
        ("<=", (0.1, 0.2), True, "by Monte-Carlo"),
        ("<=", (0.0, 0.2), None, "the interval contains the bound"),
        ("<=", (-0.2, 0.0), None, "the interval contains the bound"),
        ("<=", (-0.2, -0.1), None, "looks violated"),
        ("==", (0.0, 0.2), None, "agrees"),
        ("==", (-0.2, 0.0), None, "agrees"),
        ("==", (0.1, 0.2), None, "looks violated"),
        ("==", (-0.2, -0.1), None, "looks violated"),
    ):
        found = _decide(operator, slack, 30)
        assert found.holds is holds
        assert found.reason.startswith(words)
    assert [_differ(np.array(groups), 1.0) for groups in ([1.0, 1.0], [1.0, 1 + 1e-13], [1.0, 1.1])] == [
        False,
        False,
        True,
    ]
    spread = SimpleNamespace(mean=np.array([2.0]), high=np.array([2.5]))
    monkeypatch.setattr(import_module("verify.check.estimated"), "estimate_of", lambda *_: spread)
    assert _interval(np.array([1.0, 3.0]), 7.0) == (6.5, 7.5)


def test_local_steps_of_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that floats find just below a whole number is that number."""
    taken: list[int] = []
    monkeypatch.setattr(rates, "_with_local_steps", lambda run, steps: taken.append(steps) or run)
    monkeypatch.setattr(rates, "whole_run", lambda run: run)
    for value in (3.0, 3 - 1e-13, 2.9):
        local_steps = lambda _, value=value: SimpleNamespace(item=lambda: value)  # noqa: E731
        compiled = SimpleNamespace(ladders=(), local_steps=local_steps, step_size=None)
        monkeypatch.setattr(rates, "_compiled", lambda _, compiled=compiled: compiled)
        rates._run_at.__wrapped__(None, SimpleNamespace(), ())  # type: ignore[arg-type]
    assert taken == [3, 3, 2]


def test_limits_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "whole_run", lambda run: run)

    def fails(_run: Any) -> Any:
        raise NotApplicable("there is none")

    for limit, expected in ((None, None), (fails, None), (lambda _: SimpleNamespace(item=lambda: 3), 3)):
        compiled: Any = SimpleNamespace(limit=limit)
        assert rates._limit(compiled, None) == expected  # type: ignore[arg-type]


def test_ladders_need_fixed_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along horizons, and counts that come first; from both ends where numbers of the claim hold on balls."""
    asked: list[tuple[int, bool]] = []
    monkeypatch.setattr(rates, "_require_fixed_along", lambda _, __, number, on_balls: asked.append((number, on_balls)))

    def along(*names: str, quantity: q.Quantity = q.rounds) -> list[tuple[int, bool]]:
        asked.clear()
        compiled = SimpleNamespace(ladders=tuple(LADDERS[name] for name in names))
        monkeypatch.setattr(rates, "_compiled", lambda _: compiled)
        claim: Any = SimpleNamespace(notation={T: quantity, eta: q.local_step_size})
        rates._require_fixed_constants(claim, None)  # type: ignore[arg-type]
        return list(asked)

    assert along("rounds", "clients") == [(0, False)]
    assert along("clients", "rounds") == [(0, False), (1, False)]
    assert along("local_step_size", "clients") == []
    assert along("rounds", quantity=q.second_moment) == [(0, True)]


def _outcome(holds: bool | None, applicable: bool = True) -> Any:
    return SimpleNamespace(holds=holds, applicable=applicable)


def test_when_no_more_instances_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After one of a sample; else after enough, of which none is an exception."""
    monkeypatch.setattr(verdict, "are_enough", lambda _, applicable: len(applicable) >= 2)
    for outcomes, sampled, enough in (
        ([], True, False),
        ([_outcome(None, applicable=False)], True, False),
        ([_outcome(False)], True, True),
        ([_outcome(True)], False, False),
        ([_outcome(True), _outcome(True)], False, True),
        ([_outcome(True), _outcome(True), _outcome(None)], False, False),
        ([_outcome(True), _outcome(True), _outcome(False, applicable=False)], False, True),
        ([_outcome(True), _outcome(True, applicable=False)], False, False),
    ):
        claim: Any = None
        assert verdict._says_enough(claim, outcomes, sampled) is enough


@pytest.mark.parametrize(
    ("outcomes", "rate", "decision", "expected"),
    [
        ([True, None], None, "proved", "undecided"),
        ([True], None, "definition", "definition"),
        ([], None, "definition", "definition"),
        ([], None, "proved", "not applicable"),
        ([True], 1, "proved", "asymptotic"),
        ([True], None, "proved", "proved"),
        ([True], None, None, "supported"),
    ],
)
def test_verdicts_without_a_violation(outcomes: list[bool | None], rate: Any, decision: Any, expected: str) -> None:
    claim: Any = SimpleNamespace(rate=rate)
    decided: Any = SimpleNamespace(verdict=decision)
    assert verdict._positive_verdict(claim, [_outcome(holds) for holds in outcomes], decided) == expected


def test_verdicts_after_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof without a search for a violation proves; a violation refutes, and what is left open is undecided."""
    monkeypatch.setattr(verdict, "replace", lambda given, **changes: SimpleNamespace(**{**vars(given), **changes}))
    monkeypatch.setattr(
        verdict, "_with_witness", lambda given, table, _: SimpleNamespace(**{**vars(given), "run": table})
    )

    def after(before: str, **found: Any) -> Any:
        usual = {"looked": 5, "regimes": (), "pairs": None, "counterexample": None, "left_open": 0}
        violation = SimpleNamespace(**{**usual, **found}) if found else None
        searches: Any = SimpleNamespace(proof="found", violation=violation)
        given: Any = SimpleNamespace(verdict=before)
        return verdict._after(given, searches)

    assert [after(before).verdict for before in ("supported", "undecided", "asymptotic")] == [
        *("proved", "proved", "asymptotic"),
    ]
    assert after("supported").found_proof == "found"
    refuted = after("supported", counterexample={"a": 1})
    assert (refuted.verdict, refuted.run, refuted.searched) == ("refuted", {"a": 1}, 5)
    open_one, none = after("supported", left_open=2), after("supported", left_open=0)
    assert (open_one.verdict, open_one.left_open, none.verdict) == ("undecided", 2, "supported")
