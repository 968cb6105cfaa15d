"""Lyapunov functions that the search finds for algorithms with a definition, and false bounds that it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.runfile import parse_run
from fedtheory.search import Found, find_proof, premises
from verify.check import check

DEFINITIONS = """
import sympy as sp
from fedtheory.federation.definition import *

x, w, y, x_i, h_i, z_i = sp.symbols("x w y_i x_i h_i z_i", real=True)
p, coin = sp.Symbol("p", positive=True), sp.Symbol("theta", nonnegative=True)
probability = Parameter(p, "probability", "the probability to communicate", sp.Interval.Lopen(0, 1))
step = Local(y, start=x, step=y - eta * Gradient(y))
descent = FederatedAlgorithm(
    "descent", server={x: start}, local=step, server_update={x: Average(y)}, model=x, steps_are_rounds=True
)
sleepy = FederatedAlgorithm(
    "sleepy",
    server={x: start},
    local=step,
    server_update={x: x + coin * Average(y - x)},
    model=x,
    coins={coin: p},
    parameters=(probability,),
    steps_are_rounds=True,
)
smoothed = FederatedAlgorithm(
    "smoothed",
    server={x: start, w: start},
    local=step,
    server_update={x: Average(y), w: (w + Average(y)) / 2},
    model=w,
    steps_are_rounds=True,
)
stepped = FederatedAlgorithm(
    "stepped", server={x: start}, local=step, server_update={x: x + eta_g * Average(y - x)}, model=x,
    steps_are_rounds=True,
)
rare = FederatedAlgorithm(
    "rare",
    client={x_i: start},
    local=Local(z_i, start=x_i, step=z_i - eta * Gradient(z_i)),
    client_update={x_i: coin * Average(z_i) + (1 - coin) * z_i},
    model=Average(x_i),
    coins={coin: p},
    parameters=(probability,),
    steps_are_rounds=True,
)
added = Average(z_i + eta / p * h_i)
opposite = FederatedAlgorithm(
    "opposite",
    client={x_i: start, h_i: 0},
    local=Local(z_i, start=x_i, step=z_i - eta * (Gradient(z_i) + h_i)),
    client_update={x_i: coin * added + (1 - coin) * z_i, h_i: h_i - coin * p / eta * (added - z_i)},
    model=Average(x_i),
    coins={coin: p},
    parameters=(probability,),
    steps_are_rounds=True,
)
common = Average(z_i - eta / p * h_i)
skipping = FederatedAlgorithm(
    "skipping",
    client={x_i: start, h_i: 0},
    local=Local(z_i, start=x_i, step=z_i - eta * (Gradient(z_i) - h_i)),
    client_update={x_i: coin * common + (1 - coin) * z_i, h_i: h_i + coin * p / eta * (common - z_i)},
    model=Average(x_i),
    coins={coin: p},
    parameters=(probability,),
    steps_are_rounds=True,
)
"""
T, D, L, mu, M, eta, eta_g, tau, p = sp.symbols("T D L mu M eta eta_g tau p", positive=True)
sigma, G, rho, zeta = sp.symbols("sigma G rho zeta", nonnegative=True)
WHERE = {
    T: q.rounds,
    D: q.initial_distance,
    L: q.smoothness,
    mu: q.strong_convexity,
    sigma: q.noise_deviation,
    M: q.clients,
    eta: q.local_step_size,
    eta_g: q.server_step_size,
    tau: q.local_steps,
    p: q.communication_probability,
    G: q.optimum_gradient,
    rho: q.mixing_contraction,
    zeta: q.gradient_dissimilarity,
}
STRONGLY = (a.convex_and_smooth, a.strongly_convex_clients, a.same_step_size)
QUIET, NOISY, AVERAGED = (
    (a.full_gradients,),
    (a.unbiased_bounded_variance,),
    (a.unbiased_bounded_variance, a.uniform_shares),
)
PUBLISHED = ("landmarks:scaffnew.contraction", "landmarks:dsgd.consensus")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, with definitions; no search knows the published bounds of algorithms."""
    (tmp_path / "mine.py").write_text(DEFINITIONS)
    monkeypatch.chdir(tmp_path)
    resolve.cache_clear()
    known = {name: of for name, of in premises._list_bounds().items() if not name.startswith("landmarks:")}
    monkeypatch.setattr(premises, "_list_bounds", lambda: known)
    return tmp_path


