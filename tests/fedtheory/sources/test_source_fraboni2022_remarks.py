"""Sentences of fraboni2022 between its statements: small runs by hand, and the numbers in the notes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import fmpq
from tiny_runs import quadratics

from fedtheory import RATIONAL, Run
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, Policy, Synchronous
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import check


def scheduled(policy: Policy, times: tuple[int, ...], rounds: int, weights: list[str], **problem: object) -> Run:
    """Return clients (x - b_i)^2 / 2 with b = 0 by default, from x = 1, full gradients and steps of 1/4."""
    clients = len(times)
    keys = {"hessians": [[["1"]]] * clients, "linear": [[0]] * clients} | problem
    own = quadratics(keys["hessians"], keys["linear"], [1], eta="1/4").engine.problem  # type: ignore[arg-type]
    clock = Clock(policy, tuple(fmpq(time) for time in times))
    aggregation = RATIONAL.array(weights)
    return Run(own, fedavg(own, rounds=rounds, local_step_size=fmpq(1, 4), clock=clock, aggregation=aggregation))


def holds(name: str, run: Run) -> bool | None:
    """Return whether a claim of the paper holds on a run to which it applies."""
    found = check(find(f"fraboni2022:{name}"), run)
    assert found.applicable, found.reason
    return found.holds


@pytest.mark.parametrize("h", [fmpq(1), fmpq(1, 16), fmpq(1, 1024)])
def test_the_residual_is_no_multiple_of_sigma(h: fmpq) -> None:
    """Clients x^2/2 and h (x - 1)^2/2 that take turns: R/Sigma = (1 + h)/(4 h), above any constant for small h."""
    turns = Asynchronous("one-by-one")
    run = scheduled(turns, (1, 1), 2, ["1", "1"], hessians=[[["1"]], [[str(h)]]], linear=[[0], [str(h)]])
    assert q.residual.measure(run) / q.surrogate_noise.measure(run) == (1 + h) / (4 * h)
    assert holds("claim.proportional", run) is (h > fmpq(1, 255))
    assert holds("claim.proportional.fixed", run) is True


def test_one_participant_of_each_type_suffices() -> None:
    """Clients 1 and 2 have the same objective, and client 2 has no weight: types are fair, clients are not."""
    run = scheduled(Synchronous(), (1, 1, 1), 2, ["2/3", "0", "1/3"], linear=[[0], [0], [1]])
    assert holds("cor-1.one-client", run) is True
    assert q.expected_weight.measure(run)[0, 0].tolist() == [fmpq(2, 3), 0, fmpq(1, 3)]
    assert q.surrogate_optimum_distance.measure(run) == 0


def test_types_may_be_fair_over_all_updates_only() -> None:
    """Two clients that take turns, as in Example 2: chi^2 = 0, but not in any single update."""
    run = scheduled(Asynchronous("one-by-one"), (1, 1), 2, ["1", "1"], linear=[[0], [1]])
    assert q.mean_chi_sq.measure(run) == 0
    assert not check(find("fraboni2022:thm-3.condition.weaker"), run).applicable
    assert q.chi_sq.measure(run).ravel().tolist() != [0, 0]


def test_asynchronous_updates_may_be_ahead_of_synchronous_ones() -> None:
    """x^2/2 twice, equal times: after two updates 1/2 and 9/16 of the start; the bounds are in the other order."""
    single = scheduled(Asynchronous("one-by-one"), (1, 1), 2, ["1", "1"])
    together = scheduled(Synchronous(), (1, 1), 2, ["1/2", "1/2"])
    assert single.trajectory.server_mean[-1].tolist() == [fmpq(1, 2)]
    assert together.trajectory.server_mean[-1].tolist() == [fmpq(9, 16)]
    assert holds("eq-38.ordering", single) is True


def test_the_aggregations_of_asynchronous_fedavg() -> None:
    """Times 1 and 2: three updates in the time 2, where synchronous FedAvg makes one, and an interval of 1/4 eight."""
    run = scheduled(Asynchronous("one-by-one"), (1, 2), 3, ["1", "1"])
    assert q.clock_time.measure(run) == 2
    assert holds("fedfix.aggregations", run) is False
    assert holds("eq-39.start", run) is True


@pytest.mark.parametrize(("times", "staleness"), [((1, 1, 3), 3), ((1, 2, 4), 2), ((1, 1, 1), 1)])
def test_the_staleness_of_a_buffer_of_two(times: tuple[int, ...], staleness: int) -> None:
    """Times 1, 1, 3: three updates of the fast clients before the slow one, of which the last is a tie."""
    run = scheduled(FedBuff(2, "one-by-one"), times, 12, ["1"] * 3)
    assert q.largest_staleness.measure(run) == staleness
    assert 2 * staleness <= q.most_other_reports.measure(run)
    assert holds("fedbuff.staleness", run) is True
    assert holds("assumption-5.schedules", run) is True
    assert q.weight_pairing.measure(run) == 1


def test_a_tie_may_leave_a_contribution_waiting() -> None:
    """Then the staleness exceeds the bound without such contributions: 2 times 4 is more than 7."""
    run = scheduled(FedBuff(2, "one-by-one"), (4, 2, 2, 4, 2), 40, ["1"] * 5)
    assert q.largest_staleness.measure(run) == 4
    assert q.most_other_reports.measure(run) == 7
    assert holds("fedbuff.staleness", run) is True


def test_no_weights_make_a_round_without_a_client_unbiased() -> None:
    """A single client in an update gives a bias for every weight, since the other one is missing."""
    for weight in ("0", "1/2", "1"):
        run = scheduled(Asynchronous("one-by-one"), (1, 2), 3, [weight, weight])
        assert holds("sampling.deterministic", run) is True
        assert all((row != fmpq(1, 2)).any() for row in q.expected_weight.measure(run)[:, 0])


def test_a_local_step_with_sampled_clients() -> None:
    """Clients x^2/2 +- x, one of two sampled, two steps of 1/2 from the optimum: 5/16 is more than 1/16."""
    problem = quadratics([[["1"]]] * 2, [[1], [-1]], [0], eta="1/2").engine.problem
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 2), local_steps=2, participation=Uniform(1)))
    found = check(find("fraboni2022:lemma-2.eq-60"), run)
    assert found.holds is False
    assert found.worst is not None
    assert (found.worst.lhs, found.worst.rhs) == (fmpq(5, 16), fmpq(1, 16))
    assert not check(find("fraboni2022:lemma-2.eq-60.fixed"), run).applicable


def test_terms_that_delays_add() -> None:
    """For two clients in turn twice the delay adds four times as much to the bound."""
    run = scheduled(Asynchronous("one-by-one"), (1, 1), 4, ["1", "1"], linear=[[1], [-1]])
    claim = find("fraboni2022:thm-1.claim-delay.quadratic")
    assert q.largest_staleness.measure(run) == 1
    assert check(claim, run).holds is True
    relation = claim.relations[0]
    assert check(replace(claim, chain=(relation.left, "==", relation.right / 2)), run).holds is False
