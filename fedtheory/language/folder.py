"""Opens a paper in its own folder outside any package, checks it, and registers it by its key."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import add_paper
from fedtheory.language.source import Paper, Source
from fedtheory.language.wellformed import require_wellformed
from fedtheory.plain_names import require_readable
from fedtheory.runfile.loading import load_folder

_KEY = re.compile(r"[A-Za-z0-9_-]+")


@cache
def open_paper(folder: Path) -> Paper:
    """Return the paper of a folder; an `InputError` names the file and what was expected.

    The folder is a package whose ``__init__.py`` has a `SOURCE`.  It is
    executed as Python, with all rights of the user.
    """
    file = folder / "__init__.py"
    if not file.is_file():
        expected = "expected the folder of a paper, with a SOURCE in __init__.py; `fedtheory new-source` writes one"
        raise InputError("", expected, str(folder))
    module = load_folder(folder)
    source = getattr(module, "SOURCE", None)
    if not isinstance(source, Source):
        raise InputError("SOURCE", f"expected a fedtheory.Source, got {source!r}", str(file))
    try:
        _require_sound(source)
        paper = Paper(source, module.__name__, folder)
        add_paper(paper)
    except InputError as error:
        raise error.in_file(str(file)) from None
    return paper


def require_key(key: object, name: str) -> None:
    """Raise `InputError`, with the given value, if the key of a paper cannot be part of ids and file names."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InputError(name, f"expected letters, digits, - and _, got {key!r}")


def _require_sound(source: Source) -> None:
    require_key(source.key, "SOURCE.key")
    require_readable("SOURCE.title", source.title)
    require_readable("SOURCE.authors", source.authors)
    known: set[str] = set()
    for n, claim in enumerate(source.claims):
        if not isinstance(claim, Claim):
            raise InputError(f"SOURCE.claims[{n}]", f"expected a Claim, got {claim!r}")
        if not claim.id.startswith(f"{source.key}:"):
            raise InputError(f"SOURCE.claims[{n}]", f"expected an id that begins with {source.key}:, got {claim.id!r}")
        if claim.id in known:
            raise InputError(f"SOURCE.claims[{n}]", f"two claims have the id {claim.id!r}")
        known.add(claim.id)
        require_wellformed(claim)
