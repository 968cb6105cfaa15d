"""Sum relations over windows of updates, in each of which every client has its average weight; trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.proofs.averages import Averaged, require_constant
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import NUMBERS, SymbolTable


@dataclass(frozen=True)
class OverWindow(Derived):
    """Derives a bound on a client's losses over a window from -c <= change <= c of its loss at every local step.

    In sum_n (q_i - q_i(n)) l_n = (1/W) sum_{n,m} q_i(m) (l_n - l_m), the k-th steps of updates n and m are at most W -
    1 updates of K steps apart, so that l_n - l_m <= (W - 1) K c.
    """

    kind = "over a window"
    label = "a proved claim at every local step, for any two updates of a window"
    needs = (a.aggregation_scheme,)
    keeps_equations = False

    def derive(self, symbol: SymbolTable, relations: Sequence[Relation]) -> Expr:
        """Return window_round_loss + window_weight (W - 1) K^2 c - window_loss, given both bounds on the change."""
        change, (least, most) = symbol(q.virtual_loss_change), _read_two_sided_bound(relations)
        bound = sp.expand(most + change)
        if sp.expand(least - change - bound) != 0:
            raise Rejected("expected one bound c on the change of a loss in both directions")
        require_constant(symbol, bound, NUMBERS)
        steps = symbol(q.local_steps)
        difference = (symbol(q.window) - 1) * steps * bound
        slack: Expr = symbol(q.window_round_loss) + symbol(q.window_weight) * steps * difference - symbol(q.window_loss)
        return slack


@dataclass(frozen=True)
class OverWindows(Averaged):
    """Derives the average over clients, windows and local steps from each client's losses over a window.

    The result is the loss above the least value of the surrogate problem: sum_i q_i L_i(thetabar) is the average of
    L^n(thetabar) over the updates.
    """

    kind = "over windows"
    label = "a proved claim, summed over the clients and the windows"
    needs = (a.aggregation_scheme,)

    def means(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the losses and the weight of a window, with their averages."""
        return {
            symbol(q.window_loss): symbol(q.mean_surrogate_suboptimality),
            symbol(q.window_round_loss): symbol(q.mean_surrogate_gap),
            symbol(q.window_weight): symbol(q.mean_weight_sum) / symbol(q.local_steps),
        }

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the average; raise `Rejected` unless the slack is zero for equal losses and no weight."""
        own, others, weight = self.means(symbol)
        if sp.expand(slack.xreplace({others: own, weight: sp.S.Zero})) != 0:
            raise Rejected("expected window losses on both sides, and a multiple of the weight of the window")
        return super().slack(symbol, slack)


def _read_two_sided_bound(relations: Sequence[Relation]) -> tuple[Expr, Expr]:
    """Return the slacks of -c <= change and of change <= c."""
    if len(relations) != 2 or any(relation.operator not in ("<=", ">=") for relation in relations):
        raise Rejected("expected two inequalities, change <= c and -change <= c")
    forwards, backwards = (relation.slack for relation in relations)
    return backwards, forwards
