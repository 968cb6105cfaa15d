"""Quotients, squares, gaps and counts, as theorems: what is false is not accepted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts
from test_rocq import judged, library

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.links import Products
from verify.rocq.export import export_id
from verify.rocq.project import collect_uses, name_file, render_file

__all__ = ["library"]
QUOTIENT, RECIPROCAL = "lecture27:lemma-3.proof", "lecture27:lemma-4"
DECREASE, SQUARE = "lecture27:lemma-4.consequence", "lecture27:thm-1.g-step"


EACH, GAPS = "lecture27:thm-2.each-interval", "lecture27:thm-2.gaps"


def recorded(claim_id: str) -> AnyCertificate:
    """Return a claim's certificate."""
    found = certificate_of(claim_id)
    assert found is not None
    return found


def larger(claim: Claim, place: int, factor: sp.Rational) -> Claim:
    """Return a claim with the right side of one relation multiplied by a number."""
    relations = [*claim.relations]
    relations[place] = replace(relations[place], right=factor * sp.sympify(relations[place].right))
    return replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations))


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "place", "factor"),
    [
        (QUOTIENT, 2, sp.Integer(2)),
        (RECIPROCAL, 0, sp.Integer(2)),
        (RECIPROCAL, 0, sp.Rational(11, 10)),
        (DECREASE, 0, sp.Integer(2)),
        (EACH, 0, sp.Integer(2)),
        (GAPS, 0, sp.Integer(2)),
        ("lecture27:thm-2.interval", 1, sp.Integer(2)),
        ("lecture27:thm-2.jump", 1, sp.Rational(1, 2)),
        pytest.param("lecture27:thm-2.round", 0, sp.Rational(1, 2), marks=pytest.mark.slow),
        pytest.param("lecture27:thm-2.last", 1, sp.Rational(1, 2), marks=pytest.mark.slow),
        ("lecture27:thm-2", 0, sp.Rational(1, 2)),
        ("liu2022:architecture.ps", 0, sp.Rational(1, 2)),
        ("liu2022:architecture.rar", 0, sp.Rational(1, 2)),
        ("liu2022:noniid.GB.B1", 0, sp.Rational(1, 2)),
        (SQUARE, 0, sp.Rational(1, 2)),
        (SQUARE, 1, sp.Rational(1, 2)),
    ],
)
def test_another_constant_is_not_proved(library: Path, claim_id: str, place: int, factor: sp.Rational) -> None:
    """The claim is accepted, by what it uses; twice the gain, or half of the loss, is not."""
    claim, certificate = find(claim_id), recorded(claim_id)
    for used in [*collect_uses(export_id(claim_id)).values()][:-1]:
        path = library / name_file(used)
        path.parent.mkdir(exist_ok=True)
        path.write_text(render_file(used), encoding="utf-8")
        assert accepts(library, name_file(used))
    assert judged(library, claim, certificate)
    assert not judged(library, larger(claim, place, factor), certificate)


@pytest.mark.rocq
def test_denominators_are_not_zero(library: Path) -> None:
    """A quotient is bounded where its denominator is not zero, and a theorem says so; with no such fact it fails."""
    claim, certificate = find(QUOTIENT), recorded(QUOTIENT)
    assert isinstance(certificate, Certificate)
    assert "<> 0 -> " in export_id(QUOTIENT).theorem.statement
    links = [replace(one, divided_by=()) if isinstance(one, Products) else one for one in certificate.links]
    assert not judged(library, claim, replace(certificate, links=links))
