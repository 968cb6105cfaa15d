"""The verdict on an average over local steps depends on every step of its term."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fedtheory.kernel import Step
from fedtheory.language.registry import find
from fedtheory.proofs import certificates, check_certificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.terms.proof_of_claim import check_terms


def test_a_step_that_fails_breaks_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing step of the check of a term breaks the average, at any position."""
    means = ((name, one) for name, one in certificates().items() if isinstance(one, MeanCertificate))
    name, certificate = next(means)
    claim = find(name)
    assert check_certificate(claim, certificate).verdict == "proved"

    def with_a_failure(*of: Any) -> Iterator[Step]:
        yield Step("a step that fails", False)
        yield from check_terms(*of)

    monkeypatch.setattr("fedtheory.proofs.checker.check_terms", with_a_failure)
    assert check_certificate(claim, certificate).verdict == "broken"
