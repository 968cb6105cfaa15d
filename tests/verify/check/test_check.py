"""One claim on one run: applicability, conditions, sides, decisions."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, T, eta, tau
from flint import fmpq

from fedtheory import Claim, Expectation, InputError, inner, norm_sq
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Fixed, LocalWork, Uniform, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import check
from verify.instances import Instance

x, y, v = sp.symbols("x y v", real=True)


def tiny_run(step: str = "1/4", noise: int = 1, hessians: tuple[int, int] = (1, 1)) -> Run:
    """Return a run of two clients in one dimension with optima near 1 and -1, started at 3."""
    array = RATIONAL.array
    problem = quadratic(array([[[h]] for h in hessians]), array([[1], [-1]]), array([3]), noise=array([noise, noise]))
    return Run(problem, fedavg(problem, rounds=2, local_step_size=RATIONAL.number(step, "step"), local_steps=2))


def test_the_theorem_by_hand() -> None:
    """Theorem 2.1 on a run small enough to compute by hand: every term, and both sides."""
    found = check(find("renard2022:thm-2.1"), tiny_run())
    assert found.applicable
    assert found.holds is True
    worst = found.worst
    assert worst is not None
    assert sorted(str(term.value) for term in worst.terms) == sorted(["9/2", "1/8", "1/2", "9/2"])
    assert worst.rhs == fmpq(77, 8)
    # xbar^{k+1} = 3/4 xbar^k + noise of variance (1/16)(1/2): F - F* is half the second moment.
    second, sides = fmpq(9), []
    for _ in range(4):
        second = fmpq(9, 16) * second + fmpq(1, 32)
        sides.append(second / 2)
    assert worst.lhs == sum(sides, fmpq(0)) / 4


def test_a_run_that_was_checked_travels() -> None:
    """A run that was checked can be sent to another process; what the check computed is not sent."""
    run = tiny_run()
    claims = [find(name) for name in ("renard2022:thm-2.1", "comparator:drift.one-step")]
    before = [check(claim, run).ratio for claim in claims]
    arrived = pickle.loads(pickle.dumps(run))
    assert "memo" not in vars(arrived)
    assert [check(claim, arrived).ratio for claim in claims] == before


def test_a_failed_condition_is_not_applicable() -> None:
    """If eta exceeds 1/(4L) the theorem is not applicable, and the answer names the condition."""
    found = check(find("renard2022:thm-2.1"), tiny_run(step="1/3"))
    assert not found.applicable
    assert found.holds is None
    assert found.reason == "the condition eta <= 1/(4*L) does not hold"
    assert found.conditions[0].slack == fmpq(-1, 12)


def test_a_failed_assumption_is_named() -> None:
    """Partial participation and unequal work are outside the theorem, each with its own reason."""
    run = tiny_run()
    sampled = Run(
        run.problem, replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, participation=Uniform(1)))
    )
    assert "full participation" in str(check(find("renard2022:thm-2.1"), sampled).reason)
    uneven = Run(run.problem, replace(run.algorithm, work=LocalWork((1, 2), run.algorithm.work.step_sizes)))
    assert "same local work" in str(check(find("renard2022:thm-2.1"), uneven).reason)


def test_constants_say_where_they_hold() -> None:
    """With different Hessians the dissimilarity holds on a ball, and the check says so."""
    claim = find("renard2022:thm-2.1")
    assert check(claim, tiny_run()).regions["gradient_dissimilarity"] == "all of space"
    assert "ball of radius" in check(claim, tiny_run(step="1/8", hessians=(1, 2))).regions["gradient_dissimilarity"]


def test_near_ties_of_floats_are_left_open() -> None:
    """An identity holds in rationals and is undecided in floats: no tolerance decides."""
    claim = find("renard2022:lemma-2.2.proof.polarize")
    run = Instance("small quadratics", 7).run()
    assert check(claim, run).holds is True
    assert check(claim, run.as_floats()).holds is None


def test_a_violation_below_every_tolerance_is_seen_in_rationals() -> None:
    """A bound that is too small by one part in 10^30 is violated in rationals and undecided in floats."""
    exact = Claim(id="t:tight", lhs=q.final_suboptimality, rhs=q.final_suboptimality.symbol, where=WHERE)
    assert check(exact, tiny_run()).holds is True
    short = Claim(
        id="t:short",
        lhs=q.final_suboptimality,
        rhs=q.final_suboptimality.symbol * (1 - sp.Rational(1, 10**30)),
        where={q.final_suboptimality.symbol: q.final_suboptimality},
    )
    assert check(short, tiny_run()).holds is False
    assert check(short, tiny_run().as_floats()).holds is None


def test_irrational_sides_are_decided_by_enclosures() -> None:
    """A root that is not rational is enclosed, and the enclosure decides."""
    run = tiny_run(noise=2)
    below = Claim(id="t:below", lhs=q.noise_deviation, rhs=sp.Rational(141421357, 10**8), where=WHERE)
    above = Claim(id="t:above", lhs=q.noise_deviation, rhs=sp.Rational(141421356, 10**8), where=WHERE)
    assert check(below, run).holds is True
    assert check(above, run).holds is False


def test_strict_relations_fail_at_equality() -> None:
    """x < x is false, x <= x is true."""
    same = {"lhs": q.rounds, "rhs": q.rounds, "where": WHERE}
    assert check(Claim(id="t:strict", relation="<", **same), tiny_run()).holds is False
    assert check(Claim(id="t:weak", relation="<=", **same), tiny_run()).holds is True


def test_the_worst_place_is_reported() -> None:
    """For a statement about all pairs of points, the reported pair is the one that fails."""
    where = {x: q.point, y: q.second_point}
    claim = Claim(id="t:points", lhs=inner(x, y), rhs=0, where=where, place="points")
    found = check(claim, tiny_run())
    assert found.holds is False
    assert found.worst is not None
    assert found.worst.index == {"x": "start", "y": "start"}
    assert found.worst.lhs == 9


def test_a_symbol_without_meaning_is_an_input_error() -> None:
    """The error names the claim and the symbol."""
    claim = Claim(id="t:unbound", lhs=q.max_drift, rhs=L * sp.Symbol("rho"), where=WHERE)
    with pytest.raises(InputError, match=r"t:unbound.*rho"):
        check(claim, tiny_run())


def test_decimal_coefficients_and_whole_powers_of_quantities() -> None:
    """0.5 is one half, and exponents may be quantities: (1 - eta L)^(tau T) at eta = 1/4, L = 1, tau = T = 2."""
    half = Claim(id="t:half", lhs=q.rounds, rhs=0.5 * T * 2, relation="==", where=WHERE)
    assert check(half, tiny_run()).holds is True
    geometric = Claim(
        id="t:power", lhs=(1 - eta * L) ** (tau * T), rhs=sp.Rational(81, 256), relation="==", where=WHERE
    )
    assert check(geometric, tiny_run()).holds is True


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        ({"lhs": Expectation(norm_sq(v)) ** 2 - Expectation(norm_sq(v) ** 2), "place": "step"}, "linear"),
        ({"lhs": norm_sq(v), "place": "step"}, "inside an Expectation"),
        ({"lhs": Expectation(norm_sq(v)), "place": "path"}, "nothing is random"),
        ({"lhs": norm_sq(v)}, "vectors have values at local steps only"),
        ({"lhs": T, "conditions": [tau <= -1]}, "expected conditions such as"),
    ],
)
def test_statements_without_meaning_are_refused(claim: dict[str, Any], complaint: str) -> None:
    """Fourth moments, stray expectations and false conditions are input errors, not silent wrong numbers."""
    where = {**WHERE, v: q.local_iterate}
    with pytest.raises(InputError, match=complaint):
        check(Claim(id="t:meaningless", rhs=0, where=where, **claim), tiny_run())


def test_every_failed_assumption_and_condition_is_listed() -> None:
    """All reasons and all slacks are given, not only the first."""
    run = tiny_run(step="1/3")
    sampled = replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, participation=Uniform(1)))
    found = check(find("renard2022:thm-2.1"), Run(run.problem, sampled))
    assert "full participation" in str(found.reason)
    assert "eta <= 1/(4*L)" in str(found.reason)
    assert [condition.slack for condition in found.conditions] == [fmpq(-1, 12)]


def test_a_path_uses_the_server_weights() -> None:
    """With one fixed participant the sampled path follows that client alone; random participants have no path."""
    run = tiny_run(noise=0)
    algorithm = replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, participation=Fixed((0,))))
    where = {v: q.server_model, q.server_distance_sq.symbol: q.server_distance_sq}
    same = Claim(
        id="t:server", lhs=norm_sq(v), relation="==", rhs=q.server_distance_sq.symbol, where=where, place="path"
    )
    assert check(same, Run(run.problem, algorithm)).holds is True
    drawn = replace(run.algorithm, aggregation=replace(run.algorithm.aggregation, participation=Uniform(1)))
    assert not check(same, Run(run.problem, drawn)).applicable
