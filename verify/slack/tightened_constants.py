"""Smallest constants of a proved bound that a search proves, term by term, stored with their certificates.

A stored certificate is no evidence by itself: the kernel checks it again before its constants are shown. The command
``python -m verify.slack --tighten`` searches for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import sympy as sp

from fedtheory.errors import FedtheoryError, InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher
from fedtheory.proofs import check_certificate
from verify.slack.bound_parts import with_constants


def locate_tightened_file(claim: Claim) -> Path | None:
    """Return the path of a bound's stored constants, existing or not; None for a user-defined claim."""
    paper = find_publisher(claim)
    return None if paper is None else paper.tightened_file(claim)


def read_tightened_constants(claim: Claim) -> Mapping[str, sp.Rational]:
    """Return the smallest constants that are proved jointly, by the names of parts; empty if there are none.

    Raises `InputError` where the kernel refuses the stored certificate.
    """
    file = locate_tightened_file(claim)
    return {} if file is None or not file.is_file() else check_constants(claim, file)


@cache
def check_constants(claim: Claim, file: Path) -> Mapping[str, sp.Rational]:
    """Read constants and their certificate; raises `InputError` where the kernel refuses it."""
    stored = json.loads(file.read_text())
    constants = {name: sp.Rational(text) for name, text in stored["constants"].items()}
    try:
        verdict = check_certificate(bound_with(claim, constants), stored["certificate"]).verdict
    except FedtheoryError as reason:
        raise InputError(str(file), f"expected a certificate of {claim.id} with these constants: {reason}") from None
    if verdict != "proved":
        raise InputError(
            str(file), f"expected a certificate of {claim.id} with these constants, got one that is {verdict}"
        )
    return constants


def bound_with(claim: Claim, constants: Mapping[str, Expr]) -> Claim:
    """Return a bound with other constants as a claim with its own id."""
    return replace(with_constants(claim, constants), id=f"{claim.id}.tightened")
