"""Prove signs of numbers with symbols below one: b is u/(1 + u) for some non-negative u."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from fedtheory.kernel.expressions import Expr
from verify.rocq.numbers import SignProofs, cleared, number


def find_below_one(conditions: Sequence[Expr]) -> dict[sp.Symbol, int]:
    """Return the symbols that conditions bound by one, with the indices of these conditions."""
    found = {}
    for place, one in enumerate(conditions, start=1):
        if isinstance(one, sp.Lt | sp.Gt) and one.gts == 1 and one.lts.is_Symbol:
            found[one.lts] = place
    return found


@dataclass(frozen=True)
class RatioSigns(SignProofs):
    """Facts for proofs of signs in which such symbols are written as ratios."""

    ratios: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    """For each of these symbols the symbol u, which has the name of the ratio."""

    def substitute_ratios(self, value: Expr) -> Expr:
        """Write symbols below one in a number as ratios."""
        return sp.sympify(value).xreplace({symbol: u / (1 + u) for symbol, u in self.ratios.items()})

    def nonnegative(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is not negative."""
        return self._plain.nonnegative(self.substitute_ratios(value))

    def positive(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is positive."""
        above, below = (number(part, self.names) for part in cleared(self.substitute_ratios(value)))
        replaced = f"replace gap with (({above}) / ({below})) by by_field"
        return f"match goal with |- 0 < ?gap => {replaced} end; apply Rdiv_lt_0_compat; positive"

    @property
    def _plain(self) -> SignProofs:
        conditions = [type(one)(*map(self.substitute_ratios, one.args), evaluate=False) for one in self.conditions]
        return SignProofs(self.names, tuple(conditions), self.least)

    def prepared(self) -> list[str]:
        """Return tactics that clear the denominators of each condition."""
        lines = []
        for place, (goal, plain) in enumerate(zip(self.conditions, self._plain.conditions, strict=True), start=1):
            above, below = cleared(plain.gts - plain.lts)
            text = number(above, self.names)
            product = f"({number(goal.gts - goal.lts, self.names)}) * ({number(below, self.names)})"
            lines.append(f"assert (clear{place} : 0 <= {text}).")
            lines.append(
                f"{{ replace ({text}) with ({product}) by by_field. apply Rmult_le_pos; [lra | nonnegative]. }}"
            )
        return lines
