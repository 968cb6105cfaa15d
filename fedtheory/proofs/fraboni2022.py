"""Certificates for Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi (2022)."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term, cocoercivity, lipschitz_gradient
from fedtheory.proofs.certificate import Certificate
from fedtheory.sources.fraboni2022.inequalities import L_i, theta_bar, theta_i_star, x
from fedtheory.sources.fraboni2022.notation import L

CERTIFICATES = [
    Certificate(
        claim="fraboni2022:eq-43",
        links=[
            [Term(2 * L, cocoercivity(L_i, x, theta_i_star))],
            [Term(sp.S.One, lipschitz_gradient(L_i, x, theta_bar))],
        ],
    ),
]
