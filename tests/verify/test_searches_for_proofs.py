"""A user-defined claim is searched for a proof, and for violations where the proof does not reach."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.cli.verify import encode_verdict, print_text
from fedtheory.engine.run import Run
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run
from verify.searches import find_premises, search_proof
from verify.verdict import verify

eta, tau, zeta, sigma, L = sp.symbols("eta tau zeta sigma L", positive=True)
WHERE = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation}
SETTING = (a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step)


def _drift(assumptions: tuple[a.Assumption, ...]) -> Claim:
    return Claim(
        id="mine:drift",
        lhs=q.max_drift,
        rhs=20 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2,
        where={**WHERE, L: q.smoothness},
        conditions=[eta <= 1 / (4 * L)],
        assumptions=assumptions,
    )


def _run(curvature: int) -> Run:
    """Return a run of two clients, of whom the second has the given curvature."""
    problem = {"kind": "quadratic", "hessians": [[[1]], [[curvature]]], "linear": [[1], [2]], "start": [0]}
    return parse_run({"problem": problem, "algorithm": {"local_step_size": "1/8", "rounds": 2}}, RATIONAL)


def test_missing_convexity_is_not_supposed() -> None:
    """A claim that is proved under convexity is not proved where it does not assume it."""
    assert find_premises(resolve(_drift((*SETTING, a.convex_and_smooth)))) is not None
    assert find_premises(resolve(_drift(SETTING))) is None


def test_runs_outside_a_proof_are_checked() -> None:
    """A proof for convex clients leaves the runs whose clients are not convex."""
    proof, rest = search_proof(resolve(_drift(SETTING)))
    assert proof is not None
    assert proof.supposed == ("convex and smooth",)
    assert proof.setting.endswith("a.convex_and_smooth]")
    fails = rest.assumptions[0]
    assert [fails.failure(_run(curvature)) is None for curvature in (2, 0, -1)] == [False, False, True]


@pytest.mark.long
def test_the_verdict_is_proved() -> None:
    """A claim that follows from published ones is proved where instances agree; no violation is searched for."""
    (verdict,) = verify([_drift((*SETTING, a.convex_and_smooth))], jobs=1, search=1)
    assert (verdict.verdict, verdict.searched) == ("proved", 0)


@pytest.mark.long
def test_the_verdict_names_what_a_proof_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Without convexity the claim is supported, and its verdict names the assumption that would prove it."""
    (verdict,) = verify([_drift(SETTING)], jobs=1, search=1)
    assert (verdict.verdict, verdict.searched) == ("supported", 0)
    assert encode_verdict(verdict)["found_proof"]["supposed"] == ["convex and smooth"]
    print_text([verdict], 1.0)
    printed = " ".join(capsys.readouterr().out.split())
    assert "mine:drift would be proved if it assumed: convex and smooth" in printed
    assert "runs where this fails: 0 to which the claim applies" in printed
