"""Export claims at points and local steps whose certificates are identities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.links import Products
from fedtheory.proofs.proof import conditions_of
from verify.rocq.hypotheses import binders, declare_counts
from verify.rocq.links import Links
from verify.rocq.names import name_of
from verify.rocq.numbers import SignProofs
from verify.rocq.paper_exports import restate_by_paper
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, Theorem, prove_conjunction
from verify.rocq.vocabulary import Vocabulary

PLACES = ("points", "path", "step", "round")


def write_operator(relation: Relation) -> str:
    """Return the operator of a relation; raises `NotExported` for strict inequalities."""
    if relation.operator in ("<", ">"):
        raise NotExported("no tactic is generated for strict inequalities")
    return "=" if relation.operator == "==" else relation.operator


def write_theorem_at_step(
    claim: Claim, certificate: Certificate, name_symbols: Callable[[Claim], Vocabulary] | None = None
) -> Theorem:
    """Return the theorem of a claim, proved by its certificate; raises `NotExported` if the library lacks something.

    The theorem has the certificate's conditions if these are weaker.  `name_symbols` returns the names of the claim's
    symbols, by default those at a local step of all clients.
    """
    if claim.place not in PLACES:
        raise NotExported(f"the library has no vectors for claims about a {claim.place}")
    if len(claim.relations) != len(certificate.links):
        raise NotExported("expected one link of the certificate for each relation")
    if certificate.lemmas:
        raise NotExported("its certificate uses other claims about runs")
    return write_theorem_with(claim, certificate, {}, [], name_symbols)


def write_theorem_with(
    claim: Claim,
    certificate: Certificate,
    known: Mapping[str, KnownSlack],
    hypotheses: Sequence[Binder],
    name_symbols: Callable[[Claim], Vocabulary] | None = None,
) -> Theorem:
    """Return the theorem at a step with further facts on each client: slacks by name, and hypotheses."""
    if certificate.roots:
        raise NotExported("its certificate uses roots")
    conditions = conditions_of(claim, certificate.relaxed)
    is_quiet = a.full_gradients in claim.assumptions
    vocabulary = Vocabulary(claim, quiet=is_quiet) if name_symbols is None else name_symbols(claim)
    signs = SignProofs(vocabulary.numbers, tuple(conditions), vocabulary.least)
    links = Links(Reader(vocabulary, known), signs)
    goal, proofs = write_links(links, claim, certificate)
    parameters = vocabulary.list_binders(links.used)
    if parameters is None:
        _require_known(vocabulary, links.used)
        parameters = [
            *declare_counts(vocabulary, links.used),
            *binders(vocabulary, links.used, own=links.own),
            *hypotheses,
        ]
    proof = "\n".join([links.opening, *vocabulary.known, *signs.prepare_conditions(), prove_conjunction(proofs)])
    parameters = [*parameters, *signs.hypotheses()]
    needs = sorted(links.reader.files)
    return Theorem(name_of(claim.id), parameters, goal, proof, names=vocabulary.quantity_names, needs=needs)


def write_links(links: Links, claim: Claim, certificate: Certificate) -> tuple[str, Sequence[str]]:
    """Return the statement of a claim, and the proof of each of its relations."""
    pairs = list(zip(claim.relations, certificate.links, strict=True))
    # Whether a client is mentioned must be known before any proof is written.
    for relation in (one for one, why in pairs if not isinstance(why, Products)):
        links.side(relation.left)
        links.side(relation.right)
    goal, proofs = zip(*(_write_link(links, *pair) for pair in pairs), strict=True)
    return " /\\\n  ".join(goal), proofs


def _require_known(vocabulary: Vocabulary, symbols: set[sp.Symbol]) -> None:
    """Raise `NotExported` for numbers without a hypothesis: a curvature, and a number of steps without their index."""
    symbol, claim = vocabulary.symbols, vocabulary.claim
    if symbol(q.strong_convexity) in symbols and a.strongly_convex_clients not in claim.assumptions:
        raise NotExported("the claim names strong_convexity: add assumptions.strongly_convex_clients to it")
    if symbol(q.local_steps) in symbols and not vocabulary.has_steps:
        raise NotExported("expected the index of the local step, as the claim has the number of steps")


def _write_link(links: Links, relation: Relation, why: object) -> tuple[str, str]:
    """Return the statement of a relation and its proof."""
    if not isinstance(why, Sequence):
        return restate_by_paper(links, relation, why)
    left, right = links.side(relation.left), links.side(relation.right)
    goal = f"{links.text(left)} {write_operator(relation)} {links.text(right)}"
    if relation.operator == "==":
        return goal, links.identity(left, right)
    flip = "apply Rle_ge.\n" if relation.operator == ">=" else ""
    return goal, flip + links.inequality(*relation.in_order(left, right), why)
