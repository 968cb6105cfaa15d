"""`fedtheory errata`: false statements of the papers, and their corrections."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import Json, NoCode, SourceKey, Targets, print_json, print_lines, print_table, style_verdict

if TYPE_CHECKING:
    from verify.errata import Erratum

NAME = "errata"


def run(targets: Targets = None, source: SourceKey = None, *, _no_code: NoCode = False, as_json: Json = False) -> None:
    """List the refuted claims: the error, the correction, and a counterexample, which is checked again in rationals."""
    from fedtheory.language.targets import expand_targets, resolve
    from verify.errata import list_errata

    entries = list_errata([resolve(target) for target in expand_targets(targets, source)])
    if as_json:
        print_json([encode_erratum(entry) for entry in entries])
    else:
        print_text(entries)


def encode_erratum(entry: Erratum) -> dict[str, Any]:
    """Return the JSON entry; `counterexample` is a run file, `lhs` and `rhs` are the sides there."""
    claim, repairs, sides = entry.claim, entry.repairs, entry.sides
    return {
        "printed": claim.id,
        "source": claim.source,
        "title": claim.title,
        "locator": claim.locator,
        "statement": claim.statement,
        "fault": entry.fault,
        "reason": entry.reason,
        "corrected": repairs[0].id if repairs else None,
        "status": repairs[0].verdict if repairs else None,
        "repairs": [{"id": r.id, "title": r.title, "statement": r.statement, "verdict": r.verdict} for r in repairs],
        "counterexample": entry.run,
        "lhs": None if sides is None else str(sides[0]),
        "rhs": None if sides is None else str(sides[1]),
    }


def print_text(entries: list[Erratum]) -> None:
    """Print the errata for a terminal."""
    from fedtheory.cli.unicode_math import unicode_prose

    rows = [
        [entry.claim.id, entry.fault, *_list_corrections(entry), unicode_prose(entry.claim.title)] for entry in entries
    ]
    columns = ["printed", "fault", "repair", "which is", "title"]
    print_table("errata", columns, rows, whole=("printed", "fault", "repair", "which is"), roomy=("title",))
    counts = Counter(entry.fault for entry in entries)
    faults = ", ".join(f"{number} {fault}" for fault, number in counts.items())
    listed = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    print_lines(f"{listed} ({faults}); all counterexamples checked again in rationals")
    print_lines("`fedtheory show ID` says why; `fedtheory errata --json` has the run files")


def _list_corrections(entry: Erratum) -> tuple[str, str]:
    """Return ids of the corrections, without the prefix shared with the published claim, and their verdicts."""
    names = [repair.id.removeprefix(entry.claim.id) for repair in entry.repairs]
    return "\n".join(names), "\n".join(style_verdict(repair.verdict) for repair in entry.repairs)
