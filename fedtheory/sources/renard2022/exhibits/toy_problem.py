"""The toy problem of Section 3: mini-batch FedAvg on two handwritten digits, exactly and by sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine import sampling
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import least_squares
from fedtheory.federation.problem.datasets import DataSet, load
from fedtheory.federation.problem.split import split_by_dirichlet, split_iid
from fedtheory.runfile.problems import split_data

DATA, CLIENTS, BATCH, LOCAL_STEPS, ROUNDS = "digits:3-8", 10, 8, 5, 100
STEP_SIZE = 0.02
CONCENTRATION = 0.1
REPLICAS = 200
CONFIDENCE = 0.99
_TEST_FRACTION = 0.2


@dataclass(frozen=True, eq=False)
class ToyRun:
    """FedAvg on one split of the data: exact loss, its Monte-Carlo estimate, and accuracies of the classifier."""

    name: str
    run: Run
    loss: Array
    """Exact expected training loss E L_D(w^n), (T+1,)."""
    sampled_loss: sampling.ReplicaMeans
    train_accuracy: sampling.ReplicaMeans
    test_accuracy: sampling.ReplicaMeans
    sizes: list[int]
    """Rows of each client."""

    @property
    def with_equal_weights(self) -> Run:
        """Return the run with equal client weights, as the convergence theorem requires."""
        problem = self.run.problem
        assert problem.data is not None
        equal = least_squares(problem.data, problem.start, batch=BATCH)
        return Run(equal, self.run.algorithm)

    @property
    def noise_at_optimum(self) -> float:
        """Return the largest mini-batch variance of a client at the minimiser of the loss."""
        centred = self.run.problem.centred
        at_optimum = np.zeros((centred.clients, centred.dimension + 1, centred.dimension + 1))
        at_optimum[:, 0, 0] = 1
        return float(centred.noise_covariances(at_optimum).trace(axis1=1, axis2=2).max())

    @property
    def inside(self) -> int:
        """Count the rounds at which the exact loss lies within the Monte-Carlo interval."""
        low, high = self.sampled_loss.low, self.sampled_loss.high
        # At the start all replicas agree, and the interval is a point up to rounding.
        slack = 1e-12 * self.loss
        return int(((self.loss >= low - slack) & (self.loss <= high + slack)).sum())


def make_toy_runs() -> list[ToyRun]:
    """Return the two splits, IID and Dirichlet, with the same data, objective and algorithm."""
    data = load(DATA)
    train, test = _split_rows(len(data.outputs))
    labels = data.outputs[train]
    splits = {
        "IID": split_iid(len(train), CLIENTS, seed=0),
        f"Dirichlet({CONCENTRATION})": split_by_dirichlet(labels, CLIENTS, CONCENTRATION, seed=0),
    }
    return [_simulate(name, data, [train[part] for part in parts], test) for name, parts in splits.items()]


def _split_rows(count: int) -> tuple[Array, Array]:
    """Return random rows for training and the rest for tests, sorted."""
    shuffled = np.random.default_rng(0).permutation(count)
    held_out = int(_TEST_FRACTION * count)
    return np.sort(shuffled[held_out:]), np.sort(shuffled[:held_out])


def _simulate(name: str, data: DataSet, parts: list[Array], test: Array) -> ToyRun:
    """Run FedAvg on a split: exactly, and in replicas that also measure accuracies on training and test rows."""
    sizes = [len(part) for part in parts]
    problem = least_squares(
        split_data(data, parts, FLOAT),
        np.zeros(data.inputs.shape[1]),
        batch=BATCH,
        # With client weights in proportion to the data, F is the loss L_D of the whole training set for any split.
        weights=np.array(sizes) / sum(sizes),
        description=f"least squares on {data.name}, {name}",
    )
    run = Run(problem, fedavg(problem, rounds=ROUNDS, local_step_size=STEP_SIZE, local_steps=LOCAL_STEPS))
    train = np.concatenate(parts)

    exact = run.trajectory.server_suboptimality + problem.optimal_value
    measures = (sampling.loss(problem), make_accuracy_measure(data, train), make_accuracy_measure(data, test))
    loss, train_accuracy, test_accuracy = sampling.estimate_expectations(
        problem, run.algorithm, measures, replicas=REPLICAS, seed=1, confidence=CONFIDENCE
    )
    return ToyRun(name, run, exact, loss, train_accuracy, test_accuracy, sizes)


def make_accuracy_measure(data: DataSet, rows: Array) -> sampling.Measure:
    """Return a measure of the fraction of rows whose sign a linear model predicts, for models (replicas, d)."""
    inputs, are_positive = data.inputs[rows], data.outputs[rows] > 0

    def measure(models: Array) -> Array:
        return np.asarray(((models @ inputs.T >= 0) == are_positive).mean(axis=-1))

    return measure
