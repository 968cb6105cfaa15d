"""Induction over the local steps of a round: the step index, its powers, and the start of the round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Expr, Gradient, LocalSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import bound_step_index, symbols_of

_Name = TypeVar("_Name")
k = sp.Dummy("k", nonnegative=True)
"""Number of local steps so far, 0 .. tau, in certificates of bounds on the drift of a run."""
POWER = sp.Dummy("R^k", positive=True)
"""The k-th power of the base of an induction, in its factor, offset and terms."""


@dataclass(frozen=True)
class StepIndex:
    """The symbol k of an induction, and substitutions for it."""

    claim: Claim
    base: Expr | None = None
    """A number of at least one, whose k-th power occurs in the bound."""

    @property
    def index(self) -> sp.Symbol:
        """k."""
        return symbols_of(self.claim)(q.local_step_index)

    def write_powers(self, expression: Expr) -> Expr:
        """Return an expression with base^(k + m) as base^m times a symbol."""
        base = self.base
        if base is None:
            return expression

        def is_power(part: Expr) -> bool:
            return bool(part.is_Pow and part.exp.has(self.index) and sp.expand(part.base - base) == 0)

        return expression.replace(is_power, lambda part: POWER * base ** (part.exp - self.index))

    def advance(self, expression: Expr) -> Expr:
        """Return an expression with k replaced by k + 1."""
        return self.write_powers(expression.xreplace({self.index: self.index + 1}))

    def evaluate_at_start(self, expression: Expr) -> Expr:
        """Return an expression with k replaced by zero."""
        return expression.xreplace({self.index: sp.S.Zero})


_NEXT = {
    q.local_iterate: q.next_local_iterate,
    q.average_iterate: q.next_average_iterate,
    q.centralised_model: q.next_centralised_model,
}
_CONSTANT = (q.server_model, q.optimum, q.client_optimum)


def require_round(claim: Claim) -> None:
    """Raise `Rejected` if clients may start from other models than the server's."""
    if a.full_participation not in claim.assumptions and a.uniform_sampling not in claim.assumptions:
        raise Rejected("an induction starts where all clients are at the server's model")


def require_constant(expression: Expr, counter: StepIndex, context: Context) -> None:
    """Raise `Rejected` for an expression that depends on the local step other than through its index."""
    symbol = symbols_of(counter.claim)
    same = {symbol(quantity) for quantity in _CONSTANT} | context.objectives | context.client_objectives
    known = same | context.numbers.symbols | context.numbers.of_clients | context.numbers.definitions.keys()
    if expression.free_symbols - known - {counter.index, POWER} or expression.atoms(LocalSum, Selected):
        raise Rejected(f"{expression} is not the same at all steps but for their number")


def advance_distance(claim: Claim, measured: Expr) -> Expr:
    """Return a distance of iterates as it is after the next local step."""
    symbol = symbols_of(claim)
    steps = {symbol(now): symbol(later) for now, later in _NEXT.items()}
    known = steps.keys() | {symbol(quantity) for quantity in _CONSTANT}
    # A sum over all local steps contains later ones.
    if not measured.free_symbols <= known or measured.atoms(Gradient, LocalSum):
        raise Rejected(f"{measured} is not a distance of iterates and of what stays the same in a round")
    return measured.xreplace(steps)


def count_from(counter: StepIndex, context: Context, start: int) -> Context:
    """Return the context with the symbols k, from `start` on, and base^k."""
    numbers = context.numbers
    symbols = numbers.symbols | {counter.index, POWER}
    return replace(
        context,
        numbers=replace(numbers, symbols=symbols, at_least={**numbers.at_least, counter.index: start}),
        assumed={name: counter.write_powers(slack) for name, slack in context.assumed.items()},
    )


def conditions_at_step(counter: StepIndex, start: int) -> tuple[Expr, ...]:
    """Return the facts on k and base^k at an actual step."""
    base = counter.base
    return (*bound_step_index(counter.claim), *(() if base is None else (base**start <= POWER,)))


def restrict_to_start(claim: Claim, context: Context, counter: StepIndex) -> Context:
    """Return the context at the start of a round, where all models are equal, and sums over later steps are unknown."""
    symbol = symbols_of(claim)
    models = {symbol(q.local_iterate), symbol(q.centralised_model)}
    begun = replace(
        context,
        vectors=context.vectors - models,
        client_vectors=context.client_vectors - models,
        step_vectors=context.step_vectors - models,
        random=context.random - models,
        definitions={**_select_step_facts(context.definitions), **dict.fromkeys(models, symbol(q.server_model))},
        # Facts on every step hold at the first one, in its symbols.
        assumed={name: counter.evaluate_at_start(slack) for name, slack in _select_step_facts(context.assumed).items()},
    )
    return count_from(counter, begun, 0)


def _select_step_facts(known: Mapping[_Name, Expr]) -> dict[_Name, Expr]:
    """Select the known facts on single steps."""
    return {name: one for name, one in known.items() if not one.atoms(LocalSum)}
