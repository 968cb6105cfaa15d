"""The library on which theorems rest: files of this package, and those in the folders ``rocq`` of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from fedtheory.language.paper_parts import merge_named, texts_of_papers

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
"""The files on FedAvg, each after those that it needs; every theorem rests on them."""
_MORE_INSTANCES = ("TwoClients", "CoinRuns")
_MORE_BUILT = ("alike_unbiased", "alike_second_moment")
"""Statements on runs that exist, besides the theorems of the files of instances."""


@cache
def _texts() -> Mapping[str, str]:
    """The texts of all files, by their names."""
    own = (one for one in (files("verify.rocq") / "library").iterdir() if one.name.endswith(".v"))
    named = [(one.name.removesuffix(".v"), one.read_text(encoding="utf-8")) for one in own]
    return merge_named((*named, *texts_of_papers("rocq/library", ".v").items()))


@cache
def _sort_files() -> tuple[str, ...]:
    """The names of all files, each after those that it needs."""
    found = dict.fromkeys(BASE)
    for name in sorted(_texts()):
        found |= dict.fromkeys(_with_required(name))
    return tuple(found)


def _with_required(name: str) -> Iterator[str]:
    """A file after all that it needs."""
    for line in re.findall(r"^Require Import (.*)\.$", _texts()[name], re.MULTILINE):
        for required in line.split():
            yield from _with_required(required)
    yield name


def library_files(names: Iterable[str] | None = None) -> dict[str, str]:
    """The texts of the library by their paths in a project; of all of its files unless some are named."""
    return {f"library/{name}.v": _texts()[name] for name in (_sort_files() if names is None else names)}


def instance_names() -> list[str]:
    """The files of the library with runs on which structures or main theorems are instantiated."""
    return [name for name in _sort_files() if name.endswith("Instance") or name in _MORE_INSTANCES]


def built_theorems() -> list[str]:
    """The theorems of the library that say that the structures exist."""
    texts = (_texts()[name] for name in instance_names())
    return [*_MORE_BUILT, *(name for text in texts for name in re.findall(r"^Theorem (\w+)", text, re.MULTILINE))]


@cache
def collect_words() -> frozenset[str]:
    """All words of the library, without those of comments."""
    code = (re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL) for text in _texts().values())
    return frozenset(word for text in code for word in re.findall(r"[A-Za-z_][\w']*", text))
