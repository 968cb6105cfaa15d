"""Runs on scalar losses: expectations over all outcomes, the quadratic limit, frames, and claims."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_runs import TWO_CLIENTS, TWO_COORDINATES, loss_run, problem, random_terms

from fedtheory import Run
from fedtheory.arithmetic import FLOAT, RATIONAL, plain_floats
from fedtheory.engine.frames import list_frames_at
from fedtheory.engine.losses import LossRun
from fedtheory.engine.region import Everywhere
from fedtheory.errors import NotApplicable
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.losses.noise import TwoPointNoise
from fedtheory.federation.problem import quadratic
from fedtheory.language import assumptions, quantities
from fedtheory.language.claim_places import iterate_sites
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import all_claims, find
from verify.check import check
from verify.instances import FAMILIES, Instance

few = settings(max_examples=15, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)


def test_outcomes_by_hand() -> None:
    """One client of width 1, from 2 with steps and noise of size 1, has models 0 or 2, then -1, 1, 0 or 2."""
    run = loss_run(problem([(0, 0, 1, 0, 1)], [2], noise=[1]), rounds=2, size=1, steps=1)
    trajectory = run.trajectory
    assert trajectory.server_mean[:, 0].tolist() == [2, 1, fmpq(1, 2)]
    assert trajectory.server_suboptimality.tolist() == [fmpq(3, 2), fmpq(3, 4), fmpq(5, 8)]
    assert trajectory.server_distance_sq.tolist() == [4, 2, fmpq(3, 2)]
    assert trajectory.server_gradient_sq.tolist() == [1, fmpq(1, 2), fmpq(3, 4)]
    assert run.visited_second_moment.value == 2
    assert run.second_moment.value == 2
    assert run.noise_variance.value == 1


def _models(run: LossRun, coins: dict[tuple[int, int, int], int]) -> list[tuple[list[fmpq], list[list[list[fmpq]]]]]:
    """Return a one-dimensional run for one outcome of its noise signs (round, step, client), in plain numbers.

    The result has for each round its first model and the clients' iterates.
    """
    at, work = run.problem, run.algorithm.work
    terms = list(zip(at.terms.owners, at.terms.weights, at.terms.centres, at.terms.widths, strict=True))
    sizes = getattr(at.oracle, "sizes", [0] * at.clients)
    server, rounds = at.start[0], []
    for n in range(run.algorithm.rounds):
        iterates = [[server] * at.clients]
        for k in range(max(work.steps)):
            after = []
            for client, x in enumerate(iterates[-1]):
                own = [a * max(min(x - b, w), -w) for owner, a, b, w in terms if owner == client]
                moved = x - work.step_sizes[client] * (sum(own) + coins.get((n, k, client), 0) * sizes[client])
                after.append(moved if k < work.steps[client] else x)
            iterates.append(after)
        rounds.append((server, iterates))
        change = sum(p * (x - server) for p, x in zip(at.weights, iterates[-1], strict=True))
        server = server + run.algorithm.aggregation.server_step_size * change
    return [*rounds, (server, [])]


@few
@given(seeds)
def test_expectations_are_averages_over_all_coins(seed: int) -> None:
    """Expectations agree exactly with the enumeration of noise signs, with unequal weights, steps and step sizes."""
    generator = np.random.default_rng(seed)
    at = problem(random_terms(generator, 2, 1), [3], weights=["1/3", "2/3"], noise=[1, "1/2"])
    algorithm = fedavg(
        at,
        rounds=2,
        local_step_size=RATIONAL.array(["1/4", "1/3"]),
        local_steps=(1, 2),
        server_step_size=fmpq(3, 2),
    )
    run = LossRun(at, algorithm)
    places = [(n, k, i) for n in range(2) for k in range(2) for i in range(2) if k < (1, 2)[i]]
    signs = itertools.product((1, -1), repeat=len(places))
    outcomes = [_models(run, dict(zip(places, each, strict=True))) for each in signs]
    star, trajectory, count = at.optimum[0], run.trajectory, len(outcomes)
    for n in range(3):
        models = [rounds[n][0] for rounds in outcomes]
        assert trajectory.server_mean[n, 0] == sum(models) / count
        assert trajectory.server_distance_sq[n] == sum((x - star) ** 2 for x in models) / count
        gaps = [at.value(RATIONAL.array([x])) - at.optimal_value for x in models]
        assert trajectory.server_suboptimality[n] == sum(gaps) / count
    for n, k, i in itertools.product(range(2), range(3), range(2)):
        local = [rounds[n][1][k] for rounds in outcomes]
        averages = [x[0] / 3 + x[1] * fmpq(2, 3) for x in local]
        apart = sum((x[i] - mean) ** 2 for x, mean in zip(local, averages, strict=True)) / count
        assert trajectory.drift[n, k, i] == apart
        assert trajectory.local_distance_sq[n, k] == sum((mean - star) ** 2 for mean in averages) / count


def _twins(noise: bool, even: bool) -> tuple[LossRun, Run]:
    """Return Huber losses of huge width, and the quadratics that they equal on the path."""
    wide = 10**9
    given_terms = [(0, 0, 2, 1, wide), (0, 0, 1, "1/2", wide), (1, 0, 4, -1, wide), (2, 0, "1/2", 0, wide)]
    if not noise:
        given_terms += [(0, 1, 1, 2, wide), (1, 1, 3, 0, wide), (2, 1, 2, -1, wide)]
    dimension = 1 if noise else 2
    sizes = [1, "1/2", 0] if noise else [0, 0, 0]
    weights = ["1/3"] * 3 if even else ["1/2", "1/3", "1/6"]
    at = problem(given_terms, [3, -2][:dimension], weights=weights, noise=sizes)
    zero = RATIONAL.zeros(3, dimension)
    slopes = at.gradients(zero)
    columns = [at.gradients(zero + row) - slopes for row in RATIONAL.identity(dimension)]
    plain = quadratic(
        np.stack(columns, axis=2),
        -slopes,
        at.start,
        constants=at.terms.values(zero),
        weights=at.weights,
        noise=RATIONAL.array(sizes) ** 2,
    )
    keys = {"rounds": 2, "local_step_size": fmpq(1, 20), "server_step_size": fmpq(1) if even else fmpq(3, 2)}
    algorithm = fedavg(plain, local_steps=1 if noise else 2, **keys)
    return LossRun(at, algorithm), Run(plain, algorithm)


ON_ALL_OF_SPACE = {"strong_convexity", "smallest_curvature", "client_strong_convexity", "discounted_suboptimality"}
"""Constants, and averages with them, that differ because Huber losses are not quadratic far away."""


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_huge_widths_are_quadratics(noise: bool, even: bool) -> None:
    """All quantities except constants of assumptions are those of the moment engine, to the last digit."""
    wide, plain = _twins(noise, even)
    everything = [entry for entry in vars(quantities).values() if isinstance(entry, RunQuantity)]
    compared = 0
    for quantity in everything:
        if quantity.region is not None or quantity.name in ON_ALL_OF_SPACE:
            continue
        try:
            found, expected = quantity.measure(wide), quantity.measure(plain)
        except NotApplicable:
            continue
        # An axis along which nothing changes may have length one.
        assert np.array_equal(*np.broadcast_arrays(found, expected)), quantity.name
        compared += 1
    assert compared >= 90


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_huge_widths_satisfy_the_same_claims(noise: bool, even: bool) -> None:
    """Claims without constants of assumptions have equal sides on both runs, at every kind of place."""
    wide, plain = _twins(noise, even)
    places = set()
    for claim in all_claims().values():
        names = {quantity.name for quantity in claim.notation.values()}
        bounded = any(isinstance(n, RunQuantity) and n.region is not None for n in claim.notation.values())
        if bounded or names & ON_ALL_OF_SPACE or claim.rate is not None:
            continue
        # Sampled paths differ between kinds of noise.
        if noise and claim.place == "path":
            continue
        found, expected = check(claim, wide), check(claim, plain)
        if found.applicable and expected.applicable and found.worst is not None and expected.worst is not None:
            if noise and claim.place == "round":
                assert found.holds == expected.holds, claim.id
                continue
            places.add(claim.place)
            # Enclosures of equal roots are compared as text.
            assert str(found.worst.lhs) == str(expected.worst.lhs), claim.id
            assert str(found.worst.rhs) == str(expected.worst.rhs), claim.id
    assert places >= {"run", "step", "points"}
    assert noise or places >= ({"path", "round"} if even else {"path"})


RUNS: dict[str, LossRun] = {
    "huber, exact": loss_run(problem(TWO_COORDINATES, [3, -1], noise=[1, "1/2"])),
    "huber, exact, no noise": loss_run(problem(TWO_COORDINATES, [3, -1]), rounds=1),
    "huber, floats": loss_run(problem(TWO_CLIENTS, [3.0], arithmetic=FLOAT), steps=(1, 3)),
    "log-cosh": loss_run(problem(TWO_COORDINATES, [3.0, -1.0], kind="log-cosh", arithmetic=FLOAT)),
    "log-cosh, enclosures": loss_run(problem(TWO_CLIENTS, [3], kind="log-cosh", noise=[1, 0]), rounds=1),
    "softplus": loss_run(
        problem([*TWO_CLIENTS, (0, 0, 2, 0, -1)], [3.0], kind="softplus", arithmetic=FLOAT, noise=[1, 0]), rounds=1
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_every_claim_gets_a_check(name: str) -> None:
    """Each claim of every source applies or gives a reason, without another error."""
    run = RUNS[name]
    claims = [claim for claim in all_claims().values() if claim.rate is None or run.arithmetic is FLOAT]
    found = [check(claim, run) for claim in claims]
    assert all(each.applicable or each.reason for each in found)
    assert sum(each.applicable for each in found) > 50


@pytest.mark.parametrize("name", ["huber, exact", "huber, exact, no noise"])
def test_exact_violations_are_of_refuted_claims(name: str) -> None:
    """Only claims recorded as refuted fail on Huber losses, in exact arithmetic."""
    for claim in all_claims().values():
        if claim.rate is None:
            assert check(claim, RUNS[name]).holds is not False or claim.verdict == "refuted", claim.id


def test_claims_hold_inside_their_assumptions_with_different_curvatures() -> None:
    """Theorems that need bounded dissimilarity or gradients apply on the whole space."""
    run = RUNS["huber, exact, no noise"]
    assert len(set(run.client_smoothness)) == 2
    for claim_id in ("renard2022:thm-2.1", "renard2022:lemma-2.3", "liu2022:thm-1.sharp"):
        found = check(find(claim_id), run)
        assert found.applicable, found.reason
        assert found.everywhere
        assert found.holds


def test_steps_in_expectation_are_the_trajectory() -> None:
    """Values, distances and drift from frames equal those of the run's expectations exactly."""
    run = RUNS["huber, exact"]
    trajectory, least = run.trajectory, run.problem.optimal_value
    for frame in list_frames_at("step", run):
        n, k = int(frame.index["round"]), int(frame.index["step"])
        apart = frame.local + frame.average.scale(RATIONAL.array([-1]))
        assert run.mean_objective.value(frame, frame.average).item() - least == trajectory.local_suboptimality[n, k]
        assert frame.inner(frame.average, frame.average).item() == trajectory.local_distance_sq[n, k]
        assert frame.inner(apart, apart).ravel().tolist() == trajectory.drift[n, k].tolist()
        after = run.mean_objective.gradient(frame, frame.next_average)
        assert frame.inner(after, after).item() == trajectory.local_gradient_sq[n, k + 1]


