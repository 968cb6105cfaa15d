"""Certificate for Fraboni et al. (2022), (44): Jensen's inequality for a convex objective."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, convexity
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.fraboni2022.statements.inequalities import mean_model, objective, theta_ik

CERTIFICATES = [
    Certificate(
        claim="fraboni2022:eq-44-45.objective",
        links=[[Term(sp.S.One, convexity(objective, theta_ik, mean_model), averaged=True)]],
    ),
]
