"""What a user can name on the command line: the id of a claim, or ``file.py:NAME`` for one of their own."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from functools import cache
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.language.wellformed import require_wellformed


@cache
def resolve(target: str) -> Claim:
    """The claim of an id or of ``file.py:NAME``; `InputError` where there is none.

    A file is executed as Python, with all its rights: only name files you trust.
    """
    if target.endswith(".py"):
        raise InputError("id", f"expected {target}:NAME, with the name of a claim in that file")
    file, _, name = target.rpartition(":")
    return _from_file(Path(file), name) if file.endswith(".py") else find(target)


def _from_file(path: Path, name: str) -> Claim:
    spec = importlib.util.spec_from_file_location(f"_user_claims_{path.stem}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise InputError("", "no such file", str(path))
    module = importlib.util.module_from_spec(spec)
    try:
        # Standard output belongs to the answer.
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError("", f"cannot be executed: {type(error).__name__}: {error}", str(path)) from None
    claim = getattr(module, name, None)
    if not isinstance(claim, Claim):
        names = sorted(key for key, value in vars(module).items() if isinstance(value, Claim))
        expected = f"expected the name of a Claim: {', '.join(names)}" if names else "the file defines no Claim"
        raise InputError(name, expected, str(path))
    try:
        require_wellformed(claim)
    except InputError as error:
        raise error.in_file(str(path)) from None
    return claim
