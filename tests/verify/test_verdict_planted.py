"""Claims of a user's own file, one true and some false: what they are called, and on what evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.check import check
from verify.claim_verdict import ClaimVerdict
from verify.verdict import verify

pytestmark = pytest.mark.long

PLANTED = """
import sympy as sp
from fedtheory import Claim, Rate
from fedtheory.language import quantities as q

eta, tau, zeta, sigma, L, M, T, D = sp.symbols("eta tau zeta sigma L M T D", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation,
         L: q.smoothness, M: q.clients, T: q.rounds, D: q.initial_distance}
drift_bound = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2
drift = Claim(id="mine:drift", lhs=q.max_drift, rhs=drift_bound, where=where, conditions=[eta <= 1 / (4 * L)])
no_noise_term = Claim(id="mine:no-noise", lhs=q.max_drift, rhs=18 * tau**2 * eta**2 * zeta**2, where=where)
exponent = Claim(id="mine:exponent", lhs=q.max_drift, rhs=drift_bound * eta, where=where, verdict="supported")
start = Claim(id="mine:start", lhs=q.average_suboptimality, rhs=D**2 / (2 * eta * tau * T), where=where,
              conditions=[eta <= 1 / (4 * L)])
fast = Claim(id="mine:fast", rate=Rate(q.average_suboptimality.symbol - q.limiting_suboptimality.symbol, 1 / T**3, T),
             where={T: q.rounds, q.average_suboptimality.symbol: q.average_suboptimality,
                    q.limiting_suboptimality.symbol: q.limiting_suboptimality})
crowded = Claim(id="mine:crowded", lhs=q.average_suboptimality, where=where, conditions=[eta <= 1 / (4 * L)],
                rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 / M**2 + L * drift_bound)
nothing = Claim(id="mine:nothing", lhs=q.max_drift, rhs=1, where=where, conditions=[eta >= 10 / L, eta <= 1 / L])
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClaimVerdict]:
    """Verdicts on a user's file with one true and some false bounds."""
    file = Path(tmp_path_factory.mktemp("mine")) / "mine.py"
    file.write_text(PLANTED)
    names = ("drift", "no_noise_term", "exponent", "start", "fast", "nothing", "crowded")
    return dict(zip(names, verify([f"{file}:{name}" for name in names], jobs=2, search=6), strict=True))


def test_a_true_bound_is_supported(planted: dict[str, ClaimVerdict]) -> None:
    """The drift lemma survives, with its largest ratio and the instance that attains it."""
    found = planted["drift"]
    assert found.verdict == "supported"
    assert found.instances >= 200
    assert found.worst_ratio is not None
    assert 0.1 < found.worst_ratio < 1
    assert found.witness is not None


def test_supported_means_that_a_search_found_nothing(planted: dict[str, ClaimVerdict]) -> None:
    """A search follows the families, which have no crowded instance; what the families refute is not searched.

    The drift lemma is proved for convex and smooth losses, and it applies to no run whose losses are anything else.
    """
    assert planted["crowded"].searched > 12
    assert planted["drift"].found_proof is not None
    assert planted["drift"].searched == 0
    assert planted["exponent"].searched == 0


@pytest.mark.parametrize("name", ["no_noise_term", "exponent", "start", "crowded"])
def test_a_planted_error_is_refuted_by_an_exact_instance(planted: dict[str, ClaimVerdict], name: str) -> None:
    """The counterexample is rational, satisfies the conditions, and violates the bound when checked again."""
    found = planted[name]
    assert found.verdict == "refuted"
    assert found.witness is not None
    again = check(found.claim, found.witness)
    assert again.arithmetic.name == "rational"
    assert again.applicable
    assert again.holds is False
    assert again.ratio is None or (found.worst_ratio is not None and found.worst_ratio >= again.ratio)


def test_a_differing_record_is_noticed(planted: dict[str, ClaimVerdict]) -> None:
    """A claim recorded as supported that is refuted does not agree; one without a record does."""
    assert not planted["exponent"].agrees
    assert planted["start"].agrees


def test_a_rate_that_is_too_fast_is_refuted(planted: dict[str, ClaimVerdict]) -> None:
    """O(1/T^3) where 1/T is true: T times what is measured tends to a positive number."""
    assert planted["fast"].verdict == "refuted"
    assert planted["fast"].reason is not None
    assert planted["fast"].reason.startswith("measured * T tends to ")


def test_refutations_prefer_constants_that_hold_everywhere(planted: dict[str, ClaimVerdict]) -> None:
    """The counterexamples to the drift bounds do not rest on a ball."""
    for name in ("no_noise_term", "exponent"):
        evidence = planted[name].evidence
        assert evidence is not None
        assert evidence.everywhere


def test_a_claim_that_never_applies_says_so(planted: dict[str, ClaimVerdict]) -> None:
    """Conditions that no instance meets give "not applicable", not "supported"."""
    assert planted["nothing"].verdict == "not applicable"
    assert planted["nothing"].instances == 0
