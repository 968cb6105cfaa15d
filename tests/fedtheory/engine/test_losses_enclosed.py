"""Log-cosh and softplus losses in enclosures, against mpmath at 50 digits: values, constants, runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from flint import arb, fmpq
from loss_runs import TWO_CLIENTS, TWO_COORDINATES, Term, loss_run, problem

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL, plain_float
from fedtheory.arithmetic.enclosures import convert_to_ball, precise_enclosures
from fedtheory.engine.losses import LossRun
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.losses import KINDS

SOFTPLUS: tuple[Term, ...] = ((0, 0, 1, 2, "-1/2"), (0, 0, 2, -1, 1), (1, 0, 4, "1/2", "1/4"), (1, 0, 1, 0, -2))
"""Increasing and decreasing terms."""
OVERSHOOTING: tuple[Term, ...] = (
    (0, 0, "1/2", -2, 1),
    (0, 0, "7/2", "-1/2", "-7/4"),
    (1, 0, 1, "3/2", 2),
    (1, 0, 1, 0, -1),
)
"""Terms with gradient differences that are slightly larger far outside of the centres."""
KINDS_OF_RUNS: dict[str, tuple[str, tuple[Term, ...]]] = {
    "log-cosh": ("log-cosh", TWO_CLIENTS),
    "softplus": ("softplus", SOFTPLUS),
    "overshooting softplus": ("softplus", OVERSHOOTING),
}
every_kind = pytest.mark.parametrize("name", KINDS_OF_RUNS)


@pytest.fixture(autouse=True)
def precision() -> Any:
    """Use 50 digits for mpmath, and 256 bits for enclosures."""
    with mp.workdps(60), precise_enclosures():
        yield


def run_of(name: str, **keys: Any) -> LossRun:
    """Return a run in enclosures."""
    kind, given_terms = KINDS_OF_RUNS[name]
    return loss_run(problem(given_terms, [3], kind=kind, **keys.pop("problem", {})), **keys)


def precise(value: object) -> mp.mpf:
    """Convert a rational to mpmath."""
    number = RATIONAL.number(value, "value")
    return mp.mpf(int(number.p)) / int(number.q)


def encloses(found: object, expected: mp.mpf) -> bool:
    """Return whether a narrow enclosure contains the mpmath result, up to its 50 digits."""
    known = arb(convert_to_ball(found))
    around = arb(mp.nstr(expected, 55), 1e-48 * max(1.0, abs(float(expected))))
    return bool(known.rad() < 1e-60) and bool(known.overlaps(around))


def value(kind: str, u: mp.mpf, w: mp.mpf) -> mp.mpf:
    """Return phi(u), from log cosh v = v + log1p(exp(-2v)) - log 2, or from the definition."""
    if kind == "log-cosh":
        v = abs(u / w)
        return w * w * (v + mp.log1p(mp.exp(-2 * v)) - mp.log(2))
    return abs(w) * mp.log1p(mp.exp(u / w))


def slope(kind: str, u: mp.mpf, w: mp.mpf) -> mp.mpf:
    """Return phi'(u)."""
    return w * mp.sinh(u / w) / mp.cosh(u / w) if kind == "log-cosh" else mp.sign(w) / (1 + mp.exp(-u / w))


def gradient(name: str, client: int, x: mp.mpf) -> mp.mpf:
    """Return F_i'(x)."""
    kind, given_terms = KINDS_OF_RUNS[name]
    own = [[precise(number) for number in term[2:]] for term in given_terms if term[0] == client]
    return mp.fsum(a * slope(kind, x - b, w) for a, b, w in own)


def mean_gradient(name: str, x: mp.mpf) -> mp.mpf:
    """Return F'(x) of two clients of equal weight."""
    return (gradient(name, 0, x) + gradient(name, 1, x)) / 2


def supremum(function: Callable[[mp.mpf], mp.mpf]) -> mp.mpf:
    """Return the supremum over a grid, refined by golden sections, and at infinity."""
    points = [mp.mpf(k) / 2 for k in range(-80, 81)]
    top = max(range(1, len(points) - 1), key=lambda k: function(points[k]))
    left, right, ratio = points[top - 1], points[top + 1], (mp.sqrt(5) - 1) / 2
    for _ in range(130):
        low, high = right - ratio * (right - left), left + ratio * (right - left)
        left, right = (left, high) if function(low) > function(high) else (low, right)
    return max(function((left + right) / 2), *(function(mp.mpf(end)) for end in (-(10**6), 10**6)))


@pytest.mark.parametrize("kind", ["log-cosh", "softplus"])
def test_values_and_slopes(kind: str) -> None:
    """Values, gradients and curvatures contain those of mpmath, near and far from the centre."""
    for u, w in itertools.product(("0", "1/7", "-3", "40"), ("1/2", "-2")):
        if w == "-2" and not KINDS[kind].can_reflect:
            continue
        at, width = RATIONAL.array([u]), RATIONAL.array([w])
        assert encloses(KINDS[kind].value(at, width)[0], value(kind, precise(u), precise(w)))
        assert encloses(KINDS[kind].derivative(at, width)[0], slope(kind, precise(u), precise(w)))
        bend = mp.diff(lambda x, w=w: slope(kind, x, precise(w)), precise(u))
        assert encloses(KINDS[kind].curvature(at, width)[0], bend)


