"""Targets that are relations typed in names of quantities, in addition to names of claims."""

from __future__ import annotations

from typing import Annotated

import typer

NamedOrTyped = Annotated[
    str,
    typer.Argument(
        metavar="CLAIM",
        help="A claim's id, file.py:NAME, or a relation such as 'max_drift <= 2*local_step_size**2*local_steps'.",
    ),
]


def is_relation(target: str) -> bool:
    """Return whether a target is a relation: it contains a comparison, which no name of a claim does."""
    return any(sign in target for sign in "<>=")
