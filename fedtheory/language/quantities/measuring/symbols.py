"""Symbols of the terms that define quantities of runs of the update rule."""

from __future__ import annotations

from collections.abc import Iterable

from fedtheory.kernel.expressions import Expectation, Expr, Gradient, SampledGradient, Value, norm_sq
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities import vectors as v
from fedtheory.language.quantities.measuring.terms import term_at_steps
from fedtheory.language.quantities.quantity import Over, Quantity, Term, VectorQuantity, get_symbol

run_iterate = VectorQuantity(
    "run_iterate",
    r"\bar x_{t,k}",
    "mean of the clients' iterates; where clients work on older models, the virtual iterate",
    lambda frame: frame.average if frame.run.algorithm.clock.is_synchronous else frame.virtual,
)
next_run_iterate = VectorQuantity(
    "next_run_iterate",
    r"\bar x_{t,k+1}",
    "the same one local step later",
    lambda frame: frame.next_average if frame.run.algorithm.clock.is_synchronous else frame.next_virtual,
)
_VOCABULARY: tuple[Quantity, ...] = (
    *(run_iterate, next_run_iterate, v.virtual_iterate, v.next_virtual_iterate, v.local_iterate, v.next_local_iterate),
    *(v.server_model, v.optimum, v.client_optimum, v.stochastic_gradient, v.next_centralised_model),
    *(v.objective, v.client_objective, local_work.local_steps),
)
ITERATE, NEXT_ITERATE = get_symbol(run_iterate), get_symbol(next_run_iterate)
VIRTUAL, NEXT_VIRTUAL = get_symbol(v.virtual_iterate), get_symbol(v.next_virtual_iterate)
LOCAL, NEXT_LOCAL = get_symbol(v.local_iterate), get_symbol(v.next_local_iterate)
SERVER, OPTIMUM, CLIENT_OPTIMUM = map(get_symbol, (v.server_model, v.optimum, v.client_optimum))
OBJECTIVE, CLIENT_OBJECTIVE = get_symbol(v.objective), get_symbol(v.client_objective)
SAMPLE, NEXT_CENTRALISED = get_symbol(v.stochastic_gradient), get_symbol(v.next_centralised_model)
STEPS = get_symbol(local_work.local_steps)


def define_by(expression: Expr, *over: Over, also: Iterable[Quantity] = ()) -> Term:
    """Define a number by its values at local steps and their reductions; `also` are further quantities."""
    return term_at_steps(expression, *_VOCABULARY, *also, over=over)


def square(vector: Expr) -> Expr:
    """Return E|v|^2."""
    return Expectation(norm_sq(vector))


def gap(at: Expr, below: Expr = OPTIMUM) -> Expr:
    """Return E F(x) - F(y), with y the optimum by default."""
    return Expectation(Value(OBJECTIVE, at) - Value(OBJECTIVE, below))


def gradient_sq(at: Expr) -> Expr:
    """Return E|grad F(x)|^2."""
    return square(Gradient(OBJECTIVE, at))


def second_moment(at: Expr) -> Expr:
    """Return E|g_i(x)|^2 of each client."""
    return square(SampledGradient(CLIENT_OBJECTIVE, at))


def variance(at: Expr) -> Expr:
    """Return E|g_i(x) - grad F_i(x)|^2 of each client."""
    return square(SampledGradient(CLIENT_OBJECTIVE, at) - Gradient(CLIENT_OBJECTIVE, at))
