"""Export bounds at every local step of a round without noise, by induction over the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Expr, is_length
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import POWER, StepIndex, advance_distance
from fedtheory.proofs.links import Induction
from fedtheory.proofs.proof import conditions_of
from verify.rocq.hypotheses import binders
from verify.rocq.links import Links
from verify.rocq.names import name_of
from verify.rocq.numbers import SignProofs, number
from verify.rocq.papers.lecture27.path_run import (
    NEEDS,
    KnownOnPath,
    PathInRun,
    PathVocabulary,
    name_mean_dissimilarity,
)
from verify.rocq.places import FIRST, IN_RUN
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN
from verify.rocq.terms import Multiple, Number, Sum, Term
from verify.rocq.theorem import Binder, Exported, Theorem, prove_conjunction

_AT_START = "cbn [pow]; simpl INR; try change (step_size (step_at A n O)) with (size_of A); by_field"
"""A tactic for numbers at the first step of a round."""


def write_theorem_of_induction(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return bounds at every local step as a theorem; raises `NotExported` if a link is no induction."""
    first, *others = certificate.links
    if (
        not isinstance(first, Induction)
        or any(other != first for other in others)
        or a.full_gradients not in (claim.assumptions)
    ):
        raise NotExported("expected one induction without noise")
    writer = _PathWriter(claim, certificate, first, KnownOnPath(claim, certificate, export_id))
    return writer.theorem(), writer.known.uses


