"""Facts that are definitions: quantities that are written out, and step sizes; trusted like the kernel."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.proofs.facts import n, zero

GROWTH = zero(
    "a mean of squares is the square of the mean and the variance, which is largest where it is",
    n(q.gradient_growth(1)) ** 2 - n.mean_dissimilarity**2,
)
SERVER_MESSAGES = zero(
    "a server receives the model of each client, and sends one to each",
    n.parameter_server_load - 2 * n.clients * n.model_size,
)
RING_MESSAGES = zero(
    "a worker of a ring sends an N-th of a model N - 1 times to sum up, and N - 1 times to spread the sums",
    n.clients * n.ring_worker_load - 2 * (n.clients - 1) * n.model_size,
)
_PACE, _STEP_SIZE = sp.sqrt(n.clients) / sp.sqrt(n.iterations), "the step size of the corollary"
SPEEDUP_STEP = zero(_STEP_SIZE, n.local_step_size - _PACE / n.smoothness, a.speedup_step)
PLAIN_SPEEDUP_STEP = zero(_STEP_SIZE, n.local_step_size - _PACE, a.plain_speedup_step)
