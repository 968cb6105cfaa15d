"""Bounds on the drift, step by step: certificates.

Let D_k be how far clients are apart after k local steps of a round, by one of
the measures; D_0 = 0.  A certificate has the parts of

    D_{k+1} <= factor(k) D_k + offset(k),      factor(k) bound(k) + offset(k) <= bound(k+1),

so that D_k <= bound(k) for k = 0 .. tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Term
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.distances import Measure


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """Why a claim about the drift holds."""

    claim: str
    """Id of the claim."""
    measure: Measure
    factor: Expr
    offset: Expr
    terms: Sequence[Term]
    """Terms whose sum is the slack of one step."""
    bound: Expr
    """On D_k, for every k."""
    first: Sequence[Term] | None = None
    """Terms that add up to the slack of ``D_1 <= bound(1)`` where all clients are at the server's model, if the step is
    used from k = 1 on only; None where it is used from k = 0 on."""
    total: Expr | None = None
    """For means over the local steps: the sum of bound(0) .. bound(k-1)."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""
<<<<<<< HEAD


@dataclass(frozen=True)
class RecursionOfClaim:
    """A claim, under the conditions under which it is proved, with its certificate."""

    claim: Claim
    certificate: Recursion

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """Return the conditions of the claim."""
        return tuple(self.claim.conditions)

    @property
    def steps(self) -> sp.Symbol:
        """The symbol of tau."""
        return symbols_of(self.claim)(q.local_steps)

    @property
    def first(self) -> int:
        """From which k on the step is used."""
        return 0 if self.certificate.first is None else 1

    @property
    def context(self) -> Context:
        """In which the step is checked."""
        return self.certificate.measure.context(self.claim, self.numbers(self.first))

    def numbers(self, first: int) -> Numbers:
        """The numbers of the claim, and k from `first` on."""
        known = numbers_of(self.claim)
        return replace(known, symbols=known.symbols | {k, self.steps}, at_least={**known.at_least, k: first})

    def is_nonnegative(self, number: Expr, first: int, *upper: Expr) -> bool:
        """Return whether a number is not negative for every k from `first` on, under further conditions."""
        known = self.numbers(first)
        return is_nonnegative(known.plain(number), known, (*self.conditions, *upper))


def check_recursion(claim: Claim, certificate: Recursion, _prove: Prover) -> Iterator[Step]:
    """Check a bound on the drift; `Rejected` where the claim is about something else."""
    relation = claim.relations[0] if len(claim.relations) == 1 else None
    symbol, conclude, measure = symbols_of(claim), None, certificate.measure
    if relation is not None and relation.operator == "<=" and claim.place == "run":
        rules = {measure.largest: _largest, **dict.fromkeys(measure.means, _average_bound)}
        conclude = next((rule for quantity, rule in rules.items() if symbol(quantity) == relation.left), None)
    if relation is None or conclude is None:
        raise Rejected("a recursion proves one upper bound on the drift of a whole run")
    if certificate.first is None and not measure.observes_together:
        raise Rejected("clients step from one point with gradients at other points: expected terms for the first step")
    yield check_assumed(claim, (*ROUNDS, *measure.needs), "all clients take the same steps")
    at = RecursionOfClaim(claim, certificate)
    yield from _induction(at)
    yield from conclude(at, relation.right)


def _induction(at: RecursionOfClaim) -> Iterator[Step]:
    """Check that bound(k) bounds the measure after k local steps."""
    claim, certificate, measure = at.claim, at.certificate, at.certificate.measure
    bound, context, earlier = certificate.bound, at.context, k + 1 <= at.steps
    rhs = certificate.factor * measure.before(claim) + certificate.offset
    found = check(measure.after(claim), rhs, certificate.terms, context, (*at.conditions, earlier))
    yield from prefixed("one step: ", found)
    yield Step("the drift is zero at the start of a round", at.is_nonnegative(bound.xreplace({k: sp.S.Zero}), 0))
    if certificate.first is not None:
        together = measure.together(claim, context)
        found = check(measure.after(claim), bound.xreplace({k: sp.S.One}), certificate.first, together, at.conditions)
        yield from prefixed("first step: ", found)
    grown = bound.xreplace({k: k + 1}) - certificate.factor * bound - certificate.offset
    yield Step(f"({certificate.factor}) >= 0", at.is_nonnegative(certificate.factor, at.first, earlier))
    yield Step(f"{bound} satisfies the recursion", at.is_nonnegative(grown, at.first, earlier))


def _largest(at: RecursionOfClaim, right: Expr) -> Iterator[Step]:
    """Every client at every step."""
    share = at.certificate.measure.largest_drift
    if share is None:
        raise Rejected("a client average does not bound a single client")
    yield _check_every_step(at, share(symbols_of(at.claim)(q.clients)), right)


def _average_bound(at: RecursionOfClaim, right: Expr) -> Iterator[Step]:
    """The mean over clients and over k = 0 .. tau-1, from the sum of the bounds or else from the largest."""
    total, share = at.certificate.total, at.certificate.measure.mean_drift(symbols_of(at.claim)(q.clients))
    if total is None:
        yield _check_every_step(at, share, right)
        return
    difference = total.xreplace({k: k + 1}) - total - at.certificate.bound
    yield Step(f"{total} sums the bounds", is_zero(total.xreplace({k: sp.S.Zero})) and is_zero(difference))
    drift = share * total.xreplace({k: at.steps}) / at.steps
    yield Step(f"{drift} is at most the right side", at.is_nonnegative(right - drift, 0))


def _check_every_step(at: RecursionOfClaim, share: Expr, right: Expr) -> Step:
    """Check that a multiple of the bound is at most the right side for k = 0 .. tau."""
    drift = share * at.certificate.bound
    at_start, later = right - drift.xreplace({k: sp.S.Zero}), right - drift
    holds = at.is_nonnegative(at_start, 0) and at.is_nonnegative(later, 1, k <= at.steps)
    return Step(f"{drift} is at most the right side", holds)
=======
>>>>>>> 2721c134 (proofs: check bounds on the drift as terms)
