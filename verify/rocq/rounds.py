"""Export claims about one round with client sampling.

Equations between vectors are linear in sums over steps and averages over clients and participants; a tactic of
`library/Round.v` compares their coefficients for each client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fedtheory.kernel.expressions import Expr, Inner, Value
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from verify.rocq.names import list_sides, name_of
from verify.rocq.refusals import NotExported
from verify.rocq.round_premises import Premises
from verify.rocq.round_roots import Roots
from verify.rocq.round_scalars import KNOWN, OutcomeScalars, Scalars
from verify.rocq.round_vocabulary import RoundReader, RoundVocabulary
from verify.rocq.step import write_operator
from verify.rocq.theorem import Binder, Exported, Theorem, declare_index, prove_conjunction

LIBRARY = ("Space", "Clients", "Objectives", "Normal", "Step", "Own", "Round")


def write_theorem_of_round(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return the theorem of a claim about a round, and used claims; raises `NotExported` for others."""
    if certificate.relaxed is not None:
        raise NotExported("claims about rounds with client sampling are exported under their own conditions")
    uses = [export_id(name) for name in certificate.lemmas]
    vocabulary = RoundVocabulary(claim)
    premises = Premises(vocabulary, uses)
    reader = RoundReader(vocabulary, premises.known())
    roots = Roots(certificate.roots, reader)
    relations = [roots.substitute(relation) for relation in claim.relations]
    goal = [_write_relation(relation, reader) for relation in relations]
    links = certificate.links if len(certificate.links) == len(claim.relations) else [[] for _ in claim.relations]
    sides = list_sides(claim)
    conditions = [*premises.hypotheses(reader)]
    writer = OutcomeScalars if any(map(vocabulary.is_of_outcome, sides)) else Scalars
    scalars = writer(reader, premises, roots)
    proofs = [_prove_relation(relation, why, scalars) for relation, why in zip(relations, links, strict=True)]
    statement = " /\\\n  ".join(goal)
    parameters = [*vocabulary.binders()]
    if any(map(vocabulary.is_of_outcome, sides)):
        parameters += [*declare_index("s", "number (outcomes D)")]
    if any(map(vocabulary.is_of_step, sides)):
        parameters.append(Binder("e", "nat"))
    if any(map(vocabulary.is_own, sides)):
        parameters += [*declare_index("i", "number (step_clients S)")]
    parameters += [*premises.needed(parameters), *conditions]
    library = [*LIBRARY, *sorted(vocabulary.files)]
    library += [file for one in uses for file in one.theorem.library if file not in library]
    return Theorem(
        name_of(claim.id),
        parameters,
        statement,
        prove_conjunction(proofs),
        library=library,
        names=vocabulary.quantity_names,
    ), uses


def _write_relation(relation: Relation, reader: RoundReader) -> str:
    """Return a relation as text."""
    left, right = (reader.write_scalar(side) for side in relation.sides)
    return f"{left} {write_operator(relation)} {right}"


def _prove_relation(relation: Relation, why: object, scalars: Scalars) -> str:
    """Return the proof of one relation about a round."""
    if relation.operator == "==" and relation.right == 0 and isinstance(relation.left, Inner):
        return "by_linearity."
    if relation.operator == "==" and not _is_of_vectors(relation.left - relation.right):
        return "by_number."
    if not isinstance(why, Sequence):
        raise NotExported(f"links of the kind {type(why).__name__} are not exported")
    return f"{KNOWN}\n{scalars.proof(relation, why)}"


def _is_of_vectors(expression: Expr) -> bool:
    """Return whether an expression has inner products or values of objectives."""
    return bool(expression.has(Inner, Value))
