"""Certificates for J. Liu, *Lecture Note 3-1: Federated Learning* (2022)."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel import Term, assumption, lipschitz_gradient, one, smoothness, square
from fedtheory.kernel.expressions import Average, Gradient, LocalSum
from fedtheory.proofs import distances as pair
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.induction import k
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.recursion import Recursion
from fedtheory.sources.liu2022.context import definition_facts as definitions
from fedtheory.sources.liu2022.context.restarts import LOOP_PAIR, SECOND_MOMENT, VARIANCE, LoopMean
from fedtheory.sources.liu2022.statements.corollary_2 import constant
from fedtheory.sources.liu2022.statements.loop import ALONG_THE_LOOP
from fedtheory.sources.liu2022.statements.non_iid import c
from fedtheory.sources.liu2022.statements.notation import (
    FEW_LOCAL_STEPS,
    T_0,
    G,
    G_loop,
    G_run,
    K,
    L,
    N,
    T,
    client_gradients,
    error,
    f,
    f_i,
    g_i,
    gap,
    s,
    sigma,
    spread,
    x,
    x_i,
    xbar,
    xbar_next,
    ybar,
)

_ONE = sp.S.One
_DESCENT = Term(_ONE, smoothness(f, xbar_next, xbar))
_CHANGE_TO_AVERAGE = Gradient(f_i, xbar) - Gradient(f_i, x_i)


def _bound_variance(coefficient: sp.Expr) -> Term:
    return Term(coefficient, assumption("bounded variance"), averaged=True)


def _bound_gradient_error(coefficient: sp.Expr) -> list[Term]:
    """Bound the difference between the clients' average gradient and the gradient at their average by the drift."""
    return [
        Term(coefficient, square(_CHANGE_TO_AVERAGE - Average(_CHANGE_TO_AVERAGE)), averaged=True),
        Term(coefficient, lipschitz_gradient(f_i, xbar, x_i), averaged=True),
    ]


# Two clients, whose stochastic gradients have second moments of at most G^2.
_G_I, _G_J = pair.SLOPE_I + pair.n_i, pair.SLOPE_J + pair.n_j


def _bound_second_moments(coefficient: sp.Expr, name: str) -> list[Term]:
    return [
        *(Term(2 * coefficient, assumption(name.format(client))) for client in "ij"),
        Term(coefficient, square(_G_I + _G_J)),
    ]


def _prove_lemma_1(claim: str, moment: sp.Symbol, name: str, measure: Measure = PAIR) -> Recursion:
    """Return the certificate that the distance of two clients is at most 2 s G k after k local steps."""
    return Recursion(
        claim=claim,
        measure=measure,
        factor=1 + 1 / k,
        offset=4 * (1 + k) * s**2 * moment**2,
        terms=[
            Term(1 / k, square(pair.x_i - pair.x_j + k * s * (_G_I - _G_J))),
            *_bound_second_moments((1 + k) * s**2, name),
        ],
        bound=4 * k**2 * s**2 * moment**2,
        first=_bound_second_moments(s**2, name),
    )


# All clients: gradients at their definitions iterates, relative to the gradient of f at their average.
_GRADIENT = Gradient(f_i, x_i)
_DEVIATION = Gradient(f_i, xbar) - Gradient(f, xbar)
_CHANGE = _GRADIENT - Gradient(f, xbar)
_GROWTH, _SUMMED = k * (1 + 5 * k / (4 * K)), k * (k - 1) / 2 + 5 * k * (k - 1) * (2 * k - 1) / (24 * K)
_DRIFT_FACTOR = 1 + 10 / (9 * K)
_STEP_CONDITION = s <= 1 / (6 * L * K)


def _write_drift_offset(noise: sp.Symbol) -> sp.Expr:
    return 2 * (1 + K) * s**2 * spread**2 + (1 - 1 / N) * s**2 * noise**2


def _bound_drift_step(noise: Sequence[Term]) -> list[Term]:
    """Return the terms of one step of all clients; those of `noise` bound the variance of their gradients."""
    return [
        Term(1 / K, square((x_i - xbar) + K * s * (_GRADIENT - client_gradients)), averaged=True),
        Term((1 + K) * s**2, square(Average(_CHANGE))),
        Term((1 + K) * s**2, square(_CHANGE - 2 * _DEVIATION), averaged=True),
        Term(2 * (1 + K) * s**2, lipschitz_gradient(f_i, x_i, xbar), averaged=True),
        Term(2 * (1 + K) * s**2, assumption("bounded mean dissimilarity")),
        Term(1 / (9 * K) - 2 * (1 + K) * s**2 * L**2, square(x_i - xbar), averaged=True),
        *noise,
    ]


