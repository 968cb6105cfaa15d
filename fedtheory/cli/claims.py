"""`fedtheory claims`: list the encoded claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, NoCode, SourceKey, print_json, print_table, style_verdict

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

NAME = "claims"


Wanted = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CLAIM|WORD]...",
        help="Claims as for `show`, or a word: part of an id, a title or the names of quantities.",
    ),
]


def run(targets: Wanted = None, source: SourceKey = None, *, _no_code: NoCode = False, as_json: Json = False) -> None:
    """List the encoded claims, in the order of their sources' pages; a word selects those that mention it."""
    claims = _select_claims(targets, source)
    if as_json:
        print_json([encode_summary(claim) for claim in claims])
        return
    rows = [[claim.id, claim.kind, claim.title, claim.locator, style_verdict(claim.verdict)] for claim in claims]
    columns = ["id", "kind", "title", "where", "verdict"]
    title = "1 claim" if len(claims) == 1 else f"{len(claims)} claims"
    print_table(title, columns, rows, whole=("verdict",), roomy=("kind", "where"))


def _select_claims(targets: list[str] | None, source: str | None) -> list[Claim]:
    """Return the claims that are named, or that contain a search word, without repetition."""
    from fedtheory.language.registry import find_paper
    from fedtheory.language.targets import expand_targets, resolve

    words = [target for target in targets or [] if _is_word(target) and find_paper(target) is None]
    named = [target for target in targets or [] if target not in words]
    found = [claim for word in words for claim in _find_claims_with(word, source)]
    if named or not words:
        found += [resolve(target) for target in expand_targets(named, source)]
    return list({claim.id: claim for claim in found}.values())


def _is_word(target: str) -> bool:
    """Return whether a target is a search word: letters, digits and hyphens, and no folder."""
    return target.replace("-", "").isalnum() and not Path(target).is_dir()


def _find_claims_with(word: str, source: str | None) -> list[Claim]:
    """Return the claims with a word in their id, title, place, or in the name of one of their quantities."""
    from fedtheory.cli.search_words import select_matching
    from fedtheory.language.registry import claims_of

    return select_matching(word, claims_of(source), _list_texts, "no claim has {} in its id, title or quantities", NAME)


def _list_texts(claim: Claim) -> tuple[str, ...]:
    """Return the texts of a claim that a search word is compared with."""
    names = " ".join(quantity.name.replace("_", " ") for quantity in claim.where.values())
    return claim.id, claim.title, claim.locator, names, " ".join(one.name for one in claim.assumptions)


def encode_summary(claim: Claim) -> dict[str, Any]:
    """Return an entry of the list, as JSON."""
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