def test_noise_of_a_step_is_fresh() -> None:
    """Noise is orthogonal to past vectors in expectation, independent between clients, with variance s^2 d."""
    run = RUNS["huber, exact"]
    for frame in list_frames_at("step", run):
        for past in (frame.local, frame.server, frame.average):
            assert (frame.inner(frame.noise, past) == 0).all()
        assert frame.inner(frame.noise, frame.noise).ravel().tolist() == [2, fmpq(1, 2)]
        mean = frame.noise.average(run.problem.weights)
        assert frame.inner(mean, mean).item() == fmpq(5, 8)


def test_two_point_noise_has_its_moments() -> None:
    """Both outcomes have probability 1/2, with mean zero, variance s^2 per entry, and s^2 d in total."""
    oracle, like = TwoPointNoise(RATIONAL.array([3, 0])), RATIONAL.zeros(2, 2)
    variances = oracle.pull_back(np.stack([RATIONAL.identity(2)] * 2), RATIONAL.zeros(2, 3, 3))
    for client, size in enumerate((3, 0)):
        law = oracle.draws(client, like)
        drawn = law.maps[:, :, 0]
        assert law.probabilities.sum() == 1
        assert (law.probabilities @ drawn == 0).all()
        second = sum(p * np.outer(x, x) for p, x in zip(law.probabilities, drawn, strict=True))
        assert (second == oracle.covariances(RATIONAL.zeros(2, 3, 3), RATIONAL.zeros(2, 2, 2))[client]).all()
        assert second.trace() == variances[client, 0, 0] == 2 * size**2
    assert oracle.select_clients([1, 0]).sizes.tolist() == [0, 3]
    sampled = oracle.as_floats().sample(np.zeros((64, 2, 2)), np.random.default_rng(0))
    assert {tuple(noise) for noise in sampled[:, 0]} == {(3.0, 3.0), (-3.0, -3.0)}
    assert (sampled[:, 1] == 0).all()


