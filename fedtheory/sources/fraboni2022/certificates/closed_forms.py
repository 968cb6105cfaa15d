"""Certificates for Fraboni et al. (2022): inequalities between numbers, by the signs of all their terms."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root
from fedtheory.sources.fraboni2022.statements import asynchronous, corollary_2, fedfix, sampling
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

BY_THEIR_SIGNS = (
    "fraboni2022:eq-33",
    "fraboni2022:eq-38.fixed",
    "fraboni2022:eq-42.fixed",
    "fraboni2022:eq-42.ordering.synchronous",
    "fraboni2022:sampling.biased.window",
)
"""Claims whose expanded slack has no negative term."""
_CLAIMS = {claim.id: claim for chapter in (asynchronous, corollary_2, fedfix, sampling) for claim in chapter.CLAIMS}


def _prove_by_signs(claim: Claim) -> Combination:
    links = [[Part(sp.expand(relation.slack), ONE_FACT)] for relation in claim.relations]
    return Combination(claim=claim.id, links=links)


def _bound_powers() -> Combination:
    """Bound each power of N in the bound by the largest one."""
    powers = sp.symbols("u v x y", positive=True)
    in_place = dict(zip(powers, (corollary_2.u, corollary_2.v, corollary_2.x, corollary_2.y), strict=True))
    terms = sp.Poly(sp.expand(corollary_2.power_bound(*powers)), *powers).terms()
    parts = []
    for exponents, coefficient in terms:
        power = sp.Mul(*(symbol**exponent for symbol, exponent in zip(powers, exponents, strict=True)))
        excess = sp.together(corollary_2.largest - power.xreplace(in_place))
        parts.append(Part(sp.factor(coefficient) * excess, ONE_FACT))
    return Combination(claim="fraboni2022:cor-2", links=[parts])


def _prove_remainder() -> Combination:
    """(a + b + r)^2 = (a - b)^2 + 4 a b + r (2 a + 2 b + r), a = D^2/(eta~ K N), b = rho^2 eta~ K B^2 (N - 1)."""
    claim = _CLAIMS["fraboni2022:cor-2.WN"]
    whole = claim.relations[0].left.base
    (step,) = claim.for_all
    size = tilde_eta.xreplace({eta_l: step})
    start, moved = theta0_distance**2 / (size * K * N), rho**2 * size * K * B_g**2 * (N - 1)
    rest = sp.expand(whole - start - moved)
    apart = theta0_distance**2 - size * K * N * moved
    parts = [
        Part(apart**2 / (size * K * N) ** 2, ONE_FACT),
        Part(rest * (2 * start + 2 * moved + rest), ONE_FACT),
        Part(2 * rho**2 * B_g**2 * theta0_distance**2 / N, N >= 2),
    ]
    return Combination(claim=claim.id, links=[parts])


def _prove_delayed() -> Combination:
    """Prove the claim by sqrt(tau/N) >= 1/sqrt(tau N) and tau/sqrt(N) >= 1/N, since tau and N are at least one."""
    t, r = sp.symbols(r"\sqrt{\tau} \sqrt{N}", positive=True)
    parts = [
        Part(theta0_distance**2 * tau / r, ONE_FACT),
        Part(Sigma_star * (tau**2 - 1) / (r * tau), ONE_FACT),
        Part(Sigma_star * (tau**2 * N - 1) / (N * (tau * r + 1)), ONE_FACT),
    ]
    roots = [Root(symbol, number, [Part(number - 1, ONE_FACT)], sp.S.One) for symbol, number in ((t, tau), (r, N))]
    return Combination(claim="fraboni2022:claim.literature.delay.fixed", links=[parts], roots=roots)


def _combine_denominators(name: str) -> Combination:
    """Write the slack over a common denominator, without negative terms."""
    claim = _CLAIMS[name]
    return Combination(claim=name, links=[[Part(sp.together(r.slack), ONE_FACT)] for r in claim.relations])


CERTIFICATES = [
    *(_prove_by_signs(_CLAIMS[name]) for name in BY_THEIR_SIGNS),
    _bound_powers(),
    _prove_remainder(),
    _prove_delayed(),
    _combine_denominators("fraboni2022:claim.literature"),
    Combination(claim="fraboni2022:claim.literature.clients.fixed", links=[[]]),
]
