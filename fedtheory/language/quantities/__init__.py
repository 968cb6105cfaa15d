"""The vocabulary of claims: quantities by their names.

Every symbol of a claim stands for one of these.  Every module is a chapter, and
every quantity of a chapter is an attribute of this package: ``quantities.max_drift``.
The same holds for the chapters in a paper's folder ``quantities``.
Constants are those of the run's problem: the smallest values for which an
assumption holds on the stated region.  Notation: M clients with client weights
p_i, T rounds (server updates), K_i = tau local steps of size eta, server step
eta_g, F = sum_i p_i F_i, x^n the server's model, x_i^{n,k} local iterates,
xbar^{n,k} = sum_i p_i x_i^{n,k}; if clients work on stale models, xbar is the
virtual iterate of Fraboni et al. 2022, eq. (7).
"""

from typing import TYPE_CHECKING, Any

from fedtheory.language.paper_parts import import_modules
from fedtheory.language.quantities.algorithms import *
from fedtheory.language.quantities.any_point import *
from fedtheory.language.quantities.drift import *
from fedtheory.language.quantities.errors import *
from fedtheory.language.quantities.heterogeneity import *
from fedtheory.language.quantities.local_work import *
from fedtheory.language.quantities.noise import *
from fedtheory.language.quantities.participation import *
from fedtheory.language.quantities.problem import *
from fedtheory.language.quantities.quantity import *
from fedtheory.language.quantities.quantity import Quantity as Quantity
from fedtheory.language.quantities.quantity import QuantityFamily as QuantityFamily
from fedtheory.language.quantities.steady_state import *
from fedtheory.language.quantities.vectors import *

# The chapters of papers use those of this package.
for _chapter in import_modules("quantities"):
    _own = {name: one for name, one in vars(_chapter).items() if not name.startswith("_")}
    globals().update({name: one for name, one in _own.items() if isinstance(one, Quantity | QuantityFamily)})
if TYPE_CHECKING:

    def __getattr__(_name: str) -> Any:
        """Return a quantity of a paper."""


__all__ = [
    name
    for name, entry in globals().items()
    if isinstance(entry, Quantity | QuantityFamily) and not name.startswith("_")
]


def __dir__() -> list[str]:
    return __all__
