"""The rounds and local steps of the runs of a claim: starts and ends of rounds, and quantities that they define.

A round starts at the server's model.  If all clients participate it ends at their average,
from which the next one starts; if clients are sampled, the virtual iterate ends there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, has_plain_vectors, parts_of
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.quantities.measuring.symbols import next_run_iterate, run_iterate
from fedtheory.language.quantities.quantity import Over
from fedtheory.language.term_relations import is_defined_by_term
from fedtheory.language.vocabulary import vocabulary
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, SymbolTable, numbers_of, symbols_of
from fedtheory.proofs.proof import check_assumed
from fedtheory.proofs.run_terms import SYNCHRONOUS
from fedtheory.proofs.terms.indexed import (
    OF_CLIENTS,
    ROUND,
    STEP,
    RangeSum,
    average,
    find_indexed,
    server,
    vector_at,
)


@cache
def vocabulary_symbols() -> Mapping[sp.Symbol, Quantity]:
    """Return the symbols of quantities that a claim does not name, with these quantities."""
    table = SymbolTable({})
    every = (entry.quantity for entry in vocabulary() if isinstance(entry.quantity, Quantity))
    return {table(quantity): quantity for quantity in every}


@dataclass(frozen=True)
class Process:
    """The runs of a claim in plain symbols."""

    claim: Claim

    @cached_property
    def symbols(self) -> SymbolTable:
        """The symbols of the claim."""
        return symbols_of(self.claim)

    @cached_property
    def is_full(self) -> bool:
        """Whether rounds end at the average of all clients."""
        return check_assumed(self.claim, ROUNDS, "").holds

    @cached_property
    def is_sampled(self) -> bool:
        """Whether rounds end at the average of sampled participants, all of whom take the same steps."""
        return not self.is_full and check_assumed(self.claim, SAMPLED_ROUNDS, "").holds

    @cached_property
    def has_steps(self) -> bool:
        """Whether all clients start rounds at the server's model, and take equally many local steps."""
        return self.is_full or self.is_sampled

    def require_steps(self) -> None:
        """Raise `Rejected` if rounds may start or end at other points."""
        if not self.has_steps:
            raise Rejected("rounds from the server's model to an average need the same local work of all clients")

    def quantity_of(self, symbol: sp.Symbol) -> Quantity | None:
        """Return the quantity of a symbol; None for one under a quantifier, and for one of a technique."""
        return self.symbols.quantity(symbol) or vocabulary_symbols().get(symbol)

    @cached_property
    def steps(self) -> Expr:
        """The number of local steps of a round."""
        return self.symbols(q.local_steps)

    @cached_property
    def rounds(self) -> Expr:
        """The number of rounds; if a claim only counts local steps, their number divided by those of a round."""
        counts_steps = self.symbols.has(q.iterations) and not self.symbols.has(q.rounds)
        return self.symbols(q.iterations) / self.steps if counts_steps else self.symbols(q.rounds)

    def end_of(self, index: sp.Symbol) -> Expr:
        """Return the number of values of an index."""
        return self.rounds if index == ROUND else self.steps

    # Dependence on an index.

    def depends_on(self, expression: Expr, index: sp.Symbol) -> bool:
        """Return whether an expression depends on an index; a sum over the index does not."""
        expression = expression.replace(
            lambda part: isinstance(part, RangeSum) and part.args[1] == index, lambda _sum: sp.S.Zero
        )
        if expression.has(index) or any(one.depends_on(index) for one in find_indexed(expression).values()):
            return True
        return any(self._varies(symbol, index) for symbol in expression.free_symbols)

    def _varies(self, symbol: sp.Symbol, index: sp.Symbol) -> bool:
        """Return whether the symbol depends on the index."""
        quantity = self.quantity_of(symbol)
        if not isinstance(quantity, RunQuantity):
            return False
        return quantity.per_step or (quantity.per_round and index == ROUND)

    def is_fixed(self, expression: Expr) -> bool:
        """Return whether an expression is the same at all rounds and steps."""
        return not self.depends_on(expression, ROUND) and not self.depends_on(expression, STEP)

    # Values of an index.

    def substitute(self, expression: Expr, index: sp.Symbol, value: Expr) -> Expr:
        """Return an expression at a value of an index.

        Raises `Rejected` if a quantity in it has no symbol at that value.
        """
        if any(self._varies(symbol, index) for symbol in expression.free_symbols):
            raise Rejected(f"{expression} has quantities that are known at the present round or step alone")
        moved = {}
        for symbol, one in find_indexed(expression).items():
            step = None if one.step is None else one.step.xreplace({index: value})
            moved[symbol] = vector_at(one.family, one.round.xreplace({index: value}), step)
        return self.end_rounds(expression.xreplace(moved).xreplace({index: value}))

    def end_rounds(self, expression: Expr) -> Expr:
        """Return an expression with iterates after the last step of a round replaced by the next server model."""
        ends: dict[Expr, Expr] = {}
        for symbol, one in find_indexed(expression).items():
            if one.step is not None and sp.expand(one.step - self.steps) == 0:
                following = server(one.round + 1)
                ends |= {Average(symbol): following} if one.family == "local" and self.is_full else {}
                ends |= {symbol: following} if one.family == "virtual" else {}
        return expression.xreplace(ends)

    # Quantities by their definitions.

    @cached_property
    def _vectors(self) -> Mapping[Quantity, Expr]:
        """Vectors of the present round and step, by their quantities."""
        local, noise, later = vector_at("local"), vector_at("noise"), STEP + 1
        is_average = self.is_full
        return {
            q.server_model: server(),
            q.local_iterate: local,
            q.next_local_iterate: vector_at("local", ROUND, later),
            q.average_iterate: average(),
            q.next_average_iterate: average(ROUND, later),
            run_iterate: average(),
            next_run_iterate: average(ROUND, later),
            q.virtual_iterate: average() if is_average else vector_at("virtual"),
            q.next_virtual_iterate: average(ROUND, later) if is_average else vector_at("virtual", ROUND, later),
            q.centralised_model: vector_at("centralised"),
            q.next_centralised_model: vector_at("centralised", ROUND, later),
            q.gradient_noise: noise,
            q.stochastic_gradient: Gradient(self.symbols(q.client_objective), local) + noise,
        }

    def express_in_symbols(self, quantity: RunQuantity, expression: Expr) -> Expr:
        """Return a part of a quantity's term in the symbols of the present step's vectors."""
        assert quantity.term is not None
        if not has_plain_vectors(expression):
            raise Rejected(f"{quantity.name} has expectations of vectors, or gradients of one draw at several points")
        named = {symbol: self.symbols(SYNCHRONOUS.get(of, of)) for symbol, of in quantity.term.where}
        found: Expr = expression.replace(Expectation, lambda inside: inside).xreplace(named)
        return found

    def write_indexed(self, expression: Expr, index: sp.Symbol) -> Expr:
        """Return an expression about the present step with vectors indexed by their round and step.

        Raises `Rejected` for unknown vectors.
        """
        known = {self.symbols(of): vector for of, vector in self._vectors.items()} | {index: STEP}
        written: Expr = expression.xreplace(known)
        for symbol in written.free_symbols - find_indexed(written).keys() - {STEP}:
            quantity = self.quantity_of(symbol)
            if quantity is None and symbol not in self.claim.for_all:
                raise Rejected(f"{symbol} has no value by round and step")
            if not isinstance(quantity, RunQuantity) and quantity not in (None, *_FIXED):
                raise Rejected(f"{symbol} has no value by round and step")
        return written

    def unfold(self, expression: Expr) -> Expr:
        """Return an expression with quantities replaced by their terms."""
        found: Expr = expression
        for symbol in sorted(expression.free_symbols, key=str):
            quantity = self.quantity_of(symbol)
            if quantity is q.iterations and self.symbols.has(q.rounds) and self.has_steps:
                found = found.xreplace({symbol: self.rounds * self.steps})
            elif isinstance(quantity, RunQuantity):
                measured = self._measure(quantity)
                found = found if measured is None else found.xreplace({symbol: measured})
        return found

    def _measure(self, quantity: RunQuantity) -> Expr | None:
        """Return the expression of a quantity by its term; None if it has none in vectors of full rounds."""
        if not self.has_steps or quantity.term is None or not is_defined_by_term(quantity):
            return None
        if not quantity.term.over or parts_of(quantity.term.expression, sp.Max):
            return None
        written: Expr | None = self._find_in_vectors(quantity, quantity.term.expression)
        for over in quantity.term.over:
            written = None if written is None else self._reduce(written, over)
        if written is None:
            return None
        return sp.sqrt(written) if quantity.root else written

    def _find_in_vectors(self, quantity: RunQuantity, expression: Expr) -> Expr | None:
        """Return a part of a quantity's term, indexed by round and step.

        Returns None if it contains vectors that full rounds do not define.
        """
        assert quantity.term is not None
        if not has_plain_vectors(expression):
            return None
        named = {}
        for symbol, of in quantity.term.where:
            if of not in self._vectors and of not in _FIXED and not self._is_constant(of):
                return None
            named[symbol] = self._vectors[of] if of in self._vectors else self.symbols(of)
        found: Expr = expression.replace(Expectation, lambda inside: inside).xreplace(named)
        return found

    def express_in_vectors(self, quantity: RunQuantity, expression: Expr) -> Expr:
        """Return a part of a quantity's term, indexed by round and step; raise `Rejected` if it has other vectors."""
        found = self._find_in_vectors(quantity, expression) if self.has_steps else None
        if found is None:
            raise Rejected(f"{quantity.name} has vectors that rounds of all clients do not define")
        return found

    def _is_constant(self, quantity: Quantity) -> bool:
        return isinstance(quantity, RunQuantity) and not quantity.per_round and not quantity.per_step

    def _reduce(self, values: Expr, over: Over) -> Expr | None:
        """Return a sum or average over an index, or the first or last of the values."""
        index = {"steps": STEP, "rounds": ROUND}.get(over.index)
        if index is None or over.weights is not None or over.begin > 1:
            # A sum from a later entry on is empty if there are fewer, where its normal form is not.
            return None
        end, total = self.end_of(index), RangeSum(values, index, over.begin, self.end_of(index))
        if over.by == "sum":
            return total
        if over.begin:
            return None
        if over.by == "mean":
            return total / end
        ends = {"first": sp.S.Zero, "last": end - 1}
        return (
            self.substitute(values, index, ends[over.by])
            if over.by in ends and not parts_of(values, RangeSum)
            else None
        )

    # Vectors of a run for the kernel.

    @cached_property
    def _base(self) -> Context:
        """The kernel's context of a local step without its models and without facts on its noise."""
        known = build_context(replace(self.claim, place="step"))
        present = {self.symbols(of) for of in self._vectors}
        numbers = numbers_of(self.claim)
        counts = {ROUND, STEP, *self.rounds.free_symbols, self.steps, self.symbols(q.max_drift)}
        return replace(
            known,
            numbers=replace(numbers, symbols=numbers.symbols | counts),
            vectors=known.vectors - present,
            client_vectors=frozenset(known.client_vectors - present),
            noise=frozenset(),
            common_random_numbers=frozenset(),
            random=frozenset(),
            depends_on_current_noise=frozenset(),
            definitions={
                symbol: of
                for symbol, of in known.definitions.items()
                if symbol not in present and not of.free_symbols & present
            },
            assumed={},
        )

    def context_of(self, *expressions: Expr) -> Context:
        """Return the kernel's context of the vectors in expressions, without further facts on them."""
        vectors = {symbol: one for expression in expressions for symbol, one in find_indexed(expression).items()}
        own = frozenset(symbol for symbol, one in vectors.items() if one.family in OF_CLIENTS)
        return replace(
            self._base,
            vectors=self._base.vectors | (frozenset(vectors) - own),
            client_vectors=self._base.client_vectors | own,
        )


_FIXED: tuple[Quantity, ...] = (q.optimum, q.comparator, q.objective, q.client_objective, q.client_optimum)
"""Points and objectives that are the same at all rounds and steps."""
