"""The list of claims that Rocq has accepted, written after a check; tests compare it with the export.

The command ``python -m verify.rocq.accepted FOLDER`` writes the list from a folder in which `make` has run.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from verify.rocq.export import export_id
from verify.rocq.library_parts import read_library
from verify.rocq.names import name_of
from verify.rocq.project import LAST, collect_uses, list_proved_ids, name_file, render_file, select_library
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Exported

_NAME = "checked.json"


@dataclass(frozen=True)
class Checked:
    """A claim that Rocq has accepted."""

    id: str
    statement: str
    """Statement of the theorem in Rocq."""
    digest: str
    """SHA-256 of all files that the theorem needs, including its part of the library, without comments."""

    @property
    def theorem(self) -> str:
        """Return the name of the theorem."""
        return name_of(self.id)


@cache
def load_accepted() -> dict[str, Checked]:
    """Return the list of accepted theorems, by the ids of claims."""
    listed = json.loads((files("verify.rocq") / _NAME).read_text(encoding="utf-8"))
    return {claim_id: Checked(claim_id, **entry) for claim_id, entry in listed.items()}


def compute_digest(known: Exported) -> str:
    """Return the SHA-256 of all files that a theorem needs, including its part of the library, without comments."""
    texts = [*select_library(known).values(), *(render_file(one) for one in collect_uses(known).values())]
    return hashlib.sha256("\0".join(map(remove_comments, texts)).encode()).hexdigest()


def remove_comments(text: str) -> str:
    """Replace the comments of a Rocq text, which may be nested, by spaces."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(part)
    return " ".join(" ".join(kept).split())


def list_accepted(folder: Path) -> list[Checked]:
    """Return the proved claims whose present export was checked in a folder."""
    found = []
    for claim_id in list_proved_ids():
        try:
            known = export_id(claim_id)
        except NotExported:
            continue
        if _is_accepted(folder, known):
            found.append(Checked(claim_id, known.theorem.statement, compute_digest(known)))
    return found


def _is_accepted(folder: Path, known: Exported) -> bool:
    """Return whether the folder has compiled files for a theorem, and its printed assumptions."""
    texts = read_library() | {name_file(one): render_file(one) for one in collect_uses(known).values()}
    is_same = all(
        (folder / name).is_file() and (folder / name).read_text("utf-8") == text for name, text in texts.items()
    )
    return is_same and all((folder / name).with_suffix(".vo").is_file() for name in (*texts, LAST))


def main(arguments: Sequence[str]) -> None:
    """Write the list."""
    (folder,) = arguments
    found = list_accepted(Path(folder))
    entries = {one.id: {"statement": one.statement, "digest": one.digest} for one in found}
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    (Path(__file__).parent / _NAME).write_text(text + "\n", encoding="utf-8")
    print(f"Rocq has accepted {len(found)} of {len(list_proved_ids())} proved claims")


if __name__ == "__main__":
    main(sys.argv[1:])
