"""Search for a proof of a user-defined claim, then for a violation on the runs that the proof does not cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fedtheory.engine.run import Run
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.setting import format_setting
from fedtheory.language.targets import Target, resolve
from fedtheory.proofs import prove
from fedtheory.search import Found, find_proof
from verify.falsify import QuickSearch, search_further, search_quickly

EFFORT = 3 * 10**7
"""Units of work, which take a few seconds; `fedtheory prove` may use more."""


@dataclass(frozen=True)
class FoundProof:
    """A certificate from a search, as plain data, so that it can be sent between processes and cached."""

    uses: tuple[str, ...]
    """The proved claims and facts that the certificate uses."""
    supposed: tuple[str, ...]
    """Names of assumptions that the certificate needs and the claim does not make."""
    setting: str
    """The argument that states all assumptions of the claim and the additional ones."""


def search_proof(claim: Claim) -> tuple[FoundProof | None, Claim]:
    """Search for a certificate; return it with a claim restricted to the runs that it does not cover.

    These are the runs on which an additional assumption of the certificate fails.
    """
    found = find_proof(claim, EFFORT)
    if not isinstance(found, Found):
        return None, claim
    names = tuple(one.name for one in found.supposed)
    proof = FoundProof(tuple(found.uses), names, format_setting(found.proof.claim))
    return proof, _negate_assumptions(claim, found.supposed) if names else claim


def find_premises(claim: Claim) -> tuple[str, ...] | None:
    """Return the proved claims and facts that imply a claim without further assumptions; None if the search fails."""
    proof, _ = search_proof(claim)
    return None if proof is None or proof.supposed else proof.uses


def _negate_assumptions(claim: Claim, supposed: Sequence[Assumption]) -> Claim:
    def require(run: Run) -> bool:
        return any(assumption.failure(run) is not None for assumption in supposed)

    names = " and ".join(assumption.name for assumption in supposed)
    fails = Assumption(f"not {names}", f"One of these does not hold: {names}.", require)
    return replace(claim, assumptions=(fails, *claim.assumptions))


@dataclass(frozen=True)
class Searches:
    """Results of the two searches."""

    proof: FoundProof | None = None
    violation: QuickSearch | None = None
    """Result of the second search; None where an unconditional proof leaves no run to search."""


def search_proof_and_violation(target: Target, seconds: float) -> Searches:
    """Search for a proof, unless one is stored, then for a violation within `seconds` of counted work."""
    claim = resolve(target)
    if prove(claim).verdict == "proved":
        return Searches()
    proof, rest = search_proof(claim) if claim.rate is None else (None, claim)
    if proof is None:
        return Searches(None, search_quickly(claim, seconds))
    return Searches(proof, search_further(rest, seconds) if proof.supposed else None)
