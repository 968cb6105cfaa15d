"""Sentences of fraboni2022 that do not hold for every run: what their authors mean, and where they fail."""

from __future__ import annotations

from flint import fmpq
from tiny_runs import quadratics

from fedtheory import RATIONAL, Run
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock, Policy, Synchronous
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import check

TURNS = Asynchronous("one-by-one")


def scheduled(policy: Policy, weights: list[str], optima: list[int], start: int = 0, rounds: int = 2) -> Run:
    """Clients (x - b_i)^2 / 2 with equal update times, exact gradients and one local step of size 1/4."""
    clients = len(optima)
    own = quadratics([[["1"]]] * clients, [[b] for b in optima], [start], eta="1/4").engine.problem
    clock = Clock(policy, (fmpq(1),) * clients)
    aggregation = RATIONAL.array(weights)
    return Run(own, fedavg(own, rounds=rounds, local_step_size=fmpq(1, 4), clock=clock, aggregation=aggregation))


def holds(name: str, run: Run) -> bool | None:
    """Whether a claim of the paper holds on a run to which it applies."""
    found = check(find(f"fraboni2022:{name}"), run)
    assert found.applicable, found.reason
    return found.holds


# R, P and U.


def terms(run: Run) -> list[fmpq]:
    """R, P and U without their hidden constants."""
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
