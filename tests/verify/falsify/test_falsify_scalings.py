"""Moves of the search scale one aspect and keep the rest, units change no ratio, edges are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL, find_simplest_between
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run, run_table
from verify.check import check
from verify.falsify.local_search import move_to_edge, reduce_to_conditions, remove_aspects
from verify.falsify.run_tables import (
    Table,
    evaluate_run,
    get,
    make_working_table,
    measure_hand_work,
    with_clients,
    with_coordinates,
    write_table,
)
from verify.falsify.scalings import Scaling, list_scalings, translate
from verify.falsify.simple_numbers import find_simple_power, list_simpler, measure_length
from verify.falsify.structure import list_variants
from verify.instances import FAMILIES, Instance

eta, L, beta = sp.symbols("eta L beta", positive=True)
WHERE = {eta: q.local_step_size, L: q.smoothness}
THREE = fmpq(3)
SAMPLES = [Instance("small quadratics", 13), Instance("small quadratics", 43), Instance("small data", 4)]
"""Two clients in two dimensions with noise, three of different curvature, and data."""


def base(instance: Instance) -> Table:
    """Return the table of an instance that moves work on."""
    return make_working_table(instance.run())


def as_run(table: Table) -> Run:
    """Return the exact run of a table."""
    return parse_run(table, RATIONAL)


def scaling(table: Table, name: str) -> Scaling:
    """Return the scaling of that name."""
    return next(scaling for scaling in list_scalings(table) if scaling.name == name)


@pytest.mark.parametrize("family", FAMILIES)
def test_working_tables_are_the_runs(family: str) -> None:
    """A working table written back is the run file of the instance, for every family."""
    run = Instance(family, 0).run()
    assert write_table(make_working_table(run)) == run_table(run)


@pytest.mark.parametrize("name", ["unit of values", "unit of length"])
@pytest.mark.parametrize("number", [0, 1, 4, 5, 8, 9, 40, 41, 72, 73])
def test_a_correct_bound_does_not_notice_units(name: str, number: int) -> None:
    """Theorem 2.1 has the same ratio in other units, for clients that share a Hessian."""
    claim, table = find("renard2022:thm-2.1"), base(Instance("small quadratics", number))
    before, after = evaluate_run(claim, table), evaluate_run(claim, scaling(table, name).apply(table, THREE))
    assert before is not None
    assert after is not None
    assert (before.applicable, before.ratio) == (after.applicable, pytest.approx(after.ratio, rel=1e-12))


def test_units_of_data_change_no_ratio() -> None:
    """Units of inputs and outputs of least squares change no ratio, up to the ball's radius, which is rounded up."""
    claim, table = find("renard2022:thm-2.1"), base(Instance("small data", 3))
    before = evaluate_run(claim, table)
    assert before is not None
    assert before.ratio is not None
    for name in ("unit of inputs", "unit of outputs"):
        after = evaluate_run(claim, scaling(table, name).apply(table, THREE))
        assert after is not None
        assert after.ratio == pytest.approx(before.ratio, rel=1e-3)


@pytest.mark.parametrize("instance", SAMPLES)
def test_every_scaling_gives_a_run_and_is_undone_by_its_inverse(instance: Instance) -> None:
    """Turning by 3 and by 1/3 changes nothing but counts and linear terms, which move the optimum."""
    table = base(instance)
    for each in list_scalings(table):
        turned = each.apply(table, THREE)
        as_run(turned)
        back = each.apply(turned, 1 / THREE)
        if not each.name.startswith(("rounds", "local steps", "gradients")):
            assert write_table(back) == write_table(table), each.name


def test_start_and_spread_leave_the_optimum() -> None:
    """The distance of the start and the clients' linear terms are scaled about an optimum that stays."""
    table = base(Instance("small quadratics", 43))
    before = as_run(table).problem
    moved = as_run(scaling(table, "start").apply(table, THREE)).problem
    assert (moved.optimum == before.optimum).all()
    assert (moved.start - moved.optimum == THREE * (before.start - before.optimum)).all()
    spread = as_run(scaling(table, "spread").apply(table, THREE)).problem
    assert (spread.mean_linear == before.mean_linear).all()


def test_importances_sum_to_one() -> None:
    """One importance grows at the cost of the others."""
    table = base(Instance("small quadratics", 43))
    weights = as_run(scaling(table, "client weight 0").apply(table, THREE)).problem.weights
    assert weights.sum() == 1
    assert weights[0] == THREE * weights[1]


