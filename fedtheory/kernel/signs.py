"""Signs of coefficients: rational functions of numbers, under conditions on them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

import sympy as sp

from fedtheory.kernel.conditions import ends, is_ordering, slack
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.samples import is_negative_somewhere


def is_nonnegative(coefficient: Expr, numbers: Numbers, conditions: Sequence[Expr] = ()) -> bool:
    """Whether a rational function of numbers is shown to be finite and non-negative under conditions.

    Under ``x <= a`` a positive x is written as a/(1 + s) with s >= 0, under
    ``x >= a`` as a + s, which are the same, and a letter under a square root as
    a square; then all coefficients of numerator and denominator must be
    non-negative, and the denominator must not vanish.  Factors that are squares have no say in it;
    of others it is enough that none is negative.
    Conditions other than <, <=, > and >= say nothing here, nor do those that name
    anything but numbers, of which SymPy may be told any sign.
    """
    number = sp.sympify(coefficient)
    return _is_of_numbers(number, numbers) and _is_nonnegative(number, Known(numbers, numbers.key), tuple(conditions))


_FEW = 6
"""Numbers at random that come before a sign is worked out; what they miss costs time, nothing else."""


@dataclass(frozen=True)
class Known:
    """Numbers that are the same where the same is known of them: what has been asked is not looked for twice."""

    numbers: Numbers = field(compare=False)
    key: Hashable


@lru_cache(maxsize=2**14)
def _is_nonnegative(coefficient: Expr, known: Known, conditions: tuple[Expr, ...]) -> bool:
    numbers = known.numbers
    coefficient, orderings = _without_squares(numbers.written_out(coefficient)), _orderings(conditions, numbers)
    # From what is quick to what is slow.
    if coefficient.is_Mul and all(is_nonnegative(factor, numbers, orderings) for factor in coefficient.args):
        return True
    if _is_plainly_nonnegative(coefficient, numbers):
        return True
    if is_negative_somewhere(coefficient, numbers, orderings):
        return False
    if all(_is_factor(factor, orderings, numbers) for factor in sp.Mul.make_args(coefficient)):
        return True
    if any(_is_multiple(coefficient, condition, numbers) for condition in orderings):
        return True
    found = [known for condition in orderings for known in _parametrised(condition, numbers)]
    return any(_is_plainly_nonnegative(rewritten, numbers) for rewritten in _rewritten(coefficient, found))


def _without_squares(coefficient: Expr) -> Expr:
    """A product without its factors that are even powers of polynomials: none of them is negative."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(coefficient) if not _is_square(factor)))


def _is_square(factor: Expr) -> bool:
    is_even_power = factor.is_Pow and factor.exp.is_Integer and factor.exp.is_positive and factor.exp.is_even
    if not is_even_power or not all(letter.is_real for letter in factor.base.free_symbols):
        return False
    return not factor.base.atoms(Average) and _coefficients(factor.base) is not None


def is_positive(number: Expr, numbers: Numbers, conditions: Sequence[Expr] = ()) -> bool:
    """Whether a rational function of numbers is shown to be finite and positive under conditions."""
    if not _is_of_numbers(number, numbers):
        return False
    found = [known for condition in _orderings(conditions, numbers) for known in _parametrised(condition, numbers)]
    return any(_is_plainly_positive(rewritten, numbers) for rewritten in _rewritten(numbers.written_out(number), found))


def _orderings(conditions: Sequence[Expr], numbers: Numbers) -> list[Expr]:
    found = [condition for condition in map(numbers.written_out, conditions) if is_ordering(condition)]
    return [condition for condition in found if _is_of_numbers(condition, numbers)]


def _is_of_numbers(expression: Expr, numbers: Numbers) -> bool:
    return bool(expression.free_symbols <= numbers.letters | numbers.of_clients | numbers.definitions.keys())


def _is_plainly_positive(number: Expr, numbers: Numbers) -> bool:
    """Whether no coefficient is negative, and one of letters that are positive is not zero."""
    if not _is_plainly_nonnegative(number, numbers) or number.atoms(Average):
        return False
    bounds = {s: bound + sp.Dummy("more", nonnegative=True) for s, bound in numbers.at_least.items()}
    above, below = (_coefficients(part) or {} for part in _fraction(number.xreplace(bounds)))
    if any(c < 0 for c in below.values()):
        above = {monomial: -c for monomial, c in above.items()}
    return any(c > 0 and all(_is_positive(s, numbers) for s in monomial.free_symbols) for monomial, c in above.items())


def _is_multiple(coefficient: Expr, condition: Expr, numbers: Numbers) -> bool:
    """Whether a coefficient is a multiple, not negative, of how far a condition is from failing.

    Under a strict condition it may be a multiple of the reciprocal.
    """
    gap = slack(condition)
    if gap == 0:
        return False
    is_strict = isinstance(condition, sp.Lt | sp.Gt)
    factors = (sp.cancel(coefficient / gap), *((sp.cancel(coefficient * gap),) if is_strict else ()))
    return any(_is_plainly_nonnegative(factor, numbers) for factor in factors)


def _is_factor(factor: Expr, conditions: Sequence[Expr], numbers: Numbers) -> bool:
    """Whether a factor is not negative, and positive in a denominator: by itself, or as a slack has no more."""
    base, exponent = factor.as_base_exp()
    below = exponent.is_Integer and exponent.is_negative
    number, has_sign = (base, _is_plainly_positive) if below else (factor, _is_plainly_nonnegative)
    return any(has_sign(number - least, numbers) for least in (sp.S.Zero, *map(slack, conditions)))


