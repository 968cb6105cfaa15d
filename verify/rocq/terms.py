"""Vectors and scalars for Rocq: as text, and in the language of `library/Normal.v`.

Both forms of a term come from the same tree. Rocq checks by computation that they are equal, so this module need not be
trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from verify.rocq.numbers import enclose

Kind = Literal["V", "S"]
"""A vector, or a scalar."""


@dataclass(frozen=True)
class Atom:
    """A vector without structure for proofs, or the value of an objective; `own` if each client has one."""

    text: str
    kind: Kind = "V"
    own: bool = False
    noisy: bool = False
    """Whether the vector is fresh noise, whose products with past vectors vanish in expectation."""
    zero: bool = False
    """Whether the vector is zero for every client."""
    vanishing: bool = False
    """Whether its average over clients is zero."""


@dataclass(frozen=True)
class Number:
    """A real number that is equal for all clients."""

    text: str
    kind: Kind = "S"


@dataclass(frozen=True)
class Named:
    """A term under a name that unfolds to it."""

    text: str
    body: Term

    @property
    def kind(self) -> Kind:
        """Return the kind of the named term."""
        return self.body.kind


@dataclass(frozen=True)
class Sum:
    """A sum or a difference."""

    left: Term
    right: Term
    sign: Literal["+", "-"] = "+"

    @property
    def kind(self) -> Kind:
        """Return the kind of its members."""
        return self.left.kind


@dataclass(frozen=True)
class Multiple:
    """A term times a number; `own` if the number depends on the client."""

    factor: str
    of: Term
    own: bool = False

    @property
    def kind(self) -> Kind:
        """Return the kind of the multiplied term."""
        return self.of.kind


@dataclass(frozen=True)
class Mean:
    """An average over clients."""

    of: Term

    @property
    def kind(self) -> Kind:
        """Return the kind of its members."""
        return self.of.kind


@dataclass(frozen=True)
class Dot:
    """An inner product."""

    left: Term
    right: Term
    kind: Kind = "S"


Term = Atom | Number | Named | Sum | Multiple | Mean | Dot


def text(term: Term, clients: str) -> str:
    """Return a term as text for people and Rocq; `clients` is the name of the set of clients in averages."""
    match term:
        case Atom() | Number() | Named():
            return term.text
        case Sum():
            is_group = term.sign == "-" or isinstance(term.right, Sum | Number)
            right = _group(term.right, clients) if is_group else text(term.right, clients)
            return f"{text(term.left, clients)} {term.sign} {right}"
        case Multiple():
            between = "•" if term.kind == "V" else "*"
            return f"{enclose(term.factor)} {between} {_group(term.of, clients)}"
        case Mean():
            inner = text(term.of, clients)
            inner = f"({inner})%vec" if term.kind == "V" else inner
            return f"{'vmean' if term.kind == 'V' else 'mean'} {clients} (fun i => {inner})"
        case Dot():
            left, right = text(term.left, clients), text(term.right, clients)
            return f"‖{left}‖²" if left == right else f"⟨{left}, {right}⟩"


def _group(term: Term, clients: str) -> str:
    """Return a term as text, in brackets unless it is a squared norm."""
    inner = text(term, clients)
    return inner if isinstance(term, Dot) else enclose(inner)


@dataclass
class Atoms:
    """The atoms of a proof, in the order of their first use."""

    lists: dict[str, list[Atom | str]] = field(
        default_factory=lambda: {"shared": [], "own": [], "value": [], "number": []}
    )

    def place(self, kind: str, atom: Atom | str) -> int:
        """Return the index of an atom among those of its kind."""
        known = self.lists[kind]
        if atom not in known:
            known.append(atom)
        return known.index(atom)


_HEADS = {"value": "SOwn", "own": "VOwn", "shared": "VShared"}
"""Constructors of `Normal.v` for atoms, by their lists."""


def reify(term: Term, atoms: Atoms) -> str:
    """Return a term in the language of `Normal.v`."""
    match term:
        case Atom():
            list_name = "value" if term.kind == "S" else "own" if term.own else "shared"
            return f"({_HEADS[list_name]} {atoms.place(list_name, term)})"
        case Number():
            return f"(SNumber ({term.text}))"
        case Named():
            return reify(term.body, atoms)
        case Multiple():
            factor = atoms.place("number", term.factor) if term.own else f"({term.factor})"
            return f"({term.kind}{'Times' if term.own else 'Scale'} {factor} {reify(term.of, atoms)})"
        case Mean():
            return f"({term.kind}Mean {reify(term.of, atoms)})"
    head = f"{term.kind}{'Plus' if term.sign == '+' else 'Minus'}" if isinstance(term, Sum) else "SDot"
    return f"({head} {reify(term.left, atoms)} {reify(term.right, atoms)})"


def is_own(term: Term) -> bool:
    """Return whether a term differs between clients."""
    match term:
        case Atom():
            return term.own
        case Named():
            return is_own(term.body)
        case Multiple():
            return term.own or is_own(term.of)
        case Sum() | Dot():
            return is_own(term.left) or is_own(term.right)
        case _:
            return False
