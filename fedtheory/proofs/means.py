"""From every local step to a round or to the whole run: means of step statements, with what telescopes.

A statement that holds at each step holds for the mean over the steps.  Which
quantity of a round or a run is the mean of which expression at a step is
written down here; it is as much trusted as the kernel is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.claim import Claim
from fedtheory.expressions import Average, Expr, Gradient, Value, norm_sq
from fedtheory.kernel import Step, is_nonnegative, is_ordering, scalar, slack
from fedtheory.proofs.theory import Letters, numbers_of, theory_of

Span = Literal["round", "run"]


@dataclass(frozen=True)
class Mean:
    """An expression at a local step, and its mean over the steps k = 0 .. tau-1."""

    step: Expr
    mean: Expr


def _of_a_round(letter: Letters) -> list[Mean]:
    """Over the steps of one round; the averaged iterate starts at the server's model."""
    before, after, best = (letter(n) for n in (q.average_iterate, q.next_average_iterate, q.optimum))
    objective, local = letter(q.objective), letter(q.local_iterate)
    crossed = letter(q.server_distance_sq) - letter(q.next_server_distance_sq)
    return [
        Mean(Value(objective, after) - Value(objective, best), letter(q.round_suboptimality)),
        Mean(norm_sq(before - best) - norm_sq(after - best), crossed / letter(q.local_steps)),
        # At the first step nobody has drifted.
        Mean(Average(norm_sq(before - local)), letter(q.round_drift)),
    ]


def _of_a_run(letter: Letters) -> list[Mean]:
    """Over all steps of all rounds."""
    before, after, best = (letter(n) for n in (q.average_iterate, q.next_average_iterate, q.optimum))
    objective, local = letter(q.objective), letter(q.local_iterate)
    steps = letter(q.local_steps) * letter(q.rounds)
    return [
        Mean(Value(objective, after) - Value(objective, best), letter(q.average_suboptimality)),
        Mean(norm_sq(before - best) - norm_sq(after - best), letter(q.total_progress) / steps),
        Mean(Average(norm_sq(before - local)), letter(q.average_round_drift)),
        Mean(norm_sq(Gradient(objective, before)), letter(q.average_local_gradient_sq)),
    ]


_TABLES: dict[Span, Callable[[Letters], list[Mean]]] = {"round": _of_a_round, "run": _of_a_run}


_ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation)
"""What makes a round end where the average of its clients ends."""


def check_mean(claim: Claim, step: Claim, span: Span) -> list[Step]:
    """Check that a claim about rounds or a run is the mean over its local steps of a claim about each of them."""
    if any(len(c.relations) != 1 or c.relations[0].operator != "<=" or c.rate is not None for c in (claim, step)):
        return [Step("a mean is taken of one inequality, and is one", False)]
    missing = [assumption.name for assumption in (*_ROUNDS, *step.assumptions) if assumption not in claim.assumptions]
    unmet = [c for c in step.conditions if not _follows(c, claim)]
    left, right = claim.relations[0].left, claim.relations[0].right
    rest = sp.simplify(right - left - _mean_slack(claim, step, span))
    return [
        Step("from local steps to the run", (step.place, claim.place) == ("step", "run")),
        Step(f"the notation of {step.id}", _same_notation(claim, step)),
        Step(f"the assumptions of {step.id}" + (f"; missing: {', '.join(missing)}" if missing else ""), not missing),
        Step(f"the conditions of {step.id}", not unmet),
        Step("the mean over the steps" + ("" if rest == 0 else f"; what is left over is {rest}"), rest == 0),
    ]


def _follows(condition: Expr, claim: Claim) -> bool:
    return is_ordering(condition) and is_nonnegative(slack(condition), numbers_of(claim), claim.conditions)


def _same_notation(claim: Claim, step: Claim) -> bool:
    """Whether a letter of both stands for the same notion, and a notion has the same letter."""
    known = Letters({**claim.where, **step.where}).known
    shared = claim.where.keys() & step.where.keys()
    return bool(known) and all(claim.where[symbol] is step.where[symbol] for symbol in shared)


def _mean_slack(claim: Claim, step: Claim, span: Span) -> Expr:
    """The mean over steps of right side minus left side of a step claim, in quantities of rounds or the run."""
    theory, letter = theory_of(step), Letters(claim.where)
    slack = scalar(step.relations[0].right - step.relations[0].left, theory)
    total = slack.pop(sp.S.One, sp.S.Zero)
    for entry in _TABLES[span](letter):
        form = scalar(entry.step, theory)
        leading = next(iter(form))
        factor = slack.get(leading, sp.S.Zero) / form[leading]
        for monomial, coefficient in form.items():
            slack[monomial] = sp.simplify(slack.get(monomial, sp.S.Zero) - factor * coefficient)
        total += factor * entry.mean
    left = {monomial: coefficient for monomial, coefficient in slack.items() if coefficient != 0}
    return total + sum(coefficient * monomial for monomial, coefficient in left.items())
