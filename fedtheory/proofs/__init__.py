"""Proofs as certificates: data for the kernel, one module for each source.

certificate    one identity for each link of a claim
means          means over the local steps of a round or a run
recursion      bounds on the drift, step by step
combination    sums of proved claims about a run
theory         what the kernel may use, from a claim's assumptions
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from fedtheory.claim import Claim
from fedtheory.kernel import Rejected, Step
from fedtheory.proofs.certificate import Certificate, examine_links
from fedtheory.proofs.combination import Combination, Part, examine_combination
from fedtheory.proofs.means import MeanCertificate, examine_mean
from fedtheory.proofs.proof import Proof, Prover
from fedtheory.proofs.recursion import Recursion, examine_recursion
from fedtheory.proofs.theory import theory_of
from fedtheory.registry import find

__all__ = [
    "AnyCertificate",
    "Certificate",
    "Combination",
    "MeanCertificate",
    "Part",
    "Proof",
    "Recursion",
    "certificates",
    "examination",
    "examine",
    "prove",
    "theory_of",
]

AnyCertificate = Certificate | MeanCertificate | Combination | Recursion

_EXAMINERS: dict[type, Callable[[Claim, Any, Prover], Iterator[Step]]] = {
    Certificate: examine_links,
    MeanCertificate: examine_mean,
    Combination: examine_combination,
    Recursion: examine_recursion,
}


@cache
def certificates() -> dict[str, AnyCertificate]:
    """Every certificate by the id of its claim."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found = [certificate for module in modules for certificate in getattr(module, "CERTIFICATES", [])]
    by_claim = {certificate.claim: certificate for certificate in found}
    if len(by_claim) != len(found):
        raise ValueError("a claim has two certificates")
    return by_claim


def prove(claim: Claim) -> Proof:
    """What the kernel says of a claim and the certificate that goes by its id."""
    certificate = certificates().get(claim.id)
    return Proof(claim, None, ()) if certificate is None else examine(claim, certificate)


@cache
def _proof_of(claim_id: str) -> Proof:
    return prove(find(claim_id))


def examine(claim: Claim, certificate: AnyCertificate, prover: Prover = _proof_of) -> Proof:
    """Check a certificate of a claim; `prover` says what is proved of the claims that it relies on."""
    return Proof(claim, certificate, tuple(examination(claim, certificate, prover)))


def examination(claim: Claim, certificate: AnyCertificate, prover: Prover = _proof_of) -> Iterator[Step]:
    """The steps of an examination, one by one."""
    try:
        yield from _EXAMINERS[type(certificate)](claim, certificate, prover)
    except Rejected as reason:
        yield Step(str(reason), False)
