"""Derives bounds on the last round and the last iterate from a contracting step, by synchronous coupling of two runs.

With B = b(0) + .. + b(tau-1), the sum of the offsets of a round, the average error over the
steps of infinitely many rounds is at most B / (g tau), and E|x^t - x*|^2 at most
B (1/(tau (1 - q)) + 1).  If a step keeps a multiple h(k) of the error in
place of the gain g, the average error of the models is at most B / h(tau).

Two runs with common random numbers contract towards each other: by convexity and smooth noise each
local step multiplies the client average of |u_i - v_i|^2 by at most
p = 1 - eta mu, and the distance between averages of participants is in expectation at most that
of the clients.  One run starts from x^0, the other one from the model x^r
that the first would reach in r more rounds; samples of the same law drive both.
After T - 1 rounds and a step their squared distance is at most p^((T-1) tau + 1)
|x^0 - x^r|^2, after all steps at most p^K |x^0 - x^r|^2, and for every
s > 0

    F(u) - F*  <=  (1 + s) (F(v) - F*) + (1 + 1/s) L/2 |u - v|^2.

Averaging over r as r tends to infinity gives the claim; for the last round, also over its
steps.  The argument needs the same law in every round: no number may depend on the number of
rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import (
    Context,
    Rejected,
    Step,
    Term,
    assumption,
    check,
    cocoercivity,
    convexity,
    is_nonnegative,
    scalar,
    smoothness,
    square,
    strong_convexity,
    write_form,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, LocalSum, Value, inner, norm_sq
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.contraction import Contracting, conclude_bound, require_contraction, require_shared_constants
from fedtheory.proofs.examined import PaperKinds
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, symbols_of
from fedtheory.proofs.proof import Prover, add_prefix, check_assumed
from fedtheory.sources.comparator.context.discounted import SHRINKS

_NEEDED = (a.convex_and_smooth, a.strongly_convex_clients, a.smooth_noise)
_LASTING = {*ROUNDS, *SAMPLED_ROUNDS, *_NEEDED, a.uniform_shares}
"""Assumptions that hold for runs of any length: on every round, and on all points."""
_OF_EVERY_ROUND = (
    *(q.clients, q.largest_importance, q.sampling_variance),
    *(q.local_steps, q.local_step_size, q.local_step_index),
    *(q.smoothness, q.strong_convexity, q.noise_smoothness, q.noise_at_optimum, q.dissimilarity_at_optimum),
)
"""Numbers that do not depend on the number of rounds, or on the start of the run."""


@dataclass(frozen=True, kw_only=True)
class _Lasting(Contracting):
    """A contracting step that holds for any number of rounds; b(k) is a polynomial."""

    share: Expr
    """s."""


_COMPARED = (
    "  Runs with the same draws come together wherever they start; the last {iterate} of a run is compared with those "
    "of runs that start from its later models, and {{share}} of their error is added for the difference."
)


@dataclass(frozen=True, kw_only=True)
class LastRound(_Lasting):
    """A proof that the error of the last round is small."""

    kind: ClassVar[str] = "last round"
    overview = (
        f"{SHRINKS}less {{gain}} times the error: so the mean error of ever more rounds is small."
        + _COMPARED.format(iterate="iterate")
    )
    gain: Expr
    """g."""

    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a bound on the average error of the last round; raise `Rejected` for other claims."""
        _require_lasting(claim, self, self.gain)
        step, context = yield from require_contraction(claim, self, prove, gain=self.gain)
        yield from _check_two_runs(claim, step, context, self.share)
        (gain,) = require_shared_constants(claim, self.gain)
        symbol = symbols_of(claim)
        steps = symbol(q.local_steps)
        one_round = 1 - (steps - 1) * symbol(q.local_step_size) * symbol(q.strong_convexity)
        yield from _conclude(claim, q.last_round_suboptimality, self, context, counted=gain * steps, whole=one_round)


@dataclass(frozen=True, kw_only=True)
class LastIterate(_Lasting):
    """A proof that the error of the last iterate is small."""

    kind: ClassVar[str] = "last model"
    overview = (
        f"{SHRINKS}with {{kept}} times the error counted beside it, which is nothing where a round starts: so the "
        "mean error of ever more models is small." + _COMPARED.format(iterate="model")
    )
    kept: Expr
    """h(k)."""

    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a bound on the error of the last iterate; raise `Rejected` for other claims."""
        _require_lasting(claim, self, self.kept)
        step, context = yield from require_contraction(claim, self, prove, kept=self.kept)
        yield from _check_two_runs(claim, step, context, self.share)
        symbol = symbols_of(claim)
        at_start, at_end = (
            context.numbers.plain(self.kept.xreplace({symbol(q.local_step_index): count}))
            for count in (sp.S.Zero, symbol(q.local_steps))
        )
        yield Step("nothing is kept before the first step of a round", is_zero(at_start))
        yield from _conclude(claim, q.final_suboptimality, self, context, counted=at_end, whole=sp.S.One)


def _check_two_runs(claim: Claim, step: Claim, context: Context, share: Expr) -> Iterator[Step]:
    """Check that runs with common random numbers contract towards each other, and the difference of their errors."""
    yield check_assumed(claim, _NEEDED, "runs with common random numbers contract towards each other")
    yield from add_prefix("two runs: ", _check_coupling(step, context, claim.conditions))
    yield from add_prefix("their errors: ", _compare_errors(step, context, share, claim.conditions))


def _require_lasting(claim: Claim, certificate: _Lasting, counted: Expr) -> None:
    """Raise `Rejected` if a number may change in a longer run, or an assumption may fail there.

    `counted` is the multiple of the errors in the certificate.
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


def _compare_errors(step: Claim, context: Context, share: Expr, conditions: Sequence[Expr]) -> Iterator[Step]:
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


def _conclude(
    claim: Claim, quantity: RunQuantity, certificate: _Lasting, context: Context, *, counted: Expr, whole: Expr
) -> Iterator[Step]:
    """Check the side conditions, and that the derived bound is at most the claim's bound.

    `counted` is the weight of the errors in a round; the distance of the runs is a power of 1 - eta mu over `whole`.
    """
    symbol = symbols_of(claim)
    steps, contracted = symbol(q.local_steps), symbol(q.local_step_size) * symbol(q.strong_convexity)
    factor, share = require_shared_constants(claim, certificate.factor, certificate.share)
    taken = (*claim.conditions, symbol(q.local_step_index) + 1 <= steps)
    for number in (certificate.potential, certificate.offset):
        holds = is_nonnegative(context.numbers.plain(number), context.numbers, taken)
        yield Step(f"({number}) >= 0 at every step", holds)
    of_a_round = write_form(scalar(LocalSum(certificate.offset), context))
    away = of_a_round * (1 / (steps * (1 - factor)) + 1)
    start_term = (1 - contracted) ** symbol(q.iterations) / whole * 2 * (symbol(q.initial_distance) ** 2 + away)
    bound = (1 + share) * of_a_round / counted + (1 + 1 / share) * symbol(q.smoothness) / 2 * start_term
    yield from conclude_bound(claim, quantity, bound, (factor, 1 - contracted), (1 - factor, counted, whole))


KINDS = PaperKinds(kinds=(LastRound, LastIterate))
