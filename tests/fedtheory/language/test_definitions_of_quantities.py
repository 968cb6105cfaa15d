"""Each quantity has one definition, and specialised routines agree with it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb

from fedtheory.arithmetic.enclosures import Enclosure
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.quantities.measuring.terms import compile_term
from fedtheory.language.quantities.quantity import MeanOverRounds, Quantity, Term
from fedtheory.language.signs import iterate_run_quantities
from verify.instances import FAMILIES, Instance

FAST = sorted(
    (one for one in iterate_run_quantities() if one.term is not None and one.measure != compile_term(one.term)),
    key=lambda one: one.name,
)
"""Quantities with a term that a specialised routine computes."""
RUNS = [(name, number) for name in sorted(FAMILIES) for number in (0, 3)]
NAMES_OF_ONE_NUMBER = {
    frozenset({"interval_start_gap", "server_suboptimality"}),
    frozenset({"next_interval_start_gap", "server_suboptimality_after"}),
    frozenset({"virtual_end_distance_sq", "server_distance_after_sq"}),
    frozenset({"optimum_gradient", "dissimilarity_at_optimum"}),
}
"""Quantities with one term and two names, each of a paper."""


def test_each_number_has_a_term_or_a_kind() -> None:
    """A quantity without a term has a kind, and a description that defines it."""
    for one in iterate_run_quantities():
        assert (one.term is None) != (one.primitive is None), one.name
        assert one.meaning, one.name


@cache
def _symbol(quantity: Quantity) -> sp.Symbol:
    return sp.Dummy(quantity.name, real=True)


def _key(term: Term, root: bool) -> object:
    """Return the meaning of a term, independent of symbols."""
    return term.expression.xreplace({symbol: _symbol(one) for symbol, one in term.where}), term.over, root


def test_no_number_is_written_twice() -> None:
    """Only quantities that two papers name differently have equal terms."""
    names = defaultdict(set)
    for one in iterate_run_quantities():
        if one.term is not None:
            names[_key(one.term, one.root)].add(one.name)
    assert {frozenset(each) for each in names.values() if len(each) > 1} == NAMES_OF_ONE_NUMBER


def _agree(found: Any, expected: Any) -> bool:
    """Return whether two values are equal: rationals exactly, enclosures where their difference may be zero."""
    pairs = zip(*(each.ravel() for each in np.broadcast_arrays(*map(np.asarray, (found, expected)))), strict=True)
    return all(_is_zero(one - other) for one, other in pairs)


def _is_zero(difference: Any) -> bool:
    interval = difference.interval if isinstance(difference, Enclosure) else difference
    return bool(interval.contains(0)) if isinstance(interval, arb) else bool(interval == 0)


def _count_agreements(run: Run) -> set[str]:
    """Return the routines that have the value of their terms on a run; both may have none."""
    found = set()
    for one in FAST:
        assert one.term is not None
        try:
            expected, by_term = one.on(run), compile_term(one.term)(run)
        except FedtheoryError:
            continue
        assert _agree(by_term, expected), one.name
        found.add(one.name)
    return found


@cache
def _agreements(family: str, number: int) -> frozenset[str]:
    return frozenset(_count_agreements(Instance(family, number).run()))


SAMPLE = ("full gradients", "asynchronous cycles", "sampled weights", "fixed intervals", "small schedules")


@pytest.mark.parametrize("family", SAMPLE)
def test_fast_paths_have_the_values_of_terms(family: str) -> None:
    assert len(_agreements(family, 0)) >= 30


@pytest.mark.long
@pytest.mark.parametrize(("family", "number"), RUNS)
def test_fast_paths_have_the_values_of_terms_everywhere(family: str, number: int) -> None:
    """Routines agree with terms on stored runs of each family, in the arithmetic of the run."""
    _agreements(family, number)


@pytest.mark.long
def test_each_fast_path_is_compared() -> None:
    names = {one.name for one in FAST}
    for family, number in RUNS:
        names -= _agreements(family, number)
        if not names:
            break
    assert not names


def test_means_over_rounds_are_terms() -> None:
    """An average over updates is computed from the values of each, and has their term."""
    means = [one for one in FAST if isinstance(one.measure, MeanOverRounds)]
    assert len(means) >= 10
    for mean in means:
        assert isinstance(mean.measure, MeanOverRounds)
        of = mean.measure.of
        assert isinstance(of, RunQuantity)
        assert mean.term is not None
        assert mean.term.over[-1].index == "rounds"
        assert of.term is None or mean.term.over[:-1] == of.term.over
    assert q.mean_round_gap in means
