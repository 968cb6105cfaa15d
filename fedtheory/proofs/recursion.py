"""Bounds on the drift: how far two clients can come apart, step by step.

All clients start a round at the server's model.  Let D_k = E|x_i - x_j|^2 after
k local steps of a round, for two clients i and j.  A certificate shows, for any two clients,

    D_{k+1} <= factor(k) D_k + offset(k),      factor(k) bound(k) + offset(k) <= bound(k+1),

so that D_k <= bound(k) for k = 0 .. tau.  As x_i - xbar is (1/M) times the sum
of x_i - x_j over the others, E|x_i - xbar|^2 <= (1 - 1/M)^2 bound(k); and the
mean of E|x_i - xbar|^2 over i is half of the mean over all pairs, of which one
in M is zero: at most (1 - 1/M)/2 bound(k).  Both for uniform shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.claim import Claim
from fedtheory.expressions import Expr, Gradient, norm_sq
from fedtheory.kernel import Numbers, Rejected, Step, Term, Theory, check, is_nonnegative
from fedtheory.proofs.proof import Prover, relaxation
from fedtheory.proofs.theory import Letters, letters_of, numbers_of

k = sp.Symbol("k", nonnegative=True)
"""Local steps taken so far, 0 .. tau."""
x_i, x_j, n_i, n_j = sp.symbols("x_i x_j n_i n_j", real=True)
"""The iterates of the two clients, and the noise of their next gradients."""
F, F_i, F_j = sp.symbols("F F_i F_j", real=True)

SLOPE_I, SLOPE_J = Gradient(F_i, x_i), Gradient(F_j, x_j)

_NEEDS = (a.same_local_work, a.full_participation, a.uniform_shares)
"""What makes all clients start a round at the server's model, take the same steps and count alike."""


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """Why a claim about the drift holds."""

    claim: str
    """Its id."""
    factor: Expr
    offset: Expr
    terms: Sequence[Term]
    """What adds up to the slack of one step."""
    bound: Expr
    """On D_k, for every k."""
    first: Sequence[Term] | None = None
    """What adds up to the slack of ``D_1 <= bound(1)`` where both clients are at the server's model, if the step is
    used from k = 1 on only; None where it is used from k = 0 on."""
    total: Expr | None = None
    """For means over the local steps: the sum of bound(0) .. bound(k-1)."""
    relaxed: Sequence[Expr] | None = None
    """Weaker conditions than the claim's, under which the terms suffice; None for the claim's own."""


def examine_recursion(claim: Claim, certificate: Recursion, _prove: Prover) -> Iterator[Step]:
    """Check a bound on the drift; `Rejected` where the claim is about something else."""
    relation = claim.relations[0] if len(claim.relations) == 1 else None
    letter, conclude = letters_of(claim), None
    if relation is not None and relation.operator == "<=" and claim.place == "run" and claim.rate is None:
        conclude = next((rule for notion, rule in _CONCLUSIONS if letter(notion) == relation.left), None)
    if relation is None or conclude is None:
        raise Rejected("a recursion is about one upper bound on the drift of a whole run")
    missing = [assumption.name for assumption in _NEEDS if assumption not in claim.assumptions]
    yield Step("all clients take the same steps" + (f"; missing: {', '.join(missing)}" if missing else ""), not missing)
    yield from relaxation(claim, certificate.relaxed)
    conditions = claim.conditions if certificate.relaxed is None else certificate.relaxed
    yield from _induction(_Setting(claim, certificate, tuple(conditions)))
    yield from conclude(_Setting(claim, certificate, tuple(conditions)), relation.right)


@dataclass(frozen=True)
class _Setting:
    """A claim with its certificate, and the conditions under which it is proved."""

    claim: Claim
    certificate: Recursion
    conditions: tuple[Expr, ...]

    @property
    def steps(self) -> sp.Symbol:
        """The letter of tau."""
        return letters_of(self.claim)(q.local_steps)

    def numbers(self, first: int) -> Numbers:
        """The numbers of the claim, and k from `first` on; k = tau is allowed by itself, k < tau is a condition."""
        known = numbers_of(self.claim)
        if k in known.letters:
            raise Rejected("the letter k is taken: it counts the local steps")
        bounds = {**known.at_least, k: first}
        return replace(known, letters=known.letters | {k, self.steps}, at_least=bounds)

    def is_nonnegative(self, number: Expr, first: int, *upper: Expr) -> bool:
        """Whether a number is not negative for every k from `first` on, under further conditions."""
        known = self.numbers(first)
        return is_nonnegative(known.plain(number), known, (*self.conditions, *upper))


