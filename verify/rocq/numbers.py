"""Write real numbers as Rocq text, and prove their signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import gcd, lcm

import sympy as sp
from flint import fmpq

from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Quotient, Rejected, linear, quotient
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, describe_condition


def number(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return sums, products and powers of symbols as Rocq text; raises `NotExported` for anything else."""
    expression = sp.sympify(expression)
    if expression.is_Rational:
        return _write_rational(expression)
    if expression.is_Symbol:
        if expression not in names:
            raise NotExported("a symbol has no name in the library", expression)
        return names[expression]
    if expression.is_Add:
        return _write_sum([number(part, names) for part in expression.args])
    if expression.is_Mul:
        return _write_product(expression, names)
    if expression.is_Pow:
        return _write_power(expression, names)
    raise NotExported("a number is not made of sums, products and powers", expression)


def name_parts(parts: Iterable[Expr], **assumed: bool) -> dict[Expr, sp.Dummy]:
    """Return symbols that stand for parts of a number, in the order of the parts as text.

    SymPy orders factors by the names of symbols; a name that it makes up counts all symbols of the process.
    """
    return {part: sp.Dummy(f"part_{place:04}", **assumed) for place, part in enumerate(sorted(parts, key=str))}


def _write_power(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return a power whose exponent is an integer, half of one, or a number of steps or rounds."""
    base, exponent = number(expression.base, names), expression.exp
    count, more = exponent.as_independent(*exponent.free_symbols)[::-1] if exponent.is_Add else (exponent, sp.S.Zero)
    if more == -1 and names.get(count) == "M_of A":  # This number is positive because there is a client.
        return f"{enclose(base)} ^ (number (clients_of A) - 1)"
    if names.get(count, "") in _NATURAL and (more.is_Integer and more >= 0):
        natural = _NATURAL[names[count]]
        return f"{enclose(base)} ^ {natural if more == 0 else f'({natural} + {more})'}"
    if not (exponent.is_Rational and exponent.q in (1, 2)):
        raise NotExported("an exponent is not known to be a natural number", expression)
    root = base if exponent.q == 1 else f"sqrt ({base})"
    power = root if abs(exponent.p) == 1 else f"{enclose(root)} ^ {abs(exponent.p)}"
    return f"1 / ({power})" if exponent.is_negative else power


_NATURAL = {
    "M_of A": "number (clients_of A)",
    "tau A": "steps_of A",
    "T A": "rounds_of A",
    "tau A * T A": "(steps_of A * rounds_of A)",
    "INR j": "j",
    "INR k": "k",
    "INR n": "n",
}
"""Real numbers with natural values, which may be exponents."""


def _write_rational(value: sp.Rational) -> str:
    """Return a rational as text."""
    text = str(abs(value.p)) if value.q == 1 else f"{abs(value.p)} / {value.q}"
    return f"- {text if value.q == 1 else f'({text})'}" if value.p < 0 else text


def _write_sum(parts: Sequence[str]) -> str:
    """Return a sum of texts, with negative terms last."""
    ordered = sorted(parts, key=lambda part: part.startswith("- "))
    return " ".join([ordered[0], *(p if p.startswith("- ") else f"+ {p}" for p in ordered[1:])])


def _write_product(expression: Expr, names: Mapping[sp.Symbol, str]) -> str:
    """Return a product or quotient as text."""
    sign, rest = ("- ", -expression) if expression.as_coeff_Mul()[0].is_negative else ("", expression)
    numerator, denominator = sp.fraction(rest, exact=True)
    if not rest.is_Mul:
        return f"{sign}({number(rest, names)})" if sign else number(rest, names)
    text = " * ".join(enclose(number(factor, names)) for factor in _list_factors(numerator))
    if denominator != 1:
        divisor = " * ".join(enclose(number(factor, names)) for factor in _list_factors(denominator))
        text += f" / {enclose(divisor)}"
    return f"{sign}{text}" if not sign else f"- ({text})"


def _list_factors(product: Expr) -> list[Expr]:
    """Return the factors of a product, one if there are none."""
    return [factor for part in sp.Mul.make_args(product) for factor in sp.Mul.make_args(part) if factor != 1] or [
        sp.S.One
    ]


def enclose(text: str) -> str:
    """Return a text in brackets, unless it needs none."""
    return text if needs_no_brackets(text) else f"({text})"


def needs_no_brackets(text: str) -> bool:
    """Return whether a text is one number, name or application of a name, also to a step with a name."""
    return re.fullmatch(rf"\d+|[A-Za-z_][\w ]*|(\w+ )?{_STEP}( \w+)?", text) is not None


_STEP = r"\((?:step_at|step_of|centralised) [\w ]+\)"
"""The text of a step, or of the centralised model there, in brackets."""


@dataclass(frozen=True)
class _Bound:
    """A condition as ``rest - slope x >= 0``, where neither number has negative coefficients."""

    symbol: sp.Symbol
    slope: Expr
    rest: Expr


@dataclass(frozen=True)
class SignProofs:
    """Facts that proofs of signs may use."""

    names: Mapping[sp.Symbol, str]
    conditions: Sequence[Expr] = ()
    """Conditions, the hypotheses ``condition<n>`` of a theorem."""
    least: Sequence[tuple[sp.Symbol, Expr]] = ()
    """Lower bounds of symbols, in the order of their use; they are hypotheses."""

    def hypotheses(self) -> list[Binder]:
        """Return the conditions as hypotheses of a theorem."""
        return [
            Binder(f"condition{n}", self.ordering(one), describe_condition(one))
            for n, one in enumerate(self.conditions, start=1)
        ]

    def ordering(self, condition: Expr) -> str:
        """Return a condition as text."""
        if isinstance(condition, sp.Eq):
            return f"{number(condition.lhs, self.names)} = {number(condition.rhs, self.names)}"
        smaller, larger = (number(side, self.names) for side in (condition.lts, condition.gts))
        return f"{smaller} {'<' if isinstance(condition, sp.Lt | sp.Gt) else '<='} {larger}"

    def prepare_conditions(self) -> list[str]:
        """Return tactics that clear the denominators of each condition."""
        lines = []
        for place, condition in enumerate(self.conditions, start=1):
            if isinstance(condition, sp.Eq):
                lines.append(self._solve_equation(place, condition))
                continue
            numerator, denominator = (number(part, self.names) for part in split_fraction(self._find_gap(condition)))
            gap = number(condition.gts - condition.lts, self.names)
            lines.append(f"assert (clear{place} : 0 <= {numerator}).")
            lines.append(f"{{ replace ({numerator}) with (({gap}) * ({denominator})) by by_field.")
            lines.append("  apply Rmult_le_pos; [lra | nonnegative]. }")
        return lines

    def _find_gap(self, condition: Expr) -> Expr:
        """Return the slack of a condition."""
        return condition.gts - condition.lts

    def _solve_equation(self, place: int, condition: Expr) -> str:
        """Return a tactic that states the value which an equation gives to a symbol, as the hypothesis `value<n>`."""
        symbol, slope, rest = _solve(condition)
        value, factor = number(rest / slope, self.names), number(slope, self.names)
        difference = number(condition.lhs - condition.rhs, self.names)
        numerator, denominator = (number(part, self.names) for part in split_fraction(condition.lhs - condition.rhs))
        product = f"replace (({value}) * ({factor})) with ({number(rest, self.names)}) by by_field"
        return (
            f"assert (value{place} : {self.names[symbol]} = {value}).\n"
            f"{{ assert (clear : {numerator} = 0).\n"
            f"{{ replace ({numerator}) with (({difference}) * ({denominator})) by by_field.\n"
            f"replace ({difference}) with 0 by lra. ring. }}\n"
            f"apply (Rmult_eq_reg_r ({factor})); [{product}; lra | nonzero]. }}"
        )

    def nonnegative(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is not negative."""
        numerator, denominator = self._turn_denominator(*split_fraction(sp.sympify(value)))
        factored = _move_sign(_factorise(numerator))
        text = f"({number(factored, self.names)}) / ({number(denominator, self.names)})"
        return (
            f"match goal with |- 0 <= ?slack => replace slack with ({text}) by by_field end; "
            f"apply quotient_nonneg; [{self._prove_numerator(factored)} | positive]"
        )

    def positive(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is positive, because all of its factors are."""
        numerator, denominator = split_fraction(sp.sympify(value))
        text = f"({number(_move_sign(_factorise(numerator)), self.names)}) / ({number(denominator, self.names)})"
        return f"match goal with |- 0 < ?gap => replace gap with ({text}) by by_field end; positive"

    def _turn_denominator(self, numerator: Expr, denominator: Expr) -> tuple[Expr, Expr]:
        """Return numerator and denominator, both negated if the conditions make the denominator negative."""
        sums = [factor for factor in _list_factors(_factorise(denominator)) if factor.is_Add and not _is_plain(factor)]
        negative = [one for one in sums if self._choose_tactic(one) is None and self._choose_tactic(-one) is not None]
        return (-numerator, _move_sign(_factorise(-denominator))) if len(negative) % 2 else (numerator, denominator)

    def _prove_numerator(self, factored: Expr) -> str:
        """Return a tactic for the goal that a factorised numerator is not negative."""
        return self._choose_tactic(factored) or "nonnegative"

    def _choose_tactic(self, factored: Expr) -> str | None:
        """Return a tactic by lower bounds of symbols, or by conditions on the factors; else None."""
        shown = self._shift(factored)
        if shown is not None:
            return shown
        equations = [(n, one) for n, one in enumerate(self.conditions, start=1) if isinstance(one, sp.Eq)]
        for place, condition in equations:
            shown = self._prove_by_value(factored, place, condition)
            if shown is not None:
                return shown
        for bound in (one for condition in self.conditions for one in _list_bounds(condition)):
            shown = self._prove_by_condition(factored, bound)
            if shown is not None:
                return shown
        return self._prove_by_factors(factored)

    def _prove_by_value(self, factored: Expr, place: int, equation: Expr) -> str | None:
        """Return a tactic that replaces a symbol by its value from an equation; else None."""
        symbol, slope, rest = _solve(equation)
        numerator, denominator = (
            _factorise(part) for part in split_fraction(factored.xreplace({symbol: rest / slope}))
        )
        shown = self._shift(numerator) if symbol in factored.free_symbols else None
        if shown is None:
            return None
        text = f"({number(numerator, self.names)}) / ({number(denominator, self.names)})"
        return (
            f"match goal with |- 0 <= ?number => replace number with ({text}) by (rewrite value{place}; by_field) end; "
            f"apply quotient_nonneg; [{shown} | positive]"
        )

    def _prove_by_factors(self, product: Expr) -> str | None:
        """Return a tactic for a product by conditions on its factors; else None."""
        sums = [factor for factor in _list_factors(product) if factor.is_Add and not _is_plain(factor)]
        for factor in (sign * one for one in sums for sign in (1, -1) if len(sums) > 1):
            first, rest = self._choose_tactic(factor), _factorise(sp.cancel(product / factor))
            second = None if first is None else self._choose_tactic(rest)
            if second is not None:
                text = f"({number(factor, self.names)}) * ({number(rest, self.names)})"
                replaced = f"match goal with |- 0 <= ?number => replace number with ({text}) by by_field end"
                return f"{replaced}; apply Rmult_le_pos; [{first} | {second}]"
        return None

    def _shift(self, polynomial: Expr, names: Mapping[sp.Symbol, str] | None = None) -> str | None:
        """Return a tactic for a polynomial that lower bounds of symbols show to be non-negative; else None."""
        symbols = dict(self.names if names is None else names)
        if _is_plain(polynomial):
            return "nonnegative"
        for symbol, least in self.least:
            if symbol not in polynomial.free_symbols:
                continue
            numerator = sp.Symbol(f"above_{symbol}_{least}", nonnegative=True)
            symbols[numerator] = f"({number(symbol - least, self.names)})"
            polynomial = polynomial.xreplace({symbol: least + numerator})
            if _is_plain(polynomial):
                text = number(quotient(polynomial).expression, symbols)
                replaced = f"replace number with ({text}) by (first [ring | field])"
                return f"match goal with |- 0 <= ?number => {replaced} end; nonnegative"
        return None

    def _prove_by_condition(self, factored: Expr, bound: _Bound) -> str | None:
        """Return a tactic by ``c0 - c1 x >= 0``: then x is c0/(c1 (1 + s)) for some non-negative s; else None."""
        symbol, slope, rest = bound.symbol, bound.slope, bound.rest
        if symbol not in factored.free_symbols & self.names.keys():
            return None
        spare = sp.Symbol("spare", nonnegative=True)
        names = {**self.names, spare: "spare"}
        numerator, divisor = split_fraction(factored.xreplace({symbol: rest / (slope * (1 + spare))}))
        shown = self._shift(numerator, names)
        if shown is None:
            return None
        known, denominator = number(sp.expand(rest - slope * symbol), self.names), number(slope * symbol, self.names)
        text = f"({number(numerator, names)}) / ({number(_factorise(divisor), names)})"
        tactic = (
            f"pose (spare := ({known}) / ({denominator})); "
            "assert (spare_known : 0 <= spare) by (apply quotient_nonneg; [lra | positive]); "
            f"match goal with |- 0 <= ?number => replace number with ({text}) by (unfold spare; by_field) end; "
            f"apply quotient_nonneg; [{shown} | positive]"
        )
        return self._split_zero(factored, symbol, tactic) if self._may_be_zero(symbol) else tactic

    def _may_be_zero(self, symbol: sp.Symbol) -> bool:
        """Return whether a number under the claim's quantifier has zero among its values."""
        return self.names[symbol].startswith("each_") and symbol.is_positive is not True

    def _split_zero(self, factored: Expr, symbol: sp.Symbol, tactic: str) -> str | None:
        """Return a tactic that divides by a symbol if it is positive; None if nothing shows the case of zero."""
        rest = sp.expand(factored.xreplace({symbol: sp.S.Zero}))
        shown = self._shift(rest)
        if shown is None:
            return None
        replaced = f"replace number with ({number(rest, self.names)}) by (rewrite <- at_zero; by_field)"
        return (
            f"destruct (Rtotal_order 0 ({self.names[symbol]})) as [above_zero | [at_zero | below_zero]]; "
            f"[{tactic} | match goal with |- 0 <= ?number => {replaced} end; {shown} | exfalso; lra]"
        )


@cache
def _list_bounds(condition: Expr) -> list[_Bound]:
    """Return the bounds of a condition on each symbol in which it is linear; claims share conditions."""
    if isinstance(condition, sp.Eq):
        return []
    numerator, _ = split_fraction(condition.gts - condition.lts)
    found = []
    for symbol in sorted(numerator.free_symbols, key=str):
        with suppress(Rejected):
            slopes, rest = linear(numerator, [symbol])
            if _is_plain(-slopes[symbol]) and _is_plain(rest):
                found.append(_Bound(symbol, -slopes[symbol], rest))
    return found


@cache
def _solve(equation: Expr) -> tuple[sp.Symbol, Expr, Expr]:
    """Return a symbol that an equation determines, its coefficient, and the rest, both without negative coefficients.

    Raises `NotExported` if there is none, and if there are square roots.
    """
    if any(power.exp.is_Rational and power.exp.q == 2 for power in equation.atoms(sp.Pow)):
        raise NotExported(f"the condition {equation} has a square root: equations with roots are not exported")
    numerator, _ = split_fraction(equation.lhs - equation.rhs)
    for symbol in (*sorted(equation.lhs.free_symbols, key=str), *sorted(equation.rhs.free_symbols, key=str)):
        with suppress(Rejected):
            slopes, rest = linear(numerator, [symbol])
            for sign in (1, -1):
                if slopes[symbol] != 0 and _is_plain(sign * slopes[symbol]) and _is_plain(-sign * rest):
                    return symbol, sign * slopes[symbol], -sign * rest
    raise NotExported(f"the condition {equation} determines no symbol, and is not exported")


def _is_plain(value: Expr) -> bool:
    """Return whether no coefficient is negative."""
    known = quotient(value)
    return all(coefficient >= 0 for part in (known.numerator, known.denominator) for coefficient in part.coeffs())


def _move_sign(product: Expr) -> Expr:
    """Return a product with a non-negative number, moving its sign into one of its sums if possible."""
    sums = [factor for factor in sp.Mul.make_args(product) if factor.is_Add and not _is_plain(factor)]
    if not product.as_coeff_Mul()[0].is_negative or not product.is_Mul or not sums:
        return product
    rest = sp.Mul(*(factor for factor in sp.Mul.make_args(product) if factor != sums[0]))
    return sp.Mul(-rest, -sums[0], evaluate=False)


@cache
def _factorise(polynomial: Expr) -> Expr:
    """Factor a polynomial; cached, because claims share numbers."""
    known = quotient(polynomial)
    if _has_powers(known):
        return sp.factor(polynomial)
    rational, factors = known.numerator.factor()
    front, product = sp.Rational(int(rational.p), int(rational.q)), []
    for factor, power in factors:
        written, sign = _sign(known.written(factor))
        front *= sign**power
        product.append(written**power)
    if len(product) == 1 and product[0].is_Add and abs(front) != 1:
        # SymPy would expand the sum, as it does for a factor -1.
        return sp.Mul(front, product[0], evaluate=False)
    return sp.Mul(front, *product)


@cache
def split_fraction(value: Expr) -> tuple[Expr, Expr]:
    """Return numerator and denominator with integer coefficients; the denominator is assumed to be positive."""
    known = quotient(value)
    numerator, denominator = sp.fraction(
        sp.cancel(sp.together(value)) if _has_powers(known) else _clear_denominators(known)
    )
    denominator, sign = _sign(denominator)
    return sign * numerator, denominator


def _clear_denominators(number: Quotient) -> Expr:
    """Return a number as a quotient of polynomials with integer coefficients without common divisor."""
    coefficients = [*number.numerator.coeffs(), *number.denominator.coeffs()]
    scale = lcm(*(int(one.q) for one in coefficients)) / fmpq(gcd(*(int(one.p) for one in coefficients)))
    return number.written(number.numerator * scale) / number.written(number.denominator * scale)


def _has_powers(number: Quotient) -> bool:
    """Return whether symbols are under roots or in exponents, for which SymPy has another lowest form."""
    return any(symbol.is_Pow for symbol in number.symbols)


def _sign(polynomial: Expr) -> tuple[Expr, int]:
    """Return a polynomial with positive leading coefficient, and its sign."""
    is_positive = _is_plain(polynomial) or sp.Poly(polynomial).LC() > 0
    return (polynomial, 1) if is_positive else (-polynomial, -1)
