"""Base class of the vocabularies of claims about numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel import slack
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.averages import Averaged
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.parts import Part
from verify.rocq.names import name_of, name_quantities
from verify.rocq.numbers import SignProofs, number
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, Exported, Theorem


class ScalarVocabulary:
    """The numbers of a claim, with their names in Rocq."""

    library: Sequence[str] = ()
    """The files of the library that its theorem needs; empty for runs of FedAvg."""
    needs: Sequence[str] = ()
    """The files of the library that it needs, in addition to the base."""
    identity: str = "by_field"
    """A tactic for the equation between a slack and the sum of its parts."""
    has_orderings: bool = False
    """Whether proofs may use further inequalities between numbers."""
    names: dict[sp.Symbol, str]

    def __init__(self, claim: Claim) -> None:
        self.claim, self.symbols = claim, symbols_of(claim)
        self.required: set[str] = set()
        """Variables and hypotheses of the claims that are used."""

    @property
    def quantity_names(self) -> dict[Quantity, str]:
        """Return the names of the claim's quantities."""
        return name_quantities(self.symbols, self.names)

    @property
    def known(self) -> str:
        """Return tactics for the start of every proof."""
        return ""

    @property
    def witnesses(self) -> set[str]:
        """Return variables and hypotheses that a proof obtains from existence statements."""
        return set()

    @property
    def introduce_client(self) -> str:
        """Return a tactic that proceeds to client i in a sum over the clients."""
        raise NotExported("sums over clients are not exported")

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        return []

    def number(self, expression: Expr) -> str:
        """Return a number as text."""
        return number(expression, self.names)

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Return the facts that proofs of signs may use."""
        return SignProofs(self.names, tuple(conditions), self.least)

    def is_of_each(self, _condition: Expr) -> bool:
        """Return whether a condition holds for every client, by its own hypothesis."""
        return False

    def fact(self, name: str) -> str:
        """Return a tactic for a fact: its slack is non-negative, or zero; raises `NotExported` for an unknown one."""
        raise NotExported(f"the fact {name!r} is not in the library")

    def ordering(self, premise: Expr, signs: SignProofs) -> str:
        """Return a tactic for an inequality between numbers that the claim assumes."""
        return signs.nonnegative(slack(premise))

    def equation(self, premise: Expr) -> str:
        """Return a tactic for an equation that the claim assumes."""
        raise NotExported(f"the condition {premise} is not exported")

    def translate(self, expression: Expr, other: Claim) -> Expr:
        """Translate an expression of another claim to this one's symbols."""
        theirs, whole = symbols_of(other), sp.sympify(expression)
        ours = {one: self.symbols(of) for one in whole.free_symbols if (of := theirs.quantity(one)) is not None}
        return whole.xreplace({one: known for one, known in ours.items() if known in self.names})

    def substitute_arguments(self, _other: Claim) -> dict[str, str]:
        """Return arguments for the hypotheses of another claim that this claim does not have."""
        return {}

    def write_sum(self, _member: str) -> str:
        """Return a sum over the clients as text."""
        raise NotExported("sums over clients are not exported")

    def split_sums(self, _sums: Mapping[str, Expr]) -> Iterator[str]:
        """Yield tactics that write sums over the clients as combinations of a few common sums."""
        raise NotExported("sums over clients are not exported")

    def note_ordering(self, premise: Derived, _known: Exported) -> str:
        """Return a tactic that states an inequality between numbers, which another claim proves."""
        raise NotExported(f"a premise at the start or end of another interval is not exported: {premise.claim}")

    def derive(self, _premise: Derived, _export_used: Callable[[str], Exported]) -> tuple[Expr, str] | None:
        """Return the slack of another claim, and a tactic for its sign; None if its theorem is applied as it is."""
        return None

    def list_averaged(self, _premise: Derived) -> set[str]:
        """Return the variables of a theorem over which a premise takes an average; empty if there are none."""
        return set()

    def average(self, premise: Averaged, _slack: Expr, _applied: str, _written: Callable[[Expr], str]) -> Sequence[str]:
        """Return tactics for the goal that an average of non-negative slacks is not negative."""
        raise NotExported(f"the library has no law for {premise.label}")

    def split_cases(
        self,
        shown: str,
        _relation: Relation,
        _parts: Sequence[Part],
        _find_slack: Callable[[Part], Expr],
        _prove: Callable[[Relation, Sequence[Part], str, Expr], str],
    ) -> str:
        """Return the proof of a relation, where needed with another one for runs whose denominators are zero."""
        return shown

    def close_equation(self, _count: int) -> str:
        """Return a tactic that derives an equation from another one, in which some premises were rewritten."""
        return "lra"

    def state_bound(self, signs: SignProofs, lines: Sequence[str], lemmas: Sequence[Theorem]) -> Theorem:
        """Return the claim, one upper bound, as a theorem with the lines of its proof."""
        (relation,) = self.claim.relations
        parameters = [*self.binders(relation.free_symbols), *signs.hypotheses()]
        statement = f"{self.number(relation.left)} <= {self.number(relation.right)}"
        name, proof = name_of(self.claim.id), "\n".join(lines)
        return Theorem(name, parameters, statement, proof, lemmas, self.needs, names=self.quantity_names)

    def binders(self, used: set[sp.Symbol]) -> Iterable[Binder]:
        """Return the variables and hypotheses of a theorem in which the given symbols occur."""
        raise NotImplementedError
