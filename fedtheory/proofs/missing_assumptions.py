"""Finds assumptions that a claim lacks for its certificate, by trying each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fedtheory.language.claim import Claim
from fedtheory.language.vocabulary import Assumed, list_assumptions
from fedtheory.proofs.checker import MOST_WORK, check_certificate
from fedtheory.proofs.proof import IMPLIED_BY, Proof

_MOST = 3
"""Largest number of added assumptions."""
_MOST_OTHERS = 6
"""Limit on the assumptions that change the failure, to which a second one is added."""


def find_missing_assumptions(proof: Proof) -> tuple[str, ...]:
    """Return the names of added assumptions with which a broken certificate is accepted, or gets further; else empty.

    The kernel checks the certificate again for each assumption that the claim does not make; the total work
    is at most the limit of one check, and a certificate that takes a quarter of it is not tried.
    """
    names: list[str] = []
    left = MOST_WORK // 2
    while proof.verdict == "broken" and len(names) < _MOST and proof.own_work <= MOST_WORK // 4:
        tried = []
        for one in _list_candidates(proof.claim):
            tried.append((one, _add_assumption(proof, one)))
            left -= tried[-1][1].own_work
            if left < 0:
                return tuple(names)
        better = _choose_best(proof, tried)
        if better is None:
            return (*names, *_try_pairs(proof, tried))
        names.append(better[0].name)
        proof = better[1]
    return tuple(names)


def _try_pairs(proof: Proof, tried: Sequence[tuple[Assumed, Proof]]) -> tuple[str, ...]:
    """Try pairs of assumptions, if the first of them changes the failure without removing it."""
    others = [each for each in tried if each[1].failing not in (None, proof.failing)]
    if not 0 < len(others) <= _MOST_OTHERS or proof.own_work > MOST_WORK // 1000:
        return ()
    for first, with_first in others:
        second = _choose_best(
            with_first, [(one, _add_assumption(with_first, one)) for one in _list_candidates(with_first.claim)]
        )
        if second is not None:
            return first.name, second[0].name
    return ()


def _list_candidates(claim: Claim) -> Sequence[Assumed]:
    """Return the assumptions of the vocabulary that the claim does not have; those that others imply come first."""
    lacking = (one for one in list_assumptions() if one.assumption not in claim.assumptions)
    return sorted(lacking, key=lambda one: one.assumption not in IMPLIED_BY)


def _add_assumption(proof: Proof, added: Assumed) -> Proof:
    """Return the proof of the same claim with one more assumption."""
    claim = replace(proof.claim, assumptions=[*proof.claim.assumptions, added.assumption])
    return check_certificate(claim, proof.certificate if proof.document is None else proof.document)


def _choose_best(proof: Proof, tried: Sequence[tuple[Assumed, Proof]]) -> tuple[Assumed, Proof] | None:
    """Return the first attempt that is accepted, else the one that gets furthest beyond the failure.

    Returns None if none gets further.
    """
    before = _measure_progress(proof)
    past = [each for each in tried if _measure_progress(each[1]) > before and each[1].failing != proof.failing]
    return max(past, key=lambda each: _measure_progress(each[1]), default=None)


def _measure_progress(proof: Proof) -> tuple[bool, int, bool]:
    """Whether a proof is accepted, the number of steps before the failure, and whether the failing step was reached."""
    held = next((place for place, step in enumerate(proof.steps) if not step.holds), len(proof.steps))
    return proof.verdict == "proved", held, len(proof.steps) > held + 1
