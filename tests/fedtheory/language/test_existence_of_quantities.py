"""Quantities without a value on a run are found by measuring, and proofs do not assume that they exist."""

from __future__ import annotations

from typing import Any

import pytest

from fedtheory import RATIONAL, Claim, NotApplicable, parse_run
from fedtheory.engine.run import Run
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.existence import KINDS, list_missing
from fedtheory.sources.fraboni2022.quantities import turns

CURVED = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}
BENT = {"hessians": [[["1"]], [["-1/2"]]], "linear": [["1"], ["0"]], "start": ["3"]}
SADDLE = {"hessians": [[["1"]], [["-2"]]], "linear": [["1"], ["0"]], "start": ["3"]}
LINES = {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
EMPTY = {"clock": {"policy": "fedfix", "times": ["1", "2"], "interval": "1/2"}}
FULL = {"clock": {"policy": "fedfix", "times": ["1", "2"], "interval": "2"}}
ALONE = {"participation": {"kind": "fixed", "clients": [0]}}
OF_TURNS = {name for name, one in vars(turns).items() if isinstance(one, RunQuantity)} | {"fastest_gap"}
OF_ALL_UPDATES = {"mean_weight_share", "mean_chi_sq"}


def run(problem: dict[str, Any], algorithm: dict[str, Any]) -> Run:
    keys = {"local_step_size": "1/4", "rounds": 4, "local_steps": 2, **algorithm}
    return parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": keys}, RATIONAL)


def refused(one: RunQuantity, by: Run) -> bool:
    try:
        one.on(by)
    except NotApplicable:
        return True
    return False


@pytest.mark.parametrize(
    ("without", "having"),
    [
        ((CURVED, EMPTY), (CURVED, FULL)),
        ((LINES, ALONE), (LINES, {})),
        ((SADDLE, {}), (BENT, {})),
        ((BENT, {}), (CURVED, {})),
    ],
)
def test_proofs_know_which_quantities_may_be_undefined(without: Any, having: Any) -> None:
    """Without a report no weights are defined; merged or nonconvex clients may have no minimiser."""
    known = {quantity.name for kind in KINDS for quantity in kind.quantities}
    every = {one.name: one for one in vars(q).values() if isinstance(one, RunQuantity)}
    lacking, other = run(*without), run(*having)
    found = {name for name, one in every.items() if refused(one, lacking) and not refused(one, other)}
    assert not found.isdisjoint({"weight_share", "surrogate_optimum_distance", "strong_convexity"})
    on_regions = {name for name, one in every.items() if one.region is not None}
    assert found - known - on_regions <= OF_ALL_UPDATES | OF_TURNS | {
        "restarted_deviation",
        "restarting_first_deviation",
    }


def test_a_claim_that_names_no_minimiser_may_have_none() -> None:
    """A proof may use x* by convexity, or if the claim measures something from x*."""
    assumed: dict[str, tuple[Assumption, ...]] = {"smooth": (a.smooth,), "convex": (a.convex_and_smooth,)}
    claims = {
        name: Claim(id=f"mine:{name}", lhs=q.total_descent, rhs=1, assumptions=of) for name, of in assumed.items()
    }
    claims["gap"] = Claim(id="mine:gap", lhs=q.initial_gap, rhs=1, assumptions=assumed["smooth"])
    knowing = {
        name: not any(list_missing(claim, frozenset({q.initial_gap, q.optimum}))) for name, claim in claims.items()
    }
    assert knowing == {"smooth": False, "convex": True, "gap": True}
    assert {name: bool(build_context(claim).minimisers) for name, claim in claims.items()} == knowing
