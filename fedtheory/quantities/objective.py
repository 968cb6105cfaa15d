"""Constants of the objective F itself, beside those of the clients' F_i."""

from __future__ import annotations

from typing import Any

from fedtheory.quantities.notion import Quantity
from fedtheory.run import Run


def _lipschitz_sq(run: Run) -> Any:
    # grad F(x) = H (x - x*), and the ball is centred at x*.
    steepest = run.arithmetic.largest_eigenvalue(run.problem.hessian) * run.ball.radius
    return steepest * steepest


objective_lipschitz = Quantity(
    "objective_lipschitz",
    r"\rho_F",
    "rho_F = sup_x |grad F(x)| on the ball that contains the run, where F is rho_F-Lipschitz",
    _lipschitz_sq,
    root=True,
    is_constant=True,
    region=lambda run: run.ball,
)
