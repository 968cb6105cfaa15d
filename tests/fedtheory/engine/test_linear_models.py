"""Linear models on data: certified minimisers, safe constants, replicas against plain loops."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory import FLOAT, InputError, parse_run
from fedtheory.arithmetic import Array
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.linear_models.comparator import ModelComparator, find_comparator_model
from fedtheory.errors import NoMinimiser
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.runfile import run_table

STEP = {"local_step_size": "1/10", "local_steps": 3, "rounds": 4}
ROWS = {
    "inputs": [[[1, 2], [-1, 1], [2, -1]], [[1, 1], [-2, -1]]],
    "outputs": [[1, 0, 0], [1, 1]],
    "ridge": "1/10",
}


def model_run(algorithm: dict[str, Any] | None = None, **keys: Any) -> LinearModelRun:
    """Return a run on five rows of two clients, or with the given keys."""
    problem = {"kind": "logistic", **({} if "data" in keys else ROWS), **keys}
    run = parse_run({"problem": problem, "algorithm": {**STEP, **(algorithm or {})}}, FLOAT)
    assert isinstance(run, LinearModelRun)
    return run


def plain_gradient(x: Array, labels: Array, w: Array, ridge: float) -> Array:
    """Return the gradient of the average logistic loss, row by row."""
    rows = [-s * row / (1 + np.exp(s * (row @ w))) for row, s in zip(x, labels, strict=True)]
    return np.asarray(np.mean(rows, axis=0) + ridge * w)


def test_a_run_without_draws_is_plain_gradient_descent() -> None:
    """Local steps, the client average, and the loss agree with loops."""
    run = model_run()
    data = [(np.array(x, dtype=float), 2.0 * np.array(y) - 1) for x, y in zip(*list(ROWS.values())[:2], strict=True)]
    server = np.zeros(2)
    for n in range(5):
        assert np.allclose(run.trajectory.server_mean[n], server, rtol=0, atol=1e-14)
        losses = [np.mean(np.log1p(np.exp(-s * (x @ server)))) for x, s in data]
        loss = np.mean(losses) + 0.05 * server @ server
        assert run.trajectory.server_loss[n] == pytest.approx(loss, abs=1e-14)
        ends = []
        for x, labels in data:
            w = server.copy()
            for _ in range(3):
                w = w - 0.1 * plain_gradient(x, labels, w, 0.1)
            ends.append(w)
        server = np.mean(ends, axis=0)
    assert not run.is_estimated
    assert run.replicas == 1


def _accuracy_at(problem: LinearModelProblem, model: Array) -> float:
    """Return the fraction of rows that a model (d,) classifies correctly."""
    _, _, fractions = problem.model.evaluate(problem.row_weights, model[None])
    return float(fractions[0])


@pytest.mark.parametrize(("data", "ridge"), [("breast_cancer", 0.01), ("digits:3-8", 0.001), ("breast_cancer", 1e-4)])
def test_the_optimum_is_that_of_scikit_learn(data: str, ridge: float) -> None:
    """With C = 1/(n ridge) and a column of ones, the penalised optimum is that of scikit-learn."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    run = model_run(data=data, clients=4, shares="samples", ridge=ridge)
    model = run.problem.model
    rows, labels = model.inputs * model.labels[:, None], model.labels
    fitted = linear_model.LogisticRegression(
        C=1 / (len(rows) * ridge), fit_intercept=False, tol=1e-12, max_iter=10_000, solver="newton-cholesky"
    ).fit(rows, labels)
    theirs = fitted.coef_[0]
    assert abs(run.problem.value(theirs) - run.problem.optimal_value) < 1e-9
    assert np.linalg.norm(theirs - run.problem.optimum) < 1e-6
    assert run.problem.minimum.gap < 1e-15
    assert _accuracy_at(run.problem, theirs) == pytest.approx(fitted.score(rows, labels), abs=1e-12)