_STEP = [
    Term(2 / s, smoothness(f, xbar_next, xbar)),
    _bound_variance(L * s / N),
    *_bound_gradient_error(_ONE),
    Term(1 - s * L, square(client_gradients)),
]
_MEAN = [Part(_ONE, "liu2022:thm-1.mean"), Part(2 / (s * T), facts.DESCENT)]

# The equation s - sqrt(N)/(L sqrt(T)) = 0, used in each of the three terms of the theorem's bound.
_ROOT = sp.sqrt(N * T)
_TUNED = sp.sqrt(N) / sp.sqrt(T)
_STEP_COEFFICIENT = 2 * gap * L / (T * s * _TUNED) - 4 * K**2 * G**2 * L**2 * (s + _TUNED / L) - L * sigma**2 / N


def _use_few_local_steps(factor: sp.Expr) -> Part:
    """Return the part that proves factor/sqrt(N T) - factor K^2 N/T >= 0, by K^4 N^3 <= T.

    It is (1 - y)/sqrt(N T) times the factor, and 1 - y = (1 - y^2)/(1 + y) for y = N^(3/2) K^2/sqrt(T).
    """
    return Part(factor / (_ROOT * T * (1 + sp.sqrt(N) ** 3 * K**2 / sp.sqrt(T))), FEW_LOCAL_STEPS)


_FEW = _use_few_local_steps(4 * G**2)
_PLAIN_STEP = definitions.PLAIN_SPEEDUP_STEP
_DISSIMILARITY = 9 * L**2 * K**2 * spread**2
_ELEVEN_TWELFTHS = sp.Rational(11, 12)
_TIGHTENED_DRIFT = _ELEVEN_TWELFTHS * L**2 * (K - 1) * (2 * (K + 1) * spread**2 + (1 - 1 / N) * sigma**2)


def _weigh_plain_step(drift: sp.Expr) -> sp.Expr:
    """Return the coefficient of s - sqrt(N/T) = 0 in 2 gap/(s T) + L s sigma^2/N + s^2 drift."""
    return 2 * gap / (T * s * _TUNED) - L * sigma**2 / N - drift * (s + _TUNED)


# 1 - x = (1 - x^4)/((1 + x)(1 + x^2)) for x = 6 L s K.
_FOURTH_POWER = (1 + 6 * L * s * K) * (1 + (6 * L * s * K) ** 2)

# The proof of Lemma 1 as published: sums of gradients since the last aggregation, and Jensen's inequality three times.
_SUM, _COEFFICIENT = LocalSum(g_i), 2 * s**2 * T_0
_MOMENT = assumption("bounded second moment")
_PRINTED_LEMMA_1 = [
    [],
    [Term(s**2, square(_SUM + Average(_SUM)))],
    [
        Term(_COEFFICIENT, square(Average(g_i) - Average(_SUM) / T_0), summed=True),
        Term(_COEFFICIENT, square(g_i - _SUM / T_0), summed=True),
    ],
    [Term(_COEFFICIENT, square(g_i - Average(g_i)), averaged=True, summed=True)],
    [
        Term(_COEFFICIENT, _MOMENT, averaged=True, summed=True),
        Term(_COEFFICIENT, _MOMENT, summed=True),
        Term(4 * s**2 * G**2 * (K**2 - T_0**2), one()),
    ],
]

