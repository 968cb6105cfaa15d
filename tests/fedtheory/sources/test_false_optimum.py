"""The stationary error is bounded by the variance of the federated gradient at the optimum only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, Part, certificates, check_certificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.sources.vlaski2023.context.at_optimum import AtOptimum
from fedtheory.sources.vlaski2023.statements.notation import (
    federated_gradient,
    grad,
    leading,
    mu,
    nu,
    sigma_fed_sq,
    step,
    w,
)

CLAIM, BOUND = find("vlaski2023:claim.steady-state-noise"), find("vlaski2023:eq-5.38.final")


def test_at_the_optimum_its_distance_is_zero() -> None:
    """At the optimum the bound reduces to its level, above 2 nu / mu times the error."""
    found = AtOptimum(BOUND.id).slack(symbols_of(BOUND), BOUND.relations[0].slack)
    assert (found - sigma_fed_sq + 2 * nu * leading / mu).expand() == 0


@pytest.mark.parametrize(
    "variance",
    [
        2 * Expectation(norm_sq(federated_gradient(mu) - grad)),
        -Expectation(norm_sq(federated_gradient(mu) - grad)),
        Expectation(norm_sq(federated_gradient(step) - grad)),
        Expectation(norm_sq(federated_gradient(mu))),
        norm_sq(federated_gradient(mu) - grad),
        norm_sq(w),
    ],
)
def test_bounds_on_something_else(variance: object) -> None:
    """Only an upper bound on the variance itself bounds the error."""
    with pytest.raises(Rejected, match="not an upper bound"):
        AtOptimum(BOUND.id).slack(symbols_of(BOUND), sigma_fed_sq - variance)


@pytest.mark.parametrize("premise", ["vlaski2023:eq-5.30", "vlaski2023:eq-5.28", "vlaski2023:eq-5.65"])
def test_other_premises(premise: str) -> None:
    """A bound on a client's variance, or on numbers, does not bound the error."""
    other = Combination(claim=CLAIM.id, links=[[Part(mu / (2 * nu), AtOptimum(premise))]])
    assert not all(step.holds for step in check_certificate(CLAIM, other).steps)


@pytest.mark.parametrize("missing", AtOptimum.needs)
def test_assumptions_of_a_round_at_the_optimum(missing: a.Assumption) -> None:
    """The bound needs normalised steps, uniform sampling, equal weights, a unit server step, and curvature."""
    fewer = tuple(one for one in CLAIM.assumptions if one is not missing)
    assert not all(
        step.holds for step in check_certificate(replace(CLAIM, assumptions=fewer), certificates()[CLAIM.id]).steps
    )


def test_the_error_and_not_another_number() -> None:
    """The symbol must denote the error to first order, not the error itself."""
    other = replace(CLAIM, where={**CLAIM.where, leading: q.limiting_distance_sq})
    assert not all(step.holds for step in check_certificate(other, certificates()[CLAIM.id]).steps)
