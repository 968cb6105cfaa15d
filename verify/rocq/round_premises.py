"""Conditions of claims about a round, and relations of other claims used in it, also at each of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expectation, Expr, Inner, LocalSum
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.names import translate
from verify.rocq.reading import KnownSlack
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import RoundReader, RoundVocabulary
from verify.rocq.theorem import Binder, Exported, describe_condition, list_relations, project

_OF_EACH = ("i", "Hi", "e", "He")
_EACH = "forall i, (i < number (step_clients S))%nat -> "


@dataclass(frozen=True)
class _Premise:
    """A relation of another claim in the symbols of this one, with its proof."""

    relation: Relation
    applied: str
    of_step: bool


class Premises:
    """Premises of a claim about a round, in addition to its assumptions."""

    def __init__(self, vocabulary: RoundVocabulary, uses: Sequence[Exported]) -> None:
        self.vocabulary, self.uses = vocabulary, uses
        self.conditions = vocabulary.claim.conditions
        vocabulary.numbers |= {vocabulary.symbols(q.local_step_index): "INR e", _UPPER: "INR m"}
        self.of_name = dict(self._list_premises())

    def known(self) -> dict[str, KnownSlack]:
        """Return the premises about the round, for a reader."""
        return {
            name: KnownSlack(one.relation.slack, f"pose proof ({one.applied}) as known; lra")
            for name, one in self.of_name.items()
            if not one.of_step
        }

    def hypotheses(self, reader: RoundReader) -> Iterator[Binder]:
        """Yield the conditions of the claim; those on a client hold for each client."""
        for place, one in enumerate(self.conditions, start=1):
            smaller, larger = (reader.number(reader.with_names(side)) for side in (one.lts, one.gts))
            sign = "<" if isinstance(one, sp.Lt | sp.Gt) else "<="
            own = self.vocabulary.is_own(one.lts) or self.vocabulary.is_own(one.gts)
            yield Binder(
                f"condition{place}", f"{_EACH if own else ''}{smaller} {sign} {larger}", describe_condition(one)
            )

    def needed(self, parameters: Sequence[Binder]) -> Iterator[Binder]:
        """Yield the hypotheses of other claims' theorems that are still missing."""
        names = {binder.name for binder in parameters} | {*_OF_EACH}
        for used in self.uses:
            for binder in used.general.binders:
                if binder.name not in names and not binder.name.startswith("condition"):
                    names.add(binder.name)
                    yield binder

    def sum_over_steps(self, name: str, reader: RoundReader) -> tuple[str, str]:
        """Return the sum over the steps of a client of the slack of a relation, and a tactic for it."""
        premise = self.of_name.get(name)
        if premise is None or not premise.of_step or premise.relation.operator != "<=":
            raise NotExported(f"no sum over steps of {name!r} is exported")
        symbol = self.vocabulary.symbols
        index, steps = symbol(q.local_step_index), symbol(q.client_local_steps)
        left, right = premise.relation.left, premise.relation.right
        below, above = (reader.write_scalar(one) for one in (left, right))
        total = _sum_steps(right, index)
        whole, closed = (reader.write_scalar(total.xreplace({_UPPER: one})) for one in (_UPPER, steps))
        slack = f"({closed}) - {reader.write_scalar(LocalSum(_drop_expectations(left)))}"
        tactic = (
            f"apply (below_over_steps (steps_of_client S i) (fun e => {below}) (fun e => {above}) ({closed})); "
            f"[intros e He; exact ({premise.applied}) |]; "
            f"assert (sums : forall m, sum m (fun e => {above}) = {whole}) by "
            "(induction m; cbn [sum]; [simpl INR | rewrite IHm, S_INR]; by_field); "
            "rewrite sums; fold (E_of S i); by_field"
        )
        return slack, tactic

    def _list_premises(self) -> Iterator[tuple[str, _Premise]]:
        """Yield the relations of used claims in the symbols of this one, by their names in certificates."""
        for name, used, link in list_relations(self.uses):
            relation = used.claim.relations[link]
            left, right = (self._translate(side, used) for side in relation.sides)
            applied = project(used.general.apply(**self._match_conditions(used)), link, len(used.claim.relations))
            of_step = symbols_of(used.claim)(q.local_step_index) in relation.right.free_symbols
            yield name, _Premise(Relation(left, relation.operator, right), applied, of_step)

    def _match_conditions(self, used: Exported) -> dict[str, str]:
        """Match each condition of another claim with one of this claim."""
        ours, found = list(self.conditions), {}
        of_each = any(binder.name == "Hi" for binder in used.general.binders)
        for place, one in enumerate(used.conditions, start=1):
            mine = self._translate(one, used)
            if mine not in ours:
                raise NotExported(f"{used.claim.id} is used under conditions that are not this claim's")
            hypothesis = f"condition{ours.index(mine) + 1}"
            found[f"condition{place}"] = f"{hypothesis} i Hi" if of_each else hypothesis
        return found

    def _translate(self, expression: Expr, used: Exported) -> Expr:
        """Return an expression of a used claim in the symbols of this one."""
        return translate(expression, symbols_of(used.claim), self.vocabulary.symbols)


_UPPER = sp.Dummy("m", integer=True, nonnegative=True)


def _drop_expectations(scalar: Expr) -> Expr:
    """Return a scalar without expectations, which sums over steps do not have."""
    found: Expr = scalar.replace(Expectation, lambda of: of)
    return found


def _sum_steps(of: Expr, index: sp.Symbol) -> Expr:
    """Return the sum of a polynomial in the index of a step, over the steps before the m-th."""
    squares = {one: sp.Dummy() for one in of.atoms(Inner)}
    powers = sp.Poly(_drop_expectations(of).xreplace(squares), index).terms()
    j = sp.Dummy("j", integer=True)
    total = sp.Add(*(part * sp.factor(sp.summation(j**power, (j, 0, _UPPER - 1))) for (power,), part in powers))
    found: Expr = total.xreplace({symbol: one for one, symbol in squares.items()})
    return found
