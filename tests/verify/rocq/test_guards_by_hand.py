"""Guards of checks, searches, grades and exports that decide one case each, against values by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.constants import Bound
from fedtheory.engine.region import Ball, Everywhere
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average, LocalSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.proofs.numbers import SymbolTable
from verify.check import rates
from verify.falsify.simple_numbers import _list_near
from verify.grade import ladders as grade_ladders
from verify.rocq.numbers import SignProofs
from verify.rocq.places import AT_STEP
from verify.rocq.refusals import NotExported
from verify.rocq.round_changes import CHANGE, START, split
from verify.rocq.terms import Atom, Mean, Named, Number


def test_binary_neighbours_of_a_number() -> None:
    """Numbers with one to six binary digits are tried, rounded to the nearest and towards zero."""
    found = {one for one in _list_near(Fraction(1, 3)) if one.denominator & (one.denominator - 1) == 0}
    # 1/3 is 0.0101010... in binary digits; bounds on denominators give 1/4, 10/32, 42/128 and 341/1024 as well.
    assert found == {
        *map(Fraction, (0, 1, 2)),
        *(Fraction(1, 2), Fraction(1, 4), Fraction(3, 8), Fraction(5, 16), Fraction(10, 32), Fraction(11, 32)),
        *(Fraction(21, 64), Fraction(42, 128), Fraction(341, 1024)),
    }


@pytest.mark.parametrize("has_balls", [False, True])
def test_constants_on_balls_that_grow(monkeypatch: pytest.MonkeyPatch, *, has_balls: bool) -> None:
    """Only a bound on a ball that grows leaves a rate open; the first level counts if the claim has other balls."""
    known: dict[Any, Any] = {}

    def places(ladders: Any, number: int, *, is_longer: bool) -> list[Any]:
        assert (ladders, number, is_longer) == ("ladders", 3, False)
        return ["first", "middle", "last"]

    monkeypatch.setattr(rates, "_compile", lambda _: SimpleNamespace(ladders="ladders"))
    monkeypatch.setattr(rates, "_list_places", places)
    monkeypatch.setattr(rates, "_run_at", lambda _claim, _run, place: place)
    assumptions = [SimpleNamespace(require=lambda _: None), SimpleNamespace(require=known.get)]
    claim: Any = SimpleNamespace(assumptions=assumptions)
    run: Any = SimpleNamespace(arithmetic=RATIONAL)

    def require(**bounds: Any) -> None:
        known.clear()
        known.update(bounds)
        rates._require_fixed_assumptions(claim, run, 3, has_balls)

    growing, steady = (Bound(1, Ball(1, "by hand", grows=grows)) for grows in (True, False))
    require(first=steady, middle=growing, last=steady)
    require(first=steady, middle=growing, last=Bound(1, Everywhere()))
    # A region without a bound on it, such as that of a quantity, decides nothing.
    require(first=steady, middle=growing, last=SimpleNamespace(region=growing.region))
    with pytest.raises(NotApplicable, match="a ball that grows with the number of rounds"):
        require(first=steady, middle=steady, last=growing)
    if has_balls:
        with pytest.raises(NotApplicable, match="a ball that grows"):
            require(first=growing, middle=steady, last=steady)
    else:
        require(first=growing, middle=steady, last=steady)


def test_levels_of_a_ladder_of_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level of the run's ladder once, below the edge of the conditions; longer ladders for single causes."""
    asked: list[Any] = []
    corners = [(("noise",), "noise"), (("spread",), "spread"), (("noise", "spread"), "both")]

    def levels(base: Any, listed: Any) -> Any:
        asked.append((base, len(listed)))
        return [listed[0], listed[0], listed[-1]]

    names = {
        "find_features": lambda claim: f"setting of {claim}",
        "list_mixed_runs": lambda claim, found: [f"{found}, mixed with {claim}"],
        "_list_settings": lambda _claim, shape: [shape],
        "_list_corners": lambda _: corners,
        "move_to_edge": lambda _claim, corner: None if corner == "both" else f"edge of {corner}",
        "scale": lambda table, factors: (table, *factors.values()),
        "_list_levels": levels,
        "_build_level": lambda edge, *level: (edge[0], level[-1]),
    }
    for name, stand_in in names.items():
        monkeypatch.setattr(grade_ladders, name, stand_in)
    found = list(grade_ladders.list_ladder_runs("claim"))  # type: ignore[arg-type]
    assert found == [
        *(("edge of noise", 1), ("edge of noise", 256)),
        *(("edge of spread", 1), ("edge of spread", 8_192)),
        *(("both", 1), ("both", 256)),
    ]
    shape = "setting of claim, mixed with claim"
    assert asked == [(shape, 16), (shape, 17), (shape, 14)]


