"""Vocabulary of claims about updates and their client sampling, from `library/Samples.v` and `library/Means.v`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import Assumption
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, declare_real

LIBRARY = ("Samples", "Means")
EVERYBODY = "everybody"
"""The hypothesis that every client participates in some update."""


@dataclass(frozen=True)
class _Assumed:
    """Variables and hypotheses that belong together, with the assumption that they encode."""

    assumption: Assumption | None
    binders: Sequence[Binder]
    on: str = ""
    """A variable without which the hypothesis is not needed."""


_ASSUMED = (
    _Assumed(None, (Binder("fixed", "space_of A -> Prop"),)),
    _Assumed(
        a.unbiased_gradients,
        (
            Binder("past", "nat -> nat -> space_of A -> Prop"),
            Binder("draw", "nat -> nat -> nat -> objective (space_of A)"),
            Binder("unbiased_A", "unbiased_draws A fixed past draw"),
        ),
    ),
    _Assumed(
        a.convex_and_smooth,
        (
            *declare_real("L_xi", positive=True),
            Binder("smooth_draws_A", "smooth_draws A L_xi draw"),
        ),
    ),
    _Assumed(
        a.weight_covariance,
        (Binder("known", "nat -> space_of A -> Prop"), Binder("independent_A", "independent_weights A fixed known")),
    ),
    _Assumed(a.given_weights, (Binder("given", "given_weights A d"),), "d"),
    _Assumed(a.given_weights, (Binder("given_A", "weights_are_given A"),)),
    _Assumed(a.convex_and_smooth, (Binder("convex_A", "convex_clients A"),)),
    _Assumed(None, (Binder("B_g", "R"), Binder("bounded_A", "bounded_gradients A B_g"))),
    _Assumed(None, (Binder("b", "nat"), Binder("Hb", "(b * W + W <= updates A)%nat")), "W"),
    _Assumed(None, (Binder("fixed_bar", "fixed bar"),), "bar"),
    _Assumed(None, (Binder("fixed_y", "fixed y"),), "y"),
    _Assumed(None, (Binder("fixed_bar_n", "forall n, fixed (bar_n n)"),), "bar_n"),
)


def list_assumed(required: Set[str], parameters: Set[str], assumptions: Sequence[Assumption]) -> Iterator[Binder]:
    """Yield the required variables and hypotheses that the assumptions of a claim, or its points, provide."""
    chosen = [one for one in _ASSUMED if (required - parameters) & {binder.name for binder in one.binders}]
    needs_fixed = any(" fixed" in binder.type for one in chosen for binder in one.binders)
    for one in _ASSUMED:
        if one not in chosen and not (needs_fixed and one is _ASSUMED[0]):
            continue
        if one.assumption is not None and one.assumption not in assumptions:
            name = one.binders[0].name
            raise NotExported(
                f"{name} is defined by the assumption {one.assumption.name!r}, which the claim does not make"
            )
        if not one.on or one.on in parameters:
            yield from one.binders


class SignsOfParts(SignProofs):
    """Proofs of signs by the signs of parts; conditions are used as given."""

    def prepare_conditions(self) -> list[str]:
        """Return no tactics, because conditions are used as given."""
        return []

    def ordering(self, condition: Expr) -> str:
        """Return a condition as text, in an order that does not depend on the claim's symbols."""
        plain = {symbol: sp.Symbol(text) for symbol, text in self.names.items()}
        return replace(self, names={one: one.name for one in plain.values()}).written(condition.xreplace(plain))

    def written(self, condition: Expr) -> str:
        """Return a condition as text, in the claim's symbols."""
        return super().ordering(condition)

    def nonnegative(self, value: object) -> str:
        """Return a tactic for the goal that a number is not negative."""
        del value
        return "sign"
