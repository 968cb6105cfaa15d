"""List the proved claims that only the kernel has checked, with reasons; a section of the page on trust.

The command ``python -m verify.rocq.unchecked FILE`` updates the section.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from verify.rocq.accepted import load_accepted
from verify.rocq.export import export_id
from verify.rocq.project import list_proved_ids
from verify.rocq.refusals import NotExported

START, END = "<!-- by our kernel alone -->", "<!-- end -->"


def list_unchecked() -> dict[str, list[str]]:
    """Return the ids of proved claims that Rocq has not accepted, by reason, in the order of the papers."""
    found: dict[str, list[str]] = {}
    for claim_id in list_proved_ids():
        if claim_id not in load_accepted():
            found.setdefault(_explain(claim_id), []).append(claim_id)
    return found


def write_section() -> str:
    """Return the list as Markdown."""
    groups = sorted(list_unchecked().items(), key=lambda group: (-len(group[1]), group[0]))
    lines = [f"- {reason}: {', '.join(f'`{one}`' for one in ids)}" for reason, ids in groups]
    return "\n".join([START, *lines, END])


def _explain(claim_id: str) -> str:
    """Return the reason why a claim has no accepted theorem."""
    try:
        export_id(claim_id)
    except NotExported as reason:
        return reason.reason
    return "Rocq has not checked the theorem"


def main(arguments: Sequence[str]) -> None:
    """Update the section in a file."""
    (file,) = map(Path, arguments)
    before, rest = file.read_text(encoding="utf-8").split(START)
    file.write_text(before + write_section() + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