def test_sampled_paths_are_among_the_outcomes() -> None:
    """The server's models on a sampled path are one outcome of the enumeration."""
    run = RUNS["huber, exact"]
    second = next(f for f in list_frames_at("path", run) if f.index == {"round": 1, "step": 0})
    assert any((second.server.values[0] == model).all() for model in run.trajectory.rounds_of_outcomes[1].server)


def test_refused_enumerations_of_losses() -> None:
    """Too many outcomes, sampled participants, and quantities of quadratics are rejected with a reason."""
    at = problem(TWO_CLIENTS, [3], noise=[1, 1])
    with pytest.raises(NotApplicable, match=r"2\^16 outcomes, more than the 2\^14"):
        _ = loss_run(at, rounds=4).trajectory
    sampled = fedavg(at, rounds=1, local_step_size=fmpq(1, 20), participation=Uniform(1))
    with pytest.raises(NotApplicable, match="participants that are not sampled"):
        _ = LossRun(at, sampled).trajectory
    for ask in (lambda: at.hessians, lambda: at.hessian, lambda: at.mean_linear):
        with pytest.raises(NotApplicable, match="not quadratics"):
            ask()
    with pytest.raises(NotApplicable, match="moments do not close"):
        _ = RUNS["huber, exact"].trajectory.moments
    with pytest.raises(NotApplicable, match="quadratics only"):
        _ = RUNS["huber, exact"].ball


