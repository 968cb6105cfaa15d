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


def _combine_conditions(numbers: tuple[int, int, int], premises: Sequence[object]) -> list[Part]:
    """Combine the three conditions (97), divided by these numbers; zero omits a condition."""
    pairs = zip(numbers, premises, strict=True)
    return [Part(sp.Rational(1, number), premise) for number, premise in pairs if number]


def _multiply(factor: Expr, parts: Sequence[Part]) -> list[Part]:
    """Return a multiple of parts."""
    return [Part(factor * part.coefficient, part.premise) for part in parts]


def _prove_listed(
    premises: Sequence[object], alpha_parts: Sequence[Part], beta_parts: Sequence[Part]
) -> list[list[Part]]:
    """Return the parts of each condition of A.5 after the first, given (97) and parts of 1 - alpha and rho - beta."""
    bracket = tilde_eta + 16 * rho * L * delay
    both = [*alpha_parts, *beta_parts, Part(rho - 1, ONE_FACT)]
    twice = [*_multiply(sp.Integer(2), alpha_parts), *beta_parts, Part(2 * (rho - 1), ONE_FACT)]
    return [
        [
            *_multiply(_DELAY / 2, both),
            *_combine_conditions((0, 0, 96), premises),
            Part(sp.Rational(47, 96), ONE_FACT),
        ],
        [
            *_multiply(_STEP / 2, both),
            *_combine_conditions((0, 24, 0), premises),
            Part(sp.Rational(23, 24), ONE_FACT),
        ],
        _prove_margin(bracket, twice, premises),
        [*_combine_conditions((0, 48, 0), premises), Part(sp.Rational(47, 48), ONE_FACT)],
        [*_combine_conditions((0, 0, 48), premises), Part(sp.Rational(47, 48), ONE_FACT)],
    ]


def _prove_margin(bracket: Expr, twice: Sequence[Part], premises: Sequence[object]) -> list[Part]:
    """Return the parts of (92), given the conditions (97) and parts of 3 rho - 2 alpha - beta."""
    return [*_multiply(12 * rho * L * bracket, twice), *_combine_conditions((2, 4, 4), premises)]


_FIRST = [Part(sp.Rational(3, 8), ONE_FACT)]
_FROM_98 = tuple(Derived("fraboni2022:eq-98", link) for link in range(3))
_SMALL_BETA = [Part(ONE, beta <= 1), Part(rho - 1, ONE_FACT)]

CERTIFICATES = [
    Combination(
        claim="fraboni2022:A5.conditions.fixed",
        links=[[Part(ONE, REPORTING_EXCESS)]],
    ),
    Combination(claim="fraboni2022:A5.conditions.alpha", links=[[Part(ONE, PAIRING)]]),
    Combination(
        claim="fraboni2022:A5.conditions.listed",
        links=[
            [*_combine_conditions((8, 0, 0), _FROM_98), *_FIRST],
            *_prove_listed(_FROM_98, [Part(ONE, alpha <= 1)], _SMALL_BETA),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-97",
        links=[
            [*_combine_conditions((8, 0, 0), SUFFICIENT), *_FIRST],
            *_prove_listed(SUFFICIENT, [Part(ONE, alpha <= 1)], _SMALL_BETA),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-97.larger-weights",
        links=[
            [*_combine_conditions((8, 0, 0), SUFFICIENT), *_FIRST],
            *_prove_listed(SUFFICIENT, [Part(ONE, PAIRING)], [Part(ONE, REPORTING_EXCESS)]),
        ],
    ),
    Combination(
        claim="fraboni2022:eq-98",
        links=[[Part(slack(condition), ONE_FACT)] for condition in SUFFICIENT],
    ),
    Combination(
        claim="fraboni2022:eq-92.fixed",
        links=[
            _prove_margin(
                tilde_eta + 16 * rho * L * delay,
                [Part(sp.Integer(2), PAIRING), Part(ONE, beta <= rho), Part(2 * (rho - 1), ONE_FACT)],
                _FROM_98,
            )
        ],
    ),
]
