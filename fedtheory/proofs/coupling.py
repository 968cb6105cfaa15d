"""From a step that contracts to the last round and the last model: synchronous coupling of two runs.

With B = b(0) + .. + b(tau-1), all that a round adds, the mean error over the
steps of ever more rounds is at most B / (g tau), and E|x^t - x*|^2 at most
B (1/(tau (1 - q)) + 1).  Where a step keeps a multiple h(k) of the error in
place of the gain g, the mean error of the models is at most B / h(tau).

Two runs with common random numbers contract towards each other: by convexity and smooth noise each
local step makes the mean over the clients of |u_i - v_i|^2 smaller by the factor
p = 1 - eta mu, and an average of participants is in expectation no farther apart
than the clients are.  One run starts from x^0, the other one from the model x^r
that it would reach in r more rounds, and with which draws of the same law go on
as with any model.  After T - 1 rounds and a step they are p^((T-1) tau + 1)
|x^0 - x^r|^2 apart at most, after all steps p^K |x^0 - x^r|^2, and for every
s > 0

    F(u) - F*  <=  (1 + s) (F(v) - F*) + (1 + 1/s) L/2 |u - v|^2.

The mean over ever more r is what is claimed, for the last round that over its
steps.  All laws are those of every round: no number may depend on how many
there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import (
    Context,
    Rejected,
    Step,
    Term,
    assumption,
    check,
    cocoercivity,
    composed,
    convexity,
    is_nonnegative,
    scalar,
    smoothness,
    square,
    strong_convexity,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, LocalSum, Value, inner, norm_sq
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.contraction import Contracting, conclude_bound, constants_of_steps, require_contraction
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, symbols_of
from fedtheory.proofs.proof import Prover, check_assumed, prefixed

_NEEDED = (a.convex_and_smooth, a.strongly_convex_clients, a.smooth_noise)
_LASTING = {*ROUNDS, *SAMPLED_ROUNDS, *_NEEDED, a.uniform_shares}
"""Assumptions that hold for runs of any length: about every round, and about all points."""
_OF_EVERY_ROUND = (
    *(q.clients, q.largest_importance, q.sampling_variance),
    *(q.local_steps, q.local_step_size, q.local_step_index),
    *(q.smoothness, q.strong_convexity, q.noise_smoothness, q.noise_at_optimum, q.dissimilarity_at_optimum),
)
"""Numbers that are the same however many rounds there are, and wherever a run starts."""


@dataclass(frozen=True, kw_only=True)
class _Lasting(Contracting):
    """A step that contracts as long as a run may last; b(k) is a polynomial."""

    share: Expr
    """s."""


@dataclass(frozen=True, kw_only=True)
class LastRound(_Lasting):
    """Why the error of the last round is small."""

    gain: Expr
    """g."""


@dataclass(frozen=True, kw_only=True)
class LastIterate(_Lasting):
    """Why the error of the last model is small."""

    kept: Expr
    """h(k)."""


def check_last_round(claim: Claim, certificate: LastRound, prove: Prover) -> Iterator[Step]:
    """Check a bound on the mean error of the last round; raise `Rejected` if the claim is about something else."""
    _require_lasting(claim, certificate, certificate.gain)
    step, context = yield from require_contraction(claim, certificate, prove, gain=certificate.gain)
    yield from _check_two_runs(claim, step, context, certificate.share)
    (gain,) = constants_of_steps(claim, certificate.gain)
    symbol = symbols_of(claim)
    steps = symbol(q.local_steps)
    one_round = 1 - (steps - 1) * symbol(q.local_step_size) * symbol(q.strong_convexity)
    yield from _conclusion(
        claim, q.last_round_suboptimality, certificate, context, counted=gain * steps, whole=one_round
    )


def check_last_iterate(claim: Claim, certificate: LastIterate, prove: Prover) -> Iterator[Step]:
    """Check a bound on the error of the last model; raise `Rejected` if the claim is about something else."""
    _require_lasting(claim, certificate, certificate.kept)
    step, context = yield from require_contraction(claim, certificate, prove, kept=certificate.kept)
    yield from _check_two_runs(claim, step, context, certificate.share)
    symbol = symbols_of(claim)
    at_start, at_end = (
        context.numbers.plain(certificate.kept.xreplace({symbol(q.local_step_index): count}))
        for count in (sp.S.Zero, symbol(q.local_steps))
    )
    yield Step("nothing is kept before the first step of a round", is_zero(at_start))
    yield from _conclusion(claim, q.final_suboptimality, certificate, context, counted=at_end, whole=sp.S.One)


def _check_two_runs(claim: Claim, step: Claim, context: Context, share: Expr) -> Iterator[Step]:
    """Check that runs with common random numbers contract towards each other, and their errors with them."""
    yield check_assumed(claim, _NEEDED, "runs with common random numbers contract towards each other")
    yield from prefixed("two runs: ", _check_coupling(step, context, claim.conditions))
    yield from prefixed("their errors: ", _errors(step, context, share, claim.conditions))


def _require_lasting(claim: Claim, certificate: _Lasting, counted: Expr) -> None:
    """Raise `Rejected` if a number may be another one in a longer run, or an assumption may fail there.

    `counted` is how often the certificate counts errors.
    """
    others = [one.name for one in claim.assumptions if one not in _LASTING]
    if others:
        raise Rejected(f"these assumptions may fail for longer runs: {', '.join(others)}")
    symbol = symbols_of(claim)
    given = (counted, certificate.factor, certificate.potential, certificate.offset, certificate.share)
    other = set().union(*(sp.sympify(one).free_symbols for one in (*given, *claim.conditions)))
    other -= {symbol(quantity) for quantity in _OF_EVERY_ROUND}
    if other:
        raise Rejected(f"{', '.join(sorted(map(str, other)))} may depend on how many rounds there are")


def _check_coupling(step: Claim, context: Context, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that a local step with common random numbers contracts the distance between two runs."""
    symbol = symbols_of(step)
    u, v, noise_at_u, noise_at_v = vectors = sp.symbols("u_i v_i n_i(u) n_i(v)", cls=sp.Dummy, real=True)
    f, eta, mu = symbol(q.client_objective), symbol(q.local_step_size), symbol(q.strong_convexity)
    curvature, rough = symbol(q.smoothness), symbol(q.noise_smoothness)

    def smooth_noise(at: Expr, around: Expr) -> Expr:
        gap = Value(f, at) - Value(f, around) - inner(Gradient(f, around), at - around)
        return 2 * rough * gap - norm_sq(noise_at_u - noise_at_v)

    of_both = replace(
        context,
        client_vectors=context.client_vectors | {*vectors},
        noise=context.noise | {noise_at_u, noise_at_v},
        common_random_numbers=context.common_random_numbers | {frozenset({noise_at_u, noise_at_v})},
        assumed={"smooth noise": smooth_noise(v, u), "smooth noise, the other way": smooth_noise(u, v)},
    )
    moved = (u - v) - eta * (Gradient(f, u) - Gradient(f, v)) - eta * (noise_at_u - noise_at_v)
    terms = [
        term
        for at, around, noise in ((u, v, "smooth noise, the other way"), (v, u, "smooth noise"))
        for term in (
            Term(eta, strong_convexity(f, at, around), averaged=True),
            Term(eta**2 * curvature, cocoercivity(f, at, around), averaged=True),
            Term(eta**2 / 2, assumption(noise), averaged=True),
            Term(eta * (1 - eta * (curvature + rough)), convexity(f, at, around), averaged=True),
        )
    ]
    later, now = Average(norm_sq(moved)), Average(norm_sq(u - v))
    yield from check(later, (1 - eta * mu) * now, terms, of_both, conditions)


