"""Digest of a definition's content, independent of the file that states it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import sympy as sp

_WORDS = ("name", "description", "meaning")
"""Fields for readers, which do not affect runs or proofs."""


def digest_of(definition: object) -> str:
    """Return the SHA-256 of all parts of a definition that runs and proofs use, in hexadecimal digits."""
    text = json.dumps(_list_content(definition), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _list_content(part: Any) -> Any:
    """Convert a part to nested lists of texts, which have a digest."""
    if isinstance(part, Mapping):
        return sorted([_list_content(key), _list_content(value)] for key, value in part.items())
    if isinstance(part, list | tuple):
        return [_list_content(one) for one in part]
    if isinstance(part, sp.Basic):
        return sp.srepr(part.xreplace({symbol: _replace_dummy(symbol) for symbol in part.atoms(sp.Symbol)}))
    if is_dataclass(part):
        return {one.name: _list_content(getattr(part, one.name)) for one in fields(part) if one.name not in _WORDS}
    return str(part)


def _replace_dummy(symbol: sp.Symbol) -> sp.Symbol:
    """Return a symbol of the same name and assumptions, which no counter of dummy symbols changes."""
    name = f"Dummy {symbol.name}" if isinstance(symbol, sp.Dummy) else symbol.name
    return sp.Symbol(name, **dict(sorted(symbol.assumptions0.items())))
