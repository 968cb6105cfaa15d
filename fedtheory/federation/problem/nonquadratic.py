"""Problems whose objectives are no quadratics."""

from __future__ import annotations

from typing import NoReturn

from fedtheory.errors import NotApplicable
from fedtheory.federation.problem.quadratic import Problem


class NonquadraticProblem(Problem):
    """Problem without the constant matrices of quadratics; asking for them raises `NotApplicable`."""

    description: str
    is_quadratic = False

    @property
    def hessians(self) -> NoReturn:
        """No constant matrices."""
        raise NotApplicable(f"the objectives are {self.description}, not quadratics: their curvatures are not constant")

    linear = hessians
    constants = hessians