def bound(
    name: str, rhs: Any, conditions: Sequence[Any], assumed: Sequence[Any], lhs: Any = q.final_distance_sq
) -> Claim:
    """Return a bound for one of the algorithms, on the distance of the last iterate unless stated otherwise."""
    used = sp.sympify(rhs).free_symbols.union(*(condition.free_symbols for condition in conditions))
    return resolve(
        Claim(
            id="mine:bound",
            lhs=lhs,
            rhs=rhs,
            where={symbol: quantity for symbol, quantity in WHERE.items() if symbol in used},
            conditions=conditions,
            assumptions=[*([a.of_algorithm(f"mine.py:{name}")] if name else [a.update_rule]), *STRONGLY, *assumed],
        )
    )


def require_proof(claim: Claim) -> None:
    """Require that the search finds a document that the kernel accepts."""
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert "Lyapunov function" in found.uses
    assert found.proof.document is not None
    assert check_certificate(claim, found.proof.document).verdict == "proved"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_function_is_found_again(name: str) -> None:
    published = find(name)
    used = set().union(*(each.free_symbols for each in (*published.relations, *published.conditions)))
    where = {symbol: quantity for symbol, quantity in published.where.items() if symbol in used}
    require_proof(replace(published, id="mine:copy", where=where, is_published=False, verdict=None))


SMALL = [eta <= 1 / L]
RARELY = [eta <= 1 / L, eta * mu <= p**2]
CONTROLLED = D**2 + eta**2 / p**2 * G**2
TRUE: Mapping[str, Any] = {
    "gradient descent": ("descent", (1 - eta * mu) ** T * D**2, SMALL, QUIET),
    "gradient descent with the largest steps": ("descent", (1 - eta * mu) ** T * D**2, [eta <= 2 / (L + mu)], QUIET),
    "stochastic gradients": ("descent", (1 - eta * mu) ** T * D**2 + eta * sigma**2 / (M * mu), SMALL, AVERAGED),
    "squared factors": ("descent", (1 - eta * mu) ** (2 * T) * D**2, SMALL, QUIET),
    "squared factors with noise": (
        "descent",
        (1 - eta * mu) ** (2 * T) * D**2 + eta * sigma**2 / (M * mu * (2 - eta * mu)),
        SMALL,
        AVERAGED,
    ),
    "larger constants": (
        "descent",
        2 * (1 - eta * mu / 2) ** T * D**2 + 5 * eta * sigma**2 / (M * mu),
        [eta <= 1 / (2 * L)],
        AVERAGED,
    ),
    "steps by a coin": ("sleepy", (1 - p * eta * mu) ** T * D**2 + eta * sigma**2 / (M * mu), SMALL, AVERAGED),
    "any client weights": ("descent", (1 - eta * mu) ** T * D**2 + eta * sigma**2 / mu, SMALL, NOISY),
    "a server step size": (
        "",
        (1 - eta * eta_g * mu) ** T * D**2 + eta * eta_g * sigma**2 / (M * mu),
        [eta * eta_g <= 1 / L, tau <= 1],
        (*AVERAGED, a.full_participation, a.importance_weights),
    ),
    "another server step": ("stepped", (1 - eta * eta_g * mu) ** T * D**2, [eta * eta_g <= 1 / L], QUIET),
    "an average of iterates": ("smoothed", 2 * (1 - eta * mu) ** T * D**2, [eta <= 1 / (2 * L)], QUIET),
    "rare averages": (
        "rare",
        4 * eta**2 * zeta**2 / p**2,
        SMALL,
        (*QUIET, a.uniform_shares, a.bounded_dissimilarity),
        q.final_consensus_distance_sq,
    ),
    "control variates of the opposite sign": ("opposite", (1 - eta * mu) ** T * CONTROLLED, RARELY, QUIET),
    "control variates": ("skipping", (1 - eta * mu) ** T * CONTROLLED + eta * sigma**2 / mu, RARELY, NOISY),
    "control variates with rare communication": (
        "skipping",
        (1 - p**2) ** T * CONTROLLED,
        [eta <= 1 / L, eta * mu >= p**2],
        QUIET,
    ),
}


@pytest.mark.parametrize("what", TRUE)
def test_a_function_is_found(what: str) -> None:
    require_proof(bound(*TRUE[what]))


