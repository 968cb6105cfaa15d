"""Facts of the proof of Theorem 3: sums over windows of updates, and the surrogate's gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedFix
from fedtheory.federation.problem import quadratic
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.quantities import client_gap_at_surrogate_optimum
from fedtheory.language.registry import find
from fedtheory.proofs import certificates, check_certificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.sources.fraboni2022.context.averages import OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows
from fedtheory.sources.fraboni2022.statements.notation import K, W, q_n
from fedtheory.sources.fraboni2022.statements.relaxed import in_window, in_window_n, q_bar, weight_in_window
from fedtheory.sources.fraboni2022.statements.theorem_3_proof import change, surrogate_n, surrogate_nk

STEP = find("fraboni2022:thm-3.step")
SYMBOL = symbols_of(STEP)
CLOCKS = {
    "asynchronous": Clock(Asynchronous(), (fmpq(1), fmpq(3, 2), fmpq(3))),
    "fedfix": Clock(FedFix(fmpq(1)), (fmpq(1), fmpq(2), fmpq(3))),
    "as many reports as updates": Clock(Asynchronous(), (fmpq(1), fmpq(1, 2), fmpq(1, 3))),
}


def _run(clock: str, types: int = 3) -> Run:
    """Return a few windows of updates with two local steps; clients of one type have equal objectives."""
    hessians = np.stack([RATIONAL.array(np.diag([1 + i % types, 3])) for i in range(3)])
    centres = np.stack([RATIONAL.array([i % types, -(i % types)]) for i in range(3)])
    problem = quadratic(
        hessians, centres, RATIONAL.array([3, 5]), weights=RATIONAL.array([fmpq(1, 6), fmpq(1, 3), fmpq(1, 2)])
    )
    algorithm = fedavg(
        problem,
        rounds=12,
        local_step_size=fmpq(1, 11),
        local_steps=2,
        server_step_size=fmpq(4, 3),
        clock=CLOCKS[clock],
    )
    return Run(problem, algorithm)


def _number(run: Run, quantity: q.Quantity) -> Any:
    value = quantity.on(run)
    return value if isinstance(value, np.ndarray) else RATIONAL.array([value])


@pytest.mark.parametrize("clock", CLOCKS)
def test_losses_over_a_window_are_apart_by_at_most_what_its_steps_change(clock: str) -> None:
    """Losses over a window differ by at most the changes of its steps, bounded by the largest change."""
    run = _run(clock)
    bound = sp.Symbol("B_g", nonnegative=True)
    relations = [Relation(change, "<=", bound), Relation(-change, "<=", bound)]
    slack = OverWindow("t:step").derive(SYMBOL, relations)
    largest = abs(_number(run, q.virtual_loss_change)).max()
    known = {
        in_window: q.window_loss,
        in_window_n: q.window_round_loss,
        weight_in_window: q.window_weight,
        W: q.window,
        K: q.local_steps,
    }
    symbols = [*known, bound]
    values = [*(_number(run, quantity) for quantity in known.values()), largest]
    assert q.window.on(run) > 1
    assert (np.asarray(sp.lambdify(symbols, slack, modules=[])(*values)) >= 0).all()


@pytest.mark.parametrize("clock", CLOCKS)
def test_windows_add_up_to_the_run(clock: str) -> None:
    """The losses above the surrogate's least value, and the weights, add up exactly over windows."""
    run = _run(clock)
    number = run.algorithm.rounds * 2
    summed = (q.window_loss, q.window_round_loss, q.window_weight)
    own, others, weight = (_number(run, quantity).sum() for quantity in summed)
    means = q.mean_surrogate_suboptimality.on(run), q.mean_surrogate_gap.on(run)
    assert (own - others) / number == means[0] - means[1]
    assert weight / number == q.mean_weight_sum.on(run) / 2
    slack = OverWindows("t:window").slack(SYMBOL, in_window_n - in_window + 3 * weight_in_window)
    gap, suboptimality = SYMBOL(q.mean_surrogate_gap), SYMBOL(q.mean_surrogate_suboptimality)
    assert sp.expand(slack - (gap - suboptimality + 3 * q_bar / K)) == 0


