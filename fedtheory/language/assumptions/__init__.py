"""Assumptions as checks: each either holds on a run, or says why not.

Every module is a chapter, and every assumption of a chapter is a name of this
package: ``from fedtheory.language import assumptions as a``, then ``a.smooth``.
"""

from fedtheory.language.assumptions.algorithms import *
from fedtheory.language.assumptions.assumption import Assumption as Assumption
from fedtheory.language.assumptions.assumption import Boundedness as Boundedness
from fedtheory.language.assumptions.assumption import Setting as Setting
from fedtheory.language.assumptions.clients import *
from fedtheory.language.assumptions.clocks import *
from fedtheory.language.assumptions.gradients import *
from fedtheory.language.assumptions.objectives import *
from fedtheory.language.assumptions.participation import *
from fedtheory.language.assumptions.steps import *
from fedtheory.language.assumptions.turns import *
from fedtheory.language.assumptions.weights import *

__all__ = [name for name, entry in globals().items() if isinstance(entry, Assumption)]


def __dir__() -> list[str]:
    return __all__