def test_more_clients_and_rounds() -> None:
    """A run with every client repeated has the same models, and a further round extends the run."""
    run = RUNS["huber, exact, no noise"]
    copies, longer = run.with_copies(3), run.with_rounds(3)
    assert copies.problem.clients == 6
    assert (copies.trajectory.server_mean == run.trajectory.server_mean).all()
    assert (longer.trajectory.server_mean[:2] == run.trajectory.server_mean).all()
    assert isinstance(run.as_floats(), LossRun)
    assert np.allclose(
        run.as_floats().trajectory.server_suboptimality, FLOAT.array(run.trajectory.server_suboptimality), rtol=1e-12
    )


@pytest.mark.parametrize("family", [name for name in FAMILIES if "huber" in name or "smooth" in name])
def test_families_are_inside_the_assumptions(family: str) -> None:
    """Gradients and dissimilarity are bounded on the whole space, and most instances have different curvatures."""
    runs = [Instance(family, number).run() for number in range(FAMILIES[family].size)]
    for run in runs:
        assert run.dissimilarity_sq.region == run.second_moment.region == Everywhere()
        meant_for = FAMILIES[family].meant_for
        assert meant_for is None or meant_for.failure(run) is None
    assert sum(len(set(plain_floats(run.client_smoothness))) > 1 for run in runs) > len(runs) / 2


def test_free_points_are_places() -> None:
    """Smoothness and convexity hold between all probes, for each client."""
    run = RUNS["huber, exact, no noise"]
    assert assumptions.convex_and_smooth.failure(run) is None
    claim = find("renard2022:property-2.1")
    assert len(list(iterate_sites(claim, run))) >= 9
    assert check(claim, run).holds
