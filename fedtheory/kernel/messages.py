"""Texts with formulas, and remainders of failed identities, for messages; no verdict depends on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fedtheory.kernel.forms import Form, write_form
from fedtheory.kernel.notation import MOST_SHOWN, shorten
from fedtheory.kernel.quadratic_forms import collect_norms

LEFT_OVER = "; what is left over, left side minus right side, is "
"""Words before a remainder in a message."""
_MOST_COLLECTED = 200
"""Largest number of terms in which squares are looked for: SymPy's time grows without bound in larger sums."""


class LazyText:
    """Text with formulas, assembled when it is displayed: printing a formula takes longer than checking it."""

    def __init__(self, *parts: object) -> None:
        self._parts = parts

    def __str__(self) -> str:
        return "".join(map(shorten, self._parts))

    def transform(self, change: Callable[[object], object]) -> LazyText:
        """Return the text with changed parts."""
        return LazyText(*(one.transform(change) if isinstance(one, LazyText) else change(one) for one in self._parts))


def add_left_over(what: str, left: Form, *, is_short: bool = False) -> str | LazyText:
    """Return the name of an identity, with the remainder by which it fails if there is one."""
    return LazyText(what, LEFT_OVER, _Remainder(left, is_short)) if left else what


@dataclass(frozen=True)
class _Remainder:
    """A sum for a message; a short one omits the coefficients."""

    left: Form
    is_short: bool

    def __str__(self) -> str:
        terms = sum(len(number.numerator) + len(number.denominator) for number in self.left.values())
        if self.is_short or terms > MOST_SHOWN:
            return "a sum of multiples of " + ", ".join(map(shorten, self.left))
        if terms > _MOST_COLLECTED:
            return shorten(write_form(self.left))
        return shorten(collect_norms({monomial: number.expression for monomial, number in self.left.items()}))
