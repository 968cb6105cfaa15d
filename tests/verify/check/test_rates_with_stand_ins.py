"""Growth and orders of rates with stand-ins for ladders and germs, against values by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, eta

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import NotApplicable
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.vocabulary import vocabulary
from verify.check import growth, orders, rates
from verify.check.measured_ladders import RateCheck
from verify.check.orders import Order

CLAIM = Claim(id="t:rates", lhs=eta, rhs=L, where=WHERE)


def test_premises_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """All levels of a ladder have to satisfy the conditions if the limit itself does not decide them."""
    failing: dict[Any, Any] = {"limit": [], 1: [], 2: []}

    def failed(_claim: Claim, at: Any) -> Any:
        if isinstance(failing[at], Exception):
            raise failing[at]
        return failing[at]

    monkeypatch.setattr(growth, "list_failed_premises", failed)
    ladder: Any = SimpleNamespace(levels=(1, 2), at=lambda _, level: level)

    def holds(limit: Any, *levels: Any) -> bool:
        failing.update({"limit": limit, 1: levels[0] if levels else ["no"], 2: levels[1] if levels else ["no"]})
        return growth._check_premises(CLAIM, None, "limit", ladder)  # type: ignore[arg-type]

    assert holds([])
    assert not holds(["noise"])
    assert holds(NotApplicable("x"), [], [])
    assert not holds(NotApplicable("x"), [], ["noise"])
    assert not holds(TypeError("x"), ["noise"], [])


@pytest.mark.parametrize(
    ("several", "growths", "expected"),
    [
        (False, [None], None),
        (False, [False], 0),
        (False, [True], 0),
        (True, [False, None], None),
        (True, [False, True], 1),
        (True, [True, True], 0),
        (True, [None, None], None),
    ],
)
def test_growth_in_one_variable(
    growths: list[Any], expected: int | None, monkeypatch: pytest.MonkeyPatch, *, several: bool
) -> None:
    """One that refutes the rate, or that of the only variable; nothing for rates that set more than a variable."""
    variables = list(sp.symbols("a b"))[: 1 + several]
    found = [None if exceeds is None else SimpleNamespace(exceeds=exceeds) for exceeds in growths]
    monkeypatch.setattr(growth, "list_ladders", lambda _: dict.fromkeys(variables, "ladder"))
    monkeypatch.setattr(growth, "_find_growth", lambda _, __, symbol, ___: found[variables.index(symbol)])
    plain = {"step_size": None, "local_steps": None, "constant": None}

    def grown(arithmetic: Any = RATIONAL, **stated: Any) -> Any:
        claim: Any = SimpleNamespace(rate=SimpleNamespace(**{**plain, **stated}))
        return growth.find_growth(claim, SimpleNamespace(arithmetic=arithmetic))  # type: ignore[arg-type]

    assert grown() is (None if expected is None else found[expected])
    assert grown(FLOAT) is None
    for key in plain:
        assert grown(**{key: 1}) is None


def test_orders_of_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of that of the square, infinite for zero; others have none here."""
    root = next(
        entry.quantity for entry in vocabulary() if isinstance(entry.quantity, RunQuantity) and entry.quantity.root
    )
    known: dict[str, Any] = {}

    def germ(_claim: Any, expression: Any, _run: Any) -> Any:
        assert expression == eta**2
        if isinstance(known["germ"], Exception):
            raise known["germ"]
        return known["germ"]

    class Germ:
        """A germ with a power, or zero."""

        def __init__(self, power: int | None) -> None:
            self.power = power

        def __bool__(self) -> bool:
            return self.power is not None

    monkeypatch.setattr(orders, "compute_germ", germ)

    def order(quantity: Any, found: Any) -> Order | None:
        known["germ"] = found
        claim: Any = SimpleNamespace(notation={eta: quantity})
        return orders._find_order_of_root(claim, eta, None)  # type: ignore[arg-type]

    assert order(root, Germ(3)) == Order(Fraction(3, 2))
    assert order(root, Germ(None)) == Order(math.inf)
    assert order(root, NotApplicable("x")) is None
    assert order(q.smoothness, Germ(3)) is None
    assert order(None, Germ(3)) is None


def test_a_closer_look_at_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """In rationals where the value is zero, else by an exact limit, which may refute the rate or not."""
    found = RateCheck(None, (), None, None, ())
    seen: dict[str, Any] = {"largest": 1, "growth": None}
    monkeypatch.setattr(rates, "_measure_largest", lambda *_: seen["largest"])
    monkeypatch.setattr(rates, "find_growth", lambda *_: seen["growth"])
    monkeypatch.setattr(rates, "check_rate", lambda *_: "in rationals")

    def look(arithmetic: Any = RATIONAL) -> Any:
        run: Any = SimpleNamespace(arithmetic=arithmetic)
        return rates.refine_rate(CLAIM, run, found)

    assert look() is found
    for exceeds in (True, False):
        seen["growth"] = SimpleNamespace(exceeds=exceeds)
        assert look().holds is not exceeds
        assert look().growth is seen["growth"]
    seen["largest"] = 0
    assert look() == "in rationals"
    assert look(FLOAT).growth is seen["growth"]
