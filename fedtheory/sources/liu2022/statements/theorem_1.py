"""Theorem 1 (Yu et al., AAAI 2019) for i.i.d. data, as stated."""

from __future__ import annotations

from fedtheory.language.claim import Rate
from fedtheory.sources.liu2022.statements.notation import *

CLAIMS = [
    claim.proved.bound("thm-1", "Theorem 1", "Theorem 1 (Yu et al., AAAI 2019)")(
        chain=(error, "<=", theorem_bound),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\frac1T\sum_{t=1}^T\mathbb E[\|\nabla f(\bar x^{t-1})\|^2]\le\frac2{sT}(f(\bar x^0)-f^*)"
            r"+4s^2K^2G^2L^2+\frac LNs\sigma^2,\quad s\in\left(0,\tfrac1L\right]"
        ),
    ),
    claim.proved.bound(
        "thm-1.run", "Theorem 1 with the second moment of the run", "Theorem 1, with a constant of the run"
    )(
        chain=(error, "<=", theorem_bound.subs(G, G_run)),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note=(
            "The proof uses G at the iterates of the run only.  The bound also holds with the largest second moment of "
            "the run in place of that of the problem, and is then tighter."
        ),
    ),
    claim.asymptotic.rate("thm-1.rate", "The first term of Theorem 1", "Theorem 1, margin")(
        rate=Rate(measured=2 * gap / (s * T), order=1 / T, variable=T),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=r"\frac2{sT}(f(\bar x^0)-f^*)=O\left(\frac1T\right)",
        note="The mark stands under the formula of the theorem; it is read as a statement on its first term.",
    ),
]
