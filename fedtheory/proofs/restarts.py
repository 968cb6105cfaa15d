"""The loop over iterations t = 1 .. T with restarts, as liu2022 prints it: its drift, and means over its iterations.

In every iteration each client observes a stochastic gradient g_i at its iterate x_i.
It then steps by -s g_i from its iterate, or from the average of all where t mod K = 0.
The average moves by -s mean(g_i) in both cases.  A client has taken at most K steps
since all clients stepped from one point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Numbers, Rejected, Step, Term, Theory, check, check_nonnegative
from fedtheory.kernel.expressions import Average, Expr, Gradient, Value, norm_sq
from fedtheory.kernel.quotients import linear
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.distances import SLOPE_I, SLOPE_J, Measure, n_i, n_j, theory_of_two, x_i, x_j
from fedtheory.proofs.numbers import ROUNDS, Letters, known_conditions, letters_of
from fedtheory.proofs.proof import Prover, check_assumed, prefixed, use_lemma
from fedtheory.proofs.theory import theory_of

_common, _start_i, _start_j = sp.symbols("y y_i y_j", real=True, cls=sp.Dummy)
"""A point from which all clients step, and the points from which two of them step."""
SECOND_MOMENT, VARIANCE = "second moment in the loop", "variance in the loop"
"""The names of what is known of a client's gradient."""


def _bounds(claim: Claim, slope: Expr, noise: Expr) -> Iterator[tuple[str, Expr]]:
    """Bounds on a client's gradient wherever the loop observes one."""
    letter = letters_of(claim)
    yield SECOND_MOMENT, letter(q.loop_second_moment) ** 2 - norm_sq(slope + noise)
    yield VARIANCE, letter(q.loop_noise_deviation) ** 2 - norm_sq(noise)


def _after(claim: Claim) -> Expr:
    size = letters_of(claim)(q.local_step_size)
    return norm_sq((_start_i - size * (SLOPE_I + n_i)) - (_start_j - size * (SLOPE_J + n_j)))


def _pair(claim: Claim, numbers: Numbers) -> Theory:
    """Two clients that step from their iterates."""
    theory = theory_of_two(claim, numbers)
    both = (("i", SLOPE_I, n_i), ("j", SLOPE_J, n_j))
    known = {f"{name} of {who}": slack for who, slope, noise in both for name, slack in _bounds(claim, slope, noise)}
    return replace(theory, definitions={**theory.definitions, _start_i: x_i, _start_j: x_j}, assumed=known)


def _restarting(_claim: Claim, theory: Theory) -> Theory:
    """Two clients that step from one point, with gradients at their own iterates."""
    starts = {_start_i: _common, _start_j: _common}
    return replace(theory, vectors=theory.vectors | {_common}, definitions={**theory.definitions, **starts})


LOOP_PAIR = Measure(
    before=lambda _claim: norm_sq(x_i - x_j),
    after=_after,
    theory=_pair,
    together=_restarting,
    largest_drift=lambda clients: (1 - 1 / clients) ** 2,
    mean_drift=lambda clients: (1 - 1 / clients) / 2,
    needs=(a.uniform_shares,),
    largest=q.loop_consensus_error,
    means=(),
    observes_together=False,
)
"""The squared distance of two clients of the loop."""


@dataclass(frozen=True, kw_only=True)
class LoopMean:
    """A bound on the mean of |grad F(xbar^{t-1})|^2 over the iterations of the loop, from one of them."""

    claim: str
    """Its id."""
    terms: Sequence[Term]
    """The terms that add up to the slack of one iteration."""
    lemmas: Sequence[str] = ()
    """Ids of proved claims on the largest drift of the loop."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""


@dataclass(frozen=True)
class Iteration:
    """A claim about the mean over the iterations, at one of them."""

    left: Expr
    right: Expr
    shares: Mapping[str, Expr]
    """Coefficients that must not be negative, by what they multiply."""


def at_iteration(claim: Claim) -> Iteration:
    """The inequality of each iteration of which a claim is the mean.

    The decrease of F over all iterations is at most the initial gap, and the mean
    drift at most the largest, which is zero at the start.
    """
    relation = claim.relations[0] if len(claim.relations) == 1 else None
    letter = letters_of(claim)
    error, gap, drift = (letter(n) for n in (q.loop_gradient_sq, q.initial_gap, q.loop_consensus_error))
    if relation is None or relation.operator != "<=" or claim.place != "run" or relation.left != error:
        raise Rejected("a mean over the loop is one upper bound on its mean squared gradient")
    shares, rest = linear(relation.right, [gap, drift])
    descent = shares[gap] * _iterations(letter)
    f, before, after = (letter(n) for n in (q.objective, q.average_iterate, q.next_average_iterate))
    spread = Average(norm_sq(letter(q.local_iterate) - before))
    right = descent * (Value(f, before) - Value(f, after)) + shares[drift] * spread + rest
    return Iteration(norm_sq(Gradient(f, before)), right, {"the initial gap": descent, "the drift": shares[drift]})


def _iterations(letter: Letters) -> Expr:
    return letter(q.iterations) if letter.has(q.iterations) else letter(q.local_steps) * letter(q.rounds)


def theory_of_iteration(claim: Claim, lemmas: Sequence[Claim]) -> Theory:
    """The theory of one iteration, which knows of iterates only how their average moves and what lemmas say."""
    theory, letter = theory_of(replace(claim, place="step")), letters_of(claim)
    local, noise = letter(q.local_iterate), letter(q.gradient_noise)
    observed = Gradient(letter(q.client_objective), local) + noise
    following = (letter(q.next_local_iterate), letter(q.next_centralised_model))
    kept = {vector: what for vector, what in theory.definitions.items() if vector not in following}
    moved = Average(local) - letter(q.local_step_size) * Average(observed)
    return replace(
        theory,
        definitions={**kept, letter(q.next_average_iterate): moved},
        visited=frozenset(),
        assumed={
            **dict(_bounds(claim, observed - noise, noise)),
            **{one.id: _drift_slack(one) for one in lemmas},
        },
    )


def _drift_slack(lemma: Claim) -> Expr:
    """A bound on the largest drift of the loop holds for every client before every iteration."""
    letter, relation = letters_of(lemma), lemma.relations[0]
    is_bound = lemma.place == "run" and len(lemma.relations) == 1 and relation.operator == "<="
    if not is_bound or relation.left != letter(q.loop_consensus_error):
        raise Rejected(f"{lemma.id} does not bound the drift of the loop")
    return relation.right - norm_sq(letter(q.local_iterate) - letter(q.average_iterate))


def examine_loop_mean(claim: Claim, certificate: LoopMean, prove: Prover) -> Iterator[Step]:
    """Check a bound on the mean over the loop's iterations; `Rejected` where the claim is about something else."""
    at = at_iteration(claim)
    lemmas = [prove(name) for name in certificate.lemmas]
    for lemma in lemmas:
        yield from use_lemma(claim, lemma)
    yield check_assumed(claim, ROUNDS, "all clients take the same steps and are averaged")
    theory = theory_of_iteration(claim, [lemma.statement for lemma in lemmas])
    conditions = (*claim.conditions, *known_conditions(claim))
    for what, share in at.shares.items():
        yield from prefixed(f"{what}: ", [check_nonnegative(theory.numbers.known(share), theory.numbers, conditions)])
    yield from prefixed("one iteration: ", check(at.left, at.right, certificate.terms, theory, conditions))
