"""Terms step by step, in words and formulas, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.term import ProofTerm, parts_of_term


@dataclass(frozen=True)
class ExplainedStep:
    """One rule of a term: how deep it stands, its number in the order of the proof, and what it says."""

    number: str
    rule: str
    text: str

    @property
    def depth(self) -> int:
        """How many rules are around it."""
        return self.number.count(".")


def explain(proof: TermProof) -> list[ExplainedStep]:
    """List the rules of a proof, each before those that it is applied to."""
    return [
        step for number, term in enumerate(proof.relations, start=1) for step in _explain(term, (number,), prefix="")
    ]


def _explain(term: ProofTerm, place: Sequence[int], *, prefix: str) -> Iterator[ExplainedStep]:
    yield ExplainedStep(".".join(map(str, place)), term.rule, prefix + term.explain())
    factors = [part.coefficient for part in term.parts] if isinstance(term, Combine) else []
    for number, part in enumerate(parts_of_term(term), start=1):
        factor = factors[number - 1] if factors else 1
        times = "" if factor == 1 else f"({factor}) times: "
        yield from _explain(part, (*place, number), prefix=times)
