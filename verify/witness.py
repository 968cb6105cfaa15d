"""The run on which a verdict rests, and both sides of the claim on it, as plain data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fedtheory.arithmetic import RATIONAL, plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_table, run_toml
from verify.check import Check
from verify.check.escalation import check_rigorously, make_decidable
from verify.shown_place import choose_place


def read_exact_run(table: dict[str, Any]) -> Run:
    """Return the run of a run file's table, in rationals or, if these are too long, in certified enclosures.

    The last runs are cached, since claims that follow from each other share a counterexample.
    """
    return _read_exactly(run_toml(table))


@lru_cache(maxsize=16)
def _read_exactly(run_file: str) -> Run:
    return make_decidable(parse_run(tomllib.loads(run_file), RATIONAL))


_MOST_CLIENTS, _MOST_DIMENSIONS, _MOST_DIGITS = 3, 2, 4
_READABLE = 24
"""Number of characters up to which a side is easy to read: a short fraction or an enclosure."""


def explain_size(table: dict[str, Any], sides: PrintedSides | None) -> list[str]:
    """Return the reasons why a run is too large to be checked by hand: clients, dimensions, digits of numbers or sides.

    The list is empty for at most 3 clients, 2 dimensions, numbers of at most 4 digits, and sides that are short
    fractions or enclosures.
    """
    problem = read_exact_run(table).problem
    digits = max(map(len, re.findall(r"\d+", run_toml(table))))
    found = [
        f"{count} {name}"
        for count, most, name in (
            (problem.clients, _MOST_CLIENTS, "clients"),
            (problem.dimension, _MOST_DIMENSIONS, "dimensions"),
            (digits, _MOST_DIGITS, "digits in a number"),
        )
        if count > most
    ]
    lengths = [len(side) for side in (sides.lhs, sides.rhs) if not side.startswith("[")] if sides else []
    return [*found, f"{max(lengths)} characters in a side"] if max(lengths, default=0) > _READABLE else found


@dataclass(frozen=True)
class PrintedSides:
    """Both sides on the run of a witness, formatted as exact numbers or enclosures."""

    lhs: str
    rhs: str
    ratio: str | None
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Free points of the comparison, measured from `origin_in_words`."""

    @classmethod
    def from_check(cls, evidence: Check) -> PrintedSides | None:
        """Return the sides of the comparison to display; None where nothing is compared."""
        shown = choose_place(evidence)
        if shown is None:
            return None
        points = {name: tuple(map(str, point)) for name, point in shown.points.items()}
        return cls(str(shown.lhs), str(shown.rhs), None if shown.ratio is None else str(shown.ratio), points)


@dataclass(frozen=True, eq=False)
class Witness:
    """A run, as the table of a run file, and both sides on it."""

    table: dict[str, Any]
    sides: PrintedSides | None
    ratio: float | None = None
    """Ratio of the worst comparison as a float."""
    reason: str | None = None
    """For a rate: the exact limit that refutes it, or the growth of the ratio of quantity to order."""

    @classmethod
    def from_table(cls, claim: Claim, table: dict[str, Any]) -> Witness:
        """Return the witness of a run file, with both sides as computed from the file."""
        exact = parse_run(table, RATIONAL)
        return replace(cls.from_run(exact, check_rigorously(claim, exact)), table=table)

    @classmethod
    def from_run(cls, run: Run, evidence: Check) -> Witness:
        """Return the witness of a run and its exact check."""
        ratio = evidence.ratio
        reason = None if evidence.rate is None else evidence.rate.reason(evidence.claim.in_words)
        return cls(
            run_table(run), PrintedSides.from_check(evidence), None if ratio is None else plain_float(ratio), reason
        )
