"""User-defined quantities at local steps equal built-in routines in rationals, or are rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import fedtheory as ft
from fedtheory import RATIONAL, Claim, Expectation, InputError, Value, inner, norm_sq, parse_run
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import ClientSum
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity

F, x, x_i, best, share, virtual, g_i, t = sp.symbols("F x x_i best share virtual g_i t")
after, local_after = sp.symbols("after local_after")
WHERE = {
    F: q.objective,
    x: q.average_iterate,
    x_i: q.local_iterate,
    best: q.optimum,
    after: q.next_average_iterate,
    local_after: q.next_local_iterate,
    share: q.weight_share,
    virtual: q.virtual_iterate,
    g_i: q.stochastic_gradient,
}
GAP = Expectation(Value(F, after) - Value(F, best))
CLOCK = {"clock": {"policy": "async", "times": ["1", "2", "3"]}, "aggregation": "time-based"}


def made(term: Any) -> RunQuantity:
    return ft.quantity_at_steps("mine", term, WHERE)


def run(seed: int, **keys: Any) -> Run:
    random = np.random.default_rng(seed)

    def entries(*shape: int) -> Any:
        return np.vectorize(lambda value: f"{value}/4", otypes=[object])(random.integers(-6, 7, shape)).tolist()

    roots = random.integers(-2, 3, (3, 2, 2))
    hessians = [[[str(entry) for entry in row] for row in root @ root.T + np.eye(2, dtype=int)] for root in roots]
    problem = {"kind": "quadratic", "hessians": hessians, "linear": entries(3, 2), "start": entries(2), "noise": "1/2"}
    algorithm = {"local_step_size": "1/16", "local_steps": 2, "rounds": 4, **keys}
    return parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)


AT_STEPS = {
    "client_distance_sq": Expectation(norm_sq(x_i - virtual)),
    "stochastic_gradient_sq": Expectation(norm_sq(g_i)),
    "square_mean_gradient_at_step": Expectation(norm_sq(ClientSum(share * g_i))),
    "virtual_distance_sq": Expectation(norm_sq(virtual - best)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", AT_STEPS)
def test_the_same_as_the_routine_of_a_quantity(name: str, seed: int) -> None:
    at = run(seed, **CLOCK)
    found, expected = made(AT_STEPS[name]).on(at), getattr(q, name).on(at)
    assert found.shape == expected.shape
    assert (found == expected).all()


def test_the_largest_drift_and_the_average_error() -> None:
    at = run(3)
    assert made(Expectation(norm_sq(local_after - after))).on(at).max() == q.max_drift.on(at)
    average = ft.weighted_mean("average", made(GAP), sp.Integer(1), t)
    assert average.on(at) == q.average_suboptimality.on(at)


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (sp.Symbol("y"), "expected symbols of `where` in the term, got y"),
        (norm_sq(x), "inside an Expectation"),
        (Expectation(inner(x, best) ** 2), "linear"),
        (x, "not a number"),
    ],
)
def test_invalid_quantities_are_refused(term: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made(term)


def test_a_name_of_the_vocabulary_is_refused() -> None:
    with pytest.raises(InputError, match="expected a new name"):
        ft.quantity_at_steps("max_drift", GAP, WHERE)


def test_a_claim_about_it_is_checked() -> None:
    """At each local step the left side is the value of the quantity there."""
    size, at = sp.Symbol("D"), run(2)
    error = made(GAP)
    claim = Claim(id="mine:error", lhs=error, rhs=1000 * size**2, where={size: q.initial_distance}, place="step")
    found = ft.check(claim, at)
    assert found.holds is True
    assert found.worst.lhs in error.on(at).ravel()
