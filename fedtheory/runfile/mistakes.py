"""Collects all mistakes of a run file: each one is repaired, and the file is read again to find the next."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from fedtheory.errors import CodeError, InputError, TooLarge
from fedtheory.federation.problem.datasets import cache_files
from fedtheory.runfile.synonyms import find_key

_Read = TypeVar("_Read")

_MOST = 20
_STAND_INS: dict[str, Any] = {"local_step_size": 1, "rounds": 1}
"""Placeholders for missing keys without default, so that reading can go on."""
_ONE_CLIENT = {"kind": "quadratic", "hessians": [[[1]]], "linear": [[0]], "start": [0]}
_OF_ANY_PROBLEM = ("unknown key", "is missing")
"""Beginnings of messages about an algorithm that do not depend on the problem."""


def read_or_list(content: dict[str, Any], read: Callable[[dict[str, Any]], _Read]) -> _Read:
    """Read the tables of a run file by `read`; raise one `InputError` that names all mistakes."""
    with cache_files({}):
        try:
            return read(content)
        except (CodeError, TooLarge):
            raise
        except InputError as first:
            more = [mistake for mistake in _collect_mistakes(deepcopy(content), read) if str(mistake) != str(first)]
            listed = "".join(f"; also {mistake}" for mistake in more)
            raise type(first)(first.key, first.message + listed, first.file) from None


def _collect_mistakes(content: dict[str, Any], read: Callable[[dict[str, Any]], object]) -> list[InputError]:
    """Return the mistakes of tables, repairing the tables in the process."""
    found: list[InputError] = []
    has_problem, is_cut = True, False
    for _ in range(_MOST):
        try:
            read(content)
        except CodeError:
            break
        except InputError as mistake:
            # A key may be missing only because an earlier repair removed it.
            is_cut_off = is_cut and mistake.key.startswith("problem") and mistake.message.startswith("is missing")
            is_new = not is_cut_off and not any(_is_repeated(mistake, earlier) for earlier in found)
            if is_new and (has_problem or mistake.message.startswith(_OF_ANY_PROBLEM)) and not _follows(mistake, found):
                found.append(mistake)
            is_cut |= mistake.key.startswith("problem") and not mistake.message.startswith(_OF_ANY_PROBLEM)
            if not (is_new and _repair_key(content, mistake)):
                if not has_problem or not mistake.key.startswith("problem") or "algorithm" not in content:
                    break
                # The problem cannot be repaired: the algorithm is read with a placeholder problem.
                content["problem"], has_problem = dict(_ONE_CLIENT), False
        else:
            break
    return found


def _is_repeated(mistake: InputError, earlier: InputError) -> bool:
    """Return whether both mistakes are about one key; a missing key may have got the value of a misspelt one."""
    was_missing = earlier.message.startswith("is missing") and not mistake.message.startswith("is missing")
    return mistake.key == earlier.key and not was_missing


def _follows(mistake: InputError, found: list[InputError]) -> bool:
    """Return whether a mistake may result from an earlier repair: its message mentions the repaired key."""
    names = [_find_last_part(earlier.key) for earlier in found]
    return any(re.search(rf"\b{re.escape(name)}\b", mistake.message) for name in names)


def _repair_key(content: dict[str, Any], mistake: InputError) -> bool:
    """Rename, remove or fill in the key of a mistake; return False if none of these helps."""
    if mistake.file:
        # The mistake is in another file, such as that of an algorithm.
        return False
    *tables, name = [part.partition("[")[0] for part in mistake.key.split(".")]
    inside: Any = content
    for table in tables:
        if not isinstance(inside, dict) or table not in inside:
            return False
        inside = inside[table]
    if not isinstance(inside, dict):
        # The mistake is that the value is no table: its key is the table's own name.
        return False
    if name not in inside:
        return _fill_in(content, inside, tables, name, mistake.message)
    value = inside.pop(name)
    key = find_key(name, _STAND_INS)
    if mistake.message.startswith("unknown key") and key is not None and key not in inside:
        inside[key] = value
    elif name in _STAND_INS:
        inside[name] = _STAND_INS[name]
    return True


def _fill_in(content: dict[str, Any], inside: dict[str, Any], tables: list[str], name: str, message: str) -> bool:
    """Give a missing key a value; remove a table inside another one instead."""
    named = [given for given in inside if re.search(rf"(?<!\w){re.escape(given)}(?!\w)", message)]
    if named:
        inside[name] = inside.pop(named[0])
    elif name in _STAND_INS:
        inside[name] = _STAND_INS[name]
    elif len(tables) > 1:
        content[tables[0]].pop(tables[1], None)
    else:
        return False
    return True


def _find_last_part(key: str) -> str:
    """Return the last part of a key, without an index."""
    return key.rpartition(".")[2].partition("[")[0]
