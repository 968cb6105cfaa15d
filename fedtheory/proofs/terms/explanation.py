"""Terms step by step, in words and formulas, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import sympy as sp

from fedtheory.kernel.expressions import Expr, Inner
from fedtheory.language.claim import Claim
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.term import ProofTerm, parts_of_term


@dataclass(frozen=True)
class ExplainedStep:
    """One rule of a term: its number in the order of the proof, its name, and what it says."""

    number: str
    rule: str
    text: str

    @property
    def depth(self) -> int:
        """Number of rules around it."""
        return self.number.count(".")


def explain(claim: Claim, proof: TermProof) -> list[ExplainedStep]:
    """List the rules of a proof of a claim in plain symbols, each before those that it is applied to.

    A quantity whose symbol is a longer formula goes by its name.
    """
    process = Process(claim)

    def name(symbol: sp.Symbol) -> sp.Symbol:
        quantity = process.quantity_of(symbol)
        shown = symbol.name if quantity is None or symbol.name.isidentifier() else quantity.name
        return sp.Symbol(shown, **symbol.assumptions0)

    found: list[ExplainedStep] = []
    for number, term in enumerate(proof.relations, start=1):
        found.extend(_explain(_with_names(term, name), (number,), prefix=""))
    return found


def _with_names(value: Any, name: Callable[[sp.Symbol], sp.Symbol]) -> Any:
    """Return a term, or a part of one, with other symbols in its formulas."""
    if isinstance(value, tuple):
        return tuple(_with_names(one, name) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{one.name: _with_names(getattr(value, one.name), name) for one in fields(value)})
    if not isinstance(value, sp.Basic):
        return value
    change = {symbol: name(symbol) for symbol in value.free_symbols}
    if isinstance(value, sp.Rel):
        return value.func(*(_with_norms(side.xreplace(change)) for side in value.args), evaluate=False)
    return _with_norms(value.xreplace(change))


def _with_norms(formula: Expr) -> Expr:
    """Return a formula with the squared norm of a vector for its inner product with itself."""

    def is_square(part: Expr) -> bool:
        return isinstance(part, Inner) and part.args[0] == part.args[1]

    return formula.replace(is_square, lambda part: sp.Symbol(f"|{part.args[0]}|^2"))


def _explain(term: ProofTerm, place: Sequence[int], *, prefix: str) -> Iterator[ExplainedStep]:
    yield ExplainedStep(".".join(map(str, place)), term.rule, prefix + term.explain())
    factors = [part.coefficient for part in term.parts] if isinstance(term, Combine) else []
    for number, part in enumerate(parts_of_term(term), start=1):
        factor = factors[number - 1] if factors else 1
        times = "" if factor == 1 else f"({factor}) times: "
        yield from _explain(part, (*place, number), prefix=times)
