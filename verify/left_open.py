"""Describe runs that violate a claim in floats and that no exact check decides."""

from __future__ import annotations


def describe_left_open(count: int) -> str:
    """Return a sentence on `count` such runs that says why no exact check decides them."""
    runs, of_them = ("1 run violates", "it") if count == 1 else (f"{count} runs violate", "any of them")
    return (
        f"{runs} the claim in floats, but no exact check confirmed {of_them}: "
        "too long for exact arithmetic, or the work for exact checks was used up"
    )
