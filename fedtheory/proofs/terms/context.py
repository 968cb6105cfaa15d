"""The context of a proof term: the range of its indices, the known hypotheses, and the interpretation of scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import sympy as sp

from fedtheory.kernel import (
    Context,
    Numbers,
    Rejected,
    Step,
    add_forms,
    check_zero,
    check_zero_form,
    is_nonnegative,
    scalar,
    scale_form,
)
from fedtheory.kernel.admitted import require_admitted, require_finite
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.notation import shorten
from fedtheory.kernel.quotients import quotient
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import SymbolTable, symbols_of
from fedtheory.proofs.proof import Prover, check_assumed, check_defined
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.run_form import RunForm

Place = Literal["run", "round", "step", "path", "points", "past", "models", "loop", "induction", "start", "updates"]
"""Place of a context: those of claims; sums over the past; models after any number of steps of a round, or of the loop
with restarts; a step of an induction; its start, where all clients are at the server's
model; and the vectors of updates."""
Reading = Literal["expectation", "outcome", "path"]
"""Whether scalars are expectations, values for every outcome, or values on the only path."""


class Checked(Protocol):
    """An object that infers a conclusion in a context, as proof terms do."""

    def check(self, context: TermContext) -> Proved:
        """Infer the conclusion; raise `Rejected` if there is none."""


@dataclass(frozen=True)
class TermContext:
    """The declarations and hypotheses that a term may use."""

    claim: Claim
    """The claim that is being proved, in plain symbols."""
    place: Place
    reading: Reading
    numbers: Numbers
    conditions: tuple[Expr, ...]
    prove: Prover
    index: sp.Symbol
    """The symbol of the present local step."""
    vectors: Context | None = None
    """The kernel's context of vectors; None on the whole run, where sums over rounds and steps are compared."""
    hypotheses: Mapping[str, Proved] = field(default_factory=dict)
    write_powers: Callable[[Expr], Expr] = sp.sympify
    """The induction over steps, which has symbols for powers with the index as exponent; None outside of one."""
    held: list[Step] = field(default_factory=list)
    """Steps of the check so far, for reports."""

    @property
    def symbols(self) -> SymbolTable:
        """The symbols of the claim, to which others may be added."""
        return symbols_of(self.claim)

    @property
    def process(self) -> Process:
        """The rounds and steps of the runs that the claim is about."""
        return Process(self.claim)

    def require(self, steps: Iterable[Step]) -> None:
        """Raise `Rejected` for the first step that does not hold."""
        for step in steps:
            if not step.holds:
                raise Rejected(step.text)

    def require_assumed(self, needed: Sequence[Assumption], what: str) -> None:
        """Raise `Rejected` if the claim does not make the assumptions."""
        self.require([check_assumed(self.claim, needed, what)])

    def require_nonnegative(self, number: Expr) -> Expr:
        """Return a number after rewriting by the kernel; raise `Rejected` if it is not proved non-negative."""
        known = self.require_number(number)
        if not self.is_nonnegative(known):
            raise Rejected(f"({shorten(known)}) >= 0 is not shown under the conditions")
        return known

    def is_nonnegative(self, known: Expr) -> bool:
        """Return whether a rewritten number is proved non-negative under the conditions."""
        return is_nonnegative(known, self.numbers, self.conditions)

    def require_number(self, number: Expr) -> Expr:
        """Return a number after rewriting by the kernel; raise `Rejected` if it is no number, or may divide by zero."""
        require_admitted(number)
        known = self.numbers.known(number)
        require_finite([known], self.numbers, self.conditions)
        return known

    def require_expression(self, expression: Expr) -> None:
        """Raise `Rejected` for an expression that is outside the language, may divide by zero, or may be undefined."""
        require_admitted(expression)
        self.numbers.require_integer_exponents(expression)
        require_finite([expression], self.numbers, self.conditions)
        # The quantities of the statement are defined where it applies; others need not be.
        others = expression.free_symbols - self.claim.notation.keys()
        named = frozenset(one for one in map(self.process.quantity_of, others) if one is not None)
        if named:
            self.require([check_defined(self.claim, named, "the quantities of the term")])

    def require_proof(self, term: Checked, goal: Expr, what: str) -> Proved:
        """Check a term, and that it proves a goal; `what` names the goal in an error."""
        try:
            proved = term.check(self)
            self.require_zero([(sp.S.One, proved.expression), (sp.S.NegativeOne, goal)], "what is shown")
        except Rejected as reason:
            raise Rejected(f"{what}: {reason}") from None
        return proved

    def require_zero(self, parts: Sequence[tuple[Expr, Expr]], what: str) -> None:
        """Raise `Rejected` if a sum of multiples is not zero in normal form."""
        if self.vectors is None:
            self._require_zero_of_run(parts, what)
            return
        known, vectors = self.numbers.known, self.vectors
        forms = [scale_form(scalar(expression, vectors), quotient(known(number))) for number, expression in parts]
        self.require([check_zero_form(what, add_forms(forms), self.numbers)])

    def _require_zero_of_run(self, parts: Sequence[tuple[Expr, Expr]], what: str) -> None:
        whole = sp.Add(*(number * expression for number, expression in parts))
        try:
            found = check_zero(what, self.numbers.with_plain_means(self.numbers.replace_names(whole)), self.numbers)
        except Rejected:
            # Sums over rounds and steps are no numbers: they have their own normal form.
            found = RunForm(self.process, self.numbers).check_zero(what, whole)
        self.require([found])

    def with_hypothesis(self, name: str, proved: Proved) -> TermContext:
        """Return the context with a further hypothesis."""
        return replace(self, hypotheses={**self.hypotheses, name: proved})
