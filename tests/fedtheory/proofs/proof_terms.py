"""Proofs of claims by terms only; used claims are proved by terms as well."""

from __future__ import annotations

from functools import cache

from fedtheory.kernel import Step
from fedtheory.language.registry import find
from fedtheory.proofs import certificate_of
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.checking import TermReport, report_terms

_UNDER_WAY: set[str] = set()


@cache
def report_of(name: str) -> TermReport:
    """Return the report on a paper's certificate."""
    certificate = certificate_of(name)
    assert certificate is not None
    return report_terms(find(name), certificate, prove_by_terms)


@cache
def prove_by_terms(name: str) -> Proof:
    """Return the proof of a claim by terms."""
    if name in _UNDER_WAY:
        return Proof(find(name), certificate_of(name), (Step(f"{name} relies on itself", False),))
    _UNDER_WAY.add(name)
    try:
        return Proof(find(name), certificate_of(name), report_of(name).steps)
    finally:
        _UNDER_WAY.discard(name)
