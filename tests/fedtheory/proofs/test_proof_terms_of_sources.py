"""Certificates of all sources as proof terms: accepted, except for a listed few."""

from __future__ import annotations

import pytest
from proof_terms import report_of

from fedtheory.proofs import certificates

WITHOUT = {
    "a Contraction has no proof term: rules of its own check it": (
        "comparator:strongly-convex.last-model",
        "comparator:sampled.last-model",
    ),
    "a ExponentialAverage has no proof term: rules of its own check it": (
        "comparator:forgetting.mean-error",
        "comparator:forgetting.at-optimum",
    ),
    "a LastRound has no proof term: rules of its own check it": ("comparator:last-round.error",),
    "a LastIterate has no proof term: rules of its own check it": ("comparator:last-model.error",),
    "a FixedPoint has no proof term: rules of its own check it": (
        *("landmarks:fedavg.at-rest", "landmarks:scaffold.at-rest"),
        *("landmarks:scaffnew.at-rest", "landmarks:fedavgm.at-rest"),
    ),
    "a Lyapunov has no proof term: rules of its own check it": (
        "landmarks:dsgd.consensus",
        "landmarks:fedavgm.contraction",
    ),
    "a Cases has no proof term: rules of its own check it": ("landmarks:scaffnew.contraction",),
    "a LoopMean has no proof term: rules of its own check it": ("liu2022:thm-1.loop",),
}
"""Claims whose certificates have no terms, by the reason."""
REASONS = {name: reason for reason, names in WITHOUT.items() for name in names}
RELYING = {
    "liu2022:cor-2.loop.step": "liu2022:thm-1.loop",
    "liu2022:cor-2.loop": "liu2022:cor-2.loop.step",
}
"""Claims whose terms use one of these claims, so that terms do not prove them."""


FEW = ("lecture27:", "liu2022:", "landmarks:")
"""Sources with few certificates, which use almost all rules and tactics."""
NAMES = [
    pytest.param(name, marks=() if name.startswith(FEW) else pytest.mark.long, id=name)
    for name in sorted(certificates())
]


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_is_a_term(name: str) -> None:
    """A new certificate is a proof term, or the table above has a reason."""
    report = report_of(name)
    if name in REASONS:
        assert REASONS[name] in str(report.refusal)
    elif name in RELYING:
        assert report.refusal.startswith(f"{RELYING[name]} is proved; ")
    else:
        assert report.is_proved, report.refusal
