"""Rules: the largest value over clients, steps and rounds is bounded by bounds on each, and bounds each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected, difference, remainder, scalar
from fedtheory.kernel.expressions import Expectation, Expr, has_plain_vectors, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.term_relations import is_defined_by_term
from fedtheory.proofs.decoding import MEASURES
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import STEP, average, vector_at
from fedtheory.proofs.terms.places import enter_models
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.term import Formula, ProofTerm


@dataclass(frozen=True)
class BoundMaximum(ProofTerm):
    """A common bound on every value bounds the largest one."""

    rule: ClassVar[str] = "bound the maximum"
    maximum: Formula
    """The symbol of the quantity."""
    bound: Formula
    """The bound, a number that is the same for all clients, steps and rounds."""
    body: ProofTerm
    """The proof of the bound for each client after any number of steps."""

    def check(self, context: TermContext) -> Proved:
        """Check that the body bounds each of the values by the number."""
        process = context.process
        inside = enter_models(context, "loop" if _is_of_loop(process, self.maximum) else "models")
        number = context.numbers.plain(context.require_number(self.bound))
        if not process.is_fixed(number) or number.has(inside.index):
            raise Rejected(f"{number} is not the same for all rounds and steps")
        proved = self.body.check(inside).expression
        each = process.write_indexed(number - proved, inside.index)
        for value in list_values_of_maximum(process, self.maximum):
            if not any(_is_same(process, value, one) for one in (each, process.substitute(each, STEP, STEP + 1))):
                raise Rejected(f"the bound is on another value than those of which {self.maximum} is the largest")
        return Proved(number - self.maximum)


@dataclass(frozen=True)
class BelowMaximum(ProofTerm):
    """A value at a local step is at most the largest one."""

    rule: ClassVar[str] = "below the maximum"
    maximum: Formula
    """The symbol of the quantity."""

    def check(self, context: TermContext) -> Proved:
        """Return the maximum minus the value at the present step, in vectors of the step."""
        if context.place not in ("step", "models") or context.reading != "expectation":
            raise Rejected("a maximum over the steps of a run bounds values in expectation at one of them")
        value = _find_value(context.process, self.maximum)
        if context.place == "models":
            _require_last_value(context.process, self.maximum)
        return Proved(self.maximum - value)


def _find_term(process: Process, maximum: Expr) -> tuple[RunQuantity, list[Expr]]:
    """Return the quantity of a maximum over clients, steps and rounds, and its values at a step."""
    quantity = process.quantity_of(maximum) if maximum.is_Symbol else None
    term = quantity.term if isinstance(quantity, RunQuantity) else None
    if term is None or not isinstance(quantity, RunQuantity) or not is_defined_by_term(quantity):
        raise Rejected(f"{maximum} is no quantity that its term defines")
    indices = [(over.index, over.by, over.begin, over.weights) for over in term.over]
    if not has_plain_vectors(term.expression):
        raise Rejected(f"{maximum} has expectations of vectors, or gradients of one draw at several points")
    if indices != [(index, "largest", 0, None) for index in ("clients", "steps", "rounds")] or quantity.root:
        raise Rejected(f"{maximum} is no maximum over clients, steps and rounds")
    process.require_steps()
    values = term.expression.args if isinstance(term.expression, sp.Max) else (term.expression,)
    return quantity, [value.replace(Expectation, lambda inside: inside) for value in values]


def _is_of_loop(process: Process, maximum: Expr) -> bool:
    """Return whether a quantity is the largest drift of the loop with restarts."""
    largest = [measure.largest for measure in MEASURES.values() if measure.places == ("loop",)]
    return process.quantity_of(maximum) in largest


def list_values_of_maximum(process: Process, maximum: Expr) -> list[Expr]:
    """Return the values of which a quantity is the largest, indexed by round and step."""
    if _is_of_loop(process, maximum):
        return [norm_sq(vector_at("local") - average())]
    quantity, values = _find_term(process, maximum)
    return [process.express_in_vectors(quantity, value) for value in values]


def _find_value(process: Process, maximum: Expr) -> Expr:
    """Return the value before a step, in symbols of its vectors."""
    quantity, values = _find_term(process, maximum)
    written = [process.express_in_symbols(quantity, value) for value in values]
    later = {process.symbols(of) for of in (q.next_local_iterate, q.next_average_iterate)}
    before = [value for value in written if not value.free_symbols & later]
    if len(before) != 1:
        raise Rejected(f"{maximum} has no single value before a step")
    return before[0]


def _require_last_value(process: Process, maximum: Expr) -> None:
    """Raise `Rejected` unless the values of a maximum before the steps are among its values after them."""
    values = list_values_of_maximum(process, maximum)
    before = [process.substitute(value, STEP, STEP + 1) for value in values]
    if not any(_is_same(process, value, one) for value in values for one in before):
        raise Rejected(f"{maximum} does not bound the value after the last step")


def _is_same(process: Process, one: Expr, other: Expr) -> bool:
    context = process.context_of(one, other)
    return not remainder(difference(scalar(one, context), scalar(other, context)), context.numbers)
