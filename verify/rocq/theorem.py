"""A theorem for Rocq: its name, variables and hypotheses, what it says, and a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fedtheory.language.quantities import Notion


@dataclass(frozen=True)
class Binder:
    """A variable or hypothesis of a theorem, by its name and type."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"({self.name} : {self.type})"


@dataclass(frozen=True)
class Theorem:
    """A theorem, with the lemmas that come before it."""

    name: str
    binders: Sequence[Binder]
    statement: str
    proof: str
    lemmas: Sequence[Theorem] = field(default=())
    needs: Sequence[str] = ()
    """Files of the library that it needs besides those of all."""
    library: Sequence[str] = field(default=())
    """The files of the library that it needs; none for those of runs of FedAvg."""
    called: Mapping[Notion, str] = field(default_factory=dict)
    """What people are told of its letters; empty for runs of FedAvg."""
    definitions: str = ""
    """What it speaks of, beside the library."""

    def applied(self, **arguments: str) -> str:
        """The theorem with every variable and hypothesis given by its name, or by what is said here."""
        given = (arguments.get(binder.name, binder.name) for binder in self.binders)
        return " ".join([self.name, *(f"({one})" if " " in one else one for one in given)])

    def __str__(self) -> str:
        told = "\n  ".join(map(str, self.binders))
        before = "".join(f"{lemma}\n" for lemma in self.lemmas)
        before = f"{self.definitions}\n{before}" if self.definitions else before
        return f"{before}Theorem {self.name}\n  {told} :\n  {self.statement}.\nProof.\n{self.proof}\nQed.\n"


def name_of(claim_id: str) -> str:
    """The name of a claim for Rocq: letters, digits and underscores."""
    return "".join(c if c.isalnum() else "_" for c in claim_id)


def conjunction(proofs: Sequence[str]) -> str:
    """The proof of several statements at once."""
    return "\n".join(_nested(proofs))


def projected(proof: str, link: int, count: int) -> str:
    """One of several statements that a proof shows at once."""
    for _ in range(link):
        proof = f"proj2 ({proof})"
    return proof if link == count - 1 else f"proj1 ({proof})"


def _nested(proofs: Sequence[str]) -> Iterator[str]:
    *first, last = proofs
    for proof in first:
        yield "split.\n{ " + proof + " }"
    yield last
