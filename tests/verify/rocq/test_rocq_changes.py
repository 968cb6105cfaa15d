"""Bounds on rounds with conditions, lemmas and roots, and on means of gradients, for Rocq."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts
from test_rocq_quotients import larger, recorded
from test_rocq_rounds import judged, library, with_lemmas

from fedtheory.language.registry import find
from fedtheory.proofs.certificate import Certificate
from verify.rocq.export import export_claim
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported

__all__ = ["library"]
ENERGY, JENSEN, ERROR = "vlaski2023:eq-5.54.sharp", "vlaski2023:eq-5.41.fixed", "vlaski2023:eq-5.61.fixed"
HALF, MOST = sp.Rational(1, 2), sp.Rational(9, 10)


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "place", "factor"),
    [
        (ENERGY, 0, HALF),
        (ENERGY, 1, MOST),
        (JENSEN, 1, MOST),
        ("vlaski2023:eq-5.58.fixed", 1, MOST),
        pytest.param(ERROR, 0, MOST, marks=pytest.mark.slow),
        (ERROR, 1, MOST),
        pytest.param("vlaski2023:eq-5.62.explicit", 0, MOST, marks=pytest.mark.slow),
        ("vlaski2023:thm-5.1.recursion.explicit", 0, MOST),
        ("vlaski2023:eq-5.26.other-cost", 0, MOST),
        ("vlaski2023:eq-5.26.other-cost", 1, MOST),
        ("vlaski2023:claim.common-step-bias", 0, MOST),
        ("vlaski2023:claim.common-step-bias", 1, MOST),
        ("vlaski2023:claim.steady-state-noise", 0, MOST),
    ],
)
def test_bounds_on_rounds(library: Path, claim_id: str, place: int, factor: sp.Rational) -> None:
    """The bounds hold, and do not hold with a smaller constant."""
    claim = find(claim_id)
    with_lemmas(library, claim_id)
    assert judged(library, claim)
    assert not judged(library, larger(claim, place, factor))


def test_conditions_of_lemmas_are_needed() -> None:
    """The conditions of a lemma must be among the conditions of the theorem."""
    claim = find(ENERGY)
    certificate = recorded(ENERGY)
    assert "condition1" in export_claim(claim, certificate).theorem.proof
    with pytest.raises(NotExported, match="conditions"):
        export_claim(replace(claim, conditions=()), certificate)


@pytest.mark.rocq
def test_gradient_of_least_mean_squares(library: Path) -> None:
    """With its factor two it has the mean that (5.27) asks for, and without it, as printed, not."""
    assert judged(library, find("vlaski2023:eq-5.44-5.45.fixed"))
    printed = find("vlaski2023:eq-5.44-5.45")
    certificate = Certificate(claim=printed.id, links=[[] for _ in printed.relations])
    (library / "Tried.v").write_text(render_file(export_claim(printed, certificate)), encoding="utf-8")
    assert not accepts(library, "Tried.v")
