"""Assumptions as checks: each holds on a run, or gives the reason why it does not.

Every module is a chapter, and every assumption of a chapter is an attribute of this
package: ``from fedtheory.language import assumptions as a``, then ``a.smooth``.
The same holds for the chapters in a paper's folder ``assumptions``.
"""

from typing import TYPE_CHECKING

from fedtheory.language.assumptions.algorithms import *
from fedtheory.language.assumptions.assumption import *
from fedtheory.language.assumptions.assumption import Assumption as Assumption
from fedtheory.language.assumptions.clients import *
from fedtheory.language.assumptions.clocks import *
from fedtheory.language.assumptions.gradients import *
from fedtheory.language.assumptions.objectives import *
from fedtheory.language.assumptions.participation import *
from fedtheory.language.assumptions.steps import *
from fedtheory.language.assumptions.weights import *
from fedtheory.language.paper_parts import import_modules

# The chapters of papers use those of this package.
for _chapter in import_modules("assumptions"):
    globals().update({name: one for name, one in vars(_chapter).items() if isinstance(one, Assumption)})
if TYPE_CHECKING:

    def __getattr__(_name: str) -> Assumption:
        """Return an assumption of a paper."""


__all__ = [name for name, entry in globals().items() if isinstance(entry, Assumption)]


def __dir__() -> list[str]:
    return __all__
