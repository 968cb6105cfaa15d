"""Landmarks: stationary points of algorithms, against long runs, and user-defined claims about such algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.engine.joint import JointTrajectory, compute_limiting_moment, find_limit_of_mean
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.algorithms import definition, fedprox, names
from fedtheory.federation.definition import eta
from fedtheory.kernel.expressions import Gradient
from fedtheory.language.families import FAMILIES
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from fedtheory.runfile import parse_run
from fedtheory.sources.landmarks.exhibits import ROUNDS, compute_errors, find_best_curve, make_page, typeset
from fedtheory.sources.landmarks.local_steps import write_local_step
from verify.check import Check, check
from verify.instances import families_for

PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "weights": ["1/3", "2/3"],
    "start": ["3", "-2"],
    "noise": "1",
}
SETTLING: dict[str, dict[str, Any]] = {
    "scaffold": {"local_steps": [3, 1]},
    "scaffnew": {"probability": "1/3"},
    "fednova": {"local_steps": [3, 1]},
    "fedprox": {"local_steps": 3, "proximal": "1/2"},
    "fedavgm": {"local_steps": 3, "momentum": "1/2", "nesterov": True},
    "dsgd": {"mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
}


def _joint(keys: dict[str, Any], arithmetic: Any, rounds: int) -> JointTrajectory:
    algorithm = {"local_step_size": "1/8", "rounds": rounds} | keys
    found = parse_run({"problem": PROBLEM, "algorithm": algorithm}, arithmetic).trajectory
    assert isinstance(found, JointTrajectory)
    return found


@pytest.mark.parametrize("name", SETTLING)
def test_the_limit_is_where_long_runs_are(name: str) -> None:
    keys = SETTLING[name] | {"name": name}
    exactly = find_limit_of_mean(_joint(keys, RATIONAL, 1))
    long = _joint(keys, FLOAT, 400)
    assert np.allclose([plain_float(x) for x in exactly], long.server_mean[-1] - long.problem.optimum, atol=1e-9)


def test_too_large_steps_have_no_limit() -> None:
    with pytest.raises(NotApplicable, match="use a smaller step size"):
        find_limit_of_mean(_joint({"name": "scaffnew", "probability": 1, "local_step_size": 2}, RATIONAL, 1))


@pytest.mark.parametrize("name", SETTLING)
def test_stationary_second_moments_are_those_of_long_runs(name: str) -> None:
    keys = SETTLING[name] | {"name": name}
    long = _joint(keys, FLOAT, 400)
    exactly = [plain_float(x) for x in compute_limiting_moment(_joint(keys, RATIONAL, 1)).ravel()]
    assert np.allclose(exactly, long.moments[-1].ravel(), rtol=1e-9)
    assert np.allclose(compute_limiting_moment(long), long.moments[-1], rtol=1e-9)


@pytest.mark.long
def test_stationary_moments_with_control_variates_are_those_of_long_runs() -> None:
    keys = {"name": "scaffold", "local_steps": 2, "participation": {"kind": "uniform", "clients": 1}}
    long = _joint(keys, FLOAT, 1000)
    exactly = [plain_float(x) for x in compute_limiting_moment(_joint(keys, RATIONAL, 1)).ravel()]
    assert np.allclose(exactly, long.moments[-1].ravel(), rtol=1e-9)
    assert np.allclose(compute_limiting_moment(long), long.moments[-1], rtol=1e-9)


def test_stationary_moments_with_model_noise_agree_in_rationals_and_floats() -> None:
    rows = {"inputs": [[[1], [2]], [[1], [3]]], "outputs": [[1, 0], [2, 1]], "start": [1], "batch": 1}
    keys = {"name": "scaffnew", "probability": "1/3", "local_step_size": "1/20", "rounds": 1}
    document = {"problem": {"kind": "least-squares"} | rows, "algorithm": keys}
    exactly, in_floats = (q.limiting_distance_sq.on(parse_run(document, one)) for one in (RATIONAL, FLOAT))
    assert plain_float(exactly) == pytest.approx(in_floats, rel=1e-9)
    assert in_floats > 0


AVERAGED: dict[str, dict[str, Any]] = {
    "scaffold": {},
    "scaffnew": {"probability": 1},
    "fedavgm": {"momentum": 0},
}


@pytest.mark.parametrize("name", AVERAGED)
def test_single_steps_have_the_stationary_error_of_fedavg(name: str) -> None:
    """With single steps the stationary errors are those of FedAvg, since control variates have mean zero."""
    keys = {"local_step_size": "1/8", "rounds": 1}
    runs = [
        parse_run({"problem": PROBLEM, "algorithm": keys | own}, RATIONAL)
        for own in ({"name": "fedavg"}, {"name": name} | AVERAGED[name])
    ]
    plain, other = (q.limiting_distance_sq.on(run) for run in runs)
    assert plain == other > 0


def test_a_complete_graph_has_the_stationary_error_of_fedavg() -> None:
    keys = {"local_step_size": "1/8", "rounds": 1}
    problem = PROBLEM | {"weights": ["1/2", "1/2"]}
    own = {"name": "dsgd", "mixing": [["1/2", "1/2"], ["1/2", "1/2"]]}
    runs = [parse_run({"problem": problem, "algorithm": keys | one}, RATIONAL) for one in ({"name": "fedavg"}, own)]
    plain, other = (q.limiting_distance_sq.on(run) for run in runs)
    assert plain == other > 0


def test_growing_errors_have_no_stationary_value() -> None:
    with pytest.raises(NotApplicable, match="use a smaller step size"):
        compute_limiting_moment(_joint({"name": "scaffold", "local_step_size": 2}, RATIONAL, 1))
    with pytest.raises(NotApplicable, match="use a smaller step size"):
        compute_limiting_moment(_joint({"name": "fedavgm", "momentum": 0, "local_step_size": 2}, RATIONAL, 1))


def test_mini_batches_may_keep_the_moments_of_a_graph_from_settling() -> None:
    """One client that receives only its own messages has a stationary mean at both step sizes, a moment at one."""
    rows = {"inputs": [[[1], [3]]], "outputs": [[1, 1]], "start": [1], "batch": 1}
    for size, settles in (("1/10", True), ("1/8", False)):
        keys = {"name": "dsgd", "mixing": [[1]], "local_step_size": size, "rounds": 1}
        run = parse_run({"problem": {"kind": "least-squares"} | rows, "algorithm": keys}, RATIONAL)
        assert isinstance(run.trajectory, JointTrajectory)
        if settles:
            assert compute_limiting_moment(run.trajectory)[1, 1] > 0
        else:
            with pytest.raises(NotApplicable, match="the second moments do not converge"):
                compute_limiting_moment(run.trajectory)


def test_mini_batches_may_keep_second_moments_from_settling() -> None:
    """For one client with y = x on rows 1 and 3 the mean contracts by 1 - 10 eta, the square by 1 - 20 eta + 164
    eta^2.
    """
    rows = {"inputs": [[[1], [3]]], "outputs": [[1, 1]], "start": [1], "batch": 1}
    for size, settles in (("1/10", True), ("1/8", False)):
        keys = {"name": "fedavgm", "momentum": 0, "local_step_size": size, "rounds": 1}
        run = parse_run({"problem": {"kind": "least-squares"} | rows, "algorithm": keys}, RATIONAL)
        assert isinstance(run.trajectory, JointTrajectory)
        if settles:
            assert compute_limiting_moment(run.trajectory)[1, 1] > 0
        else:
            with pytest.raises(NotApplicable, match="the second moments do not converge"):
                compute_limiting_moment(run.trajectory)


@pytest.mark.parametrize("name", ["fednova", "fedavg"])
def test_fixed_points_with_unequal_local_work(name: str) -> None:
    """sum_i p_i S_i (x - x_i*) = 0, S_i = 1 - (1 - eta H_i)^tau_i for FedAvg, and that over tau_i for FedNova."""
    size, steps = sp.Rational(1, 8), (3, 1)
    matrix, right = sp.zeros(2), sp.zeros(2, 1)
    for p, rows, entries, count in zip(PROBLEM["weights"], PROBLEM["hessians"], PROBLEM["linear"], steps, strict=True):
        hessian, linear = sp.Matrix(rows).applyfunc(sp.Rational), sp.Matrix(entries).applyfunc(sp.Rational)
        moved = sp.Rational(p) * (sp.eye(2) - (sp.eye(2) - size * hessian) ** count)
        moved = moved / count if name == "fednova" else moved
        matrix, right = matrix + moved, right + moved * hessian.LUsolve(linear)
    keys = {"name": name, "local_step_size": "1/8", "local_steps": list(steps), "rounds": 1}
    run = parse_run({"problem": PROBLEM, "algorithm": keys}, RATIONAL)
    away = matrix.LUsolve(right) - sp.Matrix([sp.Rational(str(x)) for x in run.problem.optimum])
    assert str(q.limiting_mean_distance_sq.on(run)) == str(away.dot(away))


BOUNDS = [
    "scaffold.contraction",
    "scaffnew.contraction",
    "scaffnew.stationary",
    "dsgd.one-hessian",
    "dsgd.consensus",
    "compressed.price",
    "scaffold.settles",
    "fedavg.decreasing-steps",
    "fedavgm.stationary",
    "fedavgm.contraction",
    "fedprox.local-step",
]


def _check(claim: Claim, every: int) -> Iterator[Check]:
    """Yield checks of the claim on its own families, where it applies."""
    own = [name for name in families_for(claim) if FAMILIES[name].build.__module__ == "verify.instances.algorithms"]
    drawn = (instance.run() for name in own for instance in FAMILIES[name].instances[::every])
    return (one for one in (check(claim, run) for run in drawn) if one.applicable)


@pytest.mark.parametrize("name", BOUNDS)
def test_no_instance_violates_a_landmark(name: str) -> None:
    found = list(_check(find(f"landmarks:{name}"), 4))
    assert len(found) >= 5
    assert all(one.holds for one in found)


def _without(symbol: str) -> Callable[[Any], Any]:
    return lambda side: side.subs(sp.Symbol(symbol, nonnegative=True), 0)


def _halve(side: Any) -> Any:
    return side / 2


FALSE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "no graph in it": ("dsgd.consensus", lambda side: side.subs(sp.Symbol("rho", nonnegative=True), sp.S.Half)),
    "clients are alike": ("dsgd.consensus", _without("zeta")),
    "consensus without noise": ("dsgd.consensus", _without("sigma")),
    "decreasing steps without noise": ("fedavg.decreasing-steps", _without("sigma")),
    "decreasing steps without drift": ("fedavg.decreasing-steps", _without("G_*")),
    "decreasing steps, another start": ("fedavg.decreasing-steps", _without("D")),
    "half of what noise leaves": ("fedavgm.stationary", _halve),
    "no momentum": ("fedavgm.stationary", lambda side: side * (1 - sp.Symbol("beta", nonnegative=True))),
    "a proximal term that counts twice": (
        "fedprox.local-step",
        lambda side: side.subs(sp.Symbol("mu", positive=True), 3 * sp.Symbol("mu", positive=True)),
    ),
    "Scaffnew without its noise floor": ("scaffnew.contraction", _without("sigma")),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_variants_are_violated(name: str) -> None:
    landmark, changed = FALSE[name]
    claim = find(f"landmarks:{landmark}")
    right = claim.relations[0].right
    assert changed(right) != right
    false = replace(claim, chain=(), lhs=claim.lhs or claim.chain[0], rhs=changed(right))
    assert any(one.holds is False for one in _check(false, 1))


@pytest.mark.parametrize("momentum", ["0", "1/2", "9/10"])
def test_momentum_in_one_dimension_is_an_equation(momentum: str) -> None:
    problem = {"kind": "quadratic", "hessians": [[["2"]], [["2"]]], "linear": [["1"], ["-3"]], "noise": "3"}
    keys = {"name": "fedavgm", "momentum": momentum, "local_step_size": "1/40", "rounds": 1}
    found = check(find("landmarks:fedavgm.stationary"), parse_run({"problem": problem, "algorithm": keys}, RATIONAL))
    assert found.applicable
    first, second = found.comparisons
    assert first.ratio == 1
    assert (second.ratio == 1) == (momentum == "0")


def test_a_landmark_is_about_its_algorithm() -> None:
    run = parse_run({"problem": PROBLEM, "algorithm": {"local_step_size": "1/8", "rounds": 2}}, RATIONAL)
    found = check(find("landmarks:scaffnew.contraction"), run)
    assert not found.applicable
    assert "the algorithm is fedavg, not scaffnew" in (found.reason or "")


D, T = sp.symbols("D T", positive=True)
HALVED = Claim(
    id="mine:halved",
    lhs=q.final_distance_sq,
    rhs=D**2 / 2**T,
    where={D: q.initial_distance, T: q.rounds},
    assumptions=[a.scaffold],
)


@pytest.mark.long
def test_claims_of_ones_own_are_checked_on_such_runs() -> None:
    """A user-defined claim is checked: whether SCAFFOLD halves the error in every round depends on the run."""
    family, calm = families_for(HALVED)
    assert (family, calm) == ("SCAFFOLD", "SCAFFOLD with full gradients")
    found = {check(HALVED, instance.run()).holds for instance in FAMILIES[family].instances}
    assert found == {True, False}


def test_a_step_of_a_definition_in_symbols_of_ones_own() -> None:
    y, x, objective, size, weight = sp.symbols("a b f s w")
    numbers = {eta: size, fedprox.mu: weight}
    (found,) = write_local_step(fedprox.algorithm, objective, {fedprox.x: x, fedprox.y: y}, numbers).values()
    assert sp.expand(found - (y - size * (Gradient(objective, y) + weight * (y - x)))) == 0
    with pytest.raises(InputError, match="expected a point for x"):
        write_local_step(fedprox.algorithm, objective, {fedprox.y: y}, numbers)


@pytest.mark.parametrize("name", names())
def test_definitions_are_typeset(name: str) -> None:
    """Every vector is typeset with its initial value and its update."""
    lines = typeset(definition(name))
    assert lines[0][0] == "Start:"
    vectors = [vector for vector, _ in definition(name).expressions() if str(vector) != "model"]
    shown = " ".join(formula for _, formula in lines)
    assert all(rf"{latex(vector)}\leftarrow" in shown for vector in vectors)


def test_a_page_shows_an_algorithm_beside_fedavg() -> None:
    pytest.importorskip("sklearn")
    shown = make_page("scaffold")
    assert [len(chart.parts) for chart in shown.charts] == [2, 2]
    assert "landmarks:scaffold.contraction" in shown.claims
    assert "landmarks:scaffnew.contraction" not in shown.claims
    scaffold, fedavg = find_best_curve("scaffold"), find_best_curve("fedavg")
    assert len(scaffold.errors) == len(fedavg.errors) == ROUNDS + 1
    assert scaffold.errors[-1] < fedavg.errors[-1]
    assert (scaffold.sent == 2 * fedavg.sent).all()


def test_assumptions_about_algorithms_can_be_compared() -> None:
    """Assumptions about algorithms are hashable, and equal ones count once."""
    assert {a.heavy_ball, a.server_momentum, a.of_algorithm("fedavgm")} == {a.heavy_ball, a.server_momentum}


def test_a_curve_is_at_the_best_step_size() -> None:
    """The best of the tried step sizes is not the largest: larger ones are unstable, smaller ones slower."""
    pytest.importorskip("sklearn")
    best = find_best_curve("fedavg")
    others = [compute_errors("fedavg", share) for share in best.shown.step_sizes]
    assert min(best.shown.step_sizes) < best.step_size < max(best.shown.step_sizes)
    assert best.errors[-1] == min(errors[-1] for errors in others)
    assert others[-1][-1] > others[-1][0]
