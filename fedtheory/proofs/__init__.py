"""Proofs as certificates: data for the kernel, one module for each source."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from fedtheory.claim import Claim
from fedtheory.proofs.certificate import Certificate, MeanCertificate, Proof, examine, examine_mean
from fedtheory.proofs.theory import theory_of
from fedtheory.registry import find

__all__ = ["Certificate", "MeanCertificate", "Proof", "certificates", "examine", "examine_mean", "prove", "theory_of"]


@cache
def certificates() -> dict[str, Certificate | MeanCertificate]:
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
    if certificate is None:
        return Proof(claim, None, ())
    if isinstance(certificate, MeanCertificate):
        return examine_mean(claim, certificate, prove(find(certificate.step)))
    return examine(claim, certificate)