@pytest.mark.parametrize("clock", CLOCKS)
def test_steps_add_up_to_the_run(clock: str) -> None:
    """The average over all local steps of all updates agrees."""
    run = _run(clock)
    for at_a_step, of_an_update, mean in (
        (q.objective_gradient_sq, q.virtual_gradient_sq, q.mean_virtual_gradient_sq),
        (q.surrogate_suboptimality_at_step, q.surrogate_suboptimality, q.mean_surrogate_suboptimality),
    ):
        values = _number(run, at_a_step)
        assert (values.sum(axis=1, keepdims=True) / 2 == _number(run, of_an_update)).all()
        assert values.sum() / values.size == mean.on(run)
        update = OverSteps("t:step").slack(SYMBOL, 2 * SYMBOL(at_a_step) + K)
        assert update == 2 * SYMBOL(of_an_update) + K
        assert OverUpdates("t:update").slack(SYMBOL, update) == 2 * SYMBOL(mean) + K


@pytest.mark.parametrize("types", [1, 2, 3])
def test_gradients_and_chi_are_means_with_the_shares_of_the_surrogate(types: int) -> None:
    """grad F = mean (1 + h) grad L_i and chi^2 = mean h^2 with h = r_j/s_j - 1 for the type j of a client."""
    run = _run("asynchronous", types)
    shares, importances = (_number(run, quantity).ravel() for quantity in (q.mean_weight_share, q.importance))
    groups = run.surrogate.types
    assert len(set(groups)) == types
    represented = np.array([shares[groups == group].sum() for group in groups])
    pull = np.array([importances[groups == group].sum() for group in groups]) / represented - 1
    assert (shares * pull * pull).sum() == q.mean_chi_sq.on(run)
    for group in set(groups):
        mine = groups == group
        assert (shares * (1 + pull))[mine].sum() == importances[mine].sum()


@pytest.mark.parametrize(
    ("derived", "relations"),
    [
        (OverWindow, [Relation(change, "<=", K)]),
        (OverWindow, [Relation(change, "<=", K), Relation(-change, "<=", 2 * K)]),
        (OverWindow, [Relation(change, "<=", K), Relation(change, "<=", K)]),
        (OverWindow, [Relation(change, "==", K), Relation(-change, "==", K)]),
        (OverWindow, [Relation(change, "<=", q_n), Relation(-change, "<=", q_n)]),
        (OverWindow, [Relation(change**2, "<=", K), Relation(-(change**2), "<=", K)]),
        (OverWindows, [Relation(in_window, "<=", 2 * in_window_n)]),
        (OverWindows, [Relation(in_window, "<=", in_window_n + K)]),
        (OverWindows, [Relation(in_window, "<=", in_window_n + q_n * weight_in_window)]),
        (OverWindows, [Relation(in_window**2, "<=", in_window_n)]),
        (OverUpdates, [Relation(surrogate_n, "<=", q_n)]),
        (OverSteps, [Relation(surrogate_nk**2, "<=", K)]),
    ],
)
def test_only_what_is_known_of_windows_and_runs_is_derived(derived: Any, relations: list[Relation]) -> None:
    """Relations need bounds in both directions, linear in known sums, with constant factors."""
    with pytest.raises(Rejected):
        derived("t:claim").derive(SYMBOL, relations)


def _is_proved(claim_id: str, **stated: Any) -> bool:
    claim = replace(find(claim_id), **stated)
    return all(step.holds for step in check_certificate(claim, certificates()[claim_id]).steps)


def test_changes_are_bounded_for_given_weights_and_convex_losses() -> None:
    """For given weights and convex losses changes are bounded, and the gradient if no type is missing."""
    for claim_id, needed in (
        (STEP.id, a.given_weights),
        (STEP.id, a.convex_and_smooth),
        ("fraboni2022:thm-3.gradient.step", a.convex_and_smooth),
    ):
        assert _is_proved(claim_id)
        fewer = tuple(one for one in find(claim_id).assumptions if one is not needed)
        assert not _is_proved(claim_id, assumptions=fewer)
    assert not _is_proved("fraboni2022:thm-3.gradient.step", conditions=())


def test_the_gradient_at_optima_is_that_of_the_surrogate() -> None:
    """Sums over clients have the weights over all updates, not those of one."""
    claim = find("fraboni2022:thm-3.gradient.step")
    gap = next(s for s, quantity in claim.where.items() if quantity is client_gap_at_surrogate_optimum)
    own = next(s for s, quantity in claim.where.items() if quantity is q.mean_weight_share)
    other = next(s for s, quantity in claim.where.items() if quantity is q.weight_share)
    mixed = claim.rhs.xreplace({ClientSum(own * gap): ClientSum(other * gap)})
    assert mixed != claim.rhs
    assert not _is_proved(claim.id, rhs=mixed)
