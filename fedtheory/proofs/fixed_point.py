"""Proofs of fixed points: an algorithm that starts at the optimum stays there, by its definition.

If all vectors have the values that the definition states for x*, a local step of any size leaves the local vectors
unchanged, and so do all local steps (or the round has a single one); and the end of the round leaves every vector of
the server and of the clients unchanged, for all outcomes of the coins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from fedtheory.kernel import Rejected, Step, check_zero_form
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.definitions import Round, Vectors, rounds_of
from fedtheory.proofs.examined import Examined
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Prover, add_prefix


@dataclass(frozen=True, kw_only=True)
class FixedPoint(Examined):
    """A proof that a round leaves all vectors of an algorithm unchanged."""

    kind: ClassVar[str] = "at rest"
    local_step: Literal["idle", "single"]
    """Whether a local step at the optimum changes nothing; otherwise a round must have a single one."""

    def check(self, claim: Claim, _prove: Prover) -> Iterator[Step]:
        """Check that the optimum is a fixed point of an algorithm; raise `Rejected` for other claims."""
        (relation, *others) = claim.relations
        still = (symbols_of(claim)(q.optimum_displacement_sq), 0)
        if others or relation.operator not in ("==", "<=") or relation.sides != still:
            raise Rejected(
                f"a fixed point proves {q.optimum_displacement_sq.name} == 0, and the claim states another relation"
            )
        for one in rounds_of(claim):
            shown = ", ".join(f"{coin} = {side}" for coin, side in one.coins.items())
            yield from add_prefix(f"{shown}: " if shown else "", _check_round(self, one))


def _check_round(certificate: FixedPoint, one: Round) -> Iterator[Step]:
    """Yield the checks that a round from the optimum does not move the vectors."""
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
