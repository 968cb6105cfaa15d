"""Points of updates, and the symbols and expressions of the terms that define quantities of updates."""

from __future__ import annotations

from collections.abc import Iterable

from fedtheory.kernel.expressions import ClientSum, Expectation, Expr, Gradient, SampledGradient, Value, inner, norm_sq
from fedtheory.language.quantities import local_work
from fedtheory.language.quantities import vectors as v
from fedtheory.language.quantities.measuring.reductions import MEAN_OVER_STEPS
from fedtheory.language.quantities.measuring.terms import term_at_steps
from fedtheory.language.quantities.quantity import Over, Quantity, Term, VectorQuantity, get_symbol
from fedtheory.sources.fraboni2022.quantities import weights

received_model = VectorQuantity(
    "received_model",
    r"\theta^{\rho_i(n)}",
    "the model that each client works on, the last one it received",
    lambda frame: frame.received,
)
surrogate_optimum = VectorQuantity(
    "surrogate_optimum",
    r"\bar\theta",
    "the optimum of the surrogate problem sum_i q_i L_i",
    lambda frame: frame.constant(frame.run.surrogate.optimum[None]),
)
round_optimum = VectorQuantity(
    "round_optimum",
    r"\bar\theta^n",
    "the optimum of L^n = sum_i q_i(n) L_i",
    lambda frame: frame.constant(frame.select_round(frame.run.surrogate.round_optima[:, None])),
)
surrogate_comparator = VectorQuantity(
    "surrogate_comparator",
    "y",
    "the point that updates are compared with, the minimiser of Lbar(y) + |theta^0 - y|^2 / (eta_g eta_l K N), Lbar "
    "the surrogate problem",
    lambda frame: frame.constant(frame.run.surrogate.comparator[None]),
)
initial_model = VectorQuantity(
    "initial_model",
    r"\theta^0",
    "the model that the run starts from",
    lambda frame: frame.constant(frame.select_of_run(lambda run: run.problem.centred.start[None])),
)

_VOCABULARY: tuple[Quantity, ...] = (
    *(v.local_iterate, v.next_local_iterate, v.virtual_iterate, v.next_virtual_iterate),
    *(received_model, v.server_model, v.stochastic_gradient),
    *(v.optimum, v.client_optimum, surrogate_optimum, round_optimum, surrogate_comparator, initial_model),
    *(
        v.client_objective,
        v.objective,
        weights.weight_share,
        weights.expected_weight,
        weights.mean_weight,
        local_work.server_step_size,
    ),
)
LOCAL, NEXT_LOCAL = get_symbol(v.local_iterate), get_symbol(v.next_local_iterate)
VIRTUAL, NEXT_VIRTUAL = get_symbol(v.virtual_iterate), get_symbol(v.next_virtual_iterate)
RECEIVED, SERVER, SAMPLE = map(get_symbol, (received_model, v.server_model, v.stochastic_gradient))
OPTIMUM, CLIENT_OPTIMUM = get_symbol(v.optimum), get_symbol(v.client_optimum)
SURROGATE_OPTIMUM, ROUND_OPTIMUM = get_symbol(surrogate_optimum), get_symbol(round_optimum)
COMPARATOR, START = get_symbol(surrogate_comparator), get_symbol(initial_model)
CLIENT_OBJECTIVE, OBJECTIVE = get_symbol(v.client_objective), get_symbol(v.objective)
SHARE, WEIGHT, MEAN_WEIGHT = map(get_symbol, (weights.weight_share, weights.expected_weight, weights.mean_weight))
SERVER_STEP = get_symbol(local_work.server_step_size)
AT_LOCAL, AT_VIRTUAL = Gradient(CLIENT_OBJECTIVE, LOCAL), Gradient(CLIENT_OBJECTIVE, VIRTUAL)
"""Full gradients of a client at its iterate and at the virtual iterate."""
SAMPLE_AT_LOCAL, SAMPLE_AT_VIRTUAL = (
    SampledGradient(CLIENT_OBJECTIVE, LOCAL),
    SampledGradient(CLIENT_OBJECTIVE, VIRTUAL),
)
SAMPLE_AT_ROUND_OPTIMUM = SampledGradient(CLIENT_OBJECTIVE, ROUND_OPTIMUM)
SAMPLE_AT_SURROGATE_OPTIMUM = SampledGradient(CLIENT_OBJECTIVE, SURROGATE_OPTIMUM)
"""Stochastic gradients of a client at points, with its present sample."""


def define_at_each_step(expression: Expr, *over: Over, also: Iterable[Quantity] = ()) -> Term:
    """Define a value at each local step, reduced by `over`; `also` lists the quantities of other symbols."""
    return term_at_steps(expression, *_VOCABULARY, *also, over=over)


def define_step_average(expression: Expr) -> Term:
    """Define an average over the K local steps of each update."""
    return define_at_each_step(expression, MEAN_OVER_STEPS)


def square(vector: Expr) -> Expr:
    """Return E|v|^2."""
    expression: Expr = Expectation(norm_sq(vector))
    return expression


def product(vector: Expr, other: Expr) -> Expr:
    """Return E<u, v>."""
    expression: Expr = Expectation(inner(vector, other))
    return expression


def weigh_by_shares(content: Expr) -> Expr:
    """Return the sum of numbers or vectors of clients with the normalised weights q~_i(n)."""
    expression: Expr = ClientSum(SHARE * content)
    return expression


def weigh_by_weights(content: Expr) -> Expr:
    """Return the sum of numbers or vectors of clients with the expected weights q_i(n)."""
    expression: Expr = ClientSum(WEIGHT * content)
    return expression


def subtract_client_values(point: Expr, other: Expr) -> Expr:
    """Return E L_i at a point minus E L_i at another one, for each client."""
    expression: Expr = Expectation(Value(CLIENT_OBJECTIVE, point) - Value(CLIENT_OBJECTIVE, other))
    return expression


def subtract_values(point: Expr, other: Expr) -> Expr:
    """Return E L^n at a point minus E L^n at another one."""
    return weigh_by_weights(subtract_client_values(point, other))