def _errors(step: Claim, context: Context, share: Expr, conditions: Sequence[Expr]) -> Iterator[Step]:
    """Check that F(u) - F* is at most (1 + s) (F(v) - F*) + (1 + 1/s) L/2 |u - v|^2."""
    symbol = symbols_of(step)
    u, v = sp.symbols("u v", cls=sp.Dummy, real=True)
    f, best, curvature = symbol(q.objective), symbol(q.optimum), symbol(q.smoothness)
    larger = (1 + share) * (Value(f, v) - Value(f, best)) + (1 + 1 / share) * curvature / 2 * norm_sq(u - v)
    terms = [
        Term(sp.S.One, smoothness(f, u, v)),
        Term(share, cocoercivity(f, v, best)),
        Term(curvature / (2 * share), square(u - v - share / curvature * Gradient(f, v))),
    ]
    of_both = replace(context, vectors=context.vectors | {u, v})
    yield from check(Value(f, u) - Value(f, best), larger, terms, of_both, conditions)


def _conclusion(
    claim: Claim, quantity: RunQuantity, certificate: _Lasting, context: Context, *, counted: Expr, whole: Expr
) -> Iterator[Step]:
    """Check the side conditions, and that the remainder is at most the claim's bound.

    `counted` is how often errors count in a round; runs are together up to the power K of 1 - eta mu over `whole`.
    """
    symbol = symbols_of(claim)
    steps, bending = symbol(q.local_steps), symbol(q.local_step_size) * symbol(q.strong_convexity)
    factor, share = constants_of_steps(claim, certificate.factor, certificate.share)
    taken = (*claim.conditions, symbol(q.local_step_index) + 1 <= steps)
    for number in (certificate.potential, certificate.offset):
        holds = is_nonnegative(context.numbers.plain(number), context.numbers, taken)
        yield Step(f"({number}) >= 0 at every step", holds)
    of_a_round = composed(scalar(LocalSum(certificate.offset), context))
    away = of_a_round * (1 / (steps * (1 - factor)) + 1)
    apart = (1 - bending) ** symbol(q.iterations) / whole * 2 * (symbol(q.initial_distance) ** 2 + away)
    bound = (1 + share) * of_a_round / counted + (1 + 1 / share) * symbol(q.smoothness) / 2 * apart
    yield from conclude_bound(claim, quantity, bound, (factor, 1 - bending), (1 - factor, counted, whole))
