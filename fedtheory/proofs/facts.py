"""Facts: inequalities that hold on every run by the definitions of its quantities, not by a theorem.

They are listed here and in the other modules of facts, and are trusted like the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, SymbolTable


class _Numbers:
    """A symbol for each quantity, in which facts are written: the symbol is an attribute with the quantity's name."""

    def __init__(self) -> None:
        self._symbols = SymbolTable({})
        self.quantities: dict[Expr, q.Quantity] = {}

    def __call__(self, quantity: q.Quantity) -> Expr:
        symbol = self._symbols(quantity)
        self.quantities[symbol] = quantity
        return symbol

    def __getattr__(self, name: str) -> Expr:
        return self(getattr(q, name))

    def translate(self, symbol: SymbolTable, number: Expr) -> Expr:
        """Return a number in the symbols of a claim."""
        return sp.sympify(number).xreplace({one: symbol(self.quantities[one]) for one in number.free_symbols})


n = _Numbers()


@dataclass(frozen=True)
class Fact:
    """A number of a run that is non-negative, or zero, in every context."""

    name: str
    number: Expr
    needs: tuple[Assumption, ...] = ()
    is_zero: bool = False
    where: Expr = sp.S.Zero
    """Expression that must be zero for the fact to hold."""

    def slack(self, symbol: SymbolTable) -> Expr:
        """Return the number in the symbols of a claim."""
        return n.translate(symbol, self.number)

    @property
    def quantities(self) -> frozenset[q.Quantity]:
        """Return the quantities of the fact."""
        return frozenset(n.quantities[symbol] for symbol in self.number.free_symbols | self.where.free_symbols)

    def zero_condition(self, symbol: SymbolTable) -> Expr:
        """Return the expression that must be zero, in the symbols of a claim."""
        return n.translate(symbol, self.where)


def zero(name: str, number: Expr, *needs: Assumption, where: Expr = sp.S.Zero) -> Fact:
    """Return the fact that a number is zero if `where` is zero."""
    return Fact(name, number, needs, True, where)


def least(name: str, number: Expr, *needs: Assumption) -> Fact:
    """Return the fact that a number is non-negative."""
    return Fact(name, number, needs)


ONE = least("1 >= 0", sp.S.One)
FINAL_DISTANCE = least("a squared distance is not negative", n.final_distance_sq)
AVERAGE_ERROR = least("an average error is not negative", n.average_suboptimality)
TELESCOPED_PROGRESS = zero(
    "the progress of the rounds telescopes",
    n.total_progress - n.initial_distance**2 + n.final_distance_sq,
    *ROUNDS,
)
_TOWARDS = n.total_comparator_progress - n.comparator_distance**2 + n.final_comparator_distance_sq
TELESCOPED_FROM_COMPARATOR = zero("the progress of the rounds towards the comparator telescopes", _TOWARDS, *ROUNDS)
TELESCOPED_WITH_PARTICIPANTS = zero(
    "the progress of the rounds of participants towards the comparator telescopes", _TOWARDS, *SAMPLED_ROUNDS
)
FINAL_COMPARATOR_DISTANCE = least(
    "a squared distance from the comparator is not negative", n.final_comparator_distance_sq
)
DESCENT = least("no model is below the minimum", n.initial_gap - n.total_descent)
MEAN_DRIFT = least("a mean is at most the largest", n.max_drift - n.average_round_drift, *ROUNDS)
ROUND_DRIFT = least("a mean over one round is at most the largest", n.max_drift - n.round_drift, *ROUNDS)
NO_OTHER_CLIENT = zero("a single client does not drift", n.average_round_drift, *ROUNDS, a.one_client)
NO_DRIFT_ALONE = zero("a single client never drifts", n.max_drift, *ROUNDS, a.one_client)
NO_LATER_STEP = zero(
    "no client drifts before its first local step", n.average_round_drift, *ROUNDS, where=n.local_steps - 1
)
QUIET = zero("without noise its variance is zero", n.noise_deviation, a.full_gradients)
ITERATIONS = zero(
    "iterations are the local steps of all rounds", n.iterations - n.rounds * n.local_steps, a.same_local_work
)
CURVATURE = least("no curvature is larger than the largest", n.objective_smoothness - n.smallest_curvature)
STRONG_CURVATURE = least("no client's curvature exceeds the largest", n.smoothness - n.strong_convexity)
LAST_ERROR = least(
    "the last error is at most L/2 times the last squared distance",
    n.smoothness * n.final_distance_sq / 2 - n.final_suboptimality,
    a.smooth,
)
LAST_DISTANCE = least(
    "the last squared distance is at most 2/mu times the last error",
    n.final_suboptimality - n.strong_convexity * n.final_distance_sq / 2,
    a.strongly_convex_clients,
)
ONE_GRADIENT = zero(
    "with one local step the gradients of the rounds are those of the steps",
    n.average_gradient_sq - n.average_local_gradient_sq,
    *ROUNDS,
    where=n.local_steps - 1,
)
ALIKE = zero("clients with one objective are not dissimilar", n.gradient_dissimilarity, a.one_type)
ALIKE_ON_AVERAGE = zero("clients with one objective are not dissimilar on average", n.mean_dissimilarity, a.one_type)
ALIKE_AT_OPTIMUM = zero(
    "clients with one objective are not dissimilar at the optimum", n.dissimilarity_at_optimum, a.one_type
)
# Each region on which a constant is a supremum contains the optimum, where the gradient of F is zero.
NOISE_AT_OPTIMUM = least(
    "the noise at the optimum is at most the largest",
    n.noise_deviation - n.noise_at_optimum,
    a.unbiased_bounded_variance,
)
DISSIMILARITY_AT_OPTIMUM = least(
    "the dissimilarity at the optimum is at most the largest",
    n.gradient_dissimilarity - n.dissimilarity_at_optimum,
    a.bounded_dissimilarity,
)
MEAN_DISSIMILARITY_AT_OPTIMUM = least(
    "the dissimilarity at the optimum is at most the largest average",
    n.mean_dissimilarity - n.dissimilarity_at_optimum,
    a.bounded_mean_dissimilarity,
    a.uniform_shares,
)
FIRST_GAP = least(
    "the initial gap is at most L/2 times the squared initial distance",
    n.smoothness * n.initial_distance**2 / 2 - n.initial_gap,
    a.smooth,
)
FIRST_DISTANCE = least(
    "the squared initial distance is at most 2/mu times the initial gap",
    n.initial_gap - n.strong_convexity * n.initial_distance**2 / 2,
    a.strongly_convex_clients,
)
