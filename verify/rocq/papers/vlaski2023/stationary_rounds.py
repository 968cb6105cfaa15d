"""Export the stationary error of rounds with small steps, by the noise of the federated gradient
(`library/Settling.v`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from verify.rocq.names import name_of
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import RoundReader, RoundVocabulary
from verify.rocq.rounds import LIBRARY
from verify.rocq.theorem import Binder, Exported, Theorem, declare_real, project

_ERROR = "leading_error S D solution"
_CURVED = (
    *declare_real("nu_F", positive=True),
    Binder("strongly_convex_mean_S", "strongly_convex nu_F (F S)"),
)
_AT_OPTIMUM = (
    Binder("at_optimum_S", "server_model S = x_star"),
    Binder("H", "step_space S -> step_space S"),
    Binder("hessian_S", "hessian_at (F S) (server_model S) H"),
    Binder("solution", "nat -> step_space S"),
    Binder("solved_S", "solves S D H solution"),
)
"""Arguments of a lemma: a round that starts from the optimum, the Hessian there, and the noise that it causes."""


def is_of_stationary_error(certificate: Combination) -> bool:
    """Return whether a claim bounds the stationary error by the noise at the optimum."""
    premises = (part.premise for link in certificate.links for part in link)
    return any(isinstance(one, Derived) and one.kind == "at the optimum" for one in premises)


def write_theorem_of_stationary_error(
    claim: Claim, certificate: Combination, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return a bound on the stationary error, for a round from the optimum, and the claim on the noise."""
    parts = [part for link in certificate.links for part in link]
    symbol = RoundVocabulary(replace(claim, place="round")).symbols
    (relation,) = claim.relations
    share = symbol(q.effective_step_size) / (2 * symbol(q.smallest_curvature))
    is_whole = relation.operator == "<=" and relation.left == symbol(q.leading_limiting_distance_sq)
    if claim.conditions or len(parts) != 1 or not is_whole or sp.cancel(parts[0].coefficient - share) != 0:
        raise NotExported("the stationary error is exported if the noise at the optimum bounds it")
    premise = parts[0].premise
    assert isinstance(premise, Derived)
    used = export_id(premise.claim)
    parameters = [*used.general.binders]
    parameters += [one for one in _CURVED if one.name not in {binder.name for binder in parameters}]
    reader = RoundReader(RoundVocabulary(replace(claim, place="round")))
    statement = f"{_ERROR} <= {reader.write_scalar(relation.right)}"
    library = (*LIBRARY, "Lengths", "Changes", "Vanishing", "Settling")
    names = {**reader.vocabulary.quantity_names, q.leading_limiting_distance_sq: _ERROR}
    proof = _write_proof(used, premise.link)
    name = name_of(claim.id)
    return Theorem(name, [*parameters, *_AT_OPTIMUM], statement, proof, library=library, names=names), [used]


def _write_proof(used: Exported, link: int) -> str:
    """Return the proof of the bound, by the theorem on the noise of a round."""
    noise = project(used.general.apply(), link, len(used.claim.relations))
    error = "leading_error_at_most S D H solution nu_F step_size_positive nu_F_positive strongly_convex_mean_S"
    return "\n".join(
        [
            "pose proof (clients_at_least_one S) as M_large.",
            "pose proof (participants_large _ D) as participants_known.",
            f"pose proof ({noise}) as noise.",
            "assert (none : ‖x_star - server_model S‖² = 0) by (rewrite at_optimum_S, minus_self; apply dot_zero).",
            f"apply Rle_trans with (1 := {error} hessian_S solved_S).",
            "match type of noise with ?variance <= ?level =>",
            "  assert (same : mean (outcomes D) (fun s => ‖federated_noise S D s‖²) = variance);",
            "  [| apply Rle_trans with (step_size S / (2 * nu_F) * level)] end.",
            "- apply mean_ext. intros s Hs. apply same_squares. unfold federated_noise. by_changes.",
            "- rewrite same. apply Rmult_le_compat_l; [of_signs | exact noise].",
            "- rewrite none. right. field. nonzero.",
        ]
    )
