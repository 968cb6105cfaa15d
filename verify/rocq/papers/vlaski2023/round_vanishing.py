"""Export bounds on weighted averages of gradients by the distance from their zero (`library/Vanishing.v`).

This zero is the limit of local steps of equal size as the step size vanishes. The weights, points and constants come
from a certificate's terms.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Average, Expr, Inner
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.links import Squared
from verify.rocq.names import list_sides, name_of
from verify.rocq.numbers import number
from verify.rocq.refusals import NotExported
from verify.rocq.round_scalars import KNOWN
from verify.rocq.round_vocabulary import RoundReader, RoundVocabulary
from verify.rocq.rounds import LIBRARY
from verify.rocq.theorem import Binder, Theorem, prove_conjunction

_BIAS = (
    Binder("bias", "R"),
    Binder("bias_sign", "0 <= bias"),
    Binder("bias_S", "‖w_bar - x_star‖² = bias ^ 2"),
)
_LEMMAS = {
    "strong_convexity": ("weighted_monotone", "nu own_strongly_convex_S nu_positive", "2"),
    "lipschitz_gradient_length": ("weighted_lipschitz", "delta own_smooth_S delta_sign", "1"),
}
"""By inequality of a term: the lemma, its arguments, and the side of a relation that it bounds."""

_SIZE = sp.Symbol("size", positive=True)


def is_of_vanishing(claim: Claim, certificate: Certificate) -> bool:
    """Return whether a claim compares gradients with those at the limit point of small steps."""
    known = {q.small_step_optimum, q.small_step_bias} & {*claim.notation.values()}
    return bool(known) and any(isinstance(why, Squared) for why in certificate.links)


def write_theorem_of_vanishing(claim: Claim, certificate: Certificate) -> Theorem:
    """Return bounds from below and above, as a theorem about any round."""
    if claim.conditions or certificate.lemmas or certificate.roots or certificate.relaxed is not None:
        raise NotExported("weighted averages of gradients are exported without conditions, lemmas and roots")
    return _VanishingWriter(claim, certificate).theorem()


class _VanishingWriter:
    def __init__(self, claim: Claim, certificate: Certificate) -> None:
        self.claim, self.certificate = claim, certificate
        self.vocabulary = RoundVocabulary(claim)
        symbol = self.symbol = self.vocabulary.symbols
        self.vocabulary.numbers[symbol(q.small_step_bias)] = _BIAS[0].name
        self.reader = RoundReader(self.vocabulary)
        self.has_bias = list_sides(claim).has(symbol(q.small_step_bias))

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        relations = self.claim.relations
        goal = " /\\\n  ".join(
            f"{self._write_scalar(one.left)} <= {self._write_scalar(one.right)}" for one in relations
        )
        links = [why.terms if isinstance(why, Squared) else why for why in self.certificate.links]
        proof = prove_conjunction([self._write_proof(one, why) for one, why in zip(relations, links, strict=True)])
        self.vocabulary.used.add(self.symbol(q.small_step_optimum))
        parameters = [*self.vocabulary.binders()]
        if self.has_bias:
            parameters += _BIAS
        library = (*LIBRARY, "Lengths", "Vanishing")
        return Theorem(
            name_of(self.claim.id), parameters, goal, proof, library=library, names=self.vocabulary.quantity_names
        )

    def _write_scalar(self, scalar: Expr) -> str:
        """Return a scalar as text."""
        return self.reader.write_scalar(scalar)

    def _write_proof(self, relation: Relation, terms: object) -> str:
        """Return the proof of a bound on a weighted average of gradients, by the lemma of its term."""
        if relation.operator != "<=" or not isinstance(terms, Sequence):
            raise NotExported("weighted averages of gradients are exported if terms bound them from below or above")
        part = next((term for term in terms if term.reason.kind in _LEMMAS and term.averaged), None)
        if part is None:
            raise NotExported("no term compares the clients' gradients with those at the zero of their average")
        lemma, needs, place = _LEMMAS[part.reason.kind]
        weight, point = self._find_weight(part), self._write_point(part)
        c = f"(fun i => {self.reader.number(weight)})"
        vector, bound = (relation.right, relation.left) if place == "2" else (relation.left, relation.right)
        client = "pose proof (E_large S i); rewrite ?(same_size_S i O)"
        gradient = "dot (grad (client_objective S i) w_bar) w"
        return "\n".join(
            [
                KNOWN,
                f"assert (weights : forall i, (i < number (step_clients S))%nat -> 0 <= {self.reader.number(weight)}).",
                f"{{ intros i Hi. {client}. of_signs. }}",
                "assert (rest : forall w, mean (step_clients S) "
                f"(fun i => {self.reader.number(weight)} * {gradient}) = 0).",
                "{ intros w. "
                "pose proof (small_step_gradients S w_bar w same_size_S size_positive small_step_optimum_S) as known.",
                f"  rewrite (mean_ext _ _ (fun i => ({self._write_common_factor(weight)}) * (E_of S i * {gradient}))).",
                "  - rewrite mean_scale, known. ring.",
                f"  - intros i Hi. {client}. field; nonzero. }}",
                f"pose proof ({lemma} S {c} ({point}) w_bar weights {needs}) as bound.",
                f"assert (vector : {self._write_scalar(vector)} = ‖weighted_change S {c} ({point}) w_bar‖²).",
                f"{{ apply same_squares. intros w. rewrite (weighted_from_rest S {c} ({point}) w_bar w (rest w)).",
                "  apply Rminus_diag_uniq; pushed; as_one_mean S ltac:(fun _ => by_itself); of_client. }",
                f"assert (turned : ‖w_bar - {point}‖² = ‖{point} - w_bar‖²) by (expanded; sorted_dots; ring).",
                f"rewrite vector; apply Rle_trans with ({place} := bound); right.",
                self._compare_constants(bound, weight, needs[: needs.index(" ")]),
            ]
        )

    def _find_weight(self, part: Part) -> Expr:
        """Return the weight of a client: the coefficient without the averages over clients."""
        means = part.coefficient.atoms(Average)
        twice: Expr = 2 * sp.Mul(*means) if means else sp.S.One
        return sp.sympify(part.coefficient / twice)

    def _write_point(self, part: Part) -> str:
        """Return the point at which a term compares gradients with those at the small-step optimum."""
        best = self.symbol(q.small_step_optimum)
        (point,) = (one for one in part.reason.about[1:] if one != best)
        return self.reader.write_vector(sp.sympify(point))

    def _write_common_factor(self, weight: Expr) -> str:
        """Return the common factor of the clients' weights, which comes from equal step sizes."""
        size = {self.symbol(q.client_step_size): _SIZE}
        share = sp.sympify(weight / self.symbol(q.client_local_steps)).xreplace(size)
        return number(share, {**self.vocabulary.numbers, _SIZE: "size_of_client S O"})

    def _compare_constants(self, bound: Expr, weight: Expr, constant: str) -> str:
        """Prove that the constant of a bound is the one of the lemma."""
        (mean,) = (one for one in bound.atoms(Average) if not one.has(Inner))
        own = {"nu": q.client_strong_convexity, "delta": q.client_smoothness}[constant]
        self.vocabulary.used.add(self.symbol(own))
        factor = self.reader.number(sp.cancel(weight * self.symbol(own) / mean.args[0]))
        member = self.reader.number(mean.args[0])
        return (
            f"rewrite (mean_ext _ (fun i => {self.reader.number(weight)} * {constant} i) "
            f"(fun i => ({factor}) * ({member}))) by (intros i Hi; pose proof (E_large S i); field; nonzero).\n"
            f"rewrite mean_scale; {'rewrite <- bias_S; ' if self.has_bias else ''}"
            "rewrite ?turned; field; nonzero."
        )
