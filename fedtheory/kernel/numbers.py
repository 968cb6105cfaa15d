"""The numbers of a proof: which letters are numbers, and where they lie."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import sympy as sp

from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Expr,
    Inner,
    LocalSum,
    PastSum,
    Selected,
    Value,
)

_OF_VECTORS = (ClientSum, Expectation, Inner, LocalSum, PastSum, Selected, Value)


class Rejected(Exception):
    """An expression outside the kernel's language, or a reason outside the theory."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers of a proof; their signs are what SymPy is told of them."""

    letters: frozenset[sp.Symbol] = frozenset()
    """Numbers that all clients share."""
    of_clients: frozenset[sp.Symbol] = frozenset()
    """Numbers that each client has one of."""
    at_least: Mapping[sp.Symbol, int] = field(default_factory=dict)
    """Of all these, the ones with a lower bound: there is at least one client."""
    may_vanish: frozenset[sp.Symbol] = frozenset()
    """Of all these, the ones that may be zero, whatever SymPy is told: they cannot be divided by."""
    divisors: frozenset[sp.Symbol] = frozenset()
    """Of all these, the ones that are not zero, by an assumption or because the statement divides by them."""
    whole: frozenset[sp.Symbol] = frozenset()
    """Of all these, the ones that are whole and not negative: they may be exponents."""
    nonzero: frozenset[Expr] = frozenset()
    """Factors that the statement divides by: where one of them is zero, nothing is said."""
    definitions: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Numbers that stand for an expression in others: for a mean over clients."""
    roots: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Of the letters, the ones that are square roots, and what of."""

    @property
    def key(self) -> Hashable:
        """Everything that is known of the numbers: the same for the same numbers only."""
        letters = (self.letters, self.of_clients, self.may_vanish, self.divisors, self.whole, self.nonzero)
        mappings = (known.items() for known in (self.at_least, self.definitions, self.roots))
        return tuple(map(frozenset, (*letters, *mappings)))

    def plain(self, number: Expr) -> Expr:
        """A number that all clients share, so that it may leave a mean over them; means over clients are such."""
        number = self.known(number)
        own = _outside_means(number) & self.of_clients
        if own:
            raise Rejected(f"{_listed(own)} differs from client to client")
        return number

    def known(self, number: Expr) -> Expr:
        """A number, shared or of a client; means of it over clients are written as sums of means of products."""
        number = self.written_out(number)
        unknown = number.free_symbols - self.letters - self.of_clients
        if unknown:
            raise Rejected(f"{_listed(unknown)} is not a number of the theory")
        if number.atoms(*_OF_VECTORS):
            raise Rejected(f"{number} is not a number, but a sum or a mean of what may be random")
        for part in sp.preorder_traversal(number):
            _require_rational(part)
        self.require_whole_exponents(number)
        return self.with_plain_means(number)

    def require_whole_exponents(self, expression: Expr) -> None:
        """Raise `Rejected` where a letter in an exponent may be negative, or no whole number."""
        for power in expression.atoms(sp.Pow):
            letters = power.exp.free_symbols - self.whole
            if letters:
                raise Rejected(f"{_listed(letters)} stands in an exponent, and need not be a whole number from zero on")

    def with_plain_means(self, number: Expr) -> Expr:
        """A number with its means over clients as sums of means of products."""
        return number.replace(lambda part: isinstance(part, Average), self._expanded) if number.has(Average) else number

    def vanishes(self, number: Expr) -> bool:
        """Whether a rational function of letters is zero because of what some of them are the square roots of."""
        return any(_vanishes(number, root, of) for root, of in self.roots.items() if number.has(root))

    def _expanded(self, mean: Expr) -> Expr:
        if mean.free_symbols - self.letters - self.of_clients:
            # What else there is may differ from client to client.
            return mean
        return sp.Add(*(shared * (Average(own) if own != 1 else own) for shared, own in self.parts(mean.args[0])))

    def written_out(self, expression: Expr) -> Expr:
        """An expression with numbers that stand for others replaced by these."""
        return sp.sympify(expression).xreplace(dict(self.definitions))

    def differs(self, number: Expr) -> bool:
        """Whether a number differs from client to client."""
        return bool(_outside_means(number) & self.of_clients)

    def parts(self, number: Expr) -> Iterator[tuple[Expr, Expr]]:
        """The additive parts of a number, each as a shared factor and one of the client's own."""
        if not self.differs(number):
            yield number, sp.S.One
            return
        above, below = sp.fraction(sp.together(number))
        shared_below, own_below = self._split(sp.factor(below))
        for part in sp.Add.make_args(sp.expand(above)):
            shared, own = self._split(part)
            yield shared / shared_below, own / own_below

    def _split(self, product: Expr) -> tuple[Expr, Expr]:
        factors = sp.Mul.make_args(product)
        own = [factor for factor in factors if self.differs(factor)]
        return sp.Mul(*(factor for factor in factors if factor not in own)), sp.Mul(*own)


