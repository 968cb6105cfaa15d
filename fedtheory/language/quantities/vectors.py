"""Vectors and objectives at one local step (t, k): the symbols of a proof."""

from __future__ import annotations

from fedtheory.engine.frames import view_whole_round
from fedtheory.language.quantities.measuring.expectations import zero_at_optimum
from fedtheory.language.quantities.quantity import ObjectiveQuantity, PointQuantity, ScalarQuantity, VectorQuantity

local_iterate = VectorQuantity("local_iterate", "x_i^{(t,k)}", "a client's iterate", lambda frame: frame.local)
next_local_iterate = VectorQuantity(
    "next_local_iterate", "x_i^{(t,k+1)}", "a client's next iterate", lambda frame: frame.next_local
)
average_iterate = VectorQuantity(
    "average_iterate", r"\bar x^{(t,k)}", "mean of the clients' iterates", lambda frame: frame.average
)
next_average_iterate = VectorQuantity(
    "next_average_iterate", r"\bar x^{(t,k+1)}", "mean of the clients' next iterates", lambda frame: frame.next_average
)
server_model = VectorQuantity(
    "server_model", "x^{(t)}", "the model that the round starts from", lambda frame: frame.server
)
stochastic_gradient = VectorQuantity(
    "stochastic_gradient", "g_i", "a client's stochastic gradient at its iterate", lambda frame: frame.gradient
)
gradient_noise = VectorQuantity(
    "gradient_noise", r"\xi_i", "g_i - grad F_i at a client's iterate", lambda frame: frame.noise
)
optimum = VectorQuantity(
    "optimum",
    "x^*",
    "the minimiser of F",
    lambda frame: frame.constant(frame.select_of_run(zero_at_optimum)),
)
client_optimum = VectorQuantity(
    "client_optimum",
    "w_k^o",
    "the minimiser of each client's objective",
    lambda frame: frame.constant(frame.select_of_run(lambda run: run.problem.centred.client_optima)),
)
centralised_model = VectorQuantity(
    "centralised_model",
    "v_{[k]}(t)",
    "gradient descent on F from the round's model, as many steps as the clients took",
    lambda frame: frame.centralised,
)
next_centralised_model = VectorQuantity(
    "next_centralised_model",
    "v_{[k]}(t+1)",
    "the centralised model one step later",
    lambda frame: frame.next_centralised,
)
virtual_iterate = VectorQuantity(
    "virtual_iterate",
    r"\theta^{n,k}",
    "the server's model as the first k local steps of the reporting clients would make it",
    lambda frame: frame.virtual,
)
next_virtual_iterate = VectorQuantity(
    "next_virtual_iterate",
    r"\theta^{n,k+1}",
    "the server's model as the first k + 1 local steps of the reporting clients would make it",
    lambda frame: frame.next_virtual,
)


next_server_model = VectorQuantity(
    "next_server_model",
    "w_i",
    "the server's model after the round",
    lambda frame: view_whole_round(frame).next_server,
    place="round",
)
local_result = VectorQuantity(
    "local_result",
    r"\psi_{k,i}",
    "what a client ends its local steps with",
    lambda frame: view_whole_round(frame).result,
    place="round",
)
gradient_at_server_model = VectorQuantity(
    "gradient_at_server_model",
    r"\widehat{\nabla J_k}(w_{i-1})",
    "a client's stochastic gradient at the round's model, with the draw of the present local step",
    lambda frame: view_whole_round(frame).gradient_at_server,
    place="round",
)
participates = ScalarQuantity(
    "participates",
    r"\mathbb 1_{k,i}",
    "1 for the clients that take part in the round, else 0",
    lambda frame: frame.participates,
)
point = PointQuantity("point", "x", "any point")
second_point = PointQuantity("second_point", "y", "any point")
third_point = PointQuantity("third_point", "z", "any point")
gradient_deviation = VectorQuantity(
    "gradient_deviation",
    r"(\nabla F_i(x)-g_i(x))",
    "grad F_i - g_i at a client's iterate",
    lambda frame: frame.noise.scale(-frame.arithmetic.identity(1)[0]),
)


objective = ObjectiveQuantity("objective", "F", "the objective F = sum_i p_i F_i", lambda run: run.mean_objective)
client_objective = ObjectiveQuantity(
    "client_objective", "F_i", "a client's objective", lambda run: run.client_objectives
)
