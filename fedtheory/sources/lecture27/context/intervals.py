"""Derive relations about gaps at the ends of rounds from local steps, and about the whole run from rounds.

A round starts from the server's model, from which gradient descent on F makes as many steps as the clients, and the
next round starts from the aggregated model. The quantities that are gaps of these models are listed here; the list is
trusted like the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Expr, Gradient, Inner, Value, norm_sq
from fedtheory.kernel.quotients import is_zero, reduce_fraction
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import ROUNDS, SymbolTable, symbols_of
from fedtheory.proofs.paper_contexts import PaperRules

NEEDS = (*ROUNDS, a.full_gradients)
"""Assumptions under which the last averaged iterate of a round is the next server model, and gaps are numbers."""


@dataclass(frozen=True)
class SumOverSteps(Derived):
    """A lower bound on A(v') - A(v) at every local step, summed over the steps of a round."""

    kind = "telescoped"
    label = "a proved claim, summed over the steps of a round"
    needs = NEEDS
    place = "path"

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the sum of the slack over the steps of a round; raise `Rejected` if it does not telescope."""
        now, later, last = sp.symbols("now later last", cls=sp.Dummy)
        found = _write_gaps(symbol, slack, {q.centralised_model: now, q.next_centralised_model: later})
        if found.atoms(Inner, Gradient, Value):
            raise Rejected("the relation does not telescope: it has more than gaps and numbers")
        if found.has(symbol(q.local_step_index)):
            raise Rejected("the relation does not telescope: it differs from step to step by more than its gaps")
        least = reduce_fraction(found.xreplace({later: now}))
        gained = found - least
        chained = gained + gained.xreplace({now: later, later: last}) - gained.xreplace({later: last})
        if least.has(now) or not is_zero(chained):
            raise Rejected("the relation does not telescope over the local steps")
        ends = {now: symbol(q.interval_start_gap), later: symbol(q.interval_end_gap)}
        total: Expr = gained.xreplace(ends) + symbol(q.local_steps) * least
        return total


@dataclass(frozen=True)
class AtLastStep(Derived):
    """A relation at every local step, applied to the last step of a round; its vectors are those of that step."""

    kind = "at the last step"
    label = "a proved claim, at the last step of a round"
    needs = NEEDS
    place = "path"

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack at the last step, with the gaps at the end of the round."""
        ends = {
            q.next_centralised_model: symbol(q.interval_end_gap),
            q.next_average_iterate: symbol(q.next_interval_start_gap),
        }
        found: Expr = _write_gaps(symbol, slack, ends).xreplace({symbol(q.local_step_index): symbol(q.local_steps) - 1})
        return found


@dataclass(frozen=True)
class SumOverRounds(Derived):
    """A relation about each round, summed over all rounds; the next round starts from the aggregated model."""

    kind = "summed over rounds"
    label = "a proved claim, summed over all rounds"
    needs = NEEDS

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the sum of the slack over the rounds; raise `Rejected` if it has no known form."""
        _require_gaps_at_ends(symbol, slack)
        start, end, following = (symbol(gap) for gap in _ENDS)
        totals = {
            1 / end - 1 / start: symbol(q.reciprocal_progress),
            1 / following - 1 / start: 1 / symbol(q.final_suboptimality) - 1 / symbol(q.initial_gap),
        }
        for at_a_round, total in totals.items():
            rest = sp.expand(slack - at_a_round)
            if not rest.has(*(symbol(gap) for gap in _ENDS)):
                return total + symbol(q.rounds) * rest
        raise Rejected("the sum of the relation over the rounds has no known form")


@dataclass(frozen=True)
class AtNextStart(Derived):
    """A relation about the start of each round, applied to the next round; it must hold for the last model as well."""

    kind = "at the next start"
    label = "a proved claim, for the next round or the end of the run"
    needs = NEEDS
    keeps_equations = False

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack with the gap at the next start."""
        return _exchange_start(symbol, slack, q.next_interval_start_gap)

    def requires(self, symbol: SymbolTable, slack: Expr) -> tuple[Expr, ...]:
        """Return the requirement that the relation holds for the last model."""
        return (_exchange_start(symbol, slack, q.final_suboptimality),)


@dataclass(frozen=True)
class AtFirstStart(Derived):
    """A relation about the start of each round, applied to the first one."""

    kind = "at the first start"
    label = "a proved claim, for the first round"
    needs = NEEDS

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the slack with the initial gap."""
        return _exchange_start(symbol, slack, q.initial_gap)


_ENDS = (q.interval_start_gap, q.interval_end_gap, q.next_interval_start_gap)


def _write_gaps(symbol: SymbolTable, slack: Expr, gaps: Mapping[q.VectorQuantity, Expr]) -> Expr:
    """Return a slack with objective values written as the minimum plus gaps."""
    objective = symbol(q.objective)
    least = Value(objective, symbol(q.optimum))
    found: Expr = slack.xreplace({Value(objective, symbol(model)): gap + least for model, gap in gaps.items()})
    return found


def _require_gaps_at_ends(symbol: SymbolTable, slack: Expr) -> None:
    """Raise `Rejected` if a relation has other quantities that vary between rounds than the gaps at their ends."""
    for each in sorted(slack.free_symbols, key=str):
        quantity = symbol.quantity(each)
        if isinstance(quantity, q.RunQuantity) and quantity.per_round and quantity not in _ENDS:
            raise Rejected(f"{quantity.name} differs from round to round")


def _exchange_start(symbol: SymbolTable, slack: Expr, to: q.Quantity) -> Expr:
    """Return a slack with another gap in place of that at the start of a round."""
    _require_gaps_at_ends(symbol, slack)
    start, end, following = (symbol(gap) for gap in _ENDS)
    if slack.has(end, following):
        raise Rejected("the relation is not about the start of a round alone")
    moved: Expr = slack.xreplace({start: symbol(to)})
    return moved


def list_gap_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Return the conditions that the smallest gap is at most each gap that a claim names, by its definition."""
    among = (q.interval_end_gap, q.last_interval_gap, q.final_suboptimality)
    return symbols_of(claim).at_most(*((q.smallest_gap, gap) for gap in among))


def with_bounds(context: Context, claim: Claim) -> Context:
    """Return a context with bounds on the distance of rounds' starts from the optimum, and on divergences."""
    symbol = symbols_of(claim)
    bounds = _bound_starts(claim, symbol) | _bound_divergences(claim, symbol)
    return replace(context, assumed={**context.assumed, **bounds})


def _bound_starts(claim: Claim, symbol: SymbolTable) -> dict[str, Expr]:
    """Return the bound on the distance of rounds' starts from the optimum.

    It holds in expectation, or on the only path.  Statements about rounds of sampled clients also concern starts that
    the run does not reach.
    """
    is_path = claim.place == "path" and a.full_gradients in claim.assumptions
    is_start = (is_path or claim.place == "step") and a.uniform_sampling not in claim.assumptions
    if not symbol.has(q.nearest_start) or not is_start:
        return {}
    distance_sq = norm_sq(symbol(q.server_model) - symbol(q.optimum))
    return {"nearest start": 1 / symbol(q.nearest_start) - distance_sq}


def _bound_divergences(claim: Claim, symbol: SymbolTable) -> dict[str, Expr]:
    """Return the bounds on gradient dissimilarity at the centralised iterate."""
    if a.bounded_dissimilarity not in claim.assumptions or not symbol.has(q.client_dissimilarity):
        return {}
    model = symbol(q.centralised_model)
    divergence_sq = norm_sq(Gradient(symbol(q.client_objective), model) - Gradient(symbol(q.objective), model))
    return {"divergence at the centralised model": symbol(q.client_dissimilarity) ** 2 - divergence_sq}


CONTEXT = PaperRules(
    conditions=list_gap_conditions,
    derived=(SumOverSteps, AtLastStep, SumOverRounds, AtNextStart, AtFirstStart),
    extend=with_bounds,
)