def test_weights_of_the_closed_form_follow_the_times() -> None:
    """Weights known by name are those of the new times."""
    run = Instance("asynchronous cycles", 1).run()
    table = make_working_table(run)
    assert get(table, "algorithm.aggregation") == "time-based"
    slower = as_run(scaling(table, "time 0").apply(table, THREE))
    assert slower.algorithm.clock.times[0] == 3 * run.algorithm.clock.times[0]
    assert slower.algorithm.aggregation.chosen != run.algorithm.aggregation.chosen


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.size > 1])
def test_most_variants_are_runs(family: str) -> None:
    """Another structure is a run again, or refused as one; most are runs, and none is the table itself."""
    table = base(Instance(family, 7))
    claim = Claim(id="t:any", lhs=0, relation="<", rhs=eta, where=WHERE)
    others = list(list_variants(table))
    assert all(other != table for other in others)
    assert sum(evaluate_run(claim, other) is not None for other in others) > len(others) / 2


def test_chosen_clients_and_coordinates() -> None:
    """A run of some clients has their objectives, with client weights in the same proportions."""
    table = base(Instance("full gradients", 5))
    whole, part = as_run(table).problem, as_run(with_clients(table, [1, 0])).problem
    assert (part.hessians == whole.hessians[[1, 0]]).all()
    assert part.weights[0] * whole.weights[0] == part.weights[1] * whole.weights[1]
    one = as_run(with_coordinates(table, [1])).problem
    assert (one.hessians[:, 0, 0] == whole.hessians[:, 1, 1]).all()
    assert one.start[0] == whole.start[1]


@pytest.mark.parametrize("instance", SAMPLES)
def test_a_translation_changes_no_distance(instance: Instance) -> None:
    """In coordinates about the start all gaps are the same, and the start is zero."""
    table = base(instance)
    moved = as_run(translate(table, as_run(table).problem.start))
    assert (moved.problem.start == 0).all()
    before, after = as_run(table).trajectory, moved.trajectory
    assert (before.server_suboptimality == after.server_suboptimality).all()


def test_aspects_can_be_taken_away() -> None:
    """Without start, noise and spread a run stands still at the optimum."""
    table = remove_aspects(base(Instance("small quadratics", 13)), ["start", "noise", "spread", "residuals"])
    problem = as_run(table).problem
    assert (problem.start == problem.optimum).all()
    assert (problem.linear == problem.linear[0]).all()
    assert write_table(table)["problem"].get("noise") is None


def test_the_edge_of_the_conditions_is_exact() -> None:
    """With curvature 3 the largest step of eta <= 1/(4 L) is 1/12, from below and from above."""
    claim = Claim(id="t:edge", lhs=0, rhs=eta, where=WHERE, conditions=[eta <= 1 / (4 * L)])
    table = make_working_table(as_run({
        "problem": {"kind": "quadratic", "hessians": [[["3"]]], "linear": [["0"]], "start": ["1"]},
        "algorithm": {"name": "fedavg", "local_step_size": "1/50", "rounds": 1},
    }))  # fmt: skip
    at_edge = move_to_edge(claim, table)
    assert at_edge is not None
    assert get(at_edge, "algorithm.local_step_size") == fmpq(1, 12)
    too_large = scaling(table, "local step size").apply(table, fmpq(50))
    repaired = reduce_to_conditions(claim, too_large)
    assert repaired is not None
    assert check(claim, as_run(repaired)).applicable
    assert reduce_to_conditions(claim, table) is None


def test_the_simplest_rational_between() -> None:
    """No rational of the interval has a smaller denominator, by trying all of them."""
    ends = sorted(fmpq(p, r) for p in range(12) for r in range(1, 9))
    for low, high in pairwise(ends):
        found = find_simplest_between(low, high)
        assert low <= found <= high
        smaller = range(1, int(found.q))
        assert not any(low <= fmpq((low * d).ceil(), d) <= high for d in smaller)


@pytest.mark.parametrize("value", ["7/3", "-22/7", "1000003/1000", "1/4096", "5", "-1", "355/113"])
def test_simpler_numbers_are_lighter(value: str) -> None:
    """Candidates come with growing weight, all lighter than the number, each once; zero is the first."""
    number = RATIONAL.number(value, "value")
    found = list(list_simpler(number))
    assert found[0] == 0
    weights = [measure_length(candidate) for candidate in found]
    assert all(weight < measure_length(number) for weight in weights)
    assert len(set(found)) == len(found)


def test_factors_are_near_their_power() -> None:
    """Whole powers of two are exact, others within the precision."""
    assert find_simple_power(-3, 0.1) == fmpq(1, 8)
    for exponent in (0.3, -2.7, 11.5):
        found = find_simple_power(exponent, 0.01)
        assert float(Fraction(int(found.p), int(found.q))) == pytest.approx(2**exponent, rel=0.01)


def test_size_counts_what_a_reader_computes() -> None:
    """Clients, squared dimension, local steps and rounds, multiplied."""
    run = Instance("small quadratics", 13).run()
    work, problem = run.algorithm.work, run.problem
    expected = problem.clients * problem.dimension**2 * max(work.steps) * run.algorithm.rounds
    assert measure_hand_work(make_working_table(run)) == expected