def _rewritten(coefficient: Expr, known: Sequence[dict[Expr, Expr]]) -> Iterator[Expr]:
    """The coefficient with conditions built in, one after the other, in any order; each covers the whole domain."""
    found, todo = {coefficient}, [(coefficient, frozenset(range(len(known))))]
    while todo:
        expression, unused = todo.pop(0)
        yield expression
        for number in sorted(unused):
            if expression.free_symbols & known[number].keys():
                rewritten = expression.xreplace(known[number])
                if rewritten not in found:
                    found.add(rewritten)
                    todo.append((rewritten, unused - {number}))


def _parametrised(condition: Expr, numbers: Numbers) -> Iterator[dict[Expr, Expr]]:
    smaller, larger = ends(condition)
    if larger.is_Symbol and larger not in smaller.free_symbols:
        yield {larger: smaller + sp.Dummy("s", nonnegative=True)}
    if smaller.is_Symbol and _is_positive(smaller, numbers) and smaller not in larger.free_symbols:
        yield {smaller: larger / (1 + sp.Dummy("s", nonnegative=True))}


def _is_plainly_nonnegative(coefficient: Expr, numbers: Numbers) -> bool:
    # A few numbers cost less than to bring over one denominator what is negative.
    if is_negative_somewhere(coefficient, numbers, trials=_FEW):
        return False
    for mean in sorted(coefficient.atoms(Average), key=sp.default_sort_key):
        if not _is_plainly_nonnegative(mean.args[0], numbers):
            return False
        coefficient = coefficient.xreplace({mean: sp.Dummy("mean", nonnegative=True)})
    coefficient = _with_squares(coefficient)
    if not all(symbol.is_nonnegative for symbol in coefficient.free_symbols):
        return False
    bounds = {s: bound + sp.Dummy("more", nonnegative=True) for s, bound in numbers.at_least.items()}
    coefficient = _with_powers_from_one(coefficient, numbers)
    for letter in _under_square_roots(coefficient):
        # A root is zero only where its square is.
        positive = numbers.at_least.get(letter, 0) > 0 or _is_positive(letter, numbers)
        root = sp.Dummy("root", positive=True) if positive else sp.Dummy("root", nonnegative=True)
        coefficient = coefficient.xreplace({letter: root**2})
    numerator, denominator = _fraction(coefficient.xreplace(bounds))
    parts = [_coefficients(part) for part in (numerator, denominator)]
    if None in parts:
        return False
    above, below = (part or {} for part in parts)
    if below and all(c < 0 for c in below.values()):
        above, below = ({m: -c for m, c in part.items()} for part in (above, below))
    positive = any(all(_is_positive(s, numbers) for s in monomial.free_symbols) for monomial in below)
    return positive and all(c >= 0 for c in (*above.values(), *below.values()))


def _with_squares(coefficient: Expr) -> Expr:
    """A coefficient with the even powers of letters of either sign as powers of others that are not negative."""
    signless = (letter for letter in coefficient.free_symbols if letter.is_real and not letter.is_nonnegative)
    squares = {letter: sp.Dummy("square", nonnegative=True) for letter in sorted(signless, key=sp.default_sort_key)}
    even = [p for p in coefficient.atoms(sp.Pow) if p.base in squares and p.exp.is_Integer and p.exp.is_even]
    return coefficient.xreplace({power: squares[power.base] ** (power.exp / 2) for power in even})


def _with_powers_from_one(coefficient: Expr, numbers: Numbers) -> Expr:
    """Powers of 1 + a with a >= 0: at least one, and at least 1 + a n for n from one on or whole (Bernoulli)."""
    for power in sorted(coefficient.atoms(sp.Pow), key=sp.default_sort_key):
        known, letter = power.exp.as_coeff_Add()
        is_letter = letter.is_Symbol and letter.is_nonnegative and known.is_Integer
        if is_letter and _is_plainly_nonnegative(power.base - 1, numbers):
            has_steps = letter.is_integer or numbers.at_least.get(letter, 0) >= 1
            least = 1 + letter * (power.base - 1) if has_steps else sp.S.One
            coefficient = coefficient.xreplace({power: power.base**known * (least + _excess(power.base, letter))})
    return coefficient


@cache
def _excess(base: Expr, exponent: sp.Symbol) -> sp.Dummy:
    return sp.Dummy(f"{base}^{exponent}", nonnegative=True)


def _under_square_roots(expression: Expr) -> list[sp.Symbol]:
    powers = expression.atoms(sp.Pow)
    found = {p.base for p in powers if p.base.is_Symbol and p.exp.is_Rational and p.exp.q == 2}
    return sorted(found, key=sp.default_sort_key)


def _is_positive(symbol: sp.Symbol, numbers: Numbers) -> bool:
    if symbol in numbers.divisors:
        return bool(symbol.is_nonnegative)
    return bool(symbol.is_positive) and symbol not in numbers.may_vanish


def _fraction(expression: Expr) -> tuple[Expr, Expr]:
    try:
        numerator, denominator = sp.fraction(sp.cancel(expression))
    except sp.PolynomialError:
        return sp.nan, sp.nan
    return numerator, denominator


def _coefficients(part: Expr) -> dict[Expr, sp.Rational] | None:
    """The rational coefficients of a polynomial by their monomials; None for anything else."""
    symbols = sorted(part.free_symbols, key=sp.default_sort_key)
    if not symbols:
        return {sp.S.One: part} if part.is_Rational else None
    if not part.is_polynomial(*symbols):
        return None
    polynomial = sp.Poly(part, *symbols)
    if not all(c.is_Rational for c in polynomial.coeffs()):
        return None
    return {sp.Poly({powers: 1}, *symbols).as_expr(): c for powers, c in polynomial.terms()}
