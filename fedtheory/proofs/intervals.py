"""From the local steps of a round to its ends, and from every round to the whole run: gaps of the objective.

A round starts from the server's model, on which gradient descent on F makes as
many steps as the clients, and the next round starts from the aggregated model.
Which quantities are the gaps of these models is written down here; it is as
much trusted as the kernel is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr, Gradient, Inner, Value
from fedtheory.kernel.quotients import in_lowest_terms, is_zero
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Place, Relation
from fedtheory.proofs.numbers import ROUNDS, Letters, letters_of

NEEDS = (*ROUNDS, a.full_gradients)
"""What makes the averaged iterate of a round's last step the next server's model, and gaps numbers."""


@dataclass(frozen=True)
class Derived:
    """A relation of another claim, by its number."""

    claim: str
    link: int = 0
    needs: ClassVar[tuple[Assumption, ...]] = ()
    """Assumptions that are needed besides those of that claim."""
    place: ClassVar[Place] = "run"
    """What that claim has to be about."""
    keeps_equations: ClassVar[bool] = True
    """Whether an equation remains one; else only one direction of it does."""

    def of(self, letter: Letters, relations: Sequence[Relation]) -> Expr:
        """Return the non-negative expression, from the relations of that claim."""
        return self.slack(letter, relations[self.link].slack)

    def slack(self, _letter: Letters, slack: Expr) -> Expr:
        """Map the premise's slack to the derived slack."""
        return slack

    def requires(self, _letter: Letters, _slack: Expr) -> tuple[Expr, ...]:
        """Return the further expressions that must be non-negative."""
        return ()


@dataclass(frozen=True)
class Telescoped(Derived):
    """A lower bound on A(v') - A(v) at every local step, summed over the steps of a round."""

    needs = NEEDS
    place = "path"

    def slack(self, letter: Letters, slack: Expr) -> Expr:
        """Return the non-negative expression."""
        now, later, last = sp.symbols("now later last", cls=sp.Dummy)
        found = _with_gaps(letter, slack, {q.centralised_model: now, q.next_centralised_model: later})
        if found.atoms(Inner, Gradient, Value):
            raise Rejected("the relation does not telescope: it is about more than gaps and numbers")
        if found.has(letter(q.local_step_index)):
            raise Rejected("the relation does not telescope: it differs from step to step by more than its gaps")
        least = in_lowest_terms(found.xreplace({later: now}))
        gained = found - least
        chained = gained + gained.xreplace({now: later, later: last}) - gained.xreplace({later: last})
        if least.has(now) or not is_zero(chained):
            raise Rejected("the relation does not telescope over the local steps")
        ends = {now: letter(q.interval_start_gap), later: letter(q.interval_end_gap)}
        total: Expr = gained.xreplace(ends) + letter(q.local_steps) * least
        return total


@dataclass(frozen=True)
class AtEnd(Derived):
    """A relation at every local step, at the last one of a round; its vectors are those of that step."""

    needs = NEEDS
    place = "path"

    def slack(self, letter: Letters, slack: Expr) -> Expr:
        """Return the non-negative expression."""
        ends = {
            q.next_centralised_model: letter(q.interval_end_gap),
            q.next_average_iterate: letter(q.next_interval_start_gap),
        }
        found: Expr = _with_gaps(letter, slack, ends).xreplace({letter(q.local_step_index): letter(q.local_steps) - 1})
        return found


@dataclass(frozen=True)
class Summed(Derived):
    """A relation about each round, summed over all of them: the aggregated model is where the next one starts."""

    needs = NEEDS

    def slack(self, letter: Letters, slack: Expr) -> Expr:
        """Return the non-negative expression."""
        _require_of_ends(letter, slack)
        start, end, following = (letter(gap) for gap in _ENDS)
        totals = {
            1 / end - 1 / start: letter(q.reciprocal_progress),
            1 / following - 1 / start: 1 / letter(q.final_suboptimality) - 1 / letter(q.initial_gap),
        }
        for at_a_round, total in totals.items():
            rest = sp.expand(slack - at_a_round)
            if not rest.has(*(letter(gap) for gap in _ENDS)):
                return total + letter(q.rounds) * rest
        raise Rejected("the sum of the relation over the rounds is not known")


@dataclass(frozen=True)
class AtNextStart(Derived):
    """A relation about the start of each round, for the aggregated model: it has to hold for the last one as well."""

    needs = NEEDS
    keeps_equations = False

    def slack(self, letter: Letters, slack: Expr) -> Expr:
        """Return the non-negative expression."""
        return _moved(letter, slack, q.next_interval_start_gap)

    def requires(self, letter: Letters, slack: Expr) -> tuple[Expr, ...]:
        """Require that it holds for the last one."""
        return (_moved(letter, slack, q.final_suboptimality),)


@dataclass(frozen=True)
class AtFirstStart(Derived):
    """A relation about the start of each round, for the first one."""

    needs = NEEDS

    def slack(self, letter: Letters, slack: Expr) -> Expr:
        """Return the non-negative expression."""
        return _moved(letter, slack, q.initial_gap)


_ENDS = (q.interval_start_gap, q.interval_end_gap, q.next_interval_start_gap)


def _with_gaps(letter: Letters, slack: Expr, gaps: Mapping[q.VectorNotion, Expr]) -> Expr:
    """A slack with objective values as the minimum and gaps above it."""
    objective = letter(q.objective)
    least = Value(objective, letter(q.optimum))
    found: Expr = slack.xreplace({Value(objective, letter(model)): gap + least for model, gap in gaps.items()})
    return found


def _require_of_ends(letter: Letters, slack: Expr) -> None:
    """Raise `Rejected` where a relation names what differs from round to round, other than the gaps at its ends."""
    for symbol in sorted(slack.free_symbols, key=str):
        notion = letter.notion(symbol)
        if isinstance(notion, q.Quantity) and notion.per_round and notion not in _ENDS:
            raise Rejected(f"{notion.name} differs from round to round")


def _moved(letter: Letters, slack: Expr, to: q.Notion) -> Expr:
    _require_of_ends(letter, slack)
    start, end, following = (letter(gap) for gap in _ENDS)
    if slack.has(end, following):
        raise Rejected("the relation is not about the start of a round alone")
    moved: Expr = slack.xreplace({start: letter(to)})
    return moved


def gap_conditions(claim: Claim) -> tuple[Expr, ...]:
    """State that the smallest gap is at most each gap that a claim names, by its definition."""
    among = (q.interval_end_gap, q.last_interval_gap, q.final_suboptimality)
    return letters_of(claim).at_most(*((q.smallest_gap, gap) for gap in among))
