"""Ladders of rates against values by hand: slopes, stated constants, growth in words, limits."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import T, eta
from flint import fmpq

from fedtheory.errors import NotApplicable
from fedtheory.language import quantities as q
from verify.check import rates
from verify.check.growth import Growth, _count_products, _format_number
from verify.check.growth import _compare as compare_growth
from verify.check.ladders import LADDERS, Ladder, _copy_clients, _is_set, _lengthen_rounds
from verify.check.links import _differs_somewhere
from verify.check.measured_ladders import LadderLevel, MeasuredLadder, RateCheck, _fit_slope_of_logs
from verify.check.orders import Order, _find_order_of_parts, _find_order_of_power, convert_to_germ
from verify.check.rates import _fit_slope, _is_bounded, _mark_at_most


def _levels(*values: tuple[int, int]) -> tuple[LadderLevel, ...]:
    """Return levels with a measured value and an order."""
    return tuple(LadderLevel(fmpq(4**n), fmpq(measured), fmpq(order)) for n, (measured, order) in enumerate(values))


def test_slopes_of_ladders() -> None:
    """Slopes of the last half, towards the limit, which is zero for step sizes."""
    assert _fit_slope_of_logs([1, 2, 4, 8], [9, 1, 4, 8]) == pytest.approx(1.0)
    assert _fit_slope_of_logs([1, 2, 4, 8, 16], [9, 9, 1, 2, 4]) == pytest.approx(1.0)
    levels = _levels((1, 1), (2, 1), (4, 1), (8, 1))
    for grows, rise in ((True, 0.5), (False, -0.5)):
        ladder = MeasuredLadder((eta,), levels, (1.0, 4.0, 16.0, 64.0), grows)
        assert ladder.fit_rise(range(4)) == pytest.approx(rise)
        assert _fit_slope(ladder, ladder.scale) == pytest.approx(rise)
    assert ladder.slope == pytest.approx(0.5)
    assert ladder.scale == 8
    zero = MeasuredLadder((eta,), _levels((0, 1), (0, 1), (0, 1)), (1.0, 4.0, 16.0), True)
    assert (_fit_slope(zero, 1.0), zero.slope) == (0.0, None)
    assert ladder.ratios == (1.0, 2.0, 4.0, 8.0)
    assert MeasuredLadder((eta,), _levels((-3, 2)), (1.0,), True).ratios == (1.5,)
    for rise_, rising in ((None, False), (0.1, False), (0.11, True), (-1.0, False)):
        assert MeasuredLadder((eta,), (), (), True, rise_).is_rising is rising


def test_values_that_rounding_hides_have_no_slope() -> None:
    """Squares of rounding errors are left out, unless fewer than three levels would be left."""

    def rise(*values: float) -> float:
        levels = tuple(LadderLevel(1, value, 1.0) for value in values)
        return _fit_slope(MeasuredLadder((eta,), levels, tuple(4.0**n for n in range(len(values))), True), 1.0)

    assert rise(1.0, 1.0, 1.0, 1e-27, 1e-27) == pytest.approx(0.0)
    assert rise(1.0, 1e-27, 1e-28) == pytest.approx(math.log(0.1) / math.log(4))
    assert rise(1.0, 1.0, 1.0, 1e-26, 1e-26) < -10


def test_stated_constants() -> None:
    """A near tie of floats is left open, equal floats are none; one level above is enough."""
    assert _mark_at_most(1.0, 1.0 + 1e-15) is None
    assert _mark_at_most(1.0 + 1e-15, 1.0) is None
    assert [_mark_at_most(*pair) for pair in ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0))] == [True, True, False]
    assert [_mark_at_most(fmpq(*one), fmpq(1)) for one in ((1, 1), (1, 2), (2, 1))] == [True, True, False]

    def within(*measured: float) -> bool | None:
        return _is_bounded(
            (MeasuredLadder((eta,), tuple(LadderLevel(1, one, 1.0) for one in measured), (), True),), 2.0
        )

    assert within(1.0, 2.0) is True
    assert within(1.0, 2.0 + 1e-15) is None
    assert within(2.0 + 1e-15, 3.0) is False


def test_levels_of_several_ladders_are_listed_once() -> None:
    """The first one of equal values; a quantity is zero where all of them are."""
    first, other = (
        _levels((1, 1), (0, 1)),
        (LadderLevel(fmpq(4), fmpq(0), fmpq(1)), LadderLevel(fmpq(9), fmpq(0), fmpq(1))),
    )
    found = RateCheck(None, first, 1.0, None, (MeasuredLadder((eta,), other, (), True),))
    assert found.all_levels == (*first, other[1])
    assert not found.is_zero
    assert RateCheck(None, first[1:], 1.0, None, (MeasuredLadder((eta,), other, (), True),)).is_zero
    assert found.slope is None
    assert RateCheck(None, _levels((1, 1), (2, 1), (4, 1), (8, 1)), 1.0, None).slope == pytest.approx(0.5)


def test_levels_of_ladders() -> None:
    """Counts are climbed further alone than next to others; horizons are held near their limit, and move on."""
    clients, rounds, steps = LADDERS["clients"], LADDERS["rounds"], LADDERS["local_step_size"]
    assert (clients.is_count, rounds.is_count, steps.is_count) == (True, False, False)
    assert [clients.steps(first, longer) for first in (True, False) for longer in (False, True)] == [
        *((1, 4, 16, 64), (1, 4, 16, 64, 256)),
        *((1, 4, 16), (1, 4, 16)),
    ]
    assert rounds.steps(False, True) == (1, 4, 16, 64, 256, 1024, 4096)
    assert [ladder.start_level(longer) for ladder in (rounds, clients) for longer in (False, True)] == [256, 4096, 1, 1]
    assert [ladder.jointly(False) for ladder in (rounds, clients)] == [(16, 64, 256), (1, 4, 16)]
    assert rounds.jointly(True) == (256, 1024, 4096)
    for horizon in (rounds, LADDERS["iterations"]):
        assert horizon.held == horizon.levels[-1]
        assert [*horizon.levels, *horizon.longer] == [horizon.levels[0] * 4**place for place in range(7)]
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
    assert (_copy_clients(run, 1), _copy_clients(run, 4), asked) == (run, "copies", [4])
    assert [_lengthen_rounds(run, factor) for factor in (1, 4, 16)] == [9, 2, 1]


def test_quantities_set_by_a_rate() -> None:
    for local_steps, step_size, expected in (
        (None, None, (False, False, False)),
        (1, None, (True, False, False)),
        (None, 1, (False, True, False)),
    ):
        rate: Any = SimpleNamespace(local_steps=local_steps, step_size=step_size)
        assert tuple(_is_set(rate, name) for name in ("local_steps", "effective_step_size", "rounds")) == expected


def test_growth_in_words() -> None:
    """The power that the measured side is divided by, and a short fraction unchanged."""
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
    assert (_format_number(short), len(_format_number(long)) < 20) == (str(short), True)
    algorithm = SimpleNamespace(rounds=3, work=SimpleNamespace(steps=(2, 5)))
    run: Any = SimpleNamespace(algorithm=algorithm, problem=SimpleNamespace(clients=2, dimension=1))
    assert _count_products(run) == 2 * 8 * 15**2


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
    monkeypatch.setattr(growth, "_find_leading_term", lambda *_: (fmpq(3), Fraction(power)))
    monkeypatch.setattr(growth, "find_order", lambda *_: Order(Fraction(order), is_exact))
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
    monkeypatch.setattr(orders, "find_order", lambda _, part, __: known.get(part))
    claim: Any = None

    def order(expression: sp.Expr) -> Order | None:
        return _find_order_of_parts(claim, expression, claim)

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
    assert _find_order_of_power(Order(Fraction(1), is_exact=False), Fraction(1, 2)) == Order(
        Fraction(1, 2), is_exact=False
    )
    assert convert_to_germ(fmpq(3)) == 3
    with pytest.raises(TypeError, match="expected a rational function"):
        convert_to_germ(3.0)


def test_differences_that_are_clear() -> None:
    """A difference of sides is evaluated at rationals for one client; for an identity it is zero everywhere."""
    x, y = sp.symbols("x y", positive=True)
    for difference, differs in ((x - x, False), (x - y, True), (sp.sqrt(x) ** 2 - x, False), (sp.sqrt(x) - y, True)):
        assert _differs_somewhere(sp.sympify(difference)) is differs
    assert not _differs_somewhere((x + 1) ** 2 - x**2 - 2 * x - 1)


def test_local_steps_of_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that floats find just below a whole number is that number."""
    taken: list[int] = []
    monkeypatch.setattr(rates, "_set_local_steps", lambda run, steps: taken.append(steps) or run)
    monkeypatch.setattr(rates, "whole_run", lambda run: run)
    for value in (3.0, 3 - 1e-13, 2.9):
        local_steps = lambda _, value=value: SimpleNamespace(item=lambda: value)  # noqa: E731
        compiled = SimpleNamespace(ladders=(), local_steps=local_steps, step_size=None)
        monkeypatch.setattr(rates, "_compile", lambda _, compiled=compiled: compiled)
        rates._run_at.__wrapped__(None, SimpleNamespace(), ())  # type: ignore[arg-type]
    assert taken == [3, 3, 2]