def test_rows_on_the_border_count_half_in_spite_of_rounding() -> None:
    """All margins are zero at the start, which the coordinates about the optimum round to small numbers."""
    rows = np.random.default_rng(3).normal(size=(2, 40, 3)).tolist()
    outputs = [[n % 2 for n in range(40)], [n % 3 // 2 for n in range(40)]]
    run = model_run({"rounds": 2}, inputs=rows, outputs=outputs, ridge="1/10", batch=2)
    assert run.is_estimated
    accuracy = run.trajectory.interval("accuracy")
    assert (accuracy.low[0], accuracy.mean[0], accuracy.high[0]) == (0.5, 0.5, 0.5)
    assert _accuracy_at(run.problem, np.zeros(3)) == 0.5
    assert _accuracy_at(run.problem.centred, run.problem.centred.start) == 0.5


def _exact_logistic_loss(model: Array) -> Decimal:
    """Return F of `ROWS` at a model (2,), in the digits of the decimal context."""
    coefficients = [Decimal(float(c)) for c in model]
    rows: Any = zip(ROWS["inputs"], ROWS["outputs"], strict=True)  # type: ignore[arg-type]
    means = []
    for inputs, labels in rows:
        margins = [
            (2 * y - 1) * sum(c * a for c, a in zip(coefficients, x, strict=True))
            for x, y in zip(inputs, labels, strict=True)
        ]
        means.append(sum((1 + (-margin).exp()).ln() for margin in margins) / len(labels))
    return Decimal(sum(means)) / len(means) + sum(c * c for c in coefficients) / 20


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7, 1e-9])
def test_gaps_near_the_optimum_keep_their_digits(distance: float) -> None:
    """F(x) - F* agrees with arithmetic of 60 digits, also where both values agree in all digits of a float."""
    problem = model_run().problem
    points = problem.optimum + distance * np.array([[1.0, 0.0], [0.6, -0.8], [-0.3, 0.2]])
    with localcontext(prec=60):
        lowest = _exact_logistic_loss(problem.optimum)
        exact = [float(_exact_logistic_loss(point) - lowest) for point in points]
    assert problem.gaps(points) == pytest.approx(exact, rel=1e-6, abs=0)


