"""Fixed points: an algorithm that starts at the optimum stays there, by its definition.

Where all vectors are as the definition says that they rest at x*, a local step
leaves the local vectors where they are, of whatever size it is, so that all
local steps do, or the round has a single one; and the end of the round leaves every vector of the
server and of the clients where it is, whatever the coins show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from fedtheory.kernel import Rejected, Step, check_zero_form
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.definitions import Round, Vectors, rounds_of
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Prover, prefixed


@dataclass(frozen=True, kw_only=True)
class FixedPoint:
    """Why a round leaves an algorithm where it is."""

    claim: str
    """Id of the claim."""
    local_step: Literal["idle", "single"]
    """At the optimum it moves nothing, or a round has a single one."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's; None for the claim's own."""


def check_fixed_point(claim: Claim, certificate: FixedPoint, _prove: Prover) -> Iterator[Step]:
    """Check that an algorithm rests at the optimum; raise `Rejected` if the claim says something else."""
    (relation, *others) = claim.relations
    still = (symbols_of(claim)(q.optimum_displacement_sq), 0)
    if others or relation.operator not in ("==", "<=") or relation.sides != still:
        raise Rejected(f"it is shown that {q.optimum_displacement_sq.name} is 0, and nothing else")
    for one in rounds_of(claim):
        shown = ", ".join(f"{coin} = {side}" for coin, side in one.coins.items())
        yield from prefixed(f"{shown}: " if shown else "", _round(certificate, one))


def _round(certificate: FixedPoint, one: Round) -> Iterator[Step]:
    rest = one.evaluate_at_optimum()
    begun = one.local_start(rest)
    if certificate.local_step == "idle":
        later, moved = one.with_another_step_size(), begun
        yield from _require_unmoved("the local step", later, begun, later.local_step({**rest, **begun}))
    else:
        moved = one.local_step({**rest, **begun})
        yield Step("the local step is the only one", one.is_single())
    yield from _require_unmoved("the end of a round", one, rest, {**rest, **one.end({**rest, **moved})})


def _require_unmoved(what: str, one: Round, before: Vectors, after: Vectors) -> Iterator[Step]:
    for of, where in before.items():
        yield check_zero_form(f"{what} leaves {of} where it is", one.form(after[of] - where))