ONE = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
NOISE = {**ONE, "start": ["0"], "noise": "1"}
TWO = {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
UNLIKE = {"kind": "quadratic", "hessians": [[["1"]], [["5"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
FALSE: Mapping[str, Any] = {
    "a smaller factor": ("descent", (1 - eta * mu) ** (3 * T) * D**2, SMALL, QUIET, ONE, "1/2"),
    "too large steps": ("descent", (1 - eta * mu) ** T * D**2, [eta <= 3 / L], QUIET, UNLIKE | {"start": ["7"]}, "3/5"),
    "a smaller start": ("descent", (1 - eta * mu) ** T * D**2 / 2, SMALL, QUIET, ONE, "1/8"),
    "no noise": ("descent", (1 - eta * mu) ** T * D**2, SMALL, AVERAGED, NOISE, "1/2"),
    "less noise": ("descent", (1 - eta * mu) ** T * D**2 + eta * sigma**2 / (3 * M * mu), SMALL, AVERAGED, NOISE, "1"),
    "a coin that counts twice": ("sleepy", (1 - p * eta * mu) ** (2 * T) * D**2, SMALL, QUIET, ONE, "1"),
    "a coin that always shows heads": ("sleepy", (1 - eta * mu) ** T * D**2, SMALL, QUIET, ONE, "1"),
    "a server step twice as good": (
        "stepped",
        (1 - 2 * eta * eta_g * mu) ** (2 * T) * D**2,
        [eta * eta_g <= 1 / (2 * L)],
        QUIET,
        ONE,
        "1/48",
    ),
    "large server steps": ("stepped", (1 - eta * mu) ** T * D**2, [eta <= 1 / L], QUIET, ONE, "1/4"),
    "a fast average of iterates": ("smoothed", (1 - eta * mu) ** (4 * T) * D**2, SMALL, QUIET, ONE, "1/2"),
    "smaller opposite control variates": (
        "opposite",
        (1 - eta * mu) ** T * (D**2 + eta**2 * G**2 / 100),
        RARELY,
        QUIET,
        UNLIKE,
        "1/8",
    ),
    "no control variates": ("skipping", (1 - eta * mu) ** T * D**2, RARELY, QUIET, UNLIKE, "1/8"),
    "smaller control variates": (
        "skipping",
        (1 - eta * mu) ** T * (D**2 + eta**2 * G**2 / 100),
        RARELY,
        QUIET,
        UNLIKE,
        "1/8",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("what", FALSE)
def test_a_false_bound_is_refused(what: str) -> None:
    """An exact run violates the bound."""
    *stated, problem, size = FALSE[what]
    claim = bound(*stated)
    algorithm = {"name": f"mine.py:{stated[0]}", "local_step_size": size, "rounds": 3}
    more = {
        "smoothed": {},
        "descent": {},
        "stepped": {"server_step_size": "12"},
    }.get(stated[0], {"probability": "1/2"})
    assert (
        check(claim, parse_run({"problem": problem, "algorithm": algorithm | more}, RATIONAL, Path.cwd())).holds
        is False
    )
    assert not isinstance(find_proof(claim, 10**8), Found)


SQUARED = (1 - eta * mu) ** (2 * T)


def test_a_squared_factor_gives_even_powers_only() -> None:
    """A certificate with the factor (1 - eta mu)^2 proves no other power, nor a claim without the bound on steps."""
    claim = bound("descent", SQUARED * D**2, SMALL, QUIET)
    found = find_proof(claim)
    assert isinstance(found, Found)
    document = found.proof.document
    assert document is not None
    assert check_certificate(claim, document).verdict == "proved"
    false = [
        bound("descent", rhs * D**2, SMALL, QUIET)
        for rhs in (
            (1 - eta * mu) ** (3 * T),
            (1 - eta * mu) ** (2 * T + 1),
            (1 - eta * mu) ** (4 * T),
            (1 - 2 * eta * mu) ** T,
            (1 - eta * L) ** (2 * T),
            SQUARED / 2,
        )
    ]
    false += [bound("descent", SQUARED * D**2, [eta <= 2 / L], QUIET), bound("descent", SQUARED * D**2, SMALL, NOISY)]
    assert {check_certificate(other, document).verdict for other in false} == {"broken"}
