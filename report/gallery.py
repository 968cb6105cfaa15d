"""Which figures a claim gets: decided by what it states, not by its name."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from flint import fmpq

from fedtheory import quantities as q
from fedtheory.claim import Claim
from fedtheory.federation import fedavg
from fedtheory.problem.generators import random_quadratics
from fedtheory.run import Run
from report.figures.bounds import bound_curve, by_terms, over_rounds, tightness_map
from report.figures.drift import over_local_steps
from report.figures.rates import ladder
from report.figures.style import Figure
from verify.verdict import ClaimVerdict

_SPECTRUM = (fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(1, 8), fmpq(1, 16))
_LIMIT = Fraction(1, 4)
"""Step sizes of the map are fractions of ``_LIMIT / L``, the limit of the usual condition."""


def figures_for(verdict: ClaimVerdict) -> list[Figure]:
    """The figures of a claim's page; none where the claim is about single points or steps."""
    claim = verdict.claim
    if claim.rate is not None:
        return [ladder(claim, verdict.evidence.rate)] if verdict.evidence and verdict.evidence.rate else []
    if claim.kind != "bound" or claim.place != "run":
        return []
    measured = claim.notation.get(claim.relations[0].left)
    if measured is q.max_drift:
        return [over_local_steps(claim, showcase(local_steps=16), _words(16))]
    if measured is q.average_suboptimality:
        return _bound_figures(claim)
    return []


def _bound_figures(claim: Claim) -> list[Figure]:
    curve, words = bound_curve(claim, showcase(local_steps=5)), _words(5)
    return [
        over_rounds(claim, curve, words),
        by_terms(claim, curve, words),
        tightness_map(claim, map_problems(), _LIMIT),
    ]


@cache
def showcase(local_steps: int) -> Run:
    """Ten clients in five dimensions, one Hessian, spread-out minimisers, noise: a run on which every term counts."""
    generator = np.random.default_rng(2022)
    problem = random_quadratics(generator, [_SPECTRUM] * 10, shared=True, heterogeneity=fmpq(1, 4), noise=fmpq(1))
    size = fmpq(1, 64)
    return Run(problem, fedavg(problem, rounds=10, local_step_size=size, local_steps=local_steps)).as_floats()


def _words(local_steps: int) -> str:
    run = showcase(local_steps)
    return (
        f"Ten clients, $d = {run.problem.dimension}$, $L = 1$, $\\tau = {local_steps}$, $\\eta = 1/64$, "
        f"$\\sigma^2 = 1$, $\\zeta^2 = {run.dissimilarity_sq.value:.3g}$."
    )


@cache
def map_problems() -> tuple[Run, ...]:
    """Problems for the tightness map: from no noise and no spread to both."""
    runs = []
    for number, (spread, noise) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        generator = np.random.default_rng([2022, number])
        for clients, spectrum in ((1, _SPECTRUM[:1]), (2, _SPECTRUM[:2]), (8, _SPECTRUM[:3])):
            problem = random_quadratics(
                generator, [spectrum] * clients, shared=True, heterogeneity=fmpq(spread), noise=fmpq(noise)
            )
            runs.append(Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 4))).as_floats())
    return tuple(runs)
