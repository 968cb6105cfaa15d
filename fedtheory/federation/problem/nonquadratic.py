"""Problems whose objectives are not quadratic."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import NotApplicable
from fedtheory.federation.problem.quadratic import Problem


class NonquadraticProblem(Problem):
    """Base class of problems without the constant matrices of quadratics; their attributes raise `NotApplicable`."""

    description: str
    is_quadratic = False

    @property
    def hessians(self) -> NoReturn:
        """Raises `NotApplicable`: there are no constant Hessians."""
        raise NotApplicable(f"the objectives are {self.description}, not quadratics: their curvatures are not constant")

    linear = hessians
    constants = hessians

    @property
    def convex_clients(self) -> Array:
        """Whether each F_i is convex, (M,): all or none."""
        return np.full(self.clients, self.has_convex_clients)