@every_kind
def test_constants(name: str) -> None:
    """L, zeta, G, the growth of gradients and the minimiser contain the results of a search in mpmath."""
    run = run_of(name)

    def apart(client: int, x: mp.mpf) -> mp.mpf:
        return (gradient(name, client, x) - mean_gradient(name, x)) ** 2

    def growth(x: mp.mpf) -> mp.mpf:
        squares = (gradient(name, 0, x) ** 2 + gradient(name, 1, x) ** 2) / 2
        return squares - 4 * mean_gradient(name, x) ** 2

    for client in range(2):
        bends = supremum(lambda x, client=client: mp.diff(lambda y: gradient(name, client, y), x))
        known = arb(convert_to_ball(run.client_smoothness[client]))
        assert known.rad() < 1e-60
        assert known.overlaps(arb(mp.nstr(bends, 40), 1e-25))
    assert encloses(run.dissimilarity_sq.value, max(supremum(lambda x, i=i: apart(i, x)) for i in range(2)))
    assert encloses(run.mean_dissimilarity_sq.value, supremum(lambda x: (apart(0, x) + apart(1, x)) / 2))
    assert encloses(run.gradient_growth_sq(fmpq(2)).value, supremum(growth))
    assert encloses(run.lipschitz_sq.value, max(supremum(lambda x, i=i: gradient(name, i, x) ** 2) for i in range(2)))
    optimum = run.problem.optimum[0]
    assert encloses(optimum, mp.findroot(lambda x: mean_gradient(name, x), plain_float(optimum)))


def test_rational_constants_stay_rational() -> None:
    """L for a common centre, G as a limit, and minimisers by symmetry are exact rationals."""
    run = loss_run(problem([(0, 0, 1, 1, 1), (0, 0, 3, 1, 2), (1, 0, 4, -2, 3)], [3], kind="log-cosh"))
    assert run.client_smoothness.tolist() == [4, 4]
    assert run.second_moment.value == 144
    assert all(isinstance(value, fmpq) for value in (run.smoothness, run.second_moment.value))
    mirrored = problem([(0, 0, 1, 1, 1), (1, 0, 1, -1, 1)], [3], kind="log-cosh")
    assert mirrored.optimum.tolist() == [0]
    assert isinstance(mirrored.optimum[0], fmpq)
    shifted = problem([(0, 0, 1, "4/3", 1), (1, 0, 1, "-2/3", 1)], [3], kind="log-cosh")
    assert shifted.optimum.tolist() == [fmpq(1, 3)]


def test_clients_that_are_equal_do_not_differ() -> None:
    """The gradient dissimilarity of equal clients is exactly zero."""
    same = [(client, 0, "1/3", 1, "1/2") for client in range(3)]
    assert loss_run(problem(same, [2], kind="log-cosh")).dissimilarity_sq.value == 0


def test_minimisers_that_do_not_exist() -> None:
    """Rational limits of gradients prove that a single softplus has no minimiser."""
    at = problem([(0, 0, 1, 0, 1), (1, 0, 1, 0, -1)], [1], kind="softplus")
    assert at.optimum.tolist() == [0]
    with pytest.raises(NotApplicable, match="no minimiser"):
        _ = at.client_optima
    for weight in (1, "999999999999999999/1000000000000000000"):
        with pytest.raises(InputError, match="never changes its sign"):
            problem([(0, 0, 1, 0, 1), (0, 0, weight, 0, 1)], [1], kind="softplus")


def models(name: str, run: LossRun, coins: dict[tuple[int, int, int], int]) -> list[mp.mpf]:
    """Return the server's models for one outcome of the noise signs (round, step, client), in mpmath."""
    size, sizes = precise(run.algorithm.work.step_sizes[0]), run.problem.oracle.sizes
    server = [precise(run.problem.start[0])]
    for n in range(run.algorithm.rounds):
        ends = []
        for client in range(2):
            x = server[-1]
            for k in range(run.algorithm.work.steps[client]):
                drawn = coins.get((n, k, client), 0) * precise(sizes[client])
                x = x - size * (gradient(name, client, x) + drawn)
            ends.append(x)
        server.append((ends[0] + ends[1]) / 2)
    return server