def _induction(at: _Setting) -> Iterator[Step]:
    """That bound(k) bounds the squared distance of two clients after k local steps."""
    certificate, bound = at.certificate, at.certificate.bound
    start = 0 if certificate.first is None else 1
    theory = _two_clients(at.claim, at.numbers(start))
    earlier = k + 1 <= at.steps
    moved, apart = _moved(at.claim), norm_sq(x_i - x_j)
    rhs = certificate.factor * apart + certificate.offset
    yield from _named("one step: ", check(moved, rhs, certificate.terms, theory, (*at.conditions, earlier)))
    yield Step("at the start nobody is apart", at.is_nonnegative(bound.subs(k, 0), 0))
    if certificate.first is not None:
        together = replace(theory, vectors=theory.vectors - {x_j}, definitions={**theory.definitions, x_j: x_i})
        found = check(moved, bound.subs(k, 1), certificate.first, together, at.conditions)
        yield from _named("first step: ", found)
    grown = bound.subs(k, k + 1) - certificate.factor * bound - certificate.offset
    yield Step(f"({certificate.factor}) >= 0", at.is_nonnegative(certificate.factor, start, earlier))
    yield Step(f"{bound} satisfies the recursion", at.is_nonnegative(grown, start, earlier))


def _named(prefix: str, steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield Step(prefix + step.text, step.holds)


def _moved(claim: Claim) -> Expr:
    """|x_i' - x_j'|^2 after the next local step."""
    size = letters_of(claim)(q.local_step_size)
    return norm_sq((x_i - size * (SLOPE_I + n_i)) - (x_j - size * (SLOPE_J + n_j)))


def theory_of_two_clients(claim: Claim, certificate: Recursion) -> Theory:
    """The theory in which one step of a certificate is checked."""
    setting = _Setting(claim, certificate, ())
    return _two_clients(claim, setting.numbers(0 if certificate.first is None else 1))


def _two_clients(claim: Claim, numbers: Numbers) -> Theory:
    """What is known of two clients: the claim's assumptions, for each."""
    letter = letters_of(claim)
    objectives = frozenset({F, F_i, F_j})
    noise = frozenset({n_i, n_j})
    is_quiet = a.full_gradients in claim.assumptions
    is_convex = a.convex_and_smooth in claim.assumptions
    is_smooth = is_convex or a.smooth in claim.assumptions
    return Theory(
        numbers=numbers,
        vectors=frozenset({x_i, x_j}) if is_quiet else noise | {x_i, x_j},
        noise=frozenset() if is_quiet else noise,
        definitions=dict.fromkeys(noise, sp.S.Zero) if is_quiet else {},
        objectives=objectives,
        convex=objectives if is_convex else frozenset(),
        smooth=dict.fromkeys(objectives, letter(q.smoothness)) if is_smooth else {},
        assumed=dict(_assumed(claim, letter)),
    )


def _assumed(claim: Claim, letter: Letters) -> Iterator[tuple[str, Expr]]:
    for name, noise, slope, misfit in (
        ("i", n_i, SLOPE_I, SLOPE_I - Gradient(F, x_i)),
        ("j", n_j, SLOPE_J, SLOPE_J - Gradient(F, x_j)),
    ):
        if a.unbiased_bounded_variance in claim.assumptions:
            yield f"bounded variance of {name}", letter(q.noise_deviation) ** 2 - norm_sq(noise)
        if a.bounded_dissimilarity in claim.assumptions:
            yield f"bounded dissimilarity of {name}", letter(q.gradient_dissimilarity) ** 2 - norm_sq(misfit)
        if a.bounded_second_moment in claim.assumptions:
            yield f"bounded second moment of {name}", letter(q.second_moment) ** 2 - norm_sq(slope + noise)
        # The largest of the run is at least that of any of its steps.
        yield f"second moment of {name} in the run", letter(q.visited_second_moment) ** 2 - norm_sq(slope + noise)


def _largest(at: _Setting, right: Expr) -> Iterator[Step]:
    """Every client at every step, k = 0 .. tau."""
    drift = (1 - 1 / letters_of(at.claim)(q.clients)) ** 2 * at.certificate.bound
    at_start, later = right - drift.subs(k, 0), right - drift
    holds = at.is_nonnegative(at_start, 0) and at.is_nonnegative(later, 1, k <= at.steps)
    yield Step(f"{drift} is at most the right side", holds)


def _mean(at: _Setting, right: Expr) -> Iterator[Step]:
    """The mean over clients and over k = 0 .. tau-1."""
    total = at.certificate.total
    if total is None:
        raise Rejected("a mean over local steps needs the sum of the bounds")
    difference = total.subs(k, k + 1) - total - at.certificate.bound
    yield Step(f"{total} sums the bounds", total.subs(k, 0) == 0 and sp.simplify(difference) == 0)
    drift = (1 - 1 / letters_of(at.claim)(q.clients)) / 2 * total.subs(k, at.steps) / at.steps
    yield Step(f"{drift} is at most the right side", at.is_nonnegative(right - drift, 0))


_CONCLUSIONS: tuple[tuple[q.Quantity, Callable[[_Setting, Expr], Iterator[Step]]], ...] = (
    (q.max_drift, _largest),
    (q.round_drift, _mean),
    (q.average_round_drift, _mean),
)
"""What follows from a bound on the distance of any two clients."""
