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
    collected    remainders of failed identities as sums of squares, for display
    notation     formulas as papers write them, for messages
    messages     texts with formulas, assembled when they are displayed

Uses no other chapter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.kernel.context import Context
    from fedtheory.kernel.expressions import is_ordering, slack
    from fedtheory.kernel.forms import Form, added, composed, difference, scalar, scaled, vector
    from fedtheory.kernel.identities import (
        Step,
        Term,
        check,
        check_equal,
        check_nonnegative,
        check_zero,
        check_zero_form,
        is_same,
        remainder,
    )
    from fedtheory.kernel.inequalities import (
        Inequality,
        InequalityRef,
        assumption,
        cauchy_schwarz,
        cocoercivity,
        convexity,
        interpolation,
        length_of_mean,
        lipschitz,
        lipschitz_gradient,
        lipschitz_gradient_length,
        mean_of_drawn,
        one,
        optimality,
        root,
        smoothness,
        square,
        square_of_lengths,
        steps,
        strong_convexity,
        triangle,
        unweighted,
        weighted,
    )
    from fedtheory.kernel.messages import LazyText
    from fedtheory.kernel.numbers import Numbers
    from fedtheory.kernel.quotients import Rejected
    from fedtheory.kernel.signs import is_nonnegative, is_positive

_HOMES = {
    "expressions": "is_ordering slack",
    "forms": "Form added composed difference scalar scaled vector",
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

__all__ = [
    "Context",
    "Form",
    "Inequality",
    "InequalityRef",
    "LazyText",
    "Numbers",
    "Rejected",
    "Step",
    "Term",
    "added",
    "assumption",
    "cauchy_schwarz",
    "check",
    "check_equal",
    "check_nonnegative",
    "check_zero",
    "check_zero_form",
    "cocoercivity",
    "composed",
    "convexity",
    "difference",
    "interpolation",
    "is_nonnegative",
    "is_ordering",
    "is_positive",
    "is_same",
    "length_of_mean",
    "lipschitz",
    "lipschitz_gradient",
    "lipschitz_gradient_length",
    "mean_of_drawn",
    "one",
    "optimality",
    "remainder",
    "root",
    "scalar",
    "scaled",
    "slack",
    "smoothness",
    "square",
    "square_of_lengths",
    "steps",
    "strong_convexity",
    "triangle",
    "unweighted",
    "vector",
    "weighted",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
