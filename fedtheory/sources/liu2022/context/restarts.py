"""The loop over iterations t = 1 .. T with restarts, as published in liu2022: its drift, and averages over iterations.

In every iteration each client evaluates a stochastic gradient g_i at its iterate x_i.
It then steps by -s g_i from its iterate, or from the average of all if t mod K = 0.
The average moves by -s mean(g_i) in both cases.  A client has taken at most K steps
since all clients stepped from one point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from fedtheory.kernel import Context, Numbers, Rejected, Step, Term, check, check_nonnegative
from fedtheory.kernel.expressions import Average, Expr, Gradient, Value, norm_sq
from fedtheory.kernel.quotients import linear
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.distances import PAIR, SLOPE_I, SLOPE_J, build_pair_context, move_two, n_i, n_j, x_i, x_j
from fedtheory.proofs.entries import Group, list_entries
from fedtheory.proofs.examined import Outlined, PaperKinds
from fedtheory.proofs.last_errors import count_iterations
from fedtheory.proofs.numbers import ROUNDS, list_known_conditions, symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import Prover, add_prefix, check_assumed, use_lemma
from fedtheory.sources.liu2022.context import loop_symbols
from fedtheory.sources.liu2022.context.loop_symbols import common, start_i, start_j

SECOND_MOMENT, VARIANCE = "second moment in the loop", "variance in the loop"
"""The names of the assumptions on a client's gradient."""


def _list_bounds(claim: Claim, slope: Expr, noise: Expr) -> Iterator[tuple[str, Expr]]:
    """Yield bounds on a client's gradient at every point where the loop evaluates one."""
    symbol = symbols_of(claim)
    yield SECOND_MOMENT, symbol(q.loop_second_moment) ** 2 - norm_sq(slope + noise)
    yield VARIANCE, symbol(q.loop_noise_deviation) ** 2 - norm_sq(noise)


def _build_pair(claim: Claim, numbers: Numbers) -> Context:
    """Return the context of two clients that step from their iterates."""
    context = build_pair_context(claim, numbers)
    both = (("i", SLOPE_I, n_i), ("j", SLOPE_J, n_j))
    known = {
        f"{name} of {who}": slack for who, slope, noise in both for name, slack in _list_bounds(claim, slope, noise)
    }
    return replace(context, definitions={**context.definitions, start_i: x_i, start_j: x_j}, assumed=known)


def _restart(_claim: Claim, context: Context) -> Context:
    """Return the context of two clients that step from one point, with gradients at their own iterates."""
    starts = {start_i: common, start_j: common}
    return replace(context, vectors=context.vectors | {common}, definitions={**context.definitions, **starts})


LOOP_PAIR = replace(
    PAIR,
    after=lambda claim: move_two(claim, start_i, start_j),
    context=_build_pair,
    together=_restart,
    largest=q.loop_consensus_error,
    means=(),
    observes_together=False,
    places=("loop",),
)
"""The squared distance of two clients of the loop."""


@dataclass(frozen=True)
class Iteration:
    """The inequality of one iteration that implies a claim about the average over the iterations."""

    left: Expr
    right: Expr
    shares: Mapping[str, Expr]
    """Coefficients that must be non-negative, by their factors."""


def build_iteration_inequality(claim: Claim) -> Iteration:
    """Return the inequality of each iteration whose average implies a claim.

    The decrease of F over all iterations is at most the initial gap, and the average
    drift at most the largest, which is zero at the start.
    """
    relation = claim.relations[0] if len(claim.relations) == 1 else None
    symbol = symbols_of(claim)
    error, gap, drift = (symbol(n) for n in (q.loop_gradient_sq, q.initial_gap, q.loop_consensus_error))
    if relation is None or relation.operator != "<=" or claim.place != "run" or relation.left != error:
        raise Rejected("a time average over the loop is one upper bound on its mean squared gradient")
    shares, rest = linear(relation.right, [gap, drift])
    descent = shares[gap] * count_iterations(symbol)
    f, before, after = (symbol(n) for n in (q.objective, q.average_iterate, q.next_average_iterate))
    spread = Average(norm_sq(symbol(q.local_iterate) - before))
    right = descent * (Value(f, before) - Value(f, after)) + shares[drift] * spread + rest
    return Iteration(norm_sq(Gradient(f, before)), right, {"the initial gap": descent, "the drift": shares[drift]})


