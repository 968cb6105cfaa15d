"""Constants of each client, on the client axis; inside an `Average` they are averaged over clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, Number, unanswered
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language.quantities.axes import on_clients
from fedtheory.language.quantities.constants import assumed
from fedtheory.language.quantities.notion import Quantity, constant

client_local_steps = constant(
    "client_local_steps",
    "E_k",
    "local steps of each client",
    lambda run: on_clients(run.arithmetic.array(list(run.algorithm.work.steps))),
)
client_step_size = constant(
    "client_step_size",
    r"\mu_k",
    "local step size of each client",
    lambda run: on_clients(run.algorithm.work.step_sizes),
)
client_smoothness = constant(
    "client_smoothness",
    r"\delta_k",
    "largest eigenvalue of each client's Hessian",
    lambda run: on_clients(run.client_smoothness),
)
client_strong_convexity = constant(
    "client_strong_convexity",
    r"\nu_k",
    "smallest eigenvalue of each client's Hessian",
    lambda run: on_clients(run.client_strong_convexity),
)
client_dissimilarity = assumed(
    "client_dissimilarity",
    r"\delta_i",
    "delta_i = sup_x |grad F_i(x) - grad F(x)| on the region, for each client",
    lambda run: run.client_dissimilarities_sq,
)
client_optimum_distance = constant(
    "client_optimum_distance",
    r"\|w_k^o-w^o\|",
    "distance of each client's minimiser from that of F",
    lambda run: on_clients(((run.problem.client_optima - run.problem.optimum) ** 2).sum(axis=1)),
    root=True,
)


def _effective_step_size(run: Run) -> Any:
    size = run.algorithm.work.common_effective_step
    if size is None:
        raise NotApplicable("the clients' step sizes times their numbers of local steps differ")
    return size


effective_step_size = constant(
    "effective_step_size", r"\mu", "mu = mu_k E_k, the same for all clients", _effective_step_size
)


def _relative_noise(run: Run, form: Array) -> Number:
    """beta^2 for a form of E|g - grad F_k|^2 in (1, w - w_k^o): its curvature, doubled where it has a linear part."""
    curvature = run.arithmetic.largest_eigenvalue(form[1:, 1:])
    return curvature * 2 if _has_linear_part(form) else curvature


def _has_linear_part(form: Array) -> bool:
    """Whether a form is not symmetric about zero, up to rounding in floats."""
    rounding = 0 if form.dtype == object else 1e-12 * np.abs(form).max()
    return bool((abs(form[1:, 0]) > rounding).any())


def _absolute_noise(run: Run, form: Array) -> Number:
    """sigma^2, the smallest that goes with this beta^2: by duality the linear part is completed to a square."""
    if not _has_linear_part(form):
        return form[0, 0]
    slack = _relative_noise(run, form) * run.arithmetic.identity(len(form) - 1) - form[1:, 1:]
    linear = form[1:, 0]
    try:
        return form[0, 0] + linear @ run.arithmetic.solve(slack, linear)
    except InputError:
        raise unanswered(run.arithmetic, "the noise of a client has no smallest constants") from None


def _of_noise(value: Callable[[Run, Array], Number]) -> Callable[[Run], Array]:
    """A number of each client's noise variance as a form in (1, w - w_k^o), (1, 1, M)."""

    def measure(run: Run) -> Array:
        optima = run.problem.centred.client_optima
        moved = [_moved(run, form, at) for form, at in zip(run.noise_forms, optima, strict=True)]
        values: Array = on_clients(run.arithmetic.array([value(run, form) for form in moved]))
        return values

    return measure


def _moved(run: Run, form: Array, origin: Array) -> Array:
    """A form in (1, x) as a form in (1, x - origin)."""
    shift = run.arithmetic.identity(len(form))
    shift[1:, 0] = origin
    moved: Array = shift.T @ form @ shift
    return moved


relative_noise = constant(
    "relative_noise",
    r"\beta_k",
    "beta_k in E|g_k(w) - grad F_k(w)|^2 <= beta_k^2 |w_k^o - w|^2 + sigma_k^2: beta_k^2 is the largest curvature of "
    "the variance, twice that where the variance is not symmetric about w_k^o",
    _of_noise(_relative_noise),
    root=True,
)
absolute_noise = constant(
    "absolute_noise",
    r"\sigma_k",
    "sigma_k in E|g_k(w) - grad F_k(w)|^2 <= beta_k^2 |w_k^o - w|^2 + sigma_k^2: the smallest for that beta_k",
    _of_noise(_absolute_noise),
    root=True,
)


mean_square_smoothness = constant(
    "mean_square_smoothness",
    r"\hat\delta_k",
    "the smallest constant with E|g_k(w_1) - g_k(w_2)|^2 <= hat delta_k^2 |w_1 - w_2|^2 for one draw in both gradients",
    lambda run: on_clients(run.client_mean_square_smoothness),
    root=True,
)
mean_divergence = Quantity(
    "mean_divergence",
    r"\delta",
    "delta = sum_i p_i delta_i, the mean of the clients' gradient divergences on the region",
    lambda run: run.arithmetic.sqrt(run.client_dissimilarities_sq.value) @ run.problem.weights,
    is_constant=True,
    region=lambda run: run.client_dissimilarities_sq.region,
)


def _fourth_moment(run: Run) -> Any:
    data = run.problem.data
    if data is None:
        raise NotApplicable("the clients have no samples")
    lengths = [(inputs * inputs).sum(axis=1) for inputs, _ in data]
    return on_clients(run.arithmetic.array([(squares @ squares) / len(squares) for squares in lengths]))


regressor_fourth_moment = Quantity(
    "regressor_fourth_moment",
    r"\mathbb E\|h_kh_k^{\mathsf T}\|^2",
    "E|h_k h_k'|^2 = E|h_k|^4 over the samples h_k of each client",
    _fourth_moment,
    is_constant=True,
)
