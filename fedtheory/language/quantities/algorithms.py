"""Parameters of algorithms given as definitions, the limit of the expected model, and the distance between clients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fedtheory.arithmetic import Number
from fedtheory.engine.moments.stationary import compute_stationary_mean
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.language.assumptions import decreasing_steps
from fedtheory.language.quantities.measuring.axes import place_on_rounds
from fedtheory.language.quantities.measuring.reductions import FIRST_ROUND, FIRST_STEP
from fedtheory.language.quantities.measuring.symbols import CLIENT_OBJECTIVE, OPTIMUM, define_by, square
from fedtheory.language.quantities.quantity import RunQuantity, constant, extremal_constant, per_round, setting


def measure_parameter(run: Run, key: str) -> Number:
    """Return the value of a definition's parameter, by its key in run files."""
    defined = run.algorithm.defined
    for parameter in () if defined is None else defined.algorithm.parameters:
        if parameter.key == key and defined is not None:
            return defined.values[parameter.letter]
    raise NotApplicable(f"the algorithm {run.algorithm.name} has no parameter {key!r}")


communication_probability = setting(
    "communication_probability",
    "p",
    "probability that an iteration communicates",
    lambda run: measure_parameter(run, "probability"),
)
momentum = setting("momentum", r"\beta", "momentum of the server", lambda run: measure_parameter(run, "momentum"))
proximal_weight = setting(
    "proximal_weight",
    r"\mu_{\mathrm{prox}}",
    "weight of FedProx's proximal term, mu/2 |y - x|^2",
    lambda run: measure_parameter(run, "proximal"),
)
compression_variance = setting(
    "compression_variance",
    r"\omega",
    "d/k - 1, where k of d random coordinates are sent: E|C(v) - v|^2 = omega |v|^2",
    lambda run: run.problem.dimension / measure_parameter(run, "coordinates") - 1,
)


optimum_gradient = constant(
    "optimum_gradient",
    "G_*",
    "G_*, G_*^2 = sum_i p_i |grad F_i(x*)|^2",
    lambda run: run.at_optimum.dissimilarity_sq,
    root=True,
    term=define_by(Average(square(Gradient(CLIENT_OBJECTIVE, OPTIMUM))), FIRST_STEP, FIRST_ROUND),
)


def _measure_limiting_mean_distance(run: Run) -> Any:
    """Return the squared distance of the limit of the expected model to the optimum."""
    _ = run.problem.about_optimum
    if run.algorithm.defined is None:
        limit = compute_stationary_mean(run.trajectory.recursion)
    else:
        from fedtheory.engine.definition_runs import build_joint_trajectory
        from fedtheory.engine.joint import find_limit_of_mean

        limit = find_limit_of_mean(build_joint_trajectory(run))
    return limit @ limit


limiting_mean_distance_sq = constant(
    "limiting_mean_distance_sq",
    r"\|\lim_{n\to\infty}\mathbb E x^n-x^*\|^2",
    "|lim E x^n - x*|^2, the limit of the expected model from the run's start",
    _measure_limiting_mean_distance,
    primitive="limit",
)


def _measure_displacement(run: Run) -> Any:
    """Return the displacement of the server's model in one round that starts at the optimum."""
    from fedtheory.engine.definition_runs import build_joint_trajectory
    from fedtheory.engine.joint import JointTrajectory, measure_displacement_at_optimum

    if run.algorithm.defined is not None:
        return measure_displacement_at_optimum(build_joint_trajectory(run))
    from fedtheory.federation.algorithms import definition
    from fedtheory.federation.definition.run import Defined

    run.algorithm.require_synchronous("a round starts from the newest model")
    rule = replace(run.algorithm, defined=Defined(definition("fedavg"), {}), rounds=1)
    return measure_displacement_at_optimum(JointTrajectory(run.problem, rule))


optimum_displacement_sq = RunQuantity(
    "optimum_displacement_sq",
    r"\|z'(z^*)-z^*\|^2",
    "squared displacement in the first round of an algorithm that starts at the fixed point that its definition "
    "states (SCAFFOLD: x = x*, c = 0, c_i = grad F_i(x*)): sum over the server's vectors of |s' - s|^2, plus sum_i p_i "
    "|c_i' - c_i|^2 over those of the clients, in expectation over noise, participants and compression",
    _measure_displacement,
    primitive="process",
)


def _measure_mixing_contraction(run: Run) -> Any:
    """Return the squared contraction factor of the mixing matrix; raise NotApplicable without a graph."""
    mixing = None if run.algorithm.defined is None else run.algorithm.defined.mixing
    if mixing is None:
        raise NotApplicable(f"the algorithm {run.algorithm.name} has no communication graph")
    away = mixing - run.arithmetic.array([[1] * len(mixing)] * len(mixing)) / len(mixing)
    return run.arithmetic.largest_eigenvalue(away.T @ away)


mixing_contraction = extremal_constant(
    "mixing_contraction",
    r"\rho",
    "rho = |W - J|, the second largest singular value of the mixing matrix, J averaging all: 1 - rho is its "
    "spectral gap",
    _measure_mixing_contraction,
    root=True,
)


def _require_kept_models(run: Run) -> Any:
    """Return the trajectory of a run whose clients may keep models between rounds."""
    from fedtheory.engine.definition_runs import build_joint_trajectory

    if run.algorithm.defined is None:
        raise NotApplicable(f"the clients of {run.algorithm.name} keep no models between rounds")
    return build_joint_trajectory(run).require_finite()


consensus_distance_sq = per_round(
    "consensus_distance_sq",
    r"\sum_ip_i\mathbb E\|x_i^{(t)}-\bar x^{(t)}\|^2",
    "for each round t: sum_i p_i E|x_i^t - xbar^t|^2 of the models that clients keep, at the start of the round",
    lambda run: place_on_rounds(_require_kept_models(run).client_spread[:-1]),
    primitive="process",
)
final_consensus_distance_sq = RunQuantity(
    "final_consensus_distance_sq",
    r"\sum_ip_i\mathbb E\|x_i^T-\bar x^T\|^2",
    "sum_i p_i E|x_i^T - xbar^T|^2 of the models that clients keep, after the last round",
    lambda run: _require_kept_models(run).final_client_spread,
    primitive="process",
)


step_shift = extremal_constant(
    "step_shift",
    "c",
    "c of the step sizes eta_n = 2/(mu tau (n + c)) of round n, for all local steps",
    decreasing_steps.require,
)
