"""Average proved relations over clients, local steps or updates.

The averages of most quantities follow from their terms. The remaining ones are listed here; they are trusted like the
kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.kernel.quotients import linear
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.proofs.averages import Averaged
from fedtheory.proofs.numbers import NUMBERS, OF_AN_UPDATE, SymbolTable
from fedtheory.sources.fraboni2022.context.time_averages import list_step_averages, map_round_averages

NEEDS = (a.aggregation_scheme,)
_CONSTANT_IN_UPDATES = (
    *NUMBERS,
    *OF_AN_UPDATE,
    q.round_optimum_noise,
    q.round_optimum_mixed_noise,
    q.past_step_lengths_sq,
    q.misrepresentation,
)
"""Quantities that are equal for all clients and local steps of an update."""


@dataclass(frozen=True)
class OverClients(Averaged):
    """Averages a bound for each client over the clients, with their normalised weights."""

    kind = "over clients"
    label = "a proved claim, averaged over the clients with their shares"
    needs = NEEDS
    same = _CONSTANT_IN_UPDATES

    def means(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the quantities with a known average, with their averages."""
        distance = symbol(q.received_distance_sq)
        return {distance: ClientSum(symbol(q.weight_share) * distance)}


@dataclass(frozen=True)
class OverSteps(Averaged):
    """Averages a relation at every local step of an update over the steps."""

    kind = "over steps"
    label = "a proved claim, averaged over the local steps"
    needs = NEEDS
    same = _CONSTANT_IN_UPDATES

    def list_weighted_symbols(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the index of a step, which is the number of steps before it."""
        return {symbol(q.past_mean_square_gradient): symbol(q.local_step_index)}

    def means(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the quantities with a known average, with their averages."""
        received = ClientSum(symbol(q.weight_share) * symbol(q.received_distance_sq))
        past = symbol(q.local_step_index) * symbol(q.past_mean_square_gradient)
        means = {
            mean.at_step.xreplace({own: symbol(of) for own, of in mean.where.items()}): symbol(mean.quantity)
            for mean in list_step_averages()
        }
        past_sum = symbol(q.weighted_past_sum) / symbol(q.local_steps)
        return {**_average_equal_updates(symbol), received: received, **means, past: past_sum}


@dataclass(frozen=True)
class OverUpdates(Averaged):
    """Averages a relation about every update over the updates.

    The average of a sum over the last tau updates is at most tau times the average.
    """

    kind = "over updates"
    label = "a proved claim, averaged over the updates"
    needs = NEEDS
    keeps_equations = False

    def list_weighted_symbols(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the chi-squared distance of update weights from client weights; it multiplies the types' loss."""
        return {symbol(q.misrepresentation): symbol(q.chi_sq)}

    def means(self, symbol: SymbolTable) -> Mapping[Expr, Expr]:
        """Return the quantities with a known average, with their averages; for the last moves an upper bound."""
        averages = map_round_averages()
        quantities = dict.fromkeys((*_LEADING, *averages))
        means: dict[Expr, Expr] = {symbol(quantity): symbol(averages[quantity]) for quantity in quantities}
        past = {symbol(q.past_step_lengths_sq): symbol(q.largest_staleness) * symbol(q.mean_step_length_sq)}
        misfit = symbol(q.chi_sq) * symbol(q.misrepresentation)
        return {**_average_equal_updates(symbol), **means, **past, misfit: symbol(q.mean_misrepresentation)}

    def requires(self, symbol: SymbolTable, slack: Expr) -> tuple[Expr, ...]:
        """Require that expressions replaced by upper bounds have non-negative coefficients."""
        past = symbol(q.past_step_lengths_sq)
        return (linear(slack, [past])[0][past],)


_LEADING = (q.step_length_sq, q.round_gap, q.surrogate_gap, q.comparator_gap)
"""Terms that come first in sums over updates, as in the papers' bounds."""


def _average_equal_updates(symbol: SymbolTable) -> Mapping[Expr, Expr]:
    """Return sums over clients of values that are equal in all updates, which are their own averages."""
    misfit = ClientSum(symbol(q.mean_weight_share) * symbol(q.client_gap_at_surrogate_optimum))
    return {misfit: misfit}
