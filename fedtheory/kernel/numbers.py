"""The numbers of a proof: which symbols are numbers, and where they lie."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

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
    """The numbers of a proof; SymPy knows their signs."""

    symbols: frozenset[sp.Symbol] = frozenset()
    """Numbers that all clients share."""
    of_clients: frozenset[sp.Symbol] = frozenset()
    """Numbers that each client has one of."""
    at_least: Mapping[sp.Symbol, int] = field(default_factory=dict)
    """Lower bounds of the numbers that have one: there is at least one client."""
    maybe_zero: frozenset[sp.Symbol] = frozenset()
    """Numbers that may be zero, although their symbols are positive for SymPy: they cannot be divided by."""
    divisors: frozenset[sp.Symbol] = frozenset()
    """Numbers that are not zero, by an assumption or because the statement divides by them."""
    integer: frozenset[sp.Symbol] = frozenset()
    """Numbers that are non-negative integers: they may be exponents."""
    nonzero: frozenset[Expr] = frozenset()
    """Factors that the statement divides by: where one of them is zero, nothing is said."""
    definitions: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Numbers that stand for an expression in others: for a mean over clients."""
    roots: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Symbols that are square roots, with their radicands."""

    @property
    def key(self) -> Hashable:
        """Everything that is known of the numbers: the same for the same numbers only."""
        symbols = (self.symbols, self.of_clients, self.maybe_zero, self.divisors, self.integer, self.nonzero)
        mappings = (known.items() for known in (self.at_least, self.definitions, self.roots))
        return tuple(map(frozenset, (*symbols, *mappings)))

    def plain(self, number: Expr) -> Expr:
        """Return a number that all clients share, so that it may leave a mean over them.

        Means over clients are such.
        """
        number = self.known(number)
        own = _symbols_outside_means(number) & self.of_clients
        if own:
            raise Rejected(f"{_list_symbols(own)} differs from client to client")
        return number

    def known(self, number: Expr) -> Expr:
        """Return a number, shared or of a client; means of it over clients are written as sums of means of products."""
        number = self.replace_names(number)
        unknown = number.free_symbols - self.symbols - self.of_clients
        if unknown:
            raise Rejected(f"{_list_symbols(unknown)} is not a number of the theory")
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
        """Return a number with its means over clients as sums of means of products."""
        return number.replace(lambda part: isinstance(part, Average), self._expand) if number.has(Average) else number

    def _expand(self, mean: Expr) -> Expr:
        if mean.free_symbols - self.symbols - self.of_clients:
            # What else there is may differ from client to client.
            return mean
        parts = self.parts(quotient(mean.args[0]))
        return sp.Add(*(shared.expression * (Average(own) if own != 1 else own) for shared, own in parts))

    def replace_names(self, expression: Expr) -> Expr:
        """Return an expression with numbers that stand for others replaced by these."""
        return sp.sympify(expression).xreplace(dict(self.definitions))

    def differs(self, number: Expr) -> bool:
        """Return whether a number differs from client to client."""
        return bool(_symbols_outside_means(number) & self.of_clients)

    def parts(self, whole: Quotient) -> Iterator[tuple[Quotient, Expr]]:
        """Return the additive parts of a number, each as a shared factor and one of the client's own."""
        return _parts(whole, self.differs)

    def summed(self, number: Expr) -> Expr:
        """Return the sum over clients of what each has one of, as a sum of multiples of sums.

        What is not known may differ.
        """
        parts = _parts(quotient(number), lambda factor: not factor.free_symbols <= self.symbols)
        return sp.Add(*(shared.expression * ClientSum(own) for shared, own in parts))


def _parts(whole: Quotient, differs: Callable[[Expr], bool]) -> Iterator[tuple[Quotient, Expr]]:
    if not differs(whole.expression):
        yield whole, sp.S.One
        return
    shared_denominator, own_denominator = _split(sp.Mul(*whole.factored_denominator()), differs)
    for powers, factor in whole.numerator.terms():
        shared, own = _split(whole.monomial(powers, factor), differs)
        yield quotient(shared / shared_denominator), own / own_denominator


def _split(product: Expr, differs: Callable[[Expr], bool]) -> tuple[Expr, Expr]:
    factors = sp.Mul.make_args(product)
    own = [factor for factor in factors if differs(factor)]
    return sp.Mul(*(factor for factor in factors if factor not in own)), sp.Mul(*own)


def _symbols_outside_means(number: Expr) -> set[sp.Symbol]:
    """Return the symbols that occur outside of means over clients."""
    if isinstance(number, Average):
        return set()
    if number.is_Symbol:
        return {number}
    return set().union(*(_symbols_outside_means(argument) for argument in number.args))


def _list_symbols(symbols: set[sp.Symbol]) -> str:
    """List symbols in order, separated by commas."""
    return ", ".join(sorted(map(str, symbols)))
