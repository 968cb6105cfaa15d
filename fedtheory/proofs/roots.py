"""Square roots in a claim: symbols whose squares are numbers that are proved non-negative.

For the kernel the root of a number is a symbol; in an identity its square may be replaced by that number, and in
a condition the number by the square.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Numbers, Rejected, Step, is_nonnegative, is_ordering
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.parts import Part


@dataclass(frozen=True)
class Root:
    """A symbol for the square root of a number."""

    kind: ClassVar[str] = "root"
    letter: sp.Symbol
    of: Expr
    parts: Sequence[Part]
    """The parts of a combination whose sum is the number minus its lower bound."""
    least: Expr = sp.S.Zero
    """A non-negative lower bound of the number."""

    def substitute(self, expression: Expr) -> Expr:
        """Return an expression with powers of the root replaced by powers of the symbol."""

        def is_power(part: Expr) -> bool:
            return bool(part.is_Pow and part.base == self.of and part.exp.is_Rational and part.exp.q == 2)

        return sp.sympify(expression).replace(is_power, lambda part: self.letter ** (2 * part.exp))

    def substitute_in_condition(self, condition: Expr) -> Expr:
        """Rewrite a condition on the number as one on the symbol, if it compares with a square, else on its square."""
        if is_ordering(condition) and condition.lhs == self.of and condition.rhs.is_nonnegative:
            bound = sp.sqrt(condition.rhs)
            if bound.is_Rational:
                return condition.func(self.letter, bound)
        return condition.xreplace({self.of: self.letter**2})


def name_roots(roots: Iterable[Root], relation: Relation) -> Relation:
    """Return a relation with symbols for its roots."""
    for root in roots:
        relation = relation.transform(root.substitute)
    return relation


def add_root_symbols(roots: Iterable[Root], numbers: Numbers) -> Numbers:
    """Return the numbers of a claim extended by the symbols of its roots."""
    squares, nonzero = {}, numbers.nonzero
    for root in roots:
        squares[root.letter] = numbers.plain(root.of)
        nonzero |= {root.substitute(factor) for factor in nonzero}
    return replace(numbers, symbols=numbers.symbols.union(squares), roots=squares, nonzero=nonzero)


def rewrite_conditions(roots: Iterable[Root], conditions: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return conditions, with those on a number rewritten as conditions on the symbol of its root."""
    for root in roots:
        conditions = [root.substitute_in_condition(condition) for condition in conditions]
    return tuple(conditions)


def require_own_symbols(claim: Claim, roots: Sequence[Root], numbers: Numbers) -> None:
    """Raise `Rejected` if the symbol of a root has another meaning, or more assumptions than a sign."""
    taken = symbols_of(claim).known_symbols | claim.for_all.keys() | numbers.symbols | numbers.of_clients
    for place, root in enumerate(roots):
        symbol, others = root.letter, {other.letter for other in roots[:place]}
        if symbol in taken | others or not symbol.is_nonnegative or symbol.is_integer or symbol.is_zero:
            raise Rejected(f"{symbol} is not a symbol for a root")


def positive(root: Root, numbers: Numbers, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that the argument of a root has the sign that is declared for its symbol."""
    yield Step(f"{root.least} >= 0", bool(root.least.is_nonnegative and root.least.is_Rational))
    if root.letter.is_positive:
        is_known = root.least.is_positive or is_nonnegative(1 / root.of, numbers, conditions)
        yield Step(f"{root.of} > 0", bool(is_known))
