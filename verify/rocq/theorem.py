"""A theorem for Rocq: its name, variables, hypotheses, statement and proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity


def escape_comment(text: str) -> str:
    """Escape a text for a comment of Rocq."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


@dataclass(frozen=True)
class Binder:
    """A variable or hypothesis of a theorem, with its name and type."""

    name: str
    type: str
    origin: str = field(default="", compare=False)
    """The assumption, condition or definition that a hypothesis encodes."""

    def __str__(self) -> str:
        return f"({self.name} : {self.type})" + (f" (* {escape_comment(self.origin)} *)" if self.origin else "")


def declare_real(name: str, *, positive: bool = False) -> tuple[Binder, Binder]:
    """Return a real variable, and the hypothesis that it is non-negative or positive."""
    sign = Binder(f"{name}_positive", f"0 < {name}") if positive else Binder(f"{name}_nonnegative", f"0 <= {name}")
    return Binder(name, "R"), sign


def declare_index(name: str, count: str) -> tuple[Binder, Binder]:
    """Return an index, and the hypothesis that it is below a count."""
    return Binder(name, "nat"), Binder(f"H{name}", f"({name} < {count})%nat")


def describe_condition(condition: object) -> str:
    """Return the origin of a hypothesis that is a condition of the claim."""
    return f"condition: {condition}"


@dataclass(frozen=True)
class Theorem:
    """A theorem, with its preceding lemmas."""

    name: str
    binders: Sequence[Binder]
    statement: str
    proof: str
    lemmas: Sequence[Theorem] = field(default=())
    needs: Sequence[str] = ()
    """Files of the library that it needs, in addition to the base."""
    library: Sequence[str] = field(default=())
    """The files of the library that it needs; empty for runs of FedAvg."""
    names: Mapping[Quantity, str] = field(default_factory=dict)
    """The names of the quantities of its claim."""
    definitions: str = ""
    """Definitions that it uses, in addition to the library."""

    def apply(self, **arguments: str) -> str:
        """Return the theorem applied to all its variables and hypotheses, by name or as given."""
        given = (arguments.get(binder.name, binder.name) for binder in self.binders)
        return " ".join([self.name, *(f"({one})" if " " in one else one for one in given)])

    def __str__(self) -> str:
        parameters = "\n  ".join(map(str, self.binders))
        before = "".join(f"{lemma}\n" for lemma in self.lemmas)
        before = f"{self.definitions}\n{before}" if self.definitions else before
        return f"{before}Theorem {self.name}\n  {parameters} :\n  {self.statement}.\nProof.\n{self.proof}\nQed.\n"


@dataclass(frozen=True)
class Exported:
    """A claim as a theorem, and the claims whose theorems its proof uses."""

    claim: Claim
    theorem: Theorem
    general: Theorem
    """The theorem under the conditions that the certificate needs, if these are weaker."""
    conditions: tuple[Expr, ...]
    """These conditions."""
    uses: tuple[Exported, ...] = ()


def list_relations(uses: Iterable[Exported]) -> Iterator[tuple[str, Exported, int]]:
    """Yield the relations of used claims: the name in certificates, the claim, and the index."""
    for used in uses:
        several = len(used.claim.relations) > 1
        for link in range(len(used.claim.relations)):
            yield f"{used.claim.id}, relation {link + 1}" if several else used.claim.id, used, link


def prove_conjunction(proofs: Sequence[str]) -> str:
    """Return the proof of a conjunction."""
    return "\n".join(_nest(proofs))


def project(proof: str, link: int, count: int) -> str:
    """Return one statement of a proved conjunction."""
    for _ in range(link):
        proof = f"proj2 ({proof})"
    return proof if link == count - 1 else f"proj1 ({proof})"


def _nest(proofs: Sequence[str]) -> Iterator[str]:
    """Yield the proofs of a conjunction."""
    *first, last = proofs
    for proof in first:
        yield "split.\n{ " + proof + " }"
    yield last