@pytest.mark.parametrize("data", ["breast_cancer", "digits:3-8"])
def test_an_intercept_without_penalty_is_that_of_scikit_learn(data: str) -> None:
    """With `fit_intercept` scikit-learn excludes the intercept from the penalty as well."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    run = model_run(data=data, clients=4, shares="samples", ridge=0.01, penalize_intercept=False)
    model = run.problem.model
    rows, labels = model.inputs * model.labels[:, None], model.labels
    fitted = linear_model.LogisticRegression(
        C=1 / (len(rows) * 0.01), tol=1e-12, max_iter=10_000, solver="newton-cholesky"
    ).fit(rows[:, :-1], labels)
    theirs = np.append(fitted.coef_[0], fitted.intercept_)
    assert abs(run.problem.value(theirs) - run.problem.optimal_value) < 1e-9
    assert np.linalg.norm(theirs - run.problem.optimum) < 1e-6
    assert run.problem.minimum.gap < 1e-12
    assert run.strong_convexity == 0


@pytest.mark.parametrize("features", [3, 12], ids=["tall", "wide"])
def test_numbers_with_a_free_intercept(features: int) -> None:
    """Values, gradients and the comparator agree with finite differences and Newton's residual, also after reading
    back.
    """
    generator = np.random.default_rng(3)
    inputs = [np.column_stack([generator.standard_normal((4, features)), np.ones(4)]).tolist() for _ in range(2)]
    keys = {"inputs": inputs, "outputs": [[0, 1, 1, 0], [1, 0, 0, 1]], "ridge": 0.3, "penalize_intercept": False}
    run = model_run(**keys, start=[1.0] * (features + 1))
    problem = run.problem
    point = generator.standard_normal(features + 1)
    steps = 1e-6 * np.eye(features + 1)
    slopes = [(problem.value(point + step) - problem.value(point - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(problem.mean_gradients(point[None])[0], slopes, atol=1e-8)
    assert np.linalg.norm(problem.mean_gradients(problem.optimum[None])) < 1e-12
    assert problem.minimum.distance < 1e-9
    near = problem.find_comparator(2.0)
    residual = problem.mean_gradients(near[None])[0] + (near - problem.start) / 2
    assert np.linalg.norm(residual) < 1e-12
    moved = problem.centred
    assert moved.value(point - problem.optimum) == pytest.approx(problem.value(point), rel=1e-12)
    again = parse_run(run_table(run), FLOAT)
    np.testing.assert_allclose(again.trajectory.server_suboptimality, run.trajectory.server_suboptimality, rtol=1e-9)


def test_a_minimiser_without_a_ridge_is_certified() -> None:
    """Overlapping classes have a minimiser in the span of the rows; the closest to the start is certified."""
    run = model_run(inputs=[[[1, 1], [-1, -1], [2, 2]], [[1, 1]]], outputs=[[1, 0, 0], [0]], ridge=0, start=[1, 0])
    found = run.problem.minimum
    assert np.linalg.norm(run.problem.mean_gradients(found.point[None])) < 1e-14
    assert found.distance < 1e-12
    # The start is moved along (1, 1) only.
    assert found.point[0] - found.point[1] == pytest.approx(1, abs=1e-12)


def test_classes_that_a_hyperplane_separates_have_no_minimiser() -> None:
    """Bounds on the gap do not apply to separable classes, with a reason; the run itself is computed."""
    run = model_run(outputs=[[1, 1, 1], [1, 0]], ridge=0)
    with pytest.raises(NoMinimiser, match="separates the two classes: add a ridge"):
        _ = run.initial_gap
    assert run.trajectory.server_loss[-1] < run.trajectory.server_loss[0]
    assert not run.problem.is_bounded_below


def test_rows_on_the_border_leave_the_minimiser_open() -> None:
    """For classes that touch, the loss decreases without end in a direction, so the minimiser is left open."""
    run = model_run(inputs=[[[1], [0]], [[-1], [0]]], outputs=[[1, 1], [0, 0]], ridge=0)
    with pytest.raises(NoMinimiser, match="could be certified"):
        _ = run.problem.optimum


@pytest.mark.parametrize("keys", [{}, {"ridge": 0, "outputs": [[1, 0, 1], [1, 1]]}, {"batch": 2}, {"kind": "huber"}])
def test_constants_hold_at_random_points(keys: dict[str, Any]) -> None:
    """Curvatures, noise, dissimilarity and second moments are below their bounds at random points."""
    run = model_run(**keys)
    problem, known = run.problem, run.problem.known_everywhere
    generator = np.random.default_rng(0)
    points = generator.standard_normal((200, 2)) * 10.0 ** generator.uniform(-2, 2, (200, 1))
    others = points + generator.standard_normal((200, 2)) * 10.0 ** generator.uniform(-3, 1, (200, 1))
    each = [problem.gradients(np.repeat(x[:, None], 2, axis=1)) for x in (points, others)]
    moved = np.linalg.norm(each[0] - each[1], axis=2) / np.linalg.norm(points - others, axis=1)[:, None]
    assert (moved <= known.client_smoothness * (1 + 1e-6)).all()
    mean = each[0].mean(axis=1, keepdims=True)
    apart = ((each[0] - mean) ** 2).sum(axis=2)
    assert (apart <= known.dissimilarities_sq * (1 + 1e-12)).all()
    centre = run.problem.centre
    noise = np.array([ModelComparator(problem, x - centre).client_noise for x in points])
    assert (noise <= known.noise * (1 + 1e-12)).all()
    if problem.model.ridge == 0:
        moments = run.second_moments_at(points - centre)
        assert (moments <= known.second_moments * (1 + 1e-12)).all()


@pytest.mark.parametrize("replacement", [True, False])
def test_batches_have_the_mean_and_variance_that_are_stated(replacement: bool) -> None:
    """All batches of two rows, and many samples, have the stated mean and variance."""
    run = model_run(batch=2, replacement=replacement)
    problem, point = run.problem, np.array([0.3, -0.2])
    rows = problem.oracle.draw(20_000, np.random.default_rng(1))
    assert ((rows >= problem.model.first_rows[:, None]) & (rows < np.array([3, 5])[:, None])).all()
    drawn = problem.model.batch_slopes(np.broadcast_to(point, (20_000, 2, 2)), rows)
    full = problem.gradients(np.broadcast_to(point, (1, 2, 2)))[0]
    assert np.abs(drawn.mean(axis=0) - full).max() < 0.02
    stated = ModelComparator(problem, point - problem.centre).client_noise
    assert ((drawn - full) ** 2).sum(axis=2).mean(axis=0) == pytest.approx(stated, rel=0.05, abs=1e-12)
    if not replacement:
        assert (rows[..., 0] != rows[..., 1]).all()
        assert stated[1] == 0


def test_batches_larger_than_all_clients_are_counted() -> None:
    """Batches of nine of three and two rows, by counts, have the mean and variance of the gradients."""
    problem: Any = model_run(batch=9).problem
    oracle = problem.oracle
    assert oracle.are_counted
    assert not any(other.are_counted for other in (replace(oracle, batch=3), replace(oracle, replacement=False)))
    counts = oracle.draw_counts(20_000, np.random.default_rng(1))
    assert (counts[:, :3].sum(axis=1) == 9).all()
    assert (counts[:, 3:].sum(axis=1) == 9).all()
    points = np.broadcast_to(np.array([0.3, -0.2]), (20_000, 2, 2))
    found = problem.model.batch_gradients(points, counts)
    rows = np.array([np.repeat(np.arange(5), own) for own in counts[:20]]).reshape(20, 2, 9)
    np.testing.assert_allclose(found[:20], problem.model.batch_slopes(points[:20], rows), rtol=1e-12)
    full = problem.gradients(points[:1])[0]
    assert np.abs(found.mean(axis=0) - full).max() < 0.02
    stated = ModelComparator(problem, points[0, 0] - problem.centre).client_noise
    assert ((found - full) ** 2).sum(axis=2).mean(axis=0) == pytest.approx(stated, rel=0.05)


def test_estimates_are_the_same_for_the_same_seed_and_begin_alike() -> None:
    """With common random numbers a longer run begins with the shorter one, for every step size."""
    run = model_run(batch=1)
    assert run.is_estimated
    longer = run.with_rounds(7)
    assert np.array_equal(longer.trajectory.server_loss[:5], run.trajectory.server_loss)
    again = model_run(batch=1)
    assert np.array_equal(again.trajectory.server_mean, run.trajectory.server_mean)


def test_intervals_contain_the_exact_expectation_of_a_small_run() -> None:
    """The intervals contain the enumerated expectation of one step with one row of each client."""
    run = model_run({"rounds": 1, "local_steps": 1}, batch=1)
    problem = run.problem
    rows = [[(i, j)] for i in range(3) for j in (3, 4)]
    steps = [problem.model.batch_slopes(np.zeros((1, 2, 2)), np.array(pair)[:, :, None])[0] for pair in rows]
    exact = np.mean([problem.value(-0.1 * step.mean(axis=0)) for step in steps])
    found = run.trajectory.interval("loss")
    assert found.low[1] - 1e-3 < exact < found.high[1] + 1e-3
    assert found.low[1] < found.mean[1] < found.high[1]
    assert found.low[0] == found.high[0]


def test_participants_are_sampled() -> None:
    """One of two clients participates per round, with twice its weight."""
    run = model_run({"participation": {"kind": "uniform", "clients": 1}})
    assert run.is_estimated
    assert run.trajectory.server_loss[1] > run.problem.optimal_value


def test_the_comparator_balances_value_and_distance() -> None:
    """The comparator minimises F(y) + |x0 - y|^2 / (2s), with vanishing gradient."""
    run = model_run()
    time = 0.7
    found = find_comparator_model(run.problem, time)
    y = found.point + run.problem.optimum
    gradient = run.problem.mean_gradients(y[None])[0] + y / time
    assert np.linalg.norm(gradient) < 1e-12
    assert found.suboptimality == pytest.approx(run.problem.value(y) - run.problem.optimal_value, rel=1e-9)
    assert run.comparator.distance_sq < run.initial_distance_sq


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"outputs": [[1, 2, 3], [1, 2]]}, "expected two classes, got 3 different labels"),
        ({"outputs": [[1, 1, 1], [1, 1]]}, "got the label 1 in all rows"),
        ({"outputs": [[0.5, 1.25, 3], [1, 2]]}, 'use kind = "least-squares" or "huber" for numbers'),
        ({"ridge": -1}, "expected a number that is not negative"),
        ({"batch": 3, "replacement": False}, "the smallest client"),
        ({"kind": "hampel"}, "expected one of logistic, huber, log-cosh, softplus on data"),
        ({"kind": "huber", "width": 0}, "expected a positive number"),
    ],
)
def test_mistakes_are_named(keys: dict[str, Any], message: str) -> None:
    """An error names the given value and a suggestion."""
    with pytest.raises(InputError, match=message):
        model_run(**keys)


def test_labels_may_be_text(tmp_path: Path) -> None:
    """Text labels are sorted without surrounding spaces, the later one is class 1; missing ones are named."""
    keys = {"kind": "logistic", "data": "pets.csv", "target": "pet", "client": "site", "ridge": 1}
    rows = ["x,z,pet,site", "1,2,dog,a", "2,1,cat,a", "-1,3,cat,b", "1,1, dog ,b"]

    def read(lines: list[str]) -> LinearModelRun:
        (tmp_path / "pets.csv").write_text("\n".join(lines) + "\n")
        run = parse_run({"problem": keys, "algorithm": STEP}, FLOAT, tmp_path)
        assert isinstance(run, LinearModelRun)
        return run

    problem = read(rows).problem
    assert problem.classes == ("cat", "dog")
    assert problem.model.labels.tolist() == [1, -1, -1, 1]
    with pytest.raises(InputError, match=r"3 different labels \(cat, cow, dog\): keep the rows of two of them"):
        read([*rows, "1,1,cow,b"])
    with pytest.raises(InputError, match="row 6, column 'pet': missing value"):
        read([*rows, "1,1,,b"])


@pytest.mark.parametrize("kind", ["huber", "log-cosh", "softplus"])
def test_regressions_take_the_same_path(kind: str) -> None:
    """Regressions have stationary minimisers, and gradients that agree with differences of values."""
    run = model_run(kind=kind, outputs=[[1, 0.5, -2], [4, 1]])
    problem, point = run.problem, np.array([0.2, 0.1])
    assert np.linalg.norm(problem.mean_gradients(problem.optimum[None])) < 1e-12
    slope, h = problem.mean_gradients(point[None])[0], 1e-6
    for axis in range(2):
        step = h * np.eye(2)[axis]
        assert (problem.value(point + step) - problem.value(point - step)) / (2 * h) == pytest.approx(slope[axis])
    assert run.trajectory.server_suboptimality[-1] < run.trajectory.server_suboptimality[0]
