"""Assumptions on the objectives: smooth, convex, Lipschitz, identical."""

from __future__ import annotations

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Assumption, Boundedness, expect


def _require_convex_and_smooth(run: Run) -> Number:
    run.require_convex_clients()
    return run.smoothness


def _require_least_squares_loss(run: Run) -> None:
    data = run.problem.data
    expect(data is not None and data.ridge == 0, "the objective is not a least-squares loss on data alone")


smooth = Assumption("smooth", r"each client's objective is $L$-smooth", lambda run: run.smoothness)
convex_and_smooth = Assumption(
    "convex and smooth", r"each client's objective is convex and $L$-smooth", _require_convex_and_smooth
)
strongly_convex_clients = Assumption(
    "strongly convex clients",
    r"each client's objective is strongly convex and smooth, with constants $\nu_k$ and $\delta_k$ of its own",
    lambda run: expect(run.strong_convexity > 0, "a client's objective is not strongly convex"),
)
lipschitz_losses = Boundedness(
    "Lipschitz losses", r"each $F_i$ is $\rho$-Lipschitz on the stated region", lambda run: run.lipschitz_sq
)
bounded_dissimilarity = Boundedness(
    "bounded gradient dissimilarity",
    r"$\max_i\|\nabla F_i(x)-\nabla F(x)\|\le\zeta$ on the stated region",
    lambda run: run.dissimilarity_sq,
)
bounded_mean_dissimilarity = Boundedness(
    "bounded mean gradient dissimilarity",
    r"$\frac1N\sum_i\|\nabla f_i(x)-\nabla f(x)\|^2\le\sigma_G^2$ on the stated region",
    lambda run: run.mean_dissimilarity_sq,
)
one_dimension = Assumption(
    "one dimension",
    r"the models are numbers, $d=1$",
    lambda run: expect(run.problem.dimension == 1, f"the problem has {run.problem.dimension} dimensions, not 1"),
)
least_squares_loss = Assumption(
    "least squares", r"the objective is the squared loss of a linear model", _require_least_squares_loss
)
IMPLY_CONVEXITY = frozenset({convex_and_smooth, strongly_convex_clients, least_squares_loss})
"""Assumptions under which each client's objective is convex."""
