"""The numbers of a proof: their symbols, and the signs and bounds that are known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

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
    parts_of,
)
from fedtheory.kernel.quotients import Quotient, Rejected, quotient

_OF_VECTORS = (ClientSum, Expectation, Inner, LocalSum, PastSum, Selected, Value)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The numbers of a proof; their symbols carry SymPy's sign assumptions."""

    symbols: frozenset[sp.Symbol] = frozenset()
    """Numbers that do not depend on the client."""
    of_clients: frozenset[sp.Symbol] = frozenset()
    """Numbers of which each client has its own."""
    at_least: Mapping[sp.Symbol, int] = field(default_factory=dict)
    """Lower bounds of numbers, such as 1 for the number of clients."""
    maybe_zero: frozenset[sp.Symbol] = frozenset()
    """Numbers that may be zero, although their symbols are positive for SymPy: they are not allowed as divisors."""
    divisors: frozenset[sp.Symbol] = frozenset()
    """Numbers that are non-zero, by an assumption or because the statement divides by them."""
    integer: frozenset[sp.Symbol] = frozenset()
    """Numbers that are non-negative integers: they may be exponents."""
    nonzero: frozenset[Expr] = frozenset()
    """Denominators of the statement, which says nothing where one of them is zero."""
    definitions: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Numbers that stand for another expression, such as an average over clients, or 1/L for a step size."""
    roots: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Symbols that are square roots, with their radicands."""

    @cached_property
    def key(self) -> Hashable:
        """All known properties of the numbers, as a key for caches."""
        symbols = (self.symbols, self.of_clients, self.maybe_zero, self.divisors, self.integer, self.nonzero)
        mappings = (known.items() for known in (self.at_least, self.definitions, self.roots))
        return tuple(map(frozenset, (*symbols, *mappings)))

    def plain(self, number: Expr) -> Expr:
        """Return a number that does not depend on the client, so that it may move out of an average.

        Averages over clients are such numbers.
        """
        number = self.known(number)
        own = _find_outside_means(number) & self.of_clients
        if own:
            raise Rejected(f"{_list_symbols(own)} differs from client to client")
        return number

    def known(self, number: Expr) -> Expr:
        """Return a number, shared or per client; averages of it over clients are expanded into averages of products."""
        number = self.replace_names(number)
        unknown = number.free_symbols - self.symbols - self.of_clients
        if unknown:
            raise Rejected(f"{_list_symbols(unknown)} is not a number that the claim defines")
        if parts_of(number, *_OF_VECTORS):
            raise Rejected(f"{number} is not a number, but a sum or an average of possibly random values")
        for part in (number, *(mean.args[0] for mean in parts_of(number, Average))):
            quotient(part)
        self.require_integer_exponents(number)
        return self.with_plain_means(number)

    def require_integer_exponents(self, expression: Expr) -> None:
        """Raise `Rejected` if a symbol in an exponent may be negative, or no whole number."""
        for power in parts_of(expression, sp.Pow):
            symbols = power.exp.free_symbols - self.integer
            if symbols:
                raise Rejected(f"{_list_symbols(symbols)} is in an exponent, and need not be a nonnegative integer")

    def with_plain_means(self, number: Expr) -> Expr:
        """Return a number with its averages over clients expanded into averages of products."""
        return number.replace(lambda part: isinstance(part, Average), self._expand) if number.has(Average) else number

    def _expand(self, mean: Expr) -> Expr:
        if mean.free_symbols - self.symbols - self.of_clients:
            # The other factors may depend on the client.
            return mean
        parts = self.parts(quotient(mean.args[0]))
        return sp.Add(*(shared.expression * (Average(own) if own != 1 else own) for shared, own in parts))

    def replace_names(self, expression: Expr) -> Expr:
        """Return an expression with numbers that stand for other expressions replaced by these."""
        return sp.sympify(expression).xreplace(dict(self.definitions))

    def differs(self, number: Expr) -> bool:
        """Return whether a number depends on the client."""
        return bool(_find_outside_means(number) & self.of_clients)

    def parts(self, whole: Quotient) -> Iterator[tuple[Quotient, Expr]]:
        """Yield the additive parts of a number, each as a shared factor and a factor of the client."""
        return _split_parts(whole, self.differs)

    def sum_over_clients(self, number: Expr) -> Expr:
        """Return the sum over clients of a number per client, as a combination of sums.

        Unknown symbols may depend on the client.
        """
        parts = _split_parts(quotient(number), lambda factor: not factor.free_symbols <= self.symbols)
        return sp.Add(*(shared.expression * ClientSum(own) for shared, own in parts))


def _split_parts(whole: Quotient, differs: Callable[[Expr], bool]) -> Iterator[tuple[Quotient, Expr]]:
    """Yield pairs (shared, own) whose products sum to the whole: own differs between clients."""
    if not differs(whole.expression):
        yield whole, sp.S.One
        return
    shared_denominator, own_denominator = _split(sp.Mul(*whole.factored_denominator()), differs)
    for powers, factor in whole.numerator.terms():
        shared, own = _split(whole.monomial(powers, factor), differs)
        yield quotient(shared / shared_denominator), own / own_denominator


def _split(product: Expr, differs: Callable[[Expr], bool]) -> tuple[Expr, Expr]:
    """Split the factors of a product into those shared by all clients and those of one client."""
    factors = sp.Mul.make_args(product)
    own = [factor for factor in factors if differs(factor)]
    return sp.Mul(*(factor for factor in factors if factor not in own)), sp.Mul(*own)


def _find_outside_means(number: Expr) -> set[sp.Symbol]:
    """Return the symbols that occur outside of averages over clients."""
    if isinstance(number, Average):
        return set()
    if number.is_Symbol:
        return {number}
    return set().union(*(_find_outside_means(argument) for argument in number.args))


def _list_symbols(symbols: set[sp.Symbol]) -> str:
    """List symbols in order, separated by commas."""
    return ", ".join(sorted(map(str, symbols)))
