"""The noise of stochastic gradients, and their second moments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.arithmetic import Array, Number, refuse_test
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language import assumptions as a
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.reductions import (
    LARGEST_CLIENT,
    LARGEST_ROUND,
    LARGEST_STEP,
)
from fedtheory.language.quantities.measuring.symbols import SAMPLE, define_by, square
from fedtheory.language.quantities.quantity import assumed, extremal_constant, supremum

noise_deviation = assumed(
    "noise_deviation",
    r"\sigma",
    "sigma, sigma^2 = max_i sup_x E|g_i(x) - grad F_i(x)|^2 on the region",
    a.unbiased_bounded_variance,
)
second_moment = assumed(
    "second_moment",
    "G",
    "G, G^2 = max_i sup_x E|g_i(x)|^2 on the region",
    a.bounded_second_moment,
)
visited_second_moment = supremum(
    "visited_second_moment",
    r"G_{\mathrm{run}}",
    "the largest E|g_i(x_i^{t,k})|^2 of the run, its root",
    lambda run: run.visited_second_moment,
    term=define_by(square(SAMPLE), LARGEST_CLIENT, LARGEST_STEP, LARGEST_ROUND),
)


def _has_linear_part(form: Array) -> bool:
    """Return whether a form has a linear part, up to rounding in floats."""
    rounding = 0 if form.dtype == object else 1e-12 * np.abs(form).max()
    return bool((abs(form[1:, 0]) > rounding).any())


def _measure_relative_noise(run: Run, form: Array) -> Number:
    """Return beta^2 for a form of E|g - grad F_k|^2 in (1, w - w_k^o).

    It is the curvature of the form, doubled if the form has a linear part.
    """
    curvature = run.arithmetic.largest_eigenvalue(form[1:, 1:])
    return curvature * 2 if _has_linear_part(form) else curvature


def _move(run: Run, form: Array, origin: Array) -> Array:
    """Return a form in (1, x) as a form in (1, x - origin)."""
    shift = run.arithmetic.identity(len(form))
    shift[1:, 0] = origin
    moved: Array = shift.T @ form @ shift
    return moved


def _measure_noise(value: Callable[[Run, Array], Number]) -> Callable[[Run], Array]:
    """Return a measure of each client's noise, (1, 1, M); `value` gets the variance as a form in (1, w - w_k^o)."""

    def measure(run: Run) -> Array:
        optima = run.problem.centred.client_optima
        moved = [_move(run, form, at) for form, at in zip(run.noise_forms, optima, strict=True)]
        values: Array = place_on_clients(run.arithmetic.array([value(run, form) for form in moved]))
        return values

    return measure


relative_noise = extremal_constant(
    "relative_noise",
    r"\beta_k",
    "beta_k in E|g_k(w) - grad F_k(w)|^2 <= beta_k^2 |w_k^o - w|^2 + sigma_k^2: beta_k^2 is the largest curvature of "
    "the variance, twice that where the variance is not symmetric about w_k^o",
    _measure_noise(_measure_relative_noise),
    root=True,
)


def _measure_absolute_noise(run: Run, form: Array) -> Number:
    """Return sigma^2, the smallest for this beta^2: by duality the linear part is completed to a square."""
    if not _has_linear_part(form):
        return form[0, 0]
    slack = _measure_relative_noise(run, form) * run.arithmetic.identity(len(form) - 1) - form[1:, 1:]
    linear = form[1:, 0]
    try:
        return form[0, 0] + linear @ run.arithmetic.solve(slack, linear)
    except InputError:
        raise refuse_test(run.arithmetic, "the noise of a client has no smallest constants") from None


absolute_noise = extremal_constant(
    "absolute_noise",
    r"\sigma_k",
    "sigma_k in E|g_k(w) - grad F_k(w)|^2 <= beta_k^2 |w_k^o - w|^2 + sigma_k^2: the smallest for that beta_k",
    _measure_noise(_measure_absolute_noise),
    root=True,
)
