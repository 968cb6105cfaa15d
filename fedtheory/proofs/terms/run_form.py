"""Normal forms of expressions about a run: sums over rounds and steps of monomials of the kernel.

A sum whose summand is shifted by one step differs from the original by its end terms, so that
telescoping sums cancel.  Sums of polynomials in an index are polynomials in their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Form, Numbers, Rejected, Step, add_forms, remainder, scalar, scale_form, write_form
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Gradient, Inner, Value, is_length, parts_of
from fedtheory.kernel.messages import add_left_over
from fedtheory.kernel.quotients import ONE, Quotient, quotient
from fedtheory.kernel.range_sums import sum_over_range
from fedtheory.kernel.work import NODE, spend
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.terms.indexed import ROUND, STEP, RangeSum, find_indexed
from fedtheory.proofs.terms.process import Process

_MOST_SHIFTED = 4
"""Largest shift of summands, in steps."""


@dataclass(frozen=True)
class RunForm:
    """Normal forms of expressions about the runs of a claim."""

    process: Process
    numbers: Numbers

    def check_zero(self, what: str, expression: Expr) -> Step:
        """Check that an expression is zero after replacing quantities by their definitions."""
        written = self.process.end_rounds(self.process.unfold(expression))
        left = remainder(self.form(written), self.numbers)
        return Step(add_left_over(what, left, is_short=True), not left)

    def form(self, expression: Expr) -> Form:
        """Return the coefficients of an expression by its monomials."""
        spend(NODE)
        if isinstance(expression, sp.Add):
            return add_forms(self.form(part) for part in expression.args)
        if isinstance(expression, RangeSum):
            body, index, *ends = expression.args
            return add_forms(self._sum_monomial(monomial, c, index, ends) for monomial, c in self.form(body).items())
        if self._is_constant(expression):
            return {sp.S.One: self._read_number(expression)} if expression != 0 else {}
        return self._expand_changing(expression)

    def _expand_changing(self, expression: Expr) -> Form:
        """Return the form of an expression that changes along the run."""
        if isinstance(expression, sp.Mul):
            return self._expand_product(expression)
        if isinstance(expression, sp.Pow) and not is_length(expression):
            return self._expand_power(expression)
        if self._is_atom(expression):
            return {expression: ONE}
        return scalar(expression, self.process.context_of(expression))

    def _read_number(self, expression: Expr) -> Quotient:
        """Return the expression of constants as a quotient of polynomials."""
        return quotient(self.numbers.with_plain_means(self.numbers.replace_names(expression)))

    def _is_constant(self, expression: Expr) -> bool:
        """Return whether an expression is a number that is the same at all rounds.

        It may be a polynomial in the step index.
        """
        if parts_of(expression, RangeSum, Inner, Value, Gradient, ClientSum):
            return False
        varying = (self.process.depends_on(symbol, ROUND) for symbol in expression.free_symbols - {ROUND, STEP})
        of_steps = (self.process.depends_on(symbol, STEP) for symbol in expression.free_symbols - {STEP})
        return not any(varying) and not any(of_steps)

    def _is_atom(self, expression: Expr) -> bool:
        """Whether an expression is a quantity that depends on the round or step, or a sum of clients' numbers."""
        if isinstance(expression, ClientSum) or (isinstance(expression, Average) and not find_indexed(expression)):
            return not parts_of(expression, Inner, Value, Gradient)
        return bool(expression.is_Symbol) and isinstance(self.process.quantity_of(expression), RunQuantity)

    def _expand_product(self, product: Expr) -> Form:
        """Return the form of a product."""
        inside = [factor for factor in product.args if not self._is_constant(factor)]
        number = self._read_number(sp.Mul(*(one for one in product.args if one not in inside)))
        if len(inside) == 1:
            return scale_form(self.form(inside[0]), number)
        if all(self._is_factor(factor) for factor in inside):
            forms = [self.form(factor) for factor in inside]
            if all(len(form) == 1 for form in forms):
                found, whole = sp.S.One, number
                for form in forms:
                    ((monomial, coefficient),) = form.items()
                    found, whole = found * monomial, whole * coefficient
                return {found: whole}
        return self.form(self._expand(product))

    def _is_factor(self, expression: Expr) -> bool:
        return self._is_atom(expression) or bool(expression.is_Pow and self._is_atom(expression.base))

    def _expand_power(self, power: Expr) -> Form:
        """Return the form of a power."""
        base, exponent = power.args
        if exponent.is_Integer and exponent < 0:
            form = self.form(base)
            if len(form) == 1:
                ((monomial, coefficient),) = form.items()
                return {monomial**exponent: quotient(coefficient.expression**exponent)}
            return {write_form(form) ** exponent: ONE}
        if self._is_atom(base):
            return {power: ONE}
        return self.form(self._expand(power))

    def _expand(self, expression: Expr) -> Expr:
        expanded = sp.expand(expression)
        if expanded == expression or isinstance(expanded, sp.Mul | sp.Pow):
            raise Rejected(f"{expression} is not linear in what changes from step to step")
        return expanded

    # Sums over an index.

    def _sum_monomial(self, monomial: Expr, number: Quotient, index: sp.Symbol, ends: Sequence[Expr]) -> Form:
        first, end = ends
        if not self.process.depends_on(monomial, index):
            return {monomial: sum_over_range(number, index, first, end)}
        shift = self._shift(monomial, index)
        if shift:
            monomial = self.process.substitute(monomial, index, index - shift)
            number = quotient(number.expression.xreplace({index: index - shift}))
            first, end = first + shift, end + shift
        whole = self.process.end_of(index)
        # A coefficient with the index stays inside the sum, where the index is bound.
        plain = {RangeSum(monomial, index, sp.S.Zero, whole): number}
        return add_forms([plain, *self._list_ends(monomial, number, index, (first, end))])

    def _list_ends(self, monomial: Expr, number: Quotient, index: sp.Symbol, ends: tuple[Expr, Expr]) -> list[Form]:
        """Return the terms by which a sum differs from that over the whole range."""
        first, whole = ends[0], self.process.end_of(index)
        more = sp.expand(ends[1] - whole)
        if not (first.is_Integer and more.is_Integer and 0 <= first <= _MOST_SHIFTED and abs(more) <= _MOST_SHIFTED):
            raise Rejected(f"a sum over {index} from {ends[0]} to {ends[1]} is no sum over a whole range")
        signs = {sp.Integer(value): -1 for value in range(first)} | {
            sp.expand(whole + value): 1 for value in range(more)
        }
        signs |= {sp.expand(whole + value): -1 for value in range(more, 0)}
        return [
            scale_form(
                self.form(self.process.substitute(monomial, index, value)),
                quotient(sign * number.expression.xreplace({index: value})),
            )
            for value, sign in signs.items()
        ]

    def _shift(self, monomial: Expr, index: sp.Symbol) -> int:
        """Return by how many steps the first vector of a monomial is later than the index."""
        places = [one.round if index == ROUND else one.step for one in find_indexed(monomial).values()]
        shifts = [sp.expand(place - index) for place in places if place is not None and place.has(index)]
        return int(min(shifts)) if shifts and all(shift.is_Integer for shift in shifts) else 0
