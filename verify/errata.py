"""The errata ledger: false statements of papers, the error, a correction, and a counterexample for each.

Every claim that is recorded as refuted has an entry. Each counterexample is checked again, in rationals, each time the
ledger is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim, Fault
from fedtheory.language.evaluation import whole_run
from fedtheory.language.registry import repairs_of
from verify.check import Check, check
from verify.check.links import compile_side
from verify.counterexamples import find_counterexample, locate_counterexample_file
from verify.verdict import verify
from verify.witness import read_exact_run


@dataclass(frozen=True, eq=False)
class Erratum:
    """One entry of the ledger."""

    claim: Claim
    """The claim as published."""
    repairs: tuple[Claim, ...]
    """The corrected claims, the simplest first; empty where none is known."""
    run: dict[str, Any]
    """The counterexample as the table of a run file."""
    check: Check
    """The exact check of the counterexample, in which the claim fails."""
    sides: tuple[Number, Number] | None
    """Left and right side on the counterexample; for a rate, the measured order and the claimed one."""

    @property
    def fault(self) -> Fault:
        """Name the kind of error: the statement, a step of its proof, or the typesetting."""
        if self.claim.fault is not None:
            return self.claim.fault
        return "proof step" if self.claim.kind == "step" else "statement"

    @property
    def reason(self) -> str:
        """Describe the error in words."""
        return self.claim.note


def list_errata(claims: Iterable[Claim]) -> list[Erratum]:
    """Return the errata of those claims that are recorded as refuted, in the given order.

    Raises `InputError` if a counterexample is missing or does not violate its claim.
    """
    return [_build_entry(claim) for claim in claims if claim.verdict == "refuted"]


def _build_entry(claim: Claim) -> Erratum:
    run = find_counterexample(claim) or verify([claim.id])[0].run
    if run is None:
        raise InputError(claim.id, "recorded as refuted, but no counterexample is stored, and no instance violates it")
    exact = read_exact_run(run)
    found = check(claim, exact)
    if found.holds is not False:
        stored = locate_counterexample_file(claim)
        raise InputError(claim.id, "recorded as refuted, but the counterexample does not violate it", str(stored))
    return Erratum(claim, repairs_of(claim), run, found, _find_sides(found, exact))


def _find_sides(found: Check, run: Run) -> tuple[Number, Number] | None:
    """Return both sides where the claim fails; a rate fails in the limit, or on the first level above its constant."""
    if found.rate is None:
        return None if found.worst is None else (found.worst.lhs, found.worst.rhs)
    growth = found.rate.growth
    if growth is not None and growth.coefficient is not None:
        return growth.coefficient, 0
    assert found.claim.rate is not None
    stated = compile_side(found.claim, sp.sympify(found.claim.rate.constant), "run")(whole_run(run)).item()
    promised = ((level.measured, stated * level.order) for level in found.rate.all_levels)
    return next(((measured, bound) for measured, bound in promised if measured > bound), None)
