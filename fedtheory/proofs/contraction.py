"""Derives bounds on the last iterate from a contracting step.

Let X be the expected squared distance of the average from a point y before a local
step, and V the average expected squared distance of the clients from their average.
A proved step states, for a gain g >= 0,

    g (E F(xbar') - F(y)) + w X' + c(k+1) V'  <=  q (w X + c(k) V) + b,

with V zero before the first step of a round, and c zero after the last, where the average is the next model.  If
the next model is an average of participants, its squared distance exceeds that of the average of all clients by at most
rho V in expectation, rho the sampling variance, and c must be at least w rho.  A step may also keep a multiple h(k) of
the error E F(xbar) - F(y) next to w X, with h zero before the first step of a round; for smooth clients c must then be
at least (w + h(tau) L/2) rho.  So after all K = tau T steps  E|x^T - x*|^2 <= q^K |x^0 - x*|^2 + b / (w (1 - q)).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Context, Rejected, Step, check_equal, check_nonnegative, is_positive
from fedtheory.kernel.admitted import require_finite
from fedtheory.kernel.expressions import Expr, Value, norm_sq
from fedtheory.kernel.quotients import reduce_fraction
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.claim_context import count_steps
from fedtheory.proofs.examined import Examined
from fedtheory.proofs.numbers import numbers_of, power_of, symbols_of
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.step_sums import (
    build_steps_sum_context,
    check_end,
    find_sampling_variance,
    sampling_cost,
    statement_at_steps,
)


@dataclass(frozen=True, kw_only=True)
class Contracting(Examined):
    """A contracting step, with a consequence for the whole run."""

    overview: ClassVar[str]
    """The consequences of the step, in words with the numbers of the certificate."""
    step: str
    """Id of the claim about each local step, which is proved under the certificate's conditions as well."""
    factor: Expr
    """q."""
    potential: Expr
    """c(k)."""
    offset: Expr
    """b."""


@dataclass(frozen=True, kw_only=True)
class Contraction(Contracting):
    """A proof that the last iterate is close to the optimum."""

    kind: ClassVar[str] = "contraction"
    overview = (
        "{weight} times the squared distance of the average from the optimum shrinks by the factor {factor}, up to "
        "{offset}.  Over all steps these terms form a geometric series."
    )
    weight: Expr
    """w."""

    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a bound on the distance of the last iterate; raise `Rejected` for other claims."""
        yield from require_contraction(claim, self, prove, weight=self.weight)
        factor, weight, offset = require_shared_constants(claim, self.factor, self.weight, self.offset)
        symbol = symbols_of(claim)
        start = power_of(factor, count_steps(claim)) * symbol(q.initial_distance) ** 2
        bound = start + offset / (weight * (1 - factor))
        yield from conclude_bound(claim, q.final_distance_sq, bound, (factor, offset), (1 - factor, weight))


def require_contraction(
    claim: Claim,
    certificate: Contracting,
    prove: Prover,
    point: Quantity = q.optimum,
    *,
    gain: Expr = sp.S.Zero,
    weight: Expr = sp.S.One,
    kept: Expr = sp.S.Zero,
) -> Generator[Step, None, tuple[Claim, Context]]:
    """Check that a step is proved, agrees with the certificate, and covers the cost of sampling.

    `kept` is the multiple h(k) of the error that the step keeps.
    """
    step = yield from statement_at_steps(claim, certificate.step, prove)
    context, symbol = build_steps_sum_context(step), symbols_of(step)
    before, after, y = (symbol(quantity) for quantity in (q.average_iterate, q.next_average_iterate, point))
    now, later = sampling_cost(certificate.potential, symbol)
    number, steps = symbol(q.local_step_index), symbol(q.local_steps)
    still_kept = kept.xreplace({number: number + 1})
    require_finite((kept, still_kept), context.numbers, (number + 1 <= steps,))

    def potential(at: Expr, errors: Expr) -> Expr:
        """Return the potential at a point: the weighted squared distance from y, and the weighted error."""
        return weight * norm_sq(at - y) + errors * (Value(symbol(q.objective), at) - Value(symbol(q.objective), y))

    had, has = potential(before, kept) + now, potential(after, gain + still_kept) + later
    claimed = certificate.factor * had + certificate.offset - has
    yield check_equal("the step contracts", step.relations[0].slack, sp.expand(claimed), context)
    farther = (weight + kept.xreplace({number: steps}) * symbol(q.smoothness) / 2) * find_sampling_variance(claim)
    yield from check_end(certificate.potential, farther, context, claim.conditions)
    return step, context


def require_shared_constants(claim: Claim, *numbers: Expr) -> list[Expr]:
    """Return numbers that all clients share; raise `Rejected` if one depends on the local step."""
    known = [numbers_of(claim).plain(number) for number in numbers]
    if any(number.has(symbols_of(claim)(q.local_step_index)) for number in known):
        raise Rejected("expected numbers that are the same at all local steps")
    return known


def conclude_bound(
    claim: Claim,
    quantity: Quantity,
    bound: Expr,
    nonnegative: Iterable[Expr],
    positive: Iterable[Expr] = (),
    *,
    known: Sequence[Expr] = (),
) -> Iterator[Step]:
    """Check the signs that a bound on a quantity needs, and that the bound implies the claim.

    `known` are facts on numbers in addition to the conditions of the claim.
    """
    numbers, conditions = numbers_of(claim), (*claim.conditions, *known)
    smaller, larger = claim.relations[0].ordered
    if smaller != symbols_of(claim)(quantity):
        raise Rejected(f"the conclusion is an upper bound on {quantity.name}")
    for number in nonnegative:
        yield check_nonnegative(number, numbers, conditions)
    for number in positive:
        yield Step(f"({number}) > 0", is_positive(reduce_fraction(number), numbers, conditions))
    yield check_nonnegative(numbers.plain(reduce_fraction(larger - bound)), numbers, conditions)
