"""Sentences of fraboni2022 that do not hold for every run: intended readings, and counterexamples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import fmpq
from tiny_runs import quadratics

from fedtheory import RATIONAL, Run
from fedtheory.engine.frames import iterate_path_frames
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import check

TURNS = Asynchronous("one-by-one")


def scheduled(policy: Policy, weights: list[str], optima: list[int], start: int = 0, rounds: int = 2) -> Run:
    """Return clients (x - b_i)^2 / 2 with equal times, full gradients and one local step of size 1/4."""
    clients = len(optima)
    own = quadratics([[["1"]]] * clients, [[b] for b in optima], [start], eta="1/4").engine.problem
    clock = Clock(policy, (fmpq(1),) * clients)
    aggregation = RATIONAL.array(weights)
    return Run(own, fedavg(own, rounds=rounds, local_step_size=fmpq(1, 4), clock=clock, aggregation=aggregation))


def holds(name: str, run: Run) -> bool | None:
    """Return whether a claim of the paper holds on a run to which it applies."""
    found = check(find(f"fraboni2022:{name}"), run)
    assert found.applicable, found.reason
    return found.holds


# R, P and U.


def terms(run: Run) -> list[fmpq]:
    """Return R, P and U without their hidden constants."""
    quantities = (q.residual, q.mean_misrepresentation, q.mean_unrepresented_gap)
    return [quantity.measure(run) for quantity in quantities]


def test_rounds_with_one_bias_have_no_residual() -> None:
    """Weights 1/4 and 3/4 in every round: R = U = 0, chi^2 = 1/3 and P = (1/3)(1/2)(1/4)(3/4)."""
    run = scheduled(Synchronous(), ["1/4", "3/4"], [0, 1])
    assert terms(run) == [0, fmpq(1, 32), 0]
    assert holds("thm-2.claims", run) is False
    assert holds("thm-2.claims.P", run) is True
    assert holds("thm-2.claims.fixed", run) is True


def test_updates_of_one_client_have_no_misrepresentation_term() -> None:
    """The optimum of each update is that of its client, so that P = 0; R = 1/8 and U = (1 + 0)/4."""
    run = scheduled(TURNS, ["1", "1"], [0, 1])
    assert terms(run)[:2] == [fmpq(1, 8), 0]
    assert terms(run)[2] > 0
    assert holds("thm-2.claims.P", run) is False
    assert holds("thm-2.claims.fixed", run) is True


def test_a_single_local_step_may_hide_what_it_does() -> None:
    """One update of client 1 from the minimiser of client 2: R, P and U are zero before the step."""
    run = scheduled(TURNS, ["1", "1"], [0, 1], start=1, rounds=1)
    assert terms(run) == [0, 0, 0]
    assert not check(find("fraboni2022:thm-2.claims.fixed"), run).applicable


def test_a_missing_type_at_its_minimum_costs_nothing() -> None:
    """One update of client 1 from the minimiser of client 2, and the same from elsewhere."""
    at_minimum, elsewhere = (scheduled(TURNS, ["1", "1"], [0, 1], start, rounds=1) for start in (1, 0))
    assert [terms(run)[2] for run in (at_minimum, elsewhere)] == [0, fmpq(1, 4)]
    assert holds("thm-2.claims.missing", at_minimum) is holds("thm-2.claims.missing", elsewhere) is True


# Fair clients and fair types.


def pairs(own_optima: list[int]) -> Run:
    """Return four clients with weights 1/2, two of which report in every update: Example 1 with the given optima."""
    own = quadratics([[["1"]]] * 4, [[b] for b in own_optima], [0], eta="1/4").engine.problem
    clock = Clock(FedBuff(2, "one-by-one"), (fmpq(1),) * 4)
    half = RATIONAL.array(["1/2"] * 4)
    return Run(own, fedavg(own, rounds=2, local_step_size=fmpq(1, 4), clock=clock, aggregation=half))


def test_weights_that_are_fair_for_one_assignment_of_types_are_not_for_another() -> None:
    """Example 1 is fair for two types of two clients; if the clients are of four types, it is not."""
    alike, unlike = pairs([0, 1, 0, 1]), pairs([0, 1, 2, 3])
    assert holds("cor-1.noniid.types", alike) is True
    assert not check(find("fraboni2022:cor-1.noniid.required"), alike).applicable
    assert not check(find("fraboni2022:cor-1.noniid.types"), unlike).applicable
    fair = scheduled(Synchronous(), ["1/3", "1/3", "1/3"], [0, 1, 3])
    assert holds("cor-1.noniid.required", fair) is holds("cor-1.noniid.sufficient", fair) is True


def test_the_right_optimum_needs_no_fair_updates() -> None:
    """Two clients in turn have the normalised weight 1 in their updates and 1/2 over all updates."""
    run = scheduled(TURNS, ["1", "1"], [0, 1])
    assert q.surrogate_optimum_distance.measure(run) == 0
    assert holds("cor-1.noniid.required.optimum", run) is False
    assert holds("cor-1.noniid.required.optimum.fixed", run) is True


def test_pairs_have_one_problem_in_every_update() -> None:
    """Each type has the weight 1/2 in each update of Example 1, but no client does."""
    run = pairs([0, 1, 0, 1])
    assert holds("thm-1.claim-R.same", run) is True
    assert q.window.measure(run) == 2
    assert q.residual.measure(run) == 0


def test_identical_data_have_one_optimum_with_different_sums_of_weights() -> None:
    """One of two clients of one type reports first, with 1/4, and the other one with 3/4."""
    run = scheduled(TURNS, ["1/4", "3/4"], [1, 1])
    assert holds("thm-1.claim-R", run) is True
    assert q.weight_sum.measure(run).ravel().tolist() == [fmpq(1, 4), fmpq(3, 4)]


def test_shorter_intervals_raise_the_largest_delay() -> None:
    """FedFix with two clients that need the time 1, for eight updates: tau + 1 is the inverse of the interval."""
    delays = []
    for interval in (fmpq(1), fmpq(1, 2), fmpq(1, 4)):
        run = scheduled(FedFix(interval), ["1", "1"], [0, 1], rounds=8)
        assert holds("thm-1.claim-delay", run) is holds("thm-1.claim-delay.fedfix", run) is True
        delays.append(q.largest_staleness.measure(run))
    assert delays == [0, 1, 3]


# Sigma.


@pytest.mark.parametrize(("other", "sigma"), [(1, 0), (0, fmpq(4, 9))])
def test_only_the_minimisers_count_for_sigma(other: int, sigma: fmpq) -> None:
    """Clients (x - 1)^2/2 and (x - b)^2: Sigma = 0 for b = 1; for b = 0 the optimum is 1/3, with gradients -+2/3."""
    own = quadratics([[["1"]], [["2"]]], [[1], [2 * other]], [0], eta="1/4").engine.problem
    run = Run(own, fedavg(own, rounds=1, local_step_size=fmpq(1, 4)))
    assert q.surrogate_noise.measure(run) == sigma
    assert holds("eq-11.claim", run) is True


# The problems of the updates as functions.


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("eq-9", q.expected_weight, q.mean_weight),
        ("eq-10", q.mean_weight, q.importance),
        ("eq-12", q.type_importance, q.mean_type_weight),
        ("eq-12", q.type_weight, q.type_importance),
    ],
)
def test_problems_of_updates_are_compared_as_functions(name: str, right: q.RunQuantity, wrong: q.RunQuantity) -> None:
    """Three clients of two types report in turn: (9), (10) and (12) hold with their own weights only."""
    claim, run = find(f"fraboni2022:{name}"), scheduled(TURNS, ["1", "1", "1"], [0, 1, 1], rounds=4)
    assert check(claim, run).holds is True
    mistaken = {symbol: wrong if quantity is right else quantity for symbol, quantity in claim.where.items()}
    assert check(replace(claim, where=mistaken), run).holds is False


def test_the_virtual_iterates_of_a_path_join() -> None:
    """theta^{n,0} = theta^n and theta^{n,K} = theta^{n+1} on a path with two local steps and stale models."""
    own = quadratics([[["1"]], [["1"]]], [[0], [1]], [3], eta="1/4").engine.problem
    clock = Clock(TURNS, (fmpq(1), fmpq(2)))
    run = Run(own, fedavg(own, rounds=5, local_step_size=fmpq(1, 4), local_steps=2, clock=clock))
    assert holds("eq-7", run) is True
    frames = list(iterate_path_frames(run))
    for first, last, following in zip(frames[::2], frames[1::2], frames[2::2], strict=False):
        assert (first.virtual.values == first.server.values).all()  # type: ignore[attr-defined]
        assert (last.next_virtual.values == following.server.values).all()  # type: ignore[attr-defined]
