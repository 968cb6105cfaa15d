"""Targets that are relations typed in names of quantities, in addition to names of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

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


def parse_relation(target: str) -> Claim:
    """Parse a typed relation as a claim without a setting; raise `InputError` for text that is no relation."""
    # The grader takes longer to load than a check takes: only typed relations need it.
    from verify.grade.typed_relation import read_relation

    return read_relation(target)