@lru_cache(maxsize=2**10)
def _vanishes(number: Expr, root: sp.Symbol, of: Expr) -> bool:
    """Whether the numerator is zero, and the denominator not, because of what a letter is the square root of."""
    if _is_large_somewhere(number, root, of):
        return False
    above, below = sp.fraction(sp.together(number))
    return _reduces_to_zero(above, root, of) and not _reduces_to_zero(below, root, of)


def _reduces_to_zero(polynomial: Expr, root: sp.Symbol, of: Expr) -> bool:
    """Whether a polynomial is zero once even powers of a root are powers of what it is the root of."""
    above, below = sp.fraction(sp.together(of))
    means = {mean: sp.Dummy("mean") for mean in (polynomial + of).atoms(Average)}
    _, (whole, above, below, letter) = sp.sring([part.xreplace(means) for part in (polynomial, above, below, root)])
    place = letter.leading_expv().index(1)
    half = max((powers[place] for powers in whole), default=0) // 2
    sums = [whole.ring.zero, whole.ring.zero]
    for powers, coefficient in whole.terms():
        pairs, odd = divmod(powers[place], 2)
        rest = whole.ring({(*powers[:place], 0, *powers[place + 1 :]): coefficient})
        sums[odd] += rest * above**pairs * below ** (half - pairs)
    return not any(sums)


def _is_large_somewhere(number: Expr, root: sp.Symbol, of: Expr) -> bool:
    """Whether a number is clearly not zero where its letters are different primes: it saves the attempt to cancel."""
    means = {mean: sp.Dummy("mean") for mean in sorted((number + of).atoms(Average), key=sp.default_sort_key)}
    number, of = number.xreplace(means), of.xreplace(means)
    letters = sorted((number.free_symbols | of.free_symbols) - {root}, key=sp.default_sort_key)
    point = {letter: sp.Integer(sp.prime(place + 3)) for place, letter in enumerate(letters)}
    value = number.xreplace({**point, root: sp.sqrt(of.xreplace(point))}).evalf(30)
    return bool(value.is_number and value.is_finite and abs(value) > _LARGE)


_LARGE = sp.Rational(1, 10**12)


def _require_rational(part: Expr) -> None:
    """Raise `Rejected` for a part of a number that is no letter, rational, sum, product, power, root or mean."""
    if not (isinstance(part, sp.Rational) or type(part) in (sp.Symbol, sp.Dummy, sp.Add, sp.Mul, sp.Pow, Average)):
        raise Rejected(f"{part} is no exact number, or not finite")
    if isinstance(part, sp.Pow) and not part.exp.is_integer and part.exp.is_Rational and not _has_root(part.base):
        raise Rejected(f"{part} is a root of what may be negative")


def _has_root(base: Expr) -> bool:
    return bool((base.is_Symbol or base.is_Rational) and base.is_nonnegative)


def _outside_means(number: Expr) -> set[sp.Symbol]:
    if isinstance(number, Average):
        return set()
    if number.is_Symbol:
        return {number}
    return set().union(*(_outside_means(argument) for argument in number.args))


def _listed(letters: set[sp.Symbol]) -> str:
    return ", ".join(sorted(map(str, letters)))
