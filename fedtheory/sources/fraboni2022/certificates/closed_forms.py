"""Certificates of inequalities between numbers, by the signs of the terms of their slack."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root
from fedtheory.sources.fraboni2022.statements import asynchronous, corollary_2, fedfix, remarks_theorems, sampling
from fedtheory.sources.fraboni2022.statements.notation import (
    K,
    N,
    Sigma_star,
    eta_l,
    rho,
    tau,
    theta0_distance,
    tilde_eta,
)
from fedtheory.sources.fraboni2022.statements.relaxed import B_g

_PROVED_BY_SIGNS = (
    "fraboni2022:eq-33",
    "fraboni2022:eq-38.fixed",
    "fraboni2022:eq-42.fixed",
    "fraboni2022:eq-42.ordering.synchronous",
    "fraboni2022:sampling.biased.window",
    "fraboni2022:thm-2.mitigated",
)
"""Claims whose expanded slack has no negative term."""
_CHAPTERS = (asynchronous.CLAIMS, corollary_2.CLAIMS, fedfix.CLAIMS, sampling.CLAIMS, remarks_theorems.THEOREM_2)
_CLAIMS = {claim.id: claim for chapter in _CHAPTERS for claim in chapter}


def _prove_by_signs(name: str, rearrange: Callable[[Expr], Expr] = sp.expand) -> Combination:
    """Return the slack itself as a certificate, rearranged so that no term is negative."""
    return Combination(claim=name, links=[[Part(rearrange(each.slack), ONE_FACT)] for each in _CLAIMS[name].relations])


def _prove_corollary_2() -> Combination:
    """Prove Corollary 2: each product of powers of N in the bound is at most the largest power."""
    powers = sp.symbols("u v x y", positive=True)
    in_place = dict(zip(powers, (corollary_2.u, corollary_2.v, corollary_2.x, corollary_2.y), strict=True))
    terms = sp.Poly(sp.expand(corollary_2.write_power_bound(*powers)), *powers).terms()
    parts = []
    for exponents, coefficient in terms:
        power = sp.Mul(*(symbol**exponent for symbol, exponent in zip(powers, exponents, strict=True)))
        excess = sp.together(corollary_2.largest - power.xreplace(in_place))
        parts.append(Part(sp.factor(coefficient) * excess, ONE_FACT))
    return Combination(claim="fraboni2022:cor-2", links=[parts])


def _prove_long_window() -> Combination:
    """Prove the bound for W = N by (a + b + r)^2 = (a - b)^2 + 4 a b + r (2 a + 2 b + r).

    Here a = |theta^0 - thetabar|^2/(eta~ K N), b = rho^2 eta~ K B_g^2 (N - 1), and r is the rest of the bound.
    """
    claim = _CLAIMS["fraboni2022:cor-2.WN"]
    whole = claim.relations[0].left.base
    (step,) = claim.for_all
    size = tilde_eta.xreplace({eta_l: step})
    start, window = theta0_distance**2 / (size * K * N), rho**2 * size * K * B_g**2 * (N - 1)
    rest = sp.expand(whole - start - window)
    difference = theta0_distance**2 - size * K * N * window
    parts = [
        Part(difference**2 / (size * K * N) ** 2, ONE_FACT),
        Part(rest * (2 * start + 2 * window + rest), ONE_FACT),
        Part(2 * rho**2 * B_g**2 * theta0_distance**2 / N, N >= 2),
    ]
    return Combination(claim=claim.id, links=[parts])


def _prove_delayed_rate() -> Combination:
    """Prove the corrected rate by sqrt(tau/N) >= 1/sqrt(tau N) and tau/sqrt(N) >= 1/N, for tau and N from one on."""
    t, r = sp.symbols(r"\sqrt{\tau} \sqrt{N}", positive=True)
    parts = [
        Part(theta0_distance**2 * tau / r, ONE_FACT),
        Part(Sigma_star * (tau**2 - 1) / (r * tau), ONE_FACT),
        Part(Sigma_star * (tau**2 * N - 1) / (N * (tau * r + 1)), ONE_FACT),
    ]
    roots = [Root(symbol, number, [Part(number - 1, ONE_FACT)], sp.S.One) for symbol, number in ((t, tau), (r, N))]
    return Combination(claim="fraboni2022:claim.literature.delay.fixed", links=[parts], roots=roots)


CERTIFICATES = [
    *(_prove_by_signs(name) for name in _PROVED_BY_SIGNS),
    _prove_corollary_2(),
    _prove_long_window(),
    _prove_delayed_rate(),
    _prove_by_signs("fraboni2022:claim.literature", sp.together),
    Combination(claim="fraboni2022:claim.literature.clients.fixed", links=[[]]),
]
