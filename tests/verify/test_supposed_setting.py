"""User-defined claims without a setting are about plain FedAvg, in all commands."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

import fedtheory as ft
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.kernel import Term, assumption
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.premises import list_failed_premises
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.targets import resolve
from fedtheory.language.vocabulary import vocabulary
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.runfile import parse_run
from verify.check import check
from verify.instances import FAMILIES, families_for
from verify.verdict import verify

PROBLEM = {"kind": "quadratic", "hessians": [[["1"]], [["1/4"]]], "linear": [["1"], ["-1"]], "start": ["3"]}
STEPS = {"local_step_size": "1/4", "local_steps": 2, "rounds": 3}
BEYOND = {
    "some": ({"participation": {"kind": "uniform", "clients": 1}}, {}),
    "weights": ({}, {"weights": ["1/4", "3/4"]}),
    "local steps": ({"local_steps": [1, 2]}, {}),
    "step sizes": ({"local_step_size": ["1/4", "1/8"]}, {}),
    "decreasing": ({"local_step_size": "1/(4 + n)"}, {}),
    "server step": ({"server_step_size": 2}, {}),
    "clock": ({"clock": {"policy": "async", "times": [1, 2]}}, {}),
    "algorithm": ({"name": "fedavgm", "momentum": "1/2"}, {}),
}
POSITIVE = Claim(id="mine:positive", lhs=0, relation="<", rhs=q.rounds)


def run_with(algorithm: dict[str, object] | None = None, problem: dict[str, object] | None = None) -> Run:
    """Return a plain run with some keys changed."""
    return parse_run({"problem": PROBLEM | (problem or {}), "algorithm": STEPS | (algorithm or {})}, RATIONAL)


def test_a_plain_run_is_checked() -> None:
    """A plain run is in the setting."""
    assert check(resolve(POSITIVE), run_with()).holds is True


@pytest.mark.parametrize("beyond", BEYOND)
def test_a_run_beyond_the_setting_is_not_applicable(beyond: str) -> None:
    """The answer names the default setting, how the run differs from it, and the line that states it."""
    found = ft.check(POSITIVE, run_with(*BEYOND[beyond]))
    assert not found.applicable
    assert found.reason is not None
    assert found.reason.startswith("the claim names no setting, so plain FedAvg is assumed, and on this run ")
    line = "assumptions=[a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step]"
    assert found.reason.endswith(f"; write {line} for another setting")
    assert {one.name for one in found.excluded} <= {one.name for one in resolve(POSITIVE).supposed}


@pytest.mark.parametrize("beyond", BEYOND)
def test_unnamed_parts_of_the_setting_are_free(beyond: str) -> None:
    """One that names any part of the setting is about exactly what it names."""
    named = a.finite_answering_time if beyond not in ("algorithm", "decreasing") else a.server_step_of_one
    free = replace(POSITIVE, assumptions=(named,))
    assert ft.check(free, run_with(*BEYOND[beyond])).holds is True


@pytest.mark.long
def test_every_quantity_has_a_value_in_the_setting_that_is_supposed_for_it() -> None:
    """New quantities beyond plain FedAvg have to lift the restriction to it."""
    missing = []
    for entry in vocabulary():
        quantity = entry.quantity
        if isinstance(quantity, RunQuantity) and not _has_a_value(quantity):
            missing.append(quantity.name)
    assert missing == []


def _has_a_value(quantity: RunQuantity) -> bool:
    claim = resolve(Claim(id=f"mine:{quantity.name}", lhs=0, rhs=quantity))
    names = [name for name in families_for(claim) if not (FAMILIES[name].in_enclosures or FAMILIES[name].in_floats)]
    for instance in (instance for name in names for instance in FAMILIES[name].instances):
        run = instance.run()
        if list_failed_premises(claim, run):
            continue
        try:
            quantity.on(run)
        except FedtheoryError:
            continue
        return True
    return False


@pytest.mark.long
def test_counterexamples_are_in_the_setting() -> None:
    """Instances and counterexamples are plain FedAvg runs."""
    gap = sp.Symbol("D", positive=True)
    false = Claim(id="mine:false", lhs=q.final_distance_sq, rhs=gap**2 / 2, where={gap: q.initial_distance})
    (found,) = verify(false)
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert all(assumption.failure(found.witness) is None for assumption in found.claim.supposed)
    searched = ft.falsify(false, budget=5)
    assert searched.run is not None
    assert searched.claim.supposed == found.claim.supposed
    assert list_failed_premises(searched.claim, parse_run(searched.run, RATIONAL)) == []


def test_constants_bring_their_assumptions() -> None:
    """A bound in sigma mentions bounded variance, in proofs as on runs; one without is left unchanged."""
    noise, sigma = sp.Symbol("n_i", real=True), sp.Symbol("sigma", positive=True)
    where = {noise: q.gradient_noise, sigma: q.noise_deviation}
    claim = Claim(id="t:noise", lhs=Expectation(norm_sq(noise)), rhs=sigma**2, where=where, place="step")
    found = resolve(claim)
    assert a.unbiased_bounded_variance in found.assumptions
    certificate = Certificate(claim=claim.id, links=[[Term(sp.S.One, assumption("bounded variance"))]])
    assert check_certificate(found, certificate).verdict == "proved"
    assert check_certificate(resolve(replace(claim, rhs=sigma**2 / 2)), certificate).verdict == "broken"
    quiet = Claim(id="t:quiet", lhs=q.max_drift, rhs=q.max_drift)
    assert a.unbiased_bounded_variance not in resolve(quiet).assumptions
