"""Facts: what holds of every run because of what its quantities are, not because of a theorem.

The few of them are written down here, and are as much trusted as the kernel is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.proofs.numbers import ROUNDS, SAMPLED_ROUNDS, Letters


@dataclass(frozen=True)
class Fact:
    """A number of a run that is not negative, or zero, whatever the theory."""

    name: str
    slack: Callable[[Letters], Expr]
    needs: tuple[Assumption, ...] = ()
    is_zero: bool = False
    where_zero: Callable[[Letters], Expr] = lambda _letter: sp.S.Zero
    """What has to be known to be zero besides."""


def _over_root(letter: Letters, above: q.Notion, below: q.Notion) -> Expr:
    return sp.sqrt(letter(above)) / sp.sqrt(letter(below))


ONE = Fact("1 >= 0", lambda _letter: sp.S.One)
FINAL_DISTANCE = Fact("a squared distance is not negative", lambda letter: letter(q.final_distance_sq))
TELESCOPED_PROGRESS = Fact(
    "the progress of the rounds telescopes",
    lambda letter: letter(q.total_progress) - (letter(q.initial_distance) ** 2 - letter(q.final_distance_sq)),
    ROUNDS,
    is_zero=True,
)
TELESCOPED_FROM_COMPARATOR = Fact(
    "the progress of the rounds towards the comparator telescopes",
    lambda letter: (
        letter(q.total_comparator_progress)
        - (letter(q.comparator_distance) ** 2 - letter(q.final_comparator_distance_sq))
    ),
    ROUNDS,
    is_zero=True,
)
TELESCOPED_WITH_PARTICIPANTS = Fact(
    "the progress of the rounds of participants towards the comparator telescopes",
    TELESCOPED_FROM_COMPARATOR.slack,
    SAMPLED_ROUNDS,
    is_zero=True,
)
FINAL_COMPARATOR_DISTANCE = Fact(
    "a squared distance from the comparator is not negative", lambda letter: letter(q.final_comparator_distance_sq)
)
DESCENT = Fact(
    "no model is below the minimum",
    lambda letter: letter(q.initial_gap) - letter(q.total_descent),
)
MEAN_DRIFT = Fact(
    "a mean is at most the largest",
    lambda letter: letter(q.max_drift) - letter(q.average_round_drift),
    ROUNDS,
)
ROUND_DRIFT = Fact(
    "a mean over one round is at most the largest",
    lambda letter: letter(q.max_drift) - letter(q.round_drift),
    ROUNDS,
)
QUIET = Fact("without noise its variance is zero", lambda letter: letter(q.noise_deviation), (a.full_gradients,), True)
SPEEDUP_STEP = Fact(
    "the step size of the corollary",
    lambda letter: letter(q.local_step_size) - _over_root(letter, q.clients, q.iterations) / letter(q.smoothness),
    (a.speedup_step,),
    is_zero=True,
)
PLAIN_SPEEDUP_STEP = Fact(
    "the step size of the corollary",
    lambda letter: letter(q.local_step_size) - _over_root(letter, q.clients, q.iterations),
    (a.plain_speedup_step,),
    is_zero=True,
)

ITERATIONS = Fact(
    "iterations are the local steps of all rounds",
    lambda letter: letter(q.iterations) - letter(q.rounds) * letter(q.local_steps),
    (a.same_local_work,),
    is_zero=True,
)

CURVATURE = Fact(
    "no curvature is larger than the largest",
    lambda letter: letter(q.objective_smoothness) - letter(q.smallest_curvature),
)