@every_kind
def test_noisy_runs_are_averages_over_all_coins(name: str) -> None:
    """Means, distances and gaps of a run with two-point noise contain the averages over all outcomes in mpmath."""
    run = run_of(name, problem={"noise": [1, "1/2"]}, steps=(1, 2), rounds=1, size="1/3")
    places = [(0, 0, 0), (0, 0, 1), (0, 1, 1)]
    outcomes = [
        models(name, run, dict(zip(places, signs, strict=True))) for signs in itertools.product((1, -1), repeat=3)
    ]
    kind, given_terms = KINDS_OF_RUNS[name]
    terms = [[precise(number) for number in term[2:]] for term in given_terms]
    star = mp.findroot(lambda x: mean_gradient(name, x), plain_float(run.problem.optimum[0]))

    def objective(x: mp.mpf) -> mp.mpf:
        return mp.fsum(a * value(kind, x - b, w) for a, b, w in terms) / 2

    trajectory = run.trajectory
    for n in range(2):
        at = [outcome[n] for outcome in outcomes]
        assert encloses(trajectory.server_mean[n, 0], mp.fsum(at) / 8)
        assert encloses(trajectory.server_distance_sq[n], mp.fsum((x - star) ** 2 for x in at) / 8)
        assert encloses(trajectory.server_suboptimality[n], mp.fsum(objective(x) - objective(star) for x in at) / 8)
        assert encloses(trajectory.server_gradient_sq[n], mp.fsum(mean_gradient(name, x) ** 2 for x in at) / 8)


@every_kind
def test_floats_are_near(name: str) -> None:
    """Expectations and constants in double precision agree with the enclosures up to rounding."""
    run = run_of(name, problem={"noise": [1, "1/2"]})
    floats = run.as_floats()
    assert run.arithmetic is ENCLOSED
    assert floats.arithmetic is FLOAT
    for fact in ("server_suboptimality", "server_distance_sq", "server_gradient_sq", "drift", "largest_gradient_sq"):
        exact = np.vectorize(plain_float, otypes=[float])(getattr(run.trajectory, fact))
        assert np.allclose(exact, getattr(floats.trajectory, fact), rtol=1e-11, atol=1e-13)
    for constant in ("dissimilarity_sq", "mean_dissimilarity_sq", "second_moment", "lipschitz_sq"):
        assert np.isclose(plain_float(getattr(run, constant).value), getattr(floats, constant).value, rtol=1e-9)
    assert np.isclose(plain_float(run.smoothness), floats.smoothness, rtol=1e-8)


def test_clients_and_surrogates_in_enclosures() -> None:
    """Minimisers of single clients, and of mixtures of them, are those of mpmath, also in centred coordinates."""
    run = run_of("softplus")
    star = run.problem.optimum[0]
    for client in range(2):
        own = mp.findroot(lambda x, client=client: gradient("softplus", client, x), 0)
        assert encloses(run.problem.client_optima[client, 0], own)
        assert encloses(run.problem.centred.client_optima[client, 0] + star, own)
    mixture = RATIONAL.array(["1/4", "3/4"])
    found = run.surrogate._minimise(mixture, run.problem.centred.start)[0] + star
    mixed = mp.findroot(lambda x: gradient("softplus", 0, x) + 3 * gradient("softplus", 1, x), 0)
    assert encloses(found, mixed)
    assert run.surrogate.optimum.tolist() == [0]


def test_several_coordinates() -> None:
    """Constants in several coordinates are those of the coordinates; one without terms keeps its start."""
    run = loss_run(problem([*TWO_COORDINATES, (0, 2, 1, 5, 1), (1, 2, 1, 5, 1)], [3, -1, 0], kind="log-cosh"))
    alone = [[(o, 0, a, b, w) for o, c, a, b, w in TWO_COORDINATES if c == place] for place in range(2)]
    parts = [loss_run(problem(given_terms, [3], kind="log-cosh")) for given_terms in alone]
    for client in range(2):
        together = run.client_dissimilarities_sq.value[client]
        each = [part.client_dissimilarities_sq.value[client] for part in parts]
        assert convert_to_ball(together - each[0] - each[1]).contains(0)
    assert convert_to_ball(run.problem.optimum[1] - parts[1].problem.optimum[0]).contains(0)
    assert run.problem.optimum[2] == 5


def test_distant_centres() -> None:
    """Suprema on plateaus between distant centres, and minimisers there, are found."""
    apart = [(0, 0, 1, 0, 1), (0, 0, 1, 2000, 1), (1, 0, 1, 1000, 1)]
    run = loss_run(problem(apart, [3], kind="log-cosh"))
    # Client 0 is -2, 0 and 2 on the three plateaus around 0 and 2000; client 1 is -1 up to 1000, then 1.
    assert encloses(run.dissimilarity_sq.value, mp.mpf(1) / 4)
    given_terms = [*apart, *((client, 0, "1/2", centre, -width) for client, _, _, centre, width in apart)]
    flat = problem(given_terms, [3], kind="softplus")
    optimum = flat.optimum[0]
    assert convert_to_ball(optimum).rad() < 1e-60
    with precise_enclosures(4096):
        assert convert_to_ball(flat.mean_gradients(flat.optimum)[0]).contains(0)
