"""Reads the declarations in the module ``exhibits`` of a paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits.exhibit import Exhibit
from fedtheory.language.exhibits.page import Page
from fedtheory.language.source import Paper


def exhibits_for(paper: Paper, claim: Claim) -> list[Exhibit]:
    """Return the exhibits that suit a claim of the paper, in the order of their declaration."""
    declared = _read_declared(paper, "EXHIBITS", lambda entry: isinstance(entry, Exhibit), "an Exhibit")
    return [exhibit for exhibit in declared if exhibit.suits(claim)]


def pages_of(paper: Paper) -> tuple[Callable[[], Page], ...]:
    """Return the functions that compute the paper's separate pages."""
    return _read_declared(paper, "PAGES", callable, "a function that returns a Page")


def _read_declared(paper: Paper, name: str, is_valid: Callable[[object], bool], expected: str) -> tuple[Any, ...]:
    """Return the entries of a tuple of the module; raise `InputError` for an invalid one."""
    declared = tuple(getattr(paper.part("exhibits"), name, ()))
    for number, entry in enumerate(declared):
        if not is_valid(entry):
            raise InputError(f"{name}[{number}]", f"expected {expected}, got {entry!r}", f"{paper.package}.exhibits")
    return declared
