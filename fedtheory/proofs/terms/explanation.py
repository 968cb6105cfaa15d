"""Explains terms step by step, in words and formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import sympy as sp

from fedtheory.kernel import Step
from fedtheory.kernel.inequalities import INEQUALITIES
from fedtheory.kernel.notation import write_heads
from fedtheory.language.claim import Claim
from fedtheory.proofs.terms import words
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.term import ProofTerm, parts_of_term


@dataclass(frozen=True)
class ExplainedStep:
    """One rule of a term: its position in the proof, its name, and its explanation."""

    number: str
    rule: str
    text: str

    @property
    def depth(self) -> int:
        """Number of enclosing rules."""
        return self.number.count(".")


def explain(claim: Claim, proof: TermProof) -> list[ExplainedStep]:
    """List the rules of a proof of a claim in plain symbols, each before its parts.

    A quantity whose symbol is a longer formula is replaced by its name.
    """
    name = _name_by_quantity(claim)
    found: list[ExplainedStep] = []
    new = INEQUALITIES.keys() - _PLAIN
    for number, term in enumerate(proof.relations, start=1):
        found.extend(_explain(_write_names(term, name), (number,), new))
    return found


def state_steps(claim: Claim, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps of a check of a claim in plain symbols, with formulas in the notation of explanations."""
    name = _name_by_quantity(claim)
    labels = ((step.label, step.holds) for step in steps)
    return tuple(
        Step(label if isinstance(label, str) else label.transform(lambda part: _write_names(part, name)), holds)
        for label, holds in labels
    )


def _name_by_quantity(claim: Claim) -> Callable[[sp.Symbol], sp.Symbol]:
    """Return a function that replaces symbols whose names are longer formulas by the names of their quantities."""
    process = Process(claim)

    def name(symbol: sp.Symbol) -> sp.Symbol:
        quantity = process.quantity_of(symbol)
        shown = symbol.name if quantity is None or symbol.name.isidentifier() else quantity.name
        return sp.Symbol(shown, **symbol.assumptions0)

    return name


def _write_names(value: Any, name: Callable[[sp.Symbol], sp.Symbol]) -> Any:
    """Return a term, or a part of one, with other symbols in its formulas."""
    if isinstance(value, tuple):
        return tuple(_write_names(one, name) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{one.name: _write_names(getattr(value, one.name), name) for one in fields(value)})
    if not isinstance(value, sp.Basic):
        return value
    change = {symbol: name(symbol) for symbol in value.free_symbols}
    if isinstance(value, sp.Rel):
        return value.func(*(write_heads(side.xreplace(change)) for side in value.args), evaluate=False)
    return write_heads(value.xreplace(change))


_PLAIN = {"square", "one", "assumption", "root"}
"""Inequalities whose names state them."""


def _state(kind: str) -> str:
    """State an inequality as its function describes it: the expression, and the functions or vectors of which."""
    found = re.match(r"``(.+?)``([^.]*)", " ".join((INEQUALITIES[kind].__doc__ or "").split()))
    return "its name" if found is None else f"{found[1]} >= 0{',' if found[2] else ''}{found[2]}"


_PARTS = {
    "base": "at the start: ",
    "step": "one step later: ",
    "first": "first: ",
    "later": "later: ",
    "at_most": "at most: ",
    "at_least": "at least: ",
}
"""Words before a part of a rule, by its field."""


def _explain(term: ProofTerm, place: Sequence[int], new: set[str], prefix: str = "") -> Iterator[ExplainedStep]:
    """List a rule and its parts; the `new` inequalities are stated where they are used first."""
    text = prefix + words.explain(term)
    if isinstance(term, Axiom) and term.kind in new:
        new.remove(term.kind)
        text += f"; it says {_state(term.kind)}"
    yield ExplainedStep(".".join(map(str, place)), term.rule, text)
    factors = [part.coefficient for part in term.parts] if isinstance(term, Combine) else []
    before = {id(getattr(term, field)): text for field, text in _PARTS.items() if hasattr(term, field)}
    for number, part in enumerate(parts_of_term(term), start=1):
        factor = factors[number - 1] if factors else 1
        times = "" if factor == 1 else f"({factor}) times: "
        yield from _explain(part, (*place, number), new, before.get(id(part), "") + times)
