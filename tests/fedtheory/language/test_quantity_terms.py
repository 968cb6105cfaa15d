"""The value of a quantity's term on runs equals that of its routine, in rationals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import ClientSum, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.quantities.measuring.reductions import (
    FIRST_STEP,
    LAST_ROUND,
    LAST_STEP,
    MEAN_OVER_STEPS,
    SUM_BEFORE_STEP,
    SUM_OVER_STEPS,
)
from fedtheory.language.quantities.measuring.terms import compile_term, define, term_at_steps
from fedtheory.language.quantities.quantity import Over, Term
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.sources.fraboni2022.context import updates
from fedtheory.sources.fraboni2022.context.meanings import READINGS
from fedtheory.sources.fraboni2022.context.terms import define_in_vectors
from fedtheory.sources.fraboni2022.context.time_averages import list_step_averages, map_round_averages
from fedtheory.sources.fraboni2022.quantities.vectors import (
    LOCAL,
    SAMPLE,
    SERVER,
    SHARE,
    VIRTUAL,
    WEIGHT,
    define_at_each_step,
    square,
)

ASYNCHRONOUS = {"clock": {"policy": "async", "times": ["1", "2", "3"]}, "aggregation": "time-based"}
SETTINGS: dict[str, dict[str, Any]] = {
    "in turn": {},
    "server step": {"server_step_size": "3/2"},
    "asynchronous": ASYNCHRONOUS,
    "asynchronous, server step": {**ASYNCHRONOUS, "server_step_size": "1/2"},
    "one local step": {**ASYNCHRONOUS, "local_steps": 1, "local_step_size": "1/8"},
    "sampled": {"participation": {"kind": "uniform", "clients": 2}},
    "sampled, server step": {"participation": {"kind": "uniform", "clients": 2}, "server_step_size": "1/2"},
    "at intervals": {
        "clock": {"policy": "fedfix", "times": ["1", "2", "3"], "interval": "2"},
        "aggregation": "time-based",
    },
}
WITH_TERMS = [one for name in q.__all__ if isinstance(one := getattr(q, name), RunQuantity) and one.term is not None]


def make_run(setting: str, seed: int) -> Run:
    """Return three clients in the plane, with noise."""
    random = np.random.default_rng(seed)
    roots = random.integers(-2, 3, (3, 2, 2))
    hessians = [[[str(entry) for entry in row] for row in root @ root.T + np.eye(2, dtype=int)] for root in roots]
    linear = [[f"{entry}/4" for entry in row] for row in random.integers(-6, 7, (3, 2))]
    problem = {"kind": "quadratic", "hessians": hessians, "linear": linear, "start": ["1", "-3/4"], "noise": "1/2"}
    algorithm = {"local_step_size": "1/16", "local_steps": 2, "rounds": 4, **SETTINGS[setting]}
    return parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_term_has_the_value_of_the_quantity(setting: str) -> None:
    """Values agree for each round, local step and client, also with a specialised routine."""
    run, compared = make_run(setting, len(setting)), 0
    for quantity in WITH_TERMS:
        assert quantity.term is not None
        try:
            expected = quantity.on(run)
        except NotApplicable:
            continue
        found = compile_term(quantity.term)(run)
        if not any(isinstance(entry, arb) for entry in np.ravel(expected)):
            assert np.all(found == expected), quantity.name
            compared += 1
    assert compared >= 140


def test_every_meaning_in_proofs_that_can_be_a_term_is_one() -> None:
    """No quantity of a context has both a term and a second definition."""
    for reading in READINGS:
        others = {one for one in reading.quantities if one not in reading.terms}
        assert all(one.term is not None for one in reading.terms)
        doubled = {one.name for one in others if isinstance(one, RunQuantity) and one.term is not None}
        assert doubled <= {"gradient_deviation_sq", "objective_gradient_sq", "client_gap_at_surrogate_optimum"}


def _meaning(member: Any) -> Any:
    """Return the meaning of a sum over clients of a member, in the symbols of proofs."""
    quantity = define("own_sum", "s", "a sum over clients", define_at_each_step(ClientSum(member)))
    return define_in_vectors(quantity, SymbolTable({}))


_ONCE = WEIGHT * square(LOCAL - VIRTUAL)
_OTHERWISE = [sp.S.One, square(SAMPLE), SHARE * square(SAMPLE)]


@pytest.mark.parametrize(
    "member",
    [
        *(WEIGHT**power * content + beside for power in (2, 3) for content in _OTHERWISE for beside in (0, _ONCE)),
        *(content + _ONCE for content in _OTHERWISE),
    ],
    ids=str,
)
def test_weights_count_once_in_a_meaning(member: Any) -> None:
    """Another power of a weight is not a multiple of a sum with normalised weights."""
    with pytest.raises(Rejected, match="exactly once"):
        _meaning(member)


def test_a_sum_with_weights_is_their_total_times_one_with_shares() -> None:
    total, share = (SymbolTable({})(one) for one in (q.weight_sum, q.weight_share))
    assert _meaning(WEIGHT * square(SAMPLE)) == total * ClientSum(share * norm_sq(updates.at_local))


@pytest.mark.parametrize(
    ("term", "said"),
    [
        # A relation at the iterates of a step does not hold for earlier ones, or after all steps.
        (define_at_each_step(square(LOCAL), SUM_BEFORE_STEP), "change in other ways: local_iterate"),
        (define_at_each_step(square(SAMPLE - VIRTUAL), SUM_BEFORE_STEP), "change in other ways: virtual_iterate"),
        (define_at_each_step(square(VIRTUAL - SERVER), LAST_STEP), "change in other ways: virtual_iterate"),
        (define_at_each_step(square(SAMPLE), LAST_STEP), "change in other ways: stochastic_gradient"),
        (define_at_each_step(square(LOCAL), FIRST_STEP), "change in other ways: local_iterate"),
        (define_at_each_step(square(LOCAL), SUM_OVER_STEPS), "no vectors are known"),
        (define_at_each_step(square(LOCAL), Over("steps", "mean", begin=1)), "no vectors are known"),
        (define_at_each_step(square(LOCAL), Over("steps", "largest")), "no vectors are known"),
        (define_at_each_step(square(LOCAL), MEAN_OVER_STEPS, LAST_ROUND), "no vectors are known"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.over[0].by,
)
def test_a_term_has_no_meaning_at_other_steps(term: Term, said: str) -> None:
    """Some of the steps are not the average over all of them, and a step is not the next one."""
    with pytest.raises(Rejected, match=said):
        define_in_vectors(define("mine", "s", "of some steps", term), SymbolTable({}))


@pytest.mark.parametrize("setting", ["asynchronous, server step", "in turn"])
@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("sum", lambda values: values.sum(axis=1, keepdims=True)),
        ("largest", lambda values: values.max(axis=1, keepdims=True)),
        ("smallest", lambda values: values.min(axis=1, keepdims=True)),
        ("first", lambda values: values[:, :1]),
        ("last", lambda values: values[:, -1:]),
        ("before", lambda values: values.cumsum(axis=1) - values),
    ],
)
def test_reductions_of_values_at_steps(setting: str, by: Any, expected: Any) -> None:
    run, term = make_run(setting, 1), define_at_each_step(square(LOCAL))
    found = compile_term(replace(term, over=(Over("steps", by),)))(run)
    assert (found == expected(compile_term(term)(run))).all()
    beginning = compile_term(replace(term, over=(Over("steps", by, begin=1),)))(run)
    assert (beginning == expected(compile_term(term)(run)[:, 1:])).all()


def test_means_that_terms_imply() -> None:
    """Averages that were written by hand follow from terms, and agree in rationals."""
    run = make_run("asynchronous", 1)
    of_steps = {mean.quantity for mean in list_step_averages()}
    assert of_steps >= {q.client_spread, q.round_gap, q.virtual_gradient_sq, q.surrogate_suboptimality}
    for at_round, mean in map_round_averages().items():
        assert mean.on(run) == at_round.on(run).sum() / run.algorithm.rounds
    for mean in list_step_averages():
        compute = compile_expression(mean.at_step, mean.where)
        values = compute(whole_run(run))
        assert (mean.quantity.on(run) == values.sum(axis=1, keepdims=True) / 2).all(), mean.quantity.name


def test_two_quantities_of_one_notation_make_no_term() -> None:
    twin = replace(q.local_iterate, name="twin")
    with pytest.raises(AssertionError, match="notation of another"):
        term_at_steps(square(LOCAL), q.local_iterate, twin)
