"""Runs in whose rounds clients are drawn, as theorems: what is false is not accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts
from test_rocq import judged, library
from test_rocq_quotients import larger, recorded

from fedtheory.language.registry import find
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from verify.rocq.export import export_claim, export_id
from verify.rocq.project import collect_uses, name_file, render_file
from verify.rocq.refusals import NotExported

__all__ = ["library"]
FORGETTING, LAST, ALL, AVERAGE = (
    "comparator:forgetting.mean-error",
    "comparator:sampled.last-model",
    "comparator:sampled.all-steps",
    "comparator:sampled.average-error",
)


def prepared(folder: Path, claim_id: str) -> None:
    """Check the claims that a claim uses."""
    for used in [*collect_uses(export_id(claim_id)).values()][:-1]:
        path = folder / name_file(used)
        path.parent.mkdir(exist_ok=True)
        if not path.with_suffix(".vo").is_file():
            path.write_text(render_file(used), encoding="utf-8")
            assert accepts(folder, name_file(used))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", [FORGETTING, LAST, ALL, AVERAGE])
def test_half_of_a_bound_is_not_proved(library: Path, claim_id: str) -> None:
    """Rocq accepts the claim, and not half of its bound."""
    prepared(library, claim_id)
    claim, certificate = find(claim_id), recorded(claim_id)
    assert judged(library, claim, certificate)
    assert not judged(library, larger(claim, 0, sp.Rational(1, 2)), certificate)


def paying_less(certificate: AnyCertificate) -> AnyCertificate:
    """Return a certificate whose potential pays for nine tenths of a draw."""
    assert isinstance(certificate, Contraction | ExponentialAverage | MeanCertificate)
    return replace(certificate, potential=sp.Rational(9, 10) * sp.sympify(certificate.potential))


def forgetting_faster(certificate: AnyCertificate) -> AnyCertificate:
    """Return a certificate with another factor than that of the weights of the mean."""
    assert isinstance(certificate, ExponentialAverage)
    return replace(certificate, factor=2 * certificate.factor - 1)


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "changed"),
    [(FORGETTING, paying_less), (FORGETTING, forgetting_faster), (LAST, paying_less), (ALL, paying_less)],
)
def test_wrong_theorems_are_not_accepted(
    library: Path, claim_id: str, changed: Callable[[AnyCertificate], AnyCertificate]
) -> None:
    """Draws have to be paid for, and the weights of the mean are those of the claim."""
    prepared(library, claim_id)
    assert not judged(library, find(claim_id), changed(recorded(claim_id)))


@pytest.mark.rocq
def test_a_run_with_draws_exists(library: Path) -> None:
    """Assumptions on draws are fulfilled by a coin that selects the model."""
    assert accepts(library, "library/Instance.v", "library/SampledInstance.v")


@pytest.mark.parametrize("claim_id", [FORGETTING, LAST, ALL, AVERAGE])
def test_draws_have_a_law(claim_id: str) -> None:
    """Without an assumption on the weights no theorem is written."""
    claim = find(claim_id)
    others = [one for one in claim.assumptions if one.name != "averaged participants"]
    with pytest.raises(NotExported, match="full participation and equal local work"):
        export_claim(replace(claim, assumptions=others), recorded(claim_id))
