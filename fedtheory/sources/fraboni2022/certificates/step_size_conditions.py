"""Certificates of Appendix A.5: conditions on the step size."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import slack
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ONE as ONE_FACT
from fedtheory.proofs.parts import Part
from fedtheory.sources.fraboni2022.context.update_facts import PAIRING, REPORTING_EXCESS
from fedtheory.sources.fraboni2022.statements.notation import L, alpha, beta, rho, tilde_eta
from fedtheory.sources.fraboni2022.statements.step_size_conditions import SUFFICIENT, delay

ONE = sp.S.One
_STEP, _DELAY = 6 * rho * tilde_eta * L, 24 * rho**2 * delay * L**2
_BRACKET = tilde_eta + 16 * rho * L * delay


def _multiply(factor: Expr, parts: Sequence[Part]) -> list[Part]:
    """Return a multiple of parts."""
    return [Part(factor * part.coefficient, part.premise) for part in parts]


def _scale(premise: object, number: int, limit: Expr = ONE) -> list[Part]:
    """Return the parts of x/number <= limit, given a condition x <= 1 of (97)."""
    return [Part(sp.Rational(1, number), premise), Part(limit - sp.Rational(1, number), ONE_FACT)]


def _prove_margin(difference: Sequence[Part], premises: Sequence[object]) -> list[Part]:
    """Return the parts of (92), given the conditions (97) and the parts of the difference 3 rho - 2 alpha - beta."""
    halves = [Part(sp.Rational(1, number), premise) for number, premise in zip((2, 4, 4), premises, strict=True)]
    return [*_multiply(12 * rho * L * _BRACKET, difference), *halves]


def _prove_listed(
    claim: str, premises: Sequence[object], alpha_parts: Sequence[Part], beta_parts: Sequence[Part]
) -> Combination:
    """Return the certificate of the conditions of A.5, given (97) and parts of 1 - alpha and of rho - beta."""
    drift, step, staleness = premises
    both = [*alpha_parts, *beta_parts, Part(rho - 1, ONE_FACT)]
    difference = [*_multiply(sp.Integer(2), alpha_parts), *beta_parts, Part(2 * (rho - 1), ONE_FACT)]
    links = [
        _scale(drift, 8, sp.S.Half),
        [*_multiply(_DELAY / 2, both), *_scale(staleness, 96, sp.S.Half)],
        [*_multiply(_STEP / 2, both), *_scale(step, 24)],
        _prove_margin(difference, premises),
        _scale(step, 48),
        _scale(staleness, 48),
    ]
    return Combination(claim=f"fraboni2022:{claim}", links=links)


_FROM_98 = tuple(Derived("fraboni2022:eq-98", link) for link in range(3))
_SMALL_WEIGHTS = ([Part(ONE, alpha <= 1)], [Part(ONE, beta <= 1), Part(rho - 1, ONE_FACT)])
"""Parts of 1 - alpha and of rho - beta for weights of at most one."""

CERTIFICATES = [
    Combination(
        claim="fraboni2022:A5.conditions.fixed",
        links=[[Part(ONE, REPORTING_EXCESS)]],
    ),
    Combination(claim="fraboni2022:A5.conditions.alpha", links=[[Part(ONE, PAIRING)]]),
    _prove_listed("A5.conditions.listed", _FROM_98, *_SMALL_WEIGHTS),
    _prove_listed("eq-97", SUFFICIENT, *_SMALL_WEIGHTS),
    _prove_listed("eq-97.larger-weights", SUFFICIENT, [Part(ONE, PAIRING)], [Part(ONE, REPORTING_EXCESS)]),
    Combination(
        claim="fraboni2022:eq-98",
        links=[[Part(slack(condition), ONE_FACT)] for condition in SUFFICIENT],
    ),
    Combination(
        claim="fraboni2022:eq-92.fixed",
        links=[
            _prove_margin(
                [Part(sp.Integer(2), PAIRING), Part(ONE, beta <= rho), Part(2 * (rho - 1), ONE_FACT)],
                _FROM_98,
            )
        ],
    ),
]