class _PathWriter:
    def __init__(self, claim: Claim, certificate: Certificate, induction: Induction, known: KnownOnPath) -> None:
        self.known = known
        self.claim, self.induction, self.name = claim, induction, name_of(claim.id)
        self.conditions = tuple(conditions_of(claim, certificate.relaxed))
        self.path = PathInRun(claim, self.conditions)
        self.first = 0 if induction.first is None else 1
        self.index = self.path.run.symbols(q.local_step_index)
        self.used: set[sp.Symbol] = set()
        self.own = False
        constants = (induction.factor, induction.offset, induction.bound)
        self.counts = any(self.index in self.written(part).free_symbols for part in constants)
        """Whether the number of the step stands elsewhere than in the power."""

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        induction, before = self.induction, self.induction.measured
        step = self._state_step(before)
        at_zero = self.written(induction.bound).subs({self.index: 0, POWER: 1})
        lemmas = [step, self._state_start("start", before, at_zero, induction.start)]
        if induction.first is not None:
            once = induction.bound.subs(self.index, 1)
            lemmas.append(self._state_start("first", advance_distance(self.claim, before), once, induction.first))
        goal, proofs = zip(*(self._prove_link(n) for n in range(len(self.claim.relations))), strict=True)
        signs = self.path.run.signs(self.conditions)
        proof = "\n".join(
            [
                KNOWN,
                *self.path.known,
                *signs.prepare_conditions(),
                self._prove_bounds(lemmas),
                prove_conjunction(proofs),
            ]
        )
        parameters = [*self.path.binders(self.used, own=self.own), *signs.hypotheses()]
        return Theorem(
            self.name, parameters, " /\\\n  ".join(goal), proof, tuple(lemmas), NEEDS, names=self.path.quantity_names
        )

    def written(self, expression: Expr) -> Expr:
        """Write base^(k + m) as base^m times a symbol, and averages of the delta_i as delta."""
        plain = StepIndex(self.claim, self.induction.base).write_powers(expression)
        return name_mean_dissimilarity(plain, self.path.run.symbols)

    # The lemma about one step.

    def _state_step(self, before: Expr) -> Theorem:
        """Return the lemma on one step: the measure after it is at most factor times measure plus offset."""
        vocabulary, induction = self._build_vocabulary(), self.induction
        factor, offset = (self.written(part) for part in (induction.factor, induction.offset))
        signs = SignProofs(vocabulary.numbers, self.conditions, [*self._list_least(), *vocabulary.least])
        known, hypotheses, _ = self.known.parameters(vocabulary, induction.base)
        links = Links(Reader(vocabulary, known), signs)
        after = links.side(advance_distance(self.claim, before))
        kept = Multiple(links.reader.number(factor), links.side(before))
        bound: Term = Sum(kept, links.reader.scalar(offset))
        links.used |= factor.free_symbols | offset.free_symbols
        terms = [replace(term, coefficient=self.written(sp.sympify(term.coefficient))) for term in induction.terms]
        proof = links.inequality(after, bound, terms)
        self.used |= links.used
        self.own = links.own
        parameters = [*binders(vocabulary, links.used, own=links.own), *vocabulary.more]
        if induction.base is not None:
            parameters += [
                Binder("power", "R"),
                Binder("power_large", f"{self._write_least_power(vocabulary.numbers)} <= power"),
            ]
        if self.counts:
            parameters += [Binder("k", "nat"), Binder("k_from", f"({self.first} <= k)%nat")]
        growth = [*self._prove_index("k_from"), *self._prove_growth(vocabulary.numbers)]
        return links.state(f"{self.name}_step", (after, bound), proof, [*parameters, *hypotheses], growth)

    def _state_start(self, name: str, left: Expr, right: Expr, terms: Sequence[Part]) -> Theorem:
        """Return the statement at the start of the round."""
        vocabulary = PathVocabulary(self.claim, quiet=True, place=FIRST)
        vocabulary.gather()
        signs = SignProofs(vocabulary.numbers, self.conditions, vocabulary.least)
        links = Links(Reader(vocabulary), signs)
        larger = Number(links.reader.number(right))
        smaller, goal = links.side(left.base if is_length(left) else left), links.side(left)
        bound = Number(f"({larger.text}) ^ 2") if is_length(left) else larger
        links.used |= sp.sympify(right).free_symbols
        proof = links.inequality(smaller, bound, terms)
        proof = f"apply root_of; [lra |].\n{proof}" if is_length(left) else proof
        parameters = [*binders(vocabulary, links.used | self.used, own=self.own), *vocabulary.more]
        return links.state(f"{self.name}_{name}", (goal, larger), proof, parameters)

    def _build_vocabulary(self) -> PathVocabulary:
        """Return the names at a step, with the step index k."""
        vocabulary = PathVocabulary(self.claim, quiet=True)
        vocabulary.numbers |= {self.index: "INR k"}
        return vocabulary

    def _prove_index(self, known: str) -> list[str]:
        """Prove that the index of the step is not below the first one."""
        large = f"at_least_one k {known}" if self.first else "pos_INR k"
        return [f"pose proof ({large}) as k_large."] if self.counts else []

    def _list_least(self) -> list[tuple[sp.Symbol, Expr]]:
        """Return lower bounds on the power of the base and on the step index."""
        of_power = [] if self.induction.base is None else [(POWER, self.induction.base**self.first)]
        return [*of_power, (self.index, sp.Integer(self.first))] if self.counts else of_power

    def _write_least_power(self, names: Mapping[sp.Symbol, str]) -> str:
        """Return the power of the base at the first step, as text."""
        return number(sp.sympify(self.induction.base) ** self.first, names)

    def _prove_growth(self, names: Mapping[sp.Symbol, str]) -> list[str]:
        """Prove that the base exceeds one, and that its power grows, from the first step on or one step later."""
        base = self.induction.base
        if base is None:
            return []
        sign = "<" if self.first else "<="
        return [
            f"assert (grows : 0 < {number(base - 1, names)}) by positive.",
            f"assert (above : 0 {sign} power - 1) by lra.",
            f"assert (above_more : 0 {sign} ({number(base, names)}) * (power - 1)) by "
            f"({'apply Rmult_lt_0_compat' if self.first else 'apply Rmult_le_pos'}; lra).",
        ]

    # The statement about all steps.

    def _prove_bounds(self, lemmas: list[Theorem]) -> str:
        """Return the induction over the steps, by the lemmas on the step and on the start."""
        induction, run = self.induction, self.path.run
        names = {**run.names, self.index: "INR k", POWER: "power"}
        measured, moved = (
            self._write_measure(one) for one in (induction.measured, advance_distance(self.claim, induction.measured))
        )
        bound, factor = (
            number(sp.sympify(part), {**names, POWER: self._power})
            for part in (induction.bound, self.written(induction.factor))
        )
        offset = self._write_offset()
        signs = SignProofs(names, self.conditions, [*self._list_least(), *run.least])
        grown = self.written(induction.bound.subs(self.index, self.index + 1)) - self.written(
            induction.factor * induction.bound + induction.offset
        )
        shown = "\n".join(self.known.parameters(self._build_vocabulary(), induction.base, "proj2 Hk")[2])
        given = self.path.arguments() | {"k": "k", "k_from": "(proj1 Hk)"}
        given |= {"power": self._power, "power_large": "power_large"}
        at_start = self.path.arguments("O")
        large = f"power_at_least ({self._base}) {self.first} k (Rlt_le _ _ base_large) (proj1 Hk)"
        known = f"pose proof ({large}) as power_large; cbn [pow] in power_large; try rewrite Rmult_1_r in power_large"
        known = " ".join([*self._prove_index("(proj1 Hk)"), "idtac" if induction.base is None else known])
        opened = [] if induction.base is None else [f"set (power := {self._power}) in *.", *self._prove_growth(names)]
        all_of = "i Hi " if self.own else ""
        each = "forall i, (i < number (clients_of A))%nat -> " if self.own else ""
        first = [
            f"apply Rle_trans with (1 := {lemmas[-1].apply(**at_start)}).",
            f"right; {_AT_START}.",
        ]
        lines = [
            f"assert (bounds : forall n, (n < rounds_of A)%nat -> {each}"
            f"forall k, ({self.first} <= k <= steps_of A)%nat ->",
            f"  {measured} <= {bound}).",
            f"{{ clear n Hn k Hk{' i Hi' if self.own else ''}. intros n Hn {all_of}.",
            f"  apply (recursion (fun k => {measured}) (fun k => {bound})",
            f"    (fun k => {factor}) (fun k => {offset}) {self.first} (steps_of A)).",
            f"  - {' '.join(first)}",
            f"  - intros k Hk. {known}. {' '.join(opened)} {signs.nonnegative(self.written(induction.factor))}.",
            f"  - intros k Hk. {known}. {shown} exact ({lemmas[0].apply(**given)}).",
            f"  - intros k Hk. {known}. apply le_by_slack. rewrite ?S_INR. cbn [pow]. {' '.join(opened)}",
            f"    {signs.nonnegative(grown)}. }}",
        ]
        if induction.base is not None:
            base = number(induction.base - 1, run.names)
            large = f"assert (base_large : 1 < {self._base}) by (assert (0 < {base}) by positive; lra)."
            lines.insert(0, large)
        now = "bounds n Hn " + ("i Hi " if self.own else "")
        if self.first:
            begun = lemmas[1].apply(**at_start)
            lines += [
                f"assert (now : {measured} <= {bound}).",
                f"{{ destruct k as [| k']; [apply Rle_trans with (1 := {begun}); right; {_AT_START} |].",
                f"  apply ({now}(S k')); lia. }}",
            ]
        else:
            lines.append(f"assert (now := {now}k ltac:(lia)). cbv beta in now.")
        lines.append(f"assert (later := {now}(S k) ltac:(lia)). cbv beta in later.")
        lines.append(f"match type of later with _ <= ?bound => change (({moved}) <= bound) in later end.")
        return "\n".join(lines)

    def _write_offset(self) -> str:
        """Return the offset of a step of the run, as text."""
        vocabulary = PathVocabulary(self.claim, quiet=True, place=replace(IN_RUN, clients="(clients_of A)"))
        vocabulary.numbers |= {**self.path.run.names, self.index: "INR k", POWER: self._power}
        return Reader(vocabulary).write_scalar(self.written(self.induction.offset))

    @property
    def _base(self) -> str:
        """Return the base of the powers as text; one without powers."""
        return "1" if self.induction.base is None else number(sp.sympify(self.induction.base), self.path.run.names)

    @property
    def _power(self) -> str:
        """Return the power of the base at step k, as text."""
        return "1" if self.induction.base is None else f"({self._base}) ^ k"

    def _write_measure(self, expression: Expr) -> str:
        """Return an expression in vectors of a step of the run, as text."""
        return Reader(self.path.vocabulary).write_scalar(expression)

    def _prove_link(self, place: int) -> tuple[str, str]:
        """Return a relation's statement, and its proof from the bounds on the measure before and after this step."""
        relation, run = self.claim.relations[place], self.path.run
        is_now = sp.expand(relation.left - self.induction.measured) == 0
        names = {**run.names, self.index: "INR k"}
        left = self._write_measure(relation.left)
        right = number(relation.right, names)
        self.used |= relation.free_symbols
        if relation.operator != "<=":
            raise NotExported("an induction shows an upper bound")
        known = "now" if is_now else "later"
        tactic = f"apply Rle_trans with (1 := {known}). right. rewrite ?S_INR, ?Nat.add_1_r. cbn [pow]. by_field."
        return f"{left} <= {right}", tactic
