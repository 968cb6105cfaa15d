"""Base class of frames: points of a run at which the vectors of a claim have values.

Vectors have a client axis of length 1 or M and support inner products, so one
evaluator serves frames of every kind.  Coordinates are relative to x*.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from functools import cached_property

from fedtheory.arithmetic import Arithmetic, Array
from fedtheory.engine.memo import Memo
from fedtheory.engine.objectives import Objectives
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import Vector, VectorSpace
from fedtheory.errors import Misplaced, NotApplicable

Index = dict[str, int | str]
UNEQUAL_STEPS = "the clients take different numbers of local steps"


class Frame(VectorSpace):
    """A point of a run; subclasses define its vectors."""

    axes: tuple[str, ...] = ("round", "step", "client")
    """Meaning of a scalar's axes, each of full length or one."""
    valid: Array | None = None
    """Mask of the local steps that exist, (steps, M); None if all do."""

    def __init__(self, run: Run, index: Index) -> None:
        self._run = run
        self.index = index
        self.memo = Memo()
        """Cached scalars and vectors, shared by claims about this frame."""

    @property
    def run(self) -> Run:
        """The run; raises `Misplaced` for frames of several runs."""
        return self._run

    @property
    def alike(self) -> Hashable:
        """Key shared by frames that can be stacked; None if the frame cannot be stacked."""
        return None

    @property
    def numbers(self) -> int:
        """Approximate count of numbers in one vector."""
        return self._run.problem.clients * self.dimension

    @property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals."""
        return self._run.arithmetic

    @property
    def dimension(self) -> int:
        """d."""
        return self._run.problem.dimension

    def select_of_run(self, select: Callable[[Run], Array]) -> Array:
        """Select a value of this frame's run; a stack of several runs has one entry per place, on leading axes."""
        return select(self.run)

    def objectives(self, select: Callable[[Run], Objectives]) -> Objectives:
        """Return objectives of this frame's run."""
        return select(self.run)

    @cached_property
    def importances(self) -> Array:
        """p_i, (M,)."""
        return self.select_of_run(lambda run: run.problem.weights)

    @cached_property
    def multiplicities(self) -> Array:
        """Number of clients that each entry on the client axis stands for, (M,)."""
        return self.select_of_run(lambda run: run.multiplicities)

    @cached_property
    def step_sizes(self) -> Array:
        """eta_i, (M,)."""
        return self.select_of_run(lambda run: run.algorithm.work.step_sizes)

    @cached_property
    def server_step_size(self) -> Array:
        """eta_g, (1,)."""
        return self.select_of_run(lambda run: run.arithmetic.array([run.algorithm.aggregation.server_step_size]))

    @cached_property
    def client_objectives(self) -> Objectives:
        """F_i of each client, centred at x*."""
        return self.objectives(lambda run: run.client_objectives)

    def build_vector(self, build: Callable[[Frame], Vector]) -> Vector:
        """Return the vector that `build` makes at this frame."""
        return build(self)

    def select(self, value: Array) -> Array:
        """Select this frame's entries from an array (rounds, steps, clients) with axes of full length or one."""
        for axis, name in enumerate(("round", "step")):
            if name in self.index and value.shape[axis] > 1:
                value = value.take([int(self.index[name])], axis=axis)
        return value

    def select_round(self, values: Array) -> Array:
        """Select the entry of this frame's round from one entry per round."""
        chosen: Array = values[int(self.index["round"])]
        return chosen

    def require_shared(self, steps: int) -> None:
        """Raise `NotApplicable` for a client average at a step k < `steps` that some clients do not take."""
        if steps > 1 and self.valid is not None and not self.valid.all():
            raise NotApplicable(f"{UNEQUAL_STEPS}: none is common to all of them")

    def expand_axes(self, values: Array) -> Array:
        """Return scalars with the axes of this frame; missing leading axes have length one."""
        filled: Array = values.reshape((1,) * (len(self.axes) - values.ndim) + values.shape)
        return filled

    def take_expectation(self, values: Array) -> Array:
        """Return expectations of scalars; in most frames, inner products are expectations already."""
        return values

    def mean_of(self, vector: Vector) -> Vector:
        """Return the expectation of a vector, as a deterministic vector; raise `Misplaced` on sampled paths."""
        del vector
        raise Misplaced("the expectation of a vector needs place='step' or place='round'")

    @property
    @abstractmethod
    def local(self) -> Vector:
        """x_i^{(t,k)}."""

    @property
    @abstractmethod
    def noise(self) -> Vector:
        """g_i - grad F_i at x_i^{(t,k)}."""

    @property
    @abstractmethod
    def average(self) -> Vector:
        """The client average of the iterates after k steps."""

    @property
    @abstractmethod
    def server(self) -> Vector:
        """x^{(t)}, the model at the start of the round."""

    @property
    def received(self) -> Vector:
        """The model from which each client starts: the newest one unless the clock makes models stale."""
        return self.server

    @abstractmethod
    def aggregate(self, vector: Vector) -> Vector:
        """sum_i w_i v_i with the round's weights."""

    @cached_property
    def virtual(self) -> Vector:
        """The server's model if it aggregated after k local steps (fraboni2022, eq. 7)."""
        change = self.local + self.received.scale(-self.arithmetic.identity(1)[0])
        return self.server + self._apply_on_server(change)

    @cached_property
    def next_virtual(self) -> Vector:
        """The server's model if it aggregated after k + 1 local steps."""
        return self.virtual + self._apply_on_server(self.gradient.scale(-self.step_sizes))

    def _apply_on_server(self, change: Vector) -> Vector:
        """Aggregate a change of each client's model as the server does."""
        return self.aggregate(change).scale(self.server_step_size)

    @cached_property
    def gradient(self) -> Vector:
        """g_i at x_i^{(t,k)}: the stochastic gradient."""
        return self.client_objectives.gradient(self, self.local) + self.noise

    @cached_property
    def next_local(self) -> Vector:
        """x_i^{(t,k+1)}."""
        return self.local + self.gradient.scale(-self.step_sizes)

    @cached_property
    def next_average(self) -> Vector:
        """The client average of the iterates after k + 1 steps."""
        return self.next_local.average(self.importances)

    @cached_property
    def centralised(self) -> Vector:
        """Gradient descent on F from the round's first model, after k steps (lecture27's auxiliary sequence)."""
        return self.descent[-1]

    @property
    def descent(self) -> list[Vector]:
        """The centralised sequence from the round's first model up to this step."""
        if "step" not in self.index:
            raise Misplaced("the centralised sequence has a value at place='step' or 'path' only")
        models = [self.server]
        for _ in range(int(self.index["step"])):
            models.append(self._descend(models[-1]))
        return models

    @cached_property
    def next_centralised(self) -> Vector:
        """The centralised sequence after k + 1 steps."""
        return self._descend(self.centralised)

    def _descend(self, model: Vector) -> Vector:
        """Take a step of gradient descent on F with the first local step size."""
        sizes = self.run.algorithm.work.step_sizes[:1]
        return model + self.run.mean_objective.gradient(self, model).scale(-sizes)


def average_outcomes(values: Array, probabilities: Array) -> Array:
    """Average values over outcomes, the last axis of the probabilities.

    An axis of length one is the same in all outcomes.
    """
    axis = probabilities.ndim - 1
    if values.shape[axis] == 1:
        return values
    law = probabilities.reshape(*probabilities.shape, *[1] * (values.ndim - axis - 1))
    weighted: Array = (law * values).sum(axis=axis, keepdims=True)
    return weighted


def read_common_steps(run: Run) -> int:
    """tau; raise `NotApplicable` if clients take different numbers of local steps."""
    steps = run.algorithm.work.common_steps
    if steps is None:
        raise NotApplicable(UNEQUAL_STEPS)
    return steps
