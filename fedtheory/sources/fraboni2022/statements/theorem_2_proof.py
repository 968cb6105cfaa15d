"""Appendix B: from the surrogate problem to the federated one."""

from __future__ import annotations

from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import inequalities
from fedtheory.sources.fraboni2022.statements.convergence import biased_n, chi_n, gradient_n, missing_n
from fedtheory.sources.fraboni2022.statements.inequalities import Z_nk
from fedtheory.sources.fraboni2022.statements.notation import SCHEME, L, q_n, qt_in

NOTATION = Notation(inequalities.NOTATION)
NOTATION[chi_n] = q.chi_sq
NOTATION[biased_n] = q.misrepresentation
NOTATION[gradient_n] = q.virtual_gradient_sq
NOTATION[missing_n] = q.unrepresented_gap
missing = NOTATION.add(q.unrepresented_importance, nonnegative=True)
gap = NOTATION.add(q.virtual_client_gap, nonnegative=True)
lengths = NOTATION.add(q.virtual_gradient_lengths, nonnegative=True)
gradient_sq = NOTATION.add(q.objective_gradient_sq, nonnegative=True)
round_gradient_sq = NOTATION.add(
    q.mean_gradient_at_virtual_sq, r"\mathbb E\|\nabla\tilde{\mathcal L}^n(\theta^{n,k})\|^2", nonnegative=True
)
deviation_sq = NOTATION.add(q.gradient_deviation_sq, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)

CONVEX = (*SCHEME, a.convex_and_smooth)
unrepresented = ClientSum(missing * gap)
lemma_7 = 4 * L * chi_n * ClientSum(qt_in * gap) + 4 * L * unrepresented
cauchy = 2 * chi_n * ClientSum(qt_in * lengths) + 2 * ClientSum(missing) * ClientSum(missing * lengths)
"""The last line of (103)."""
split = 2 * deviation_sq + 2 * round_gradient_sq
"""The right side of (104)."""

_GRADIENTS = r"\left\|\nabla\mathcal L(\theta)-\nabla\tilde{\mathcal L}^n(\theta)\right\|^2"
_MISSING = r"\sum_{j\notin W_n}r_j[\mathcal L_j(\theta)-\mathcal L_j(\theta_j^*)]"
_TYPES = (
    "A sum over the types with s_j(n) > 0 is a sum over their clients with their shares; the clients of the other "
    "types have their importances."
)

CLAIMS = [
    claim.proved.inequality("lemma-7", "Gradients of the federated and of the surrogate problem", "Lemma 7, eq. (99)")(
        chain=(deviation_sq, "<=", lemma_7),
        assumptions=CONVEX,
        printed=(
            rf"{_GRADIENTS}\le4L\chi_n^2\left[\tilde{{\mathcal L}}^n(\theta)-\sum_{{j\in W_n}}\tilde s_j(n)"
            rf"\mathcal L_j(\theta_j^*)\right]+4L{_MISSING}"
        ),
        note=f"In expectation at the virtual iterates; the first one, theta^0, is not random.  {_TYPES}",
    ),
    claim.proved.step("lemma-7.steps", "Cauchy-Schwarz over the types", "proof of Lemma 7, eqs. (100)-(103)")(
        chain=(deviation_sq, "<=", cauchy, "<=", lemma_7),
        assumptions=CONVEX,
        printed=(
            rf"{_GRADIENTS}\le2\left[\sum_{{j\in W_n}}\frac{{(r_j-\tilde s_j(n))^2}}{{\tilde s_j(n)}}\right]\sum_j"
            r"\tilde s_j(n)\|\nabla\mathcal L_j(\theta)\|^2+2\left[\sum_{j\notin W_n}r_j\right]\sum_{j\notin W_n}r_j"
            r"\|\nabla\mathcal L_j(\theta)\|^2"
        ),
        note=_TYPES,
    ),
    claim.proved.step("eq-104", "The gradient in two parts", "proof of Theorem 2, eq. (104)")(
        chain=(gradient_sq, "<=", split),
        assumptions=SCHEME,
        printed=(
            r"\|\nabla\mathcal L(\theta)\|^2\le2\left\|\nabla\mathcal L(\theta)-\frac1{q(n)}\nabla\mathcal L^n(\theta)"
            r"\right\|^2+2\left\|\frac1{q(n)}\nabla\mathcal L^n(\theta)\right\|^2"
        ),
        note="In expectation at the virtual iterates.",
    ),
    *claim.refuted.step("eq-105", "Lemma 7 inserted", "proof of Theorem 2, eq. (105)")(
        lhs=gradient_sq,
        rhs=4 * L * (chi_n / q_n + 1 / q_n**2) * Z_nk + 4 * L * chi_n * biased_n + 4 * L * unrepresented,
        assumptions=CONVEX,
        printed=(
            r"\|\nabla\mathcal L(\theta)\|^2\le4L\left[\chi_n^2\frac1{q(n)}+\frac1{q^2(n)}\right]"
            r"[\mathcal L^n(\theta)-\mathcal L^n(\bar\theta^n)]+\chi_n^2\frac1{q(n)}4L\left[\mathcal L^n(\bar\theta^n)"
            rf"-\sum_{{j\in W_n}}s_j(n)\mathcal L_j(\theta_j^*)\right]+4L{_MISSING}"
        ),
        note=(
            "Twice Lemma 7 has 8L, not 4L; and L^n is q(n) L-smooth, which leaves 1/q(n), not its square.  Tried "
            "against the left side of (104).  The counterexample has one client of weight 4: |grad L|^2 is 2L times "
            "its gap, and the bound 4L/4 times."
        ),
    ).with_repair(
        title="Lemma 7 inserted, with its factors",
        chain=(split, "<=", 4 * L * (2 * chi_n + 1) / q_n * Z_nk + 8 * L * chi_n * biased_n + 8 * L * unrepresented),
        note="For the right side of (104), and so for the squared gradient.",
        verdict="proved",
    ),
    claim.proved.step(
        "eq-105.round", "The squared gradient of the update's problem", "proof of Theorem 2, between (104) and (105)"
    )(
        chain=(round_gradient_sq, "<=", 2 * L * Z_nk / q_n),
        also=(Relation(ClientSum(qt_in * gap), "==", Z_nk / q_n + biased_n),),
        assumptions=CONVEX,
        note="By co-coercivity of each client's objective; and the gap of Lemma 7 in two parts.",
    ),
    claim.proved.step(
        "eq-105.gradient", "The squared gradient of the federated problem", "proof of Theorem 2, eq. (105), corrected"
    )(
        lhs=gradient_sq,
        rhs=4 * L * (2 * chi_n + 1) / q_n * Z_nk + 8 * L * chi_n * biased_n + 8 * L * unrepresented,
        assumptions=CONVEX,
        note="The ends of (104) and the corrected (105).",
    ),
]
