"""Reports smaller constants with which a user-defined bound is proved, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import escape, print_lines, progress
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.cli.proof_search import ProofSearch
    from fedtheory.search import Tightened


def tighten_found(searched: Sequence[ProofSearch | None], effort: int | None) -> Tightened:
    """Lower the constants of the one bound that a search has proved; raise `InputError` if there is no such bound."""
    from fedtheory.search import EFFORT, Found, Tightened, tighten

    if len(searched) != 1 or searched[0] is None:
        raise InputError("--tighten", "expected one user-defined claim without a recorded certificate")
    one = searched[0]
    if not isinstance(one.result, Found):
        raise InputError("--tighten", f"expected a bound that the search proves as it is stated: {one.result.reason}")
    with progress("terms tightened") as report:
        found = tighten(one.claim, EFFORT if effort is None else effort, report)
    # The same search has just proved the claim with its own constants.
    assert isinstance(found, Tightened)
    return found


def encode_tightened(tightened: Tightened) -> dict[str, Any]:
    """Return the JSON key that tightening adds to those of a proof."""
    terms = [{"term": str(one.term), "stated": str(one.stated), "proved": str(one.proved)} for one in tightened.terms]
    proof = tightened.found.proof
    right = str(proof.claim.relations[0].right)
    return {"tightened": {"terms": terms, "rhs": right, "certificate": proof.document, "work": tightened.work}}


def print_tightened(tightened: Tightened) -> None:
    """Print the constant of each term as stated, and the smallest one that was proved."""
    claim = tightened.found.proof.claim
    print_lines(
        "smallest numbers that the search proves, one term after the other:",
        *(f"  {one.stated} -> {one.proved}  for  {escape(str(one.term))}" for one in tightened.terms),
        f"  proved: rhs = {escape(str(claim.relations[0].right))}",
        "  another order of the terms, or another proof, may reach lower",
    )