def build_iteration_context(claim: Claim, lemmas: Sequence[Claim]) -> Context:
    """Return the context of one iteration: the motion of the average of the iterates, and the slacks of lemmas."""
    context, symbol = build_context(replace(claim, place="step")), symbols_of(claim)
    local, noise = symbol(q.local_iterate), symbol(q.gradient_noise)
    observed = Gradient(symbol(q.client_objective), local) + noise
    following = (symbol(q.next_local_iterate), symbol(q.next_centralised_model))
    kept = {vector: what for vector, what in context.definitions.items() if vector not in following}
    moved = Average(local) - symbol(q.local_step_size) * Average(observed)
    return replace(
        context,
        definitions={**kept, symbol(q.next_average_iterate): moved},
        visited=frozenset(),
        assumed={
            **dict(_list_bounds(claim, observed - noise, noise)),
            **{one.id: _bound_drift(one) for one in lemmas},
        },
    )


def _bound_drift(lemma: Claim) -> Expr:
    """Return the slack of a bound on the largest drift of the loop; it holds for each client before each iteration."""
    symbol, relation = symbols_of(lemma), lemma.relations[0] if len(lemma.relations) == 1 else None
    drift = symbol(q.loop_consensus_error)
    if relation is None or lemma.place != "run" or relation.operator != "<=" or relation.left != drift:
        raise Rejected(f"{lemma.id} does not bound the drift of the loop")
    return relation.right - norm_sq(symbol(q.local_iterate) - symbol(q.average_iterate))


@dataclass(frozen=True, kw_only=True)
class LoopMean(Outlined):
    """A bound on the average of |grad F(xbar^{t-1})|^2 over the iterations of the loop, by a bound for each of them."""

    kind: ClassVar[str] = "mean over the loop"
    terms: Sequence[Term]
    """The terms whose sum is the slack of one iteration."""
    lemmas: Sequence[str] = ()
    """Ids of proved claims on the largest drift of the loop."""

    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a bound on the average over the loop's iterations; raise `Rejected` for other claims."""
        at = build_iteration_inequality(claim)
        lemmas = [prove(name) for name in self.lemmas]
        for lemma in lemmas:
            yield from use_lemma(claim, lemma)
        yield check_assumed(claim, ROUNDS, "all clients take the same steps and are averaged")
        context = build_iteration_context(claim, [lemma.statement for lemma in lemmas])
        conditions = (*claim.conditions, *list_known_conditions(claim))
        for what, share in at.shares.items():
            yield from add_prefix(
                f"{what}: ", [check_nonnegative(context.numbers.known(share), context.numbers, conditions)]
            )
        yield from add_prefix("one iteration: ", check(at.left, at.right, self.terms, context, conditions))

    def introduce(self, _claim: Claim) -> str:
        """Introduce a claim as the average over the iterations of the loop."""
        return (
            "A restart does not move the average of the clients, so that an iteration of the loop takes the average by "
            "one step of the mean of the gradients that the clients observe.  The inequality below holds in each "
            "iteration, as its slack is the sum of the coefficients times the terms beside them.  The claim is its "
            "mean over all iterations: the decrease of $f$ telescopes, and is at most the initial gap."
        )

    def outline(self, claim: Claim) -> Iterator[Group]:
        """Yield one iteration of the loop."""
        at = build_iteration_inequality(claim)
        context = build_iteration_context(claim, [use_plain_symbols(find(name)) for name in self.lemmas])
        yield Group(Relation(at.left, "<=", at.right).latex, list_entries(self.terms, context))


KINDS = PaperKinds(kinds=(LoopMean,), measures={"loop pair": LOOP_PAIR}, symbols={"loop": loop_symbols})
