"""Reads the declarations in the module ``exhibits`` of a paper."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.exhibits.exhibit import Exhibit
from fedtheory.language.exhibits.page import Page
from fedtheory.language.source import Paper


def exhibits_for(paper: Paper, claim: Claim) -> list[Exhibit]:
    """Return the exhibits that suit a claim of the paper, in the order of their declaration."""
    declared = tuple(getattr(paper.part("exhibits"), "EXHIBITS", ()))
    for number, exhibit in enumerate(declared):
        if not isinstance(exhibit, Exhibit):
            raise _describe_unexpected(paper, f"EXHIBITS[{number}]", "an Exhibit", exhibit)
    return [exhibit for exhibit in declared if exhibit.suits(claim)]


def pages_of(paper: Paper) -> tuple[Callable[[], Page], ...]:
    """Return the functions that compute the paper's separate pages."""
    declared = tuple(getattr(paper.part("exhibits"), "PAGES", ()))
    for number, page in enumerate(declared):
        if not callable(page):
            raise _describe_unexpected(paper, f"PAGES[{number}]", "a function that returns a Page", page)
    return declared


def _describe_unexpected(paper: Paper, place: str, expected: str, given: object) -> InputError:
    return InputError(place, f"expected {expected}, got {given!r}", f"{paper.package}.exhibits")
