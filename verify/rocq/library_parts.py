"""The Rocq library of the theorems: files of this package, and of the folders ``rocq`` of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from fedtheory.language.paper_parts import merge_named, read_paper_texts

BASE = (
    "Space",
    "Clients",
    "Objectives",
    "Normal",
    "Step",
    "Own",
    "Run",
    "Lengths",
    "Interval",
    "Instance",
    "TwoClients",
)
"""The files on FedAvg, in the order of their dependencies; every theorem needs them."""
_MORE_INSTANCES = ("TwoClients", "CoinRuns")
_MORE_BUILT = ("alike_unbiased", "alike_second_moment")
"""Statements that certain runs exist, in addition to the theorems in files of instances."""


@cache
def _read_texts() -> Mapping[str, str]:
    """Return the texts of all files by name."""
    own = (one for one in (files("verify.rocq") / "library").iterdir() if one.name.endswith(".v"))
    named = [(one.name.removesuffix(".v"), one.read_text(encoding="utf-8")) for one in own]
    return merge_named((*named, *read_paper_texts("rocq/library", ".v").items()))


@cache
def _sort_files() -> tuple[str, ...]:
    """Return the names of all files, sorted by their dependencies."""
    found = dict.fromkeys(BASE)
    for name in sorted(_read_texts()):
        found |= dict.fromkeys(_list_required(name))
    return tuple(found)


def _list_required(name: str) -> Iterator[str]:
    """Yield a file after all files that it needs."""
    for line in re.findall(r"^Require Import (.*)\.$", _read_texts()[name], re.MULTILINE):
        for required in line.split():
            yield from _list_required(required)
    yield name


def read_library(names: Iterable[str] | None = None) -> dict[str, str]:
    """Return the texts of the library by their paths in a project, by default of all files."""
    return {f"library/{name}.v": _read_texts()[name] for name in (_sort_files() if names is None else names)}


def list_instances() -> list[str]:
    """Return the files of the library with runs to which structures or main theorems are applied."""
    return [name for name in _sort_files() if name.endswith("Instance") or name in _MORE_INSTANCES]


def list_existence_theorems() -> list[str]:
    """Return the theorems of the library that the structures exist."""
    texts = (_read_texts()[name] for name in list_instances())
    return [*_MORE_BUILT, *(name for text in texts for name in re.findall(r"^Theorem (\w+)", text, re.MULTILINE))]


@cache
def collect_words() -> frozenset[str]:
    """Return all words of the library, except in comments."""
    code = (re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL) for text in _read_texts().values())
    return frozenset(word for text in code for word in re.findall(r"[A-Za-z_][\w']*", text))
