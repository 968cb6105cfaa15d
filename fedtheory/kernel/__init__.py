"""The proof kernel, the checker of certificates: this package suffices to parse and check them.

A lemma ``lhs <= rhs`` is proved by an identity

    rhs - lhs  =  sum_j  c_j * N_j,       c_j >= 0 under its conditions, N_j >= 0 by a named inequality.

The kernel knows vectors and objectives, averages over clients and expectations,
and no claims.  It brings both sides of the identity into a normal form, checks
that their difference is zero, and checks the sign of each coefficient.

    expressions  the language in which statements are written

    polynomials  operations with polynomials over Q, counted beforehand (sizes)
    quotients    numbers as quotients of polynomials over Q
    range_sums   sums of polynomials over an index
    numbers      the symbols that are numbers, and their properties
    context      the declarations and hypotheses of a proof
    indices      dependence on the client, or on the local step
    noise        expected inner products of noise
    forms        normal forms
    inequalities scalars that are non-negative, by name
    signs        signs of coefficients under conditions
    identities   the check of an inequality, with all of the above
    quadratic_forms
                 remainders of failed identities as sums of squares, for display
    notation     formulas as papers write them, for messages
    messages     texts with formulas, assembled when they are displayed

Uses no other chapter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.kernel.context import Context as Context
    from fedtheory.kernel.expressions import is_ordering as is_ordering
    from fedtheory.kernel.expressions import slack as slack
    from fedtheory.kernel.forms import Form as Form
    from fedtheory.kernel.forms import add_forms as add_forms
    from fedtheory.kernel.forms import difference as difference
    from fedtheory.kernel.forms import scalar as scalar
    from fedtheory.kernel.forms import scale_form as scale_form
    from fedtheory.kernel.forms import vector as vector
    from fedtheory.kernel.forms import write_form as write_form
    from fedtheory.kernel.identities import Step as Step
    from fedtheory.kernel.identities import Term as Term
    from fedtheory.kernel.identities import check as check
    from fedtheory.kernel.identities import check_equal as check_equal
    from fedtheory.kernel.identities import check_nonnegative as check_nonnegative
    from fedtheory.kernel.identities import check_zero as check_zero
    from fedtheory.kernel.identities import check_zero_form as check_zero_form
    from fedtheory.kernel.identities import is_same as is_same
    from fedtheory.kernel.identities import remainder as remainder
    from fedtheory.kernel.inequalities import Inequality as Inequality
    from fedtheory.kernel.inequalities import InequalityRef as InequalityRef
    from fedtheory.kernel.inequalities import assumption as assumption
    from fedtheory.kernel.inequalities import cauchy_schwarz as cauchy_schwarz
    from fedtheory.kernel.inequalities import cocoercivity as cocoercivity
    from fedtheory.kernel.inequalities import convexity as convexity
    from fedtheory.kernel.inequalities import interpolation as interpolation
    from fedtheory.kernel.inequalities import length_of_mean as length_of_mean
    from fedtheory.kernel.inequalities import lipschitz as lipschitz
    from fedtheory.kernel.inequalities import lipschitz_gradient as lipschitz_gradient
    from fedtheory.kernel.inequalities import lipschitz_gradient_length as lipschitz_gradient_length
    from fedtheory.kernel.inequalities import mean_of_drawn as mean_of_drawn
    from fedtheory.kernel.inequalities import one as one
    from fedtheory.kernel.inequalities import optimality as optimality
    from fedtheory.kernel.inequalities import root as root
    from fedtheory.kernel.inequalities import smoothness as smoothness
    from fedtheory.kernel.inequalities import square as square
    from fedtheory.kernel.inequalities import square_of_lengths as square_of_lengths
    from fedtheory.kernel.inequalities import steps as steps
    from fedtheory.kernel.inequalities import strong_convexity as strong_convexity
    from fedtheory.kernel.inequalities import triangle as triangle
    from fedtheory.kernel.inequalities import unweighted as unweighted
    from fedtheory.kernel.inequalities import weighted as weighted
    from fedtheory.kernel.messages import LazyText as LazyText
    from fedtheory.kernel.numbers import Numbers as Numbers
    from fedtheory.kernel.quotients import Rejected as Rejected
    from fedtheory.kernel.signs import is_nonnegative as is_nonnegative
    from fedtheory.kernel.signs import is_positive as is_positive

_HOMES = {
    "expressions": "is_ordering slack",
    "forms": "Form add_forms write_form difference scalar scale_form vector",
    "identities": "Step Term check_zero check_zero_form check is_same remainder check_equal check_nonnegative",
    "messages": "LazyText",
    "numbers": "Numbers",
    "quotients": "Rejected",
    "inequalities": (
        "InequalityRef Inequality assumption cauchy_schwarz cocoercivity convexity interpolation "
        "length_of_mean lipschitz lipschitz_gradient lipschitz_gradient_length mean_of_drawn one optimality root "
        "smoothness square square_of_lengths steps strong_convexity triangle unweighted weighted"
    ),
    "signs": "is_nonnegative is_positive",
    "context": "Context",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
"""Names are imported on first use: parsing a statement does not load the checker."""

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