CERTIFICATES = [
    Certificate(claim="liu2022:two-sided.special-case", links=[[]]),
    Combination(claim="liu2022:architecture.ps", links=[[Part(-sp.S.One, definitions.SERVER_MESSAGES)]]),
    Certificate(
        claim="liu2022:noniid.GB.special",
        links=[[], [Term(_ONE, square(Gradient(f, x)))]],
    ),
    Combination(claim="liu2022:noniid.GB.B1", links=[[Part(-sp.S.One, definitions.GROWTH)]]),
    Combination(claim="liu2022:architecture.rar", links=[[Part(-1 / N, definitions.RING_MESSAGES)]]),
    Certificate(claim="liu2022:eq-5", links=[[]]),
    Certificate(claim="liu2022:eq-6", links=[[]]),
    Certificate(claim="liu2022:lemma-1.proof", links=_PRINTED_LEMMA_1),
    Certificate(claim="liu2022:eq-1", links=[[_DESCENT]]),
    Certificate(claim="liu2022:eq-2", links=[[], []]),
    Certificate(claim="liu2022:eq-3.fixed", links=[[_bound_variance(s**2 / N)]]),
    Certificate(claim="liu2022:eq-3.mean-zero-sum", links=[[]]),
    Certificate(claim="liu2022:eq-3.variance", links=[[]]),
    Certificate(claim="liu2022:eq-4", links=[[]]),
    Certificate(
        claim="liu2022:eq-7.any-sum",
        links=[[Term(N**2, square(_CHANGE_TO_AVERAGE - Average(_CHANGE_TO_AVERAGE)), averaged=True)]],
    ),
    Certificate(claim="liu2022:eq-7.fixed", links=[[_DESCENT, _bound_variance(L * s**2 / (2 * N))]], relaxed=[]),
    Certificate(
        claim="liu2022:eq-7.a",
        links=[
            [],
            [Term(_ONE, square(_CHANGE_TO_AVERAGE - Average(_CHANGE_TO_AVERAGE)), averaged=True)],
            [Term(_ONE, lipschitz_gradient(f_i, xbar, x_i), averaged=True)],
        ],
    ),
    _prove_lemma_1("liu2022:lemma-1", G, "bounded second moment of {}"),
    _prove_lemma_1("liu2022:lemma-1.sharp", G, "bounded second moment of {}"),
    _prove_lemma_1("liu2022:lemma-1.run", G_run, "second moment of {} in the run"),
    Certificate(
        claim="liu2022:eq-8.fixed",
        links=[
            [
                _DESCENT,
                _bound_variance(L * s**2 / (2 * N)),
                *_bound_gradient_error(s / 2),
                Term(s * L**2 / 2, assumption("liu2022:lemma-1"), averaged=True),
            ]
        ],
        lemmas=["liu2022:lemma-1"],
        relaxed=[],
    ),
    Combination(claim="liu2022:eq-8.condition.fixed", links=[[Part(s / 2 * (1 - s * L), facts.ONE)]]),
    Certificate(
        claim="liu2022:thm-1.divide.fixed",
        links=[[*_STEP, Term(L**2, assumption("liu2022:lemma-1"), averaged=True)]],
        lemmas=["liu2022:lemma-1"],
    ),
    Certificate(claim="liu2022:thm-1.step", links=[_STEP]),
    MeanCertificate(claim="liu2022:thm-1.mean", step="liu2022:thm-1.step", span="run"),
    Combination(
        claim="liu2022:thm-1.telescope",
        links=[
            [Part(_ONE, "liu2022:thm-1.mean"), Part(L**2, facts.MEAN_DRIFT), Part(L**2, "liu2022:lemma-1")],
            [Part(2 / (s * T), facts.DESCENT)],
        ],
    ),
    Combination(
        claim="liu2022:thm-1",
        links=[[*_MEAN, Part(L**2, facts.MEAN_DRIFT), Part(L**2, "liu2022:lemma-1")]],
    ),
    Combination(
        claim="liu2022:thm-1.run",
        links=[[*_MEAN, Part(L**2, facts.MEAN_DRIFT), Part(L**2, "liu2022:lemma-1.run")]],
    ),
    Recursion(
        claim="liu2022:lemma-1.mean",
        measure=DISPLACEMENT,
        factor=1 + 1 / k,
        offset=(1 + k) * s**2 * G**2,
        terms=[
            Term(1 / k, square((x_i - ybar) + k * s * g_i), averaged=True),
            Term((1 + k) * s**2, assumption("bounded second moment"), averaged=True),
        ],
        bound=k**2 * s**2 * G**2,
        first=[Term(s**2, assumption("bounded second moment"), averaged=True)],
        total=k * (k - 1) * (2 * k - 1) * s**2 * G**2 / 6,
    ),
    Combination(claim="liu2022:thm-1.sharp", links=[[*_MEAN, Part(L**2, "liu2022:lemma-1.mean")]]),
    Recursion(
        claim="liu2022:thm-3.drift",
        measure=SPREAD,
        factor=_DRIFT_FACTOR,
        offset=_write_drift_offset(G),
        terms=_bound_drift_step(
            [
                Term((1 - 1 / N) * s**2, assumption("bounded second moment"), averaged=True),
                Term((1 - 1 / N) * s**2, square(_GRADIENT), averaged=True),
            ]
        ),
        bound=_GROWTH * _write_drift_offset(G),
        total=_SUMMED * _write_drift_offset(G),
        relaxed=[_STEP_CONDITION],
    ),
    Recursion(
        claim="liu2022:thm-3.drift.sharp",
        measure=SPREAD,
        factor=_DRIFT_FACTOR,
        offset=_write_drift_offset(sigma),
        terms=_bound_drift_step([_bound_variance((1 - 1 / N) * s**2)]),
        bound=_GROWTH * _write_drift_offset(sigma),
        total=_SUMMED * _write_drift_offset(sigma),
        relaxed=[_STEP_CONDITION],
    ),
    Combination(claim="liu2022:thm-3", links=[[*_MEAN, Part(L**2, "liu2022:thm-3.drift")]]),
    Combination(claim="liu2022:thm-3.sharp", links=[[*_MEAN, Part(L**2, "liu2022:thm-3.drift.sharp")]]),
    Combination(
        claim="liu2022:cor-2.step",
        links=[[Part(_ONE, "liu2022:thm-1"), Part(_STEP_COEFFICIENT, definitions.SPEEDUP_STEP)], []],
    ),
    Combination(
        claim="liu2022:cor-2.K",
        links=[[Part(_ONE, "liu2022:cor-2.step"), _FEW], [_FEW]],
    ),
    _prove_lemma_1("liu2022:lemma-1.loop", G_loop, SECOND_MOMENT + " of {}", LOOP_PAIR),
    LoopMean(
        claim="liu2022:thm-1.loop",
        lemmas=["liu2022:lemma-1.loop"],
        terms=[
            Term(2 / s, smoothness(f, xbar_next, xbar)),
            Term(L * s / N, assumption(VARIANCE), averaged=True),
            *_bound_gradient_error(_ONE),
            Term(L**2, assumption("liu2022:lemma-1.loop"), averaged=True),
            Term(1 - s * L, square(client_gradients)),
        ],
    ),
    Combination(
        claim="liu2022:cor-2.loop.step",
        links=[
            [
                Part(_ONE, "liu2022:thm-1.loop"),
                Part(_STEP_COEFFICIENT.xreplace(ALONG_THE_LOOP), definitions.SPEEDUP_STEP),
            ],
        ],
    ),
    Combination(
        claim="liu2022:cor-2.loop",
        links=[[Part(_ONE, "liu2022:cor-2.loop.step"), _use_few_local_steps(4 * G_loop**2)]],
    ),
    Combination(
        claim="liu2022:cor-2.speedup.fixed",
        # C^2 - (e sqrt(N T))^2 is the product of the sum and the difference.
        links=[[Part(_ROOT * (constant + error * _ROOT) / (N * error**2), "liu2022:cor-2.K")]],
    ),
    Combination(
        claim="liu2022:cor-4.K1.implied",
        links=[
            [
                Part(1 / (T * (1 + 6 * L * s)), T >= 36 * L**2 * N),
                Part(-36 * L**2 * (s + _TUNED) / (1 + 6 * L * s), definitions.PLAIN_SPEEDUP_STEP),
            ]
        ],
    ),
    Combination(
        claim="liu2022:cor-4.K.implied",
        links=[
            [
                Part(1 / (T * _FOURTH_POWER), FEW_LOCAL_STEPS),
                Part(N**2 * K**4 / (T**2 * _FOURTH_POWER), N * T >= (6 * L) ** 4),
                Part(
                    -((6 * L * K) ** 4) * (s**2 + N / T) * (s + _TUNED) / _FOURTH_POWER, definitions.PLAIN_SPEEDUP_STEP
                ),
            ]
        ],
    ),
    Combination(
        claim="liu2022:cor-4.K1.explicit",
        links=[
            [Part(_ONE, "liu2022:thm-3"), Part(_weigh_plain_step(4 * K * G**2 * L**2 + _DISSIMILARITY), _PLAIN_STEP)]
        ],
    ),
    Combination(
        claim="liu2022:cor-4.K1.explicit.sharp",
        links=[[Part(_ONE, "liu2022:thm-3.sharp"), Part(_weigh_plain_step(_TIGHTENED_DRIFT), _PLAIN_STEP)]],
    ),
    Combination(
        claim="liu2022:cor-4.explicit",
        links=[
            [
                Part(_ONE, "liu2022:cor-4.K1.explicit"),
                _use_few_local_steps(9 * L**2 * spread**2),
                _use_few_local_steps(4 * G**2 * L**2 / K),
                Part(4 * G**2 * L**2 * (1 - 1 / K) / _ROOT, facts.ONE),
            ]
        ],
    ),
    Combination(
        claim="liu2022:cor-4.explicit.T",
        known=[Derived("liu2022:cor-4.K.implied")],
        links=[[Part(_ONE, "liu2022:cor-4.explicit")]],
    ),
    Combination(
        claim="liu2022:cor-4.explicit.sharp",
        links=[
            [
                Part(_ONE, "liu2022:cor-4.K1.explicit.sharp"),
                _use_few_local_steps(_ELEVEN_TWELFTHS * L**2 * (2 * spread**2 + sigma**2)),
                Part(
                    _ELEVEN_TWELFTHS * L**2 * N / T * (2 * spread**2 + sigma**2 * (K**2 - (K - 1) * (1 - 1 / N))),
                    facts.ONE,
                ),
            ]
        ],
    ),
    Combination(
        claim="liu2022:cor-4.rounds.two-sided",
        links=[[Part(c / ((1 + c) ** 2 * N * K), facts.ONE)]],
    ),
    Combination(claim="liu2022:cor-4.rounds.fixed", links=[[]], relaxed=[]),
]
