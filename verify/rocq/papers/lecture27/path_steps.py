"""Export claims about a local step compared with gradient descent on F, using other bounds at this step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import POWER, StepIndex
from fedtheory.proofs.links import Products
from fedtheory.proofs.proof import conditions_of
from verify.rocq.hypotheses import binders
from verify.rocq.links import Links
from verify.rocq.names import list_sides, name_of
from verify.rocq.numbers import SignProofs, number
from verify.rocq.paper_exports import restate_by_paper
from verify.rocq.papers.lecture27.path_run import (
    NEEDS,
    SAME,
    KnownOnPath,
    PathInRun,
    PathVocabulary,
    name_in_run,
)
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN
from verify.rocq.theorem import Binder, Exported, Theorem, project, prove_conjunction


def write_theorem_of_path_step(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return relations at a local step of a run, by terms; raises `NotExported` for other links and for noise."""
    if a.full_gradients not in claim.assumptions or certificate.roots:
        raise NotExported("its certificate uses other claims about runs with noise")
    known = KnownOnPath(claim, certificate, export_id)
    return _PathStepWriter(claim, certificate, known).theorem(), known.uses


class _PathStepWriter:
    def __init__(self, claim: Claim, certificate: Certificate, known: KnownOnPath) -> None:
        self.claim, self.certificate, self.known = claim, certificate, known
        self.vocabulary = vocabulary = PathVocabulary(claim, quiet=True)
        self.index = vocabulary.symbols(q.local_step_index)
        conditions = tuple(conditions_of(claim, certificate.relaxed))
        (self.base,) = {one.base for one in list_sides(claim).atoms(sp.Pow) if one.exp.has(self.index)} or {None}
        self.counter = StepIndex(claim, self.base)
        names = vocabulary.numbers
        names |= {self.index: "INR k"} | ({} if self.base is None else {POWER: f"({number(self.base, names)}) ^ k"})
        self.path = PathInRun(claim, conditions)
        self.signs = SignProofs(names, conditions, [(POWER, sp.S.One), (self.index, sp.S.Zero), *vocabulary.least])
        found, self.hypotheses, self.shown = known.parameters(vocabulary, self.base)
        self.links = Links(Reader(vocabulary, found), self.signs)
        in_run = name_in_run(claim, self.base)
        self.in_run = Links(Reader(in_run, found), replace(self.signs, names=in_run.numbers))

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        step, run = self._state_step(), self.path.run
        goal = [self._write_relation(*one) for one in zip(self.claim.relations, self.certificate.links, strict=True)]
        used = list_sides(self.claim).free_symbols
        parameters = [*self.path.binders(used, own=self.links.own), *run.signs(self.signs.conditions).hypotheses()]
        proofs = []
        for place in range(len(goal)):
            part = project("known", place, len(goal))
            proofs.append(f"first [exact ({part}) | apply Rle_trans with (1 := {part}); right; {SAME} | {SAME}].")
        lines = [KNOWN, *self.path.known, *run.signs(self.signs.conditions).prepare_conditions(), *self.shown]
        lines.append(f"pose proof ({step.apply(**{**self.path.arguments(), 'k': 'k'})}) as known.")
        proof = "\n".join([*lines, prove_conjunction(proofs)])
        name, names = name_of(self.claim.id), self.path.quantity_names
        return Theorem(name, parameters, " /\\\n  ".join(goal), proof, (step,), NEEDS, names=names)

    def _write_relation(self, relation: Relation, why: object) -> str:
        """Return a relation of the claim at step k, as text."""
        if not isinstance(why, Sequence):
            return restate_by_paper(self.in_run, relation, why)[0]
        sign = {"<=": "<=", "==": "="}[relation.operator]
        return f"{self._write_side(relation.left)} {sign} {self._write_side(relation.right)}"

    def _write_side(self, side: Expr) -> str:
        """Return a side as text: a number, or a term in vectors of the step."""
        try:
            return number(side, {**self.path.run.names, self.index: "INR k"})
        except NotExported:
            return self.in_run.text(self.in_run.side(self.counter.write_powers(side)))

    def _state_step(self) -> Theorem:
        """Return the lemma with all relations at a step."""
        pairs = list(zip(self.claim.relations, self.certificate.links, strict=True))
        for relation in (one for one, why in pairs if not isinstance(why, Products)):
            self.links.side(self.counter.write_powers(relation.left))
        goal, proofs = zip(*(self._prove_link(relation, why) for relation, why in pairs), strict=True)
        vocabulary, links = self.vocabulary, self.links
        parameters = [*binders(vocabulary, links.used, own=links.own), *vocabulary.more, Binder("k", "nat")]
        parameters += [*self.hypotheses, *self.signs.hypotheses()]
        start = [links.opening, "pose proof (pos_INR k) as k_large."]
        if self.base is not None:
            base, power = number(self.base, vocabulary.numbers), vocabulary.numbers[POWER]
            more = number(self.base - 1, vocabulary.numbers)
            start.append(f"assert (grows : 0 < {more}) by positive.")
            start.append(f"assert (power_large : 1 <= {power}) by (apply (pow_R1_Rle ({base})); lra).")
            start.append(f"assert (above : 0 <= {power} - 1) by lra.")
        proof = "\n".join([*start, *self.signs.prepare_conditions(), prove_conjunction(proofs)])
        return Theorem(f"{name_of(self.claim.id)}_at_step", parameters, " /\\\n  ".join(goal), proof)

    def _prove_link(self, relation: Relation, why: object) -> tuple[str, str]:
        """Return the statement of a relation at a step, and its proof."""
        links = self.links
        if not isinstance(why, Sequence):
            return restate_by_paper(links, relation, why)
        left, right = (links.side(self.counter.write_powers(side)) for side in relation.sides)
        if relation.operator == "==":
            return f"{links.text(left)} = {links.text(right)}", links.identity(left, right)
        return f"{links.text(left)} <= {links.text(right)}", links.inequality(left, right, why)