def test_limits_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "whole_run", lambda run: run)

    def fails(_run: Any) -> Any:
        raise NotApplicable("there is none")

    for limit, expected in ((None, None), (fails, None), (lambda _: SimpleNamespace(item=lambda: 3), 3)):
        compiled: Any = SimpleNamespace(limit=limit)
        assert rates._compute_limit(compiled, None) == expected  # type: ignore[arg-type]


def test_ladders_need_fixed_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along horizons, and counts that come first; from both ends where numbers of the claim hold on balls."""
    asked: list[tuple[int, bool]] = []
    monkeypatch.setattr(
        rates, "_require_fixed_assumptions", lambda _, __, number, on_balls: asked.append((number, on_balls))
    )

    def along(*names: str, quantity: q.Quantity = q.rounds) -> list[tuple[int, bool]]:
        asked.clear()
        compiled = SimpleNamespace(ladders=tuple(LADDERS[name] for name in names))
        monkeypatch.setattr(rates, "_compile", lambda _: compiled)
        claim: Any = SimpleNamespace(notation={T: quantity, eta: q.local_step_size})
        rates._require_fixed_constants(claim, None)  # type: ignore[arg-type]
        return list(asked)

    assert along("rounds", "clients") == [(0, False)]
    assert along("clients", "rounds") == [(0, False), (1, False)]
    assert along("local_step_size", "clients") == []
    assert along("rounds", quantity=q.second_moment) == [(0, True)]
