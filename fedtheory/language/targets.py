"""Targets that a user can name: a claim, several claims, or all claims of a paper.

A claim is named by its id, or by ``file.py:NAME`` if it is the user's own.
Several are named by a pattern such as ``liu2022:thm-*``, by the key of a
source, by a paper's folder, or by ``file.py`` alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.folder import open_paper
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.registry import claims_of, find, find_paper, find_publisher, is_registered, match_claims
from fedtheory.language.setting import with_setting
from fedtheory.language.wellformed import require_wellformed
from fedtheory.runfile.loading import load_file

Target = str | Claim
"""A claim, or its name."""


@cache
def resolve(target: Target) -> Claim:
    """Return the claim of an id, of ``file.py:NAME`` or ``FOLDER:NAME``, or the given claim itself.

    Raises `InputError` if there is none.

    A file or folder is executed as Python, with all rights of the user: name only files that you trust.
    """
    if isinstance(target, Claim):
        if is_registered(target):
            return target
        require_wellformed(target)
        return _prepare_own_claim(target)
    if target.endswith(".py"):
        raise InputError("id", f"expected {target}:NAME, with the name of a claim in that file")
    home, _, name = target.rpartition(":")
    if home.endswith(".py"):
        return _load_claim(Path(home), name)
    if home and Path(home).is_dir():
        return find(f"{open_paper(Path(home).resolve()).source.key}:{name}")
    return find(target)


def expand(targets: Sequence[str]) -> list[str]:
    """Return targets of one claim each, without repetition.

    Raises `InputError` if a file or folder has none, or if two claims of files have one id.
    """
    found = list(dict.fromkeys(single for target in targets for single in _expand(target)))
    _require_different_ids(found)
    return found


def expand_targets(targets: Sequence[str] | None, source: str | None) -> list[str]:
    """Return the targets that are named; without any, the claims of a source, or all."""
    if targets and source is not None:
        raise InputError("--source", "expected either claims or a source, got both")
    return expand(targets) if targets else [claim.id for claim in claims_of(source)]


def display_name(target: Target, claim: Claim) -> str:
    """Return the displayed name of a target.

    It is the id of a paper's claim, or ``file.py:NAME`` without an absolute path.
    """
    if not isinstance(target, str) or find_publisher(claim) is not None:
        return claim.id
    home, _, name = target.rpartition(":")
    path = Path(home)
    if not path.is_absolute():
        return target
    return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name}:{name}"


def locate_mistake(error: InputError, target: Target) -> InputError:
    """Return a mistake in a claim, with the line of the user's file that causes it."""
    home, _, name = target.rpartition(":") if isinstance(target, str) else ("", "", "")
    return error.in_file(_locate_field(Path(home), name, error.key)) if home.endswith(".py") else error


def _expand(target: str) -> Iterator[str]:
    path = Path(target)
    if target.endswith(".py"):
        yield from (f"{target}:{name}" for name in _list_names(path))
    elif find_paper(target) is not None:
        yield from (claim.id for claim in claims_of(target))
    elif target and path.is_dir():
        folder = path.resolve()
        claims = open_paper(folder).source.claims
        yield from (f"{folder}:{claim.id.partition(':')[2]}" for claim in claims)
    elif target.rpartition(":")[0].endswith(".py"):
        # The id is unknown; checking this by the papers would import all of them.
        yield target
    else:
        yield from [claim.id for claim in match_claims(target)] or [target]


def _require_different_ids(targets: Sequence[str]) -> None:
    """Raise `InputError` if two claims of Python files have one id: tables and pages would confuse them."""
    known: dict[str, tuple[str, Claim]] = {}
    for target in targets:
        home, _, name = target.rpartition(":")
        claim = getattr(load_file(Path(home)), name, None) if home.endswith(".py") else None
        if not isinstance(claim, Claim):
            continue
        first, other = known.setdefault(claim.id, (target, claim))
        if other is not claim:
            own = f"{claim.id.partition(':')[0]}:{name}"
            taken = f"{claim.id!r} is the id of {first} as well"
            raise InputError(
                "id", f"{taken}: expected another one, such as {own!r}", _locate_field(Path(home), name, "id")
            )


def _list_names(path: Path) -> list[str]:
    """Return the names of the claims that a file defines, in their order."""
    names = [name for name, value in vars(load_file(path)).items() if isinstance(value, Claim)]
    if not names:
        raise InputError("", "the file defines no Claim", str(path))
    return names


def _load_claim(path: Path, name: str) -> Claim:
    """Return the claim of this name from a Python file; raise InputError if there is none."""
    claim = getattr(load_file(path), name, None)
    if not isinstance(claim, Claim):
        names = sorted(_list_names(path))
        raise InputError(name, f"expected the name of a Claim: {', '.join(names)}", str(path))
    try:
        require_wellformed(claim)
        _require_new_id(claim, path)
    except InputError as error:
        raise error.in_file(_locate_field(path, name, error.key)) from None
    return _prepare_own_claim(claim)


def _prepare_own_claim(claim: Claim) -> Claim:
    """Return a user-defined claim, or a modified copy of a published one, with its default setting."""
    own = replace(claim, is_published=False) if claim.is_published else claim
    return with_setting(_drop_second_symbols(own))


def _drop_second_symbols(claim: Claim) -> Claim:
    """Return a claim without unused symbols for its sides: one `where` for all claims of a file lists them too."""
    sides = [side for side in (claim.lhs, claim.rhs, *claim.chain) if isinstance(side, RunQuantity)]
    second = [symbol for symbol, one in claim.where.items() if one in sides and symbol not in claim.notation]
    kept = {symbol: one for symbol, one in claim.where.items() if symbol not in second}
    return replace(claim, where=kept) if second else claim


def _require_new_id(claim: Claim, path: Path) -> None:
    """Raise `InputError` if an id belongs to a paper's claim, so that tables and pages cannot confuse them."""
    paper = find_paper(claim.source)
    if paper is None or paper.folder in path.resolve().parents:
        return
    if any(other.id == claim.id for other in claims_of(claim.source)):
        raise InputError(
            "id", f"{claim.id} is a claim of {claim.source} already; expected an id of your own, such as mine:bound"
        )


def _locate_field(path: Path, name: str, field: str) -> str:
    """Return file and line of a claim's field, or of its name if the field is not written there."""
    try:
        statements = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return str(path)
    for statement in statements:
        if isinstance(statement, ast.Assign) and name in {getattr(target, "id", None) for target in statement.targets}:
            given = statement.value.keywords if isinstance(statement.value, ast.Call) else []
            lines = [keyword.value.lineno for keyword in given if keyword.arg == field]
            return f"{path}, line {(lines or [statement.lineno])[0]}"
    return str(path)