def test_settings_of_a_ladder_of_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each momentum, and a larger server step only if the claim allows it with smaller local steps."""
    allowed: list[Any] = []

    def is_allowed(_claim: Any, table: Any) -> bool:
        allowed.append(str(table["algorithm"]["local_step_size"]))
        return table["algorithm"].get("name") == "any"

    monkeypatch.setattr(grade_ladders, "is_allowed", is_allowed)
    plain = {"algorithm": {"local_step_size": RATIONAL.number("1/2", "eta"), "name": "one"}}

    def listed(**more: Any) -> list[Any]:
        table: Any = {"algorithm": plain["algorithm"] | more}
        found = grade_ladders._list_settings(None, table)  # type: ignore[arg-type]
        return [[str(one["algorithm"].get(key)) for key in ("server_step_size", "momentum")] for one in found]

    momenta = ["0", "9/10", "31/32"]
    assert listed() == [["None", "None"]]
    assert listed(momentum=0) == [["None", one] for one in momenta]
    assert listed(name="any") == [["None", "None"], ["64", "None"]]
    assert listed(name="any", momentum=0) == [[step, one] for step in ("None", "64") for one in momenta]
    assert allowed == ["1/128"] * 4


def test_values_and_gradients_in_rocq() -> None:
    """Without structure a value is a number; that of F at a common point is an average, other values are atoms."""
    common, own = Atom("x"), Atom("x i", own=True)
    assert AT_STEP.value(AT_STEP.mean, common, opaque=True) == Number(f"value ({AT_STEP.mean}) (x)")
    assert AT_STEP.value(AT_STEP.own, own, opaque=True) == Number(f"value ({AT_STEP.own}) (x i)")
    assert isinstance(AT_STEP.value(AT_STEP.mean, common), Named)
    for objective, point, is_own in ((AT_STEP.own, common, True), (AT_STEP.own, own, True), (AT_STEP.mean, own, True)):
        assert AT_STEP.value(objective, point) == Atom(f"value ({objective}) ({point.text})", kind="S", own=is_own)
    assert AT_STEP.gradient(AT_STEP.mean, common, opaque=True) == Atom(f"grad ({AT_STEP.mean}) (x)")
    assert AT_STEP.gradient(AT_STEP.own, own, opaque=True) == Atom(f"grad ({AT_STEP.own}) (x i)")
    optimum = Atom("x_star")
    assert AT_STEP.gradient(AT_STEP.own, optimum) == Atom(f"grad ({AT_STEP.own}) (x_star)", own=True, vanishing=True)
    assert AT_STEP.gradient(AT_STEP.own, common) == Atom(f"grad ({AT_STEP.own}) (x)", own=True)
    assert AT_STEP.gradient(AT_STEP.mean, own) == Atom(f"grad ({AT_STEP.mean}) (x i)", own=True)
    for point, vanishes in ((common, False), (optimum, True)):
        slopes = Mean(Atom(f"grad ({AT_STEP.own}) ({point.text})", own=True, vanishing=vanishes))
        assert AT_STEP.gradient(AT_STEP.mean, point) == Named(f"grad ({AT_STEP.mean}) ({point.text})", slopes)


@pytest.mark.parametrize("own", [None, "known", "start", "change"])
def test_vectors_of_participants_in_three_parts(own: str | None) -> None:
    """The next model is a sum over participants; numbers of single clients and averages over all are refused."""
    symbol = SymbolTable({})
    count, size = symbol(q.client_local_steps), symbol(q.effective_step_size)
    model, sample = symbol(q.server_model), symbol(q.stochastic_gradient)
    parts = {"known": model, "start": -size, "change": -size}
    claim = SimpleNamespace(assumptions=[a.normalised_steps])
    foreign = sp.Symbol("c_i")
    vocabulary: Any = SimpleNamespace(claim=claim, symbols=symbol, is_own=lambda one: one.has(foreign))
    moved = symbol(q.next_server_model)
    found = split(moved, vocabulary)
    assert {name: getattr(found, name) for name in parts} == parts
    assert found.whole == model - size * START - size * CHANGE
    refused = {
        None: Average(model),
        "known": foreign * model,
        "start": foreign * LocalSum(symbol(q.gradient_at_server_model)) / count,
        "change": foreign * (LocalSum(sample) - LocalSum(symbol(q.gradient_at_server_model))) / count,
    }
    with pytest.raises(NotExported, match="expected multiples of samples"):
        split(moved + refused[own], vocabulary)
    vocabulary.claim = SimpleNamespace(assumptions=[])
    with pytest.raises(NotExported, match="normalised step sizes"):
        split(moved, vocabulary)


@pytest.mark.parametrize("shown", [None, "positive"])
def test_numbers_that_may_be_zero_are_shown_apart(shown: str | None) -> None:
    """There is no tactic if nothing shows the case of zero, which is that of the factored number at zero."""
    free, size = sp.symbols("c eta", nonnegative=True)
    asked: list[Any] = []
    signs: Any = SimpleNamespace(names={free: "each_1", size: "step_size S"})
    signs._shift = lambda rest: asked.append(rest) or shown
    found = SignProofs._split_zero(signs, free * size + size, free, "tactic")
    assert asked == [size]
    assert (found is None) is (shown is None)
    if found is not None:
        assert "[tactic | match goal with" in found
        assert "(step_size S)" in found
        assert found.endswith("end; positive | exfalso; lra]")
