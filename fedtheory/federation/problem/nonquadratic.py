"""Problems whose objectives are not quadratic."""

from __future__ import annotations

from typing import NoReturn

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
