"""Section 3.4: Corollary 2, and the case of a window as long as the run."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.statements import Statements
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import RELAXED, B_g, write_bound

size, delay, width = sp.symbols("s t w", positive=True)
"""eta_l = s N^-c, tau = t N^b, W - 1 = w N^a."""
EXCESSES = sp.symbols("z z_u z_v z_x z_y", nonnegative=True)
largest = 1 / (1 + EXCESSES[0])
u, v, x, y = (largest / (1 + over) for over in EXCESSES[1:])
"""N^-(1-c), N^-c, N^-(c-b) and N^-(c-a): any positive numbers that are at most m <= 1."""


def write_power_bound(u: Expr, v: Expr, x: Expr, y: Expr) -> Expr:
    """Return Theorem 3's bound in the powers of N: a polynomial in them without constant term."""
    return write_bound(size * v, 1 / (u * v), delay * x / v, 1 + width * y / v)


_POWERS = dict(zip(EXCESSES, ((0, 3), (0, 3, 15), (0, 3, 15), (0, 3), (0, 15)), strict=True))
_STEP_SIZES = (1, sp.Rational(1, 16), sp.Rational(1, 256), sp.Rational(1, 4096))

claim = Statements("fraboni2022", RELAXED)

CLAIMS = [
    claim.proved.condition("cor-2", "Corollary 2, for all exponents and with an explicit rate", "Corollary 2, (31)")(
        chain=(write_power_bound(u, v, x, y), "<=", largest * write_power_bound(*[sp.S.One] * 4)),
        for_all=_POWERS | {size: (1,), delay: (1,), width: (1,)},
        assumptions=ASSUMPTIONS,
        printed=(
            r"W=\mathcal O(N^a),\ \tau=\mathcal O(N^b),\ \eta_l\propto N^{-c}:\ \text{the bound tends to 0 if }"
            r"W=o(N),\ \tau=o(N),\ \max(a,b)<c<1"
        ),
        note=(
            "With $\\eta_l=sN^{-c}$, $\\tau=tN^b$ and $W-1=wN^a$ the bound is at most $N^{-\\delta}$ times its value "
            "for $N=1$, where $\\delta=\\min(1-c,c-a,c-b)>0$; so it tends to 0.  The powers $u=N^{-(1-c)}$, "
            "$v=N^{-c}$, $x=N^{-(c-b)}$ and $y=N^{-(c-a)}$ are at most $m=N^{-\\delta}\\le1$ for all $a,b\\ge0$ and "
            "$N\\ge1$.  The statement holds for all such numbers, which are written as $m=1/(1+z)$, $u=m/(1+z_u)$ and "
            "so on, and for all positive s, t and w.  The bound increases in $\\tau$ and W, so that $\\mathcal O(.)$ "
            "is covered; $W=o(N)$ and $\\tau=o(N)$ follow from $\\max(a,b)<1$.  Among the values tried are those of "
            "$N=256$ with $(a,b,c)$ equal to (1/4, 1/4, 1/2), (1/2, 1/4, 3/4), (0, 1/2, 3/4) and (0, 0, 1/4)."
        ),
    ),
    claim.proved.condition("cor-2.WN", "With W = N the bound does not vanish for any step size", "below Corollary 2")(
        chain=(write_bound(size, N, tau, N) ** 2, ">=", 2 * theta0_distance**2 * rho**2 * B_g**2),
        for_all={size: _STEP_SIZES},
        assumptions=ASSUMPTIONS,
        conditions=[N >= 2],
        printed=(
            r"W=N\text{ always satisfies Assumption 6; Corollary 2 shows that no }\eta_l\text{ can be chosen such that "
            r"the learning process converges to }\theta^*"
        ),
        note=(
            "Read of the bound, of which Corollary 2 speaks: $\\epsilon_F\\epsilon_W=\\|\\theta^0-\\bar\\theta\\|^2"
            "\\rho^2B_g^2(N-1)/N$ whatever $\\eta_l$ is, and the bound is at least twice the root of this product, for "
            "every N.  Of the process itself a bound from above shows nothing: with W = N = 1 one full step on "
            "$\\theta^2/2$ reaches $\\theta^*$."
        ),
    ),
]
