"""The tightened bounds of Theorem 2.1 and its lemmas: smaller constants and wider conditions are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.runfile import parse_run
from fedtheory.sources.renard2022.statements import any_point, tightened
from fedtheory.sources.renard2022.statements.notation import L, M, eta, sigma, tau, zeta
from verify.check import check

STEP, DRIFT, MEAN, THEOREM, ANY, ANY_STEP = (
    find(f"renard2022:{name}")
    for name in (
        "lemma-2.2.halved.step",
        "lemma-2.3.growing",
        "lemma-2.3.mean.growing",
        "thm-2.1.halved",
        "thm-2.1.any-point",
        "thm-2.1.any-point.step",
    )
)
NOT_CONVEX = [*(known for known in STEP.assumptions if known is not a.convex_and_smooth), a.smooth]
CHANGES: dict[str, tuple[Claim, dict[str, Any]]] = {
    "noise of a step halved": (STEP, {"rhs": STEP.rhs - tightened.noise / 2}),
    "a longer step": (STEP, {"conditions": [eta <= 2 / L]}),
    "a step without a condition": (STEP, {"conditions": []}),
    "a step of clients that are not convex": (STEP, {"assumptions": NOT_CONVEX}),
    "half of the pull between two clients": (
        DRIFT,
        {"rhs": DRIFT.rhs - 3 * (1 - 1 / M) ** 2 * (tau * eta * zeta) ** 2},
    ),
    "half of the noise between two clients": (
        DRIFT,
        {"rhs": DRIFT.rhs - 2 * (1 - 1 / M) ** 2 * tau * (eta * sigma) ** 2},
    ),
    "a drift with longer steps": (DRIFT, {"conditions": [eta <= 3 / L]}),
    "half of the mean drift": (MEAN, {"rhs": MEAN.rhs / 2}),
    "the mean without noise of one client": (MEAN, {"rhs": MEAN.rhs.subs(M, 1)}),
    "the mean of one local step": (MEAN, {"rhs": MEAN.rhs.subs(tau, 1)}),
    "a mean drift with longer steps": (MEAN, {"conditions": [eta <= 3 / L]}),
    "half of the first term": (THEOREM, {"rhs": THEOREM.rhs - tightened.start_term / 2}),
    "half of the noise": (THEOREM, {"rhs": THEOREM.rhs - tightened.noise / 2}),
    "half of the drift": (THEOREM, {"rhs": THEOREM.rhs - L * tightened.mean_drift_bound / 4}),
    "the theorem of longer steps": (THEOREM, {"conditions": [eta <= 2 / L]}),
    "any point without its gap": (ANY, {"rhs": ANY.rhs - any_point.gap}),
    "any point at half its distance": (ANY, {"rhs": ANY.rhs - any_point.start_term / 2}),
    "any point with half of the noise": (ANY, {"rhs": ANY.rhs - tightened.noise / 2}),
    "any point with longer steps": (ANY_STEP, {"conditions": [eta <= 2 / L]}),
    "a step to any point with half of the noise": (ANY_STEP, {"rhs": ANY_STEP.rhs - tightened.noise / 2}),
}


@pytest.mark.parametrize(("claim", "change"), CHANGES.values(), ids=CHANGES)
def test_certificates_prove_no_stronger_claim(claim: Claim, change: dict[str, Any]) -> None:
    """The recorded certificate proves the claim, and no stronger one."""
    certificate = certificate_of(claim.id)
    assert certificate is not None
    assert check_certificate(claim, certificate).verdict == "proved"
    assert check_certificate(replace(claim, **change), certificate).verdict != "proved"


def test_one_client_and_one_local_step_have_no_drift() -> None:
    """The bounds vanish without drift; with one client the noise is that of this client."""
    assert tightened.mean_drift_bound.subs(tau, 1) == 0
    assert tightened.mean_drift_bound.subs({M: 1, zeta: 0}) == 0
    assert (
        sp.simplify(THEOREM.rhs.subs({tau: 1, M: 1}) - tightened.start_term.subs(tau, 1) - tightened.noise.subs(M, 1))
        == 0
    )


@pytest.mark.parametrize("printed", ["lemma-2.3.sharp", "lemma-2.3.mean", "thm-2.1.sharp"])
def test_tightened_bounds_are_smaller(printed: str) -> None:
    """The tightened bounds are smaller for every number of steps and clients for which both hold."""
    growing = {"lemma-2.3.sharp": DRIFT, "lemma-2.3.mean": MEAN, "thm-2.1.sharp": THEOREM}[printed]
    before = find(f"renard2022:{printed}").rhs
    for steps in (1, 2, 3, 10, 100):
        for clients in (1, 2, 50):
            sizes = {tau: steps, M: clients, eta: sp.Rational(1, 2) / L}
            left, right = (sp.expand(side.subs(sizes)) for side in (growing.rhs, before))
            assert all(term >= 0 for term in sp.Poly(right - left, sigma, zeta).coeffs())


def test_longer_steps_are_no_matter_of_proof() -> None:
    """At steps of 2/L a run violates the theorem, which holds up to 1/L."""
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    run = parse_run(
        {"problem": problem, "algorithm": {"local_step_size": "2", "local_steps": 1, "rounds": 2}}, RATIONAL
    )
    found = check(replace(THEOREM, conditions=()), run)
    assert found.applicable
    assert found.holds is False


@pytest.mark.parametrize("start", ["0", "1", "100"])
def test_no_point_is_worse_than_the_optimum(start: str) -> None:
    """The best point gives a bound at most that of x*, with equality for a start at the optimum."""
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "noise": "1"}
    algorithm = {"local_step_size": "1/4", "local_steps": 2, "rounds": 3}
    run = parse_run({"problem": {**problem, "start": [start]}, "algorithm": algorithm}, RATIONAL)
    best, at_optimum = (check(claim, run).worst for claim in (ANY, THEOREM))
    assert best.holds is at_optimum.holds is True
    assert best.lhs <= best.rhs <= at_optimum.rhs
    assert (best.rhs == at_optimum.rhs) is (start == "0")
