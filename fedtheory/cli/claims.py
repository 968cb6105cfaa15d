"""`fedtheory claims`: what is encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import Json, SourceKey, Targets, print_json, print_table, styled

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

NAME = "claims"


def run(targets: Targets = None, source: SourceKey = None, as_json: Json = False) -> None:
    """List the encoded claims, in the order of their sources' pages."""
    from fedtheory.language.targets import expand_or_all, resolve

    claims = [resolve(target) for target in expand_or_all(targets, source)]
    if as_json:
        print_json([summary(claim) for claim in claims])
        return
    rows = [[claim.id, claim.kind, claim.title, claim.locator, styled(claim.verdict)] for claim in claims]
    columns = ["id", "kind", "title", "where", "verdict"]
    print_table(f"{len(claims)} claims", columns, rows, whole=("verdict",), roomy=("kind", "where"))


def summary(claim: Claim) -> dict[str, Any]:
    """What a list of claims says of each."""
    return {
        "id": claim.id,
        "source": claim.source,
        "locator": claim.locator,
        "kind": claim.kind,
        "title": claim.title,
        "statement": claim.statement,
        "corrects": claim.corrects,
        "verdict": claim.verdict,
    }
