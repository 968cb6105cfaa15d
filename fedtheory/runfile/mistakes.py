"""All mistakes of a run file at once: each that is found is mended, and the file is read again for the next."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from fedtheory.errors import CodeError, InputError, TooLarge
from fedtheory.federation.problem.datasets import keeping_files
from fedtheory.runfile.synonyms import key_for

_Read = TypeVar("_Read")

_MOST = 20
_STAND_INS: dict[str, Any] = {"local_step_size": 1, "rounds": 1}
"""Values of keys that have no default, so that others can be read."""
_ONE_CLIENT = {"kind": "quadratic", "hessians": [[[1]]], "linear": [[0]], "start": [0]}
_OF_ANY_PROBLEM = ("unknown key", "is missing")
"""Beginnings of messages on an algorithm that do not depend on the problem."""


def read_or_list(content: dict[str, Any], read: Callable[[dict[str, Any]], _Read]) -> _Read:
    """Read the tables of a run file by `read`; raises one `InputError` that names all mistakes."""
    with keeping_files({}):
        try:
            return read(content)
        except (CodeError, TooLarge):
            raise
        except InputError as first:
            more = [mistake for mistake in _mistakes(deepcopy(content), read) if str(mistake) != str(first)]
            listed = "".join(f"; also {mistake}" for mistake in more)
            raise type(first)(first.key, first.message + listed, first.file) from None


def _mistakes(content: dict[str, Any], read: Callable[[dict[str, Any]], object]) -> list[InputError]:
    """The mistakes of tables, which are mended on the way."""
    found: list[InputError] = []
    has_problem, is_cut = True, False
    for _ in range(_MOST):
        try:
            read(content)
        except CodeError:
            break
        except InputError as mistake:
            # What is missing from a problem may be so because of what was removed.
            is_cut_off = is_cut and mistake.key.startswith("problem") and mistake.message.startswith("is missing")
            is_new = not is_cut_off and not any(_is_repeated(mistake, earlier) for earlier in found)
            if is_new and (has_problem or mistake.message.startswith(_OF_ANY_PROBLEM)) and not _follows(mistake, found):
                found.append(mistake)
            is_cut |= mistake.key.startswith("problem") and not mistake.message.startswith(_OF_ANY_PROBLEM)
            if not (is_new and _mend(content, mistake)):
                if not has_problem or not mistake.key.startswith("problem") or "algorithm" not in content:
                    break
                # What is wrong with the problem cannot be mended: the algorithm is read next to another one.
                content["problem"], has_problem = dict(_ONE_CLIENT), False
        else:
            break
    return found


def _is_repeated(mistake: InputError, earlier: InputError) -> bool:
    """Whether both are about one key; one that was missing has the value of another name now, which may be wrong."""
    was_missing = earlier.message.startswith("is missing") and not mistake.message.startswith("is missing")
    return mistake.key == earlier.key and not was_missing


def _follows(mistake: InputError, found: list[InputError]) -> bool:
    """Return whether a mistake may come from what an earlier one was mended to: it mentions its key."""
    names = [_last(earlier.key) for earlier in found]
    return any(re.search(rf"\b{re.escape(name)}\b", mistake.message) for name in names)


def _mend(content: dict[str, Any], mistake: InputError) -> bool:
    """Rename, remove or fill in the key of a mistake; False where nothing helps."""
    if mistake.file:
        # It is in another file, such as that of an algorithm.
        return False
    *tables, name = [part.partition("[")[0] for part in mistake.key.split(".")]
    inside: Any = content
    for table in tables:
        if not isinstance(inside, dict) or table not in inside:
            return False
        inside = inside[table]
    if not isinstance(inside, dict):
        # The key of a table that is none is its own name.
        return False
    if name not in inside:
        return _fill_in(content, inside, tables, name, mistake.message)
    value = inside.pop(name)
    key = key_for(name, _STAND_INS)
    if mistake.message.startswith("unknown key") and key is not None and key not in inside:
        inside[key] = value
    elif name in _STAND_INS:
        inside[name] = _STAND_INS[name]
    return True


def _fill_in(content: dict[str, Any], inside: dict[str, Any], tables: list[str], name: str, message: str) -> bool:
    """Give a missing key a value; a table inside of another one is removed instead."""
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


def _last(key: str) -> str:
    return key.rpartition(".")[2].partition("[")[0]
