"""Arithmetic for answers with limits on sizes, so that no answer can occupy the grader for long."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches

import sympy as sp

from fedtheory.kernel.expressions import Expr

LONGEST_TEXT, DEEPEST, MOST_PARTS = 2_000, 40, 400
_LARGEST_EXPONENT, _LARGEST_POWER, _MOST_BITS = 16, 64, 4_096
_NUMBER = re.compile(r"(\d{1,15}(\.\d{0,25})?|\.\d{1,25})([eE][+-]?\d{1,2})?")
"""Pattern of a decimal number; a float such as 0.008333333333333333 has more digits after the point than before it."""


_CONSTANTS = {"e": sp.E, "pi": sp.pi}


class Unreadable(ValueError):
    """Raised for an answer outside the language of answers; the message names the position."""


class Ambiguous(Unreadable):
    """Raised for an answer with two readings; a person decides, and the message shows how to write each."""


class UnknownSymbol(Unreadable):
    """Raised for a name or a norm that the question does not have; a person decides whether the answer is right."""


class NoExpression(Unreadable):
    """Raised for a text that Python cannot parse."""


class NoValue(Unreadable):
    """Raised for an answer without a value for any values of its symbols, such as a division by zero."""


class Guarded:
    """Build the expression of one answer from the allowed names.

    Both parsers of answers use this class, so that both have the same limits.
    """

    def __init__(self, names: Mapping[str, Expr]) -> None:
        self._names = names
        self._depth = self._parts = 0

    def enter(self) -> None:
        """Enter a deeper level of nesting, and count a part."""
        self._depth += 1
        self._parts += 1
        if self._depth > DEEPEST:
            raise Unreadable(f"the answer has more than {DEEPEST} nested brackets or functions: simplify it")
        if self._parts > MOST_PARTS:
            raise Unreadable(f"the answer has more than {MOST_PARTS} numbers, symbols and signs: simplify it")

    def leave(self) -> None:
        """Leave a level of nesting."""
        self._depth -= 1

    def number(self, text: str) -> Expr:
        """Return the exact value of a decimal number."""
        if not _NUMBER.fullmatch(text):
            raise Unreadable(f"expected a number of at most 15 digits, got {text[:20]}")
        return sp.Rational(text)

    def name(self, text: str) -> Expr:
        """Return the expression of a name; e and pi are numbers unless a symbol has their name."""
        if text not in self._names and text in _CONSTANTS:
            return _CONSTANTS[text]
        if text not in self._names:
            known = f"it has {', '.join(sorted(self._names))}" if self._names else "it asks for a number"
            raise UnknownSymbol(f"{text} is not a symbol of this question; {known}{self._suggest_symbol(text)}")
        return self._names[text]

    def _suggest_symbol(self, text: str) -> str:
        close = get_close_matches(text, [name for name in self._names if len(name) > 1], n=1) if len(text) > 1 else []
        return f"; is it {close[0]}?" if close else ""

    def has(self, text: str) -> bool:
        """Return whether a name is that of a symbol."""
        return text in self._names

    def quotient(self, left: Expr, right: Expr) -> Expr:
        """Return the quotient of two parts."""
        if right == 0:
            raise NoValue("the answer divides by zero")
        return left / right

    def power(self, base: Expr, exponent: Expr) -> Expr:
        """Return a power: with a small number as exponent, or symbols such as x - 1; e may have any exponent."""
        if base == sp.E:
            return self.apply("exp", [exponent])
        if base == 0 and not exponent.is_positive:
            raise NoValue("the answer divides by zero")
        if exponent.is_Rational:
            _require_small_exponent(base, exponent)
        else:
            _require_linear_exponent(base, exponent)
        return base**exponent

    def apply(self, function: str, arguments: list[Expr]) -> Expr:
        """Apply one of the named functions."""
        if function not in FUNCTIONS:
            raise Unreadable(f"{function} is not a function of answers; they are {', '.join(sorted(FUNCTIONS))}")
        fewest, most, build = FUNCTIONS[function]
        if not fewest <= len(arguments) <= most:
            raise Unreadable(f"{function} takes {fewest} argument{'s' * (fewest > 1)}, got {len(arguments)}")
        if function == "exp" and arguments[0].has(sp.exp):
            raise Unreadable("expected no exponential inside an exponential")
        if function == "log" and arguments[0] == 0:
            raise NoValue("the answer takes the logarithm of zero")
        return build(*arguments)


FUNCTIONS: dict[str, tuple[int, int, Callable[..., Expr]]] = {
    "sqrt": (1, 1, sp.sqrt),
    "exp": (1, 1, sp.exp),
    "log": (1, 1, sp.log),
    "Max": (2, 6, sp.Max),
    "Min": (2, 6, sp.Min),
    "abs": (1, 1, sp.Abs),
    "ceil": (1, 1, sp.ceiling),
    "floor": (1, 1, sp.floor),
}
"""Functions that an answer may use: least and largest number of arguments, and the SymPy function."""


def _require_small_exponent(base: Expr, exponent: sp.Rational) -> None:
    largest = _LARGEST_POWER if base.is_Rational else _LARGEST_EXPONENT
    if abs(exponent) > largest or exponent.q > _LARGEST_EXPONENT:
        raise Unreadable(f"an exponent is larger than {largest}")
    inside = max((abs(p.exp) for p in base.atoms(sp.Pow) if p.exp.is_Rational), default=1)
    if abs(exponent) * inside > _LARGEST_POWER:
        raise Unreadable(f"powers of powers add up to more than {_LARGEST_POWER}")
    bits = max((n.p.bit_length() + n.q.bit_length() for n in base.atoms(sp.Rational)), default=1)
    if bits * abs(exponent) > _MOST_BITS:
        raise Unreadable("a power of a number is too large")


def _require_linear_exponent(base: Expr, exponent: Expr) -> None:
    symbols = sorted(exponent.free_symbols, key=str)
    is_linear = symbols and exponent.is_polynomial(*symbols) and sp.Poly(exponent, *symbols).total_degree() == 1
    if not is_linear or any(abs(n) > _LARGEST_EXPONENT for n in exponent.atoms(sp.Rational)):
        raise Unreadable(f"an exponent is a number or a sum of symbols, such as x - 1, not {str(exponent)[:40]}")
    if any(not p.exp.is_Rational for p in base.atoms(sp.Pow)):
        raise Unreadable("a power with symbols as exponent stands inside another one")
