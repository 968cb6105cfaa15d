"""Alternatives to the planned setting, each at its own best step size: local steps, batches, SCAFFOLD."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, FedtheoryError, InputError
from fedtheory.federation.algorithms import definition
from fedtheory.federation.definition.run import Defined
from fedtheory.federation.linear_models import LinearModelProblem, RowBatches
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem
from fedtheory.planner.closed_rounds import has_closed_rounds
from fedtheory.planner.deterministic_runs import is_deterministic
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import find_planned_and_best
from fedtheory.planner.run_costs import count_operations
from fedtheory.planner.target import count_vectors_of_client

KINDS = ("steps", "batch", "algorithm")
"""Settings that can be varied."""
_DOUBLINGS = 6
"""Limit on the number of doublings of the local steps."""
_PAYS = 0.95
"""Required relative reduction of the error or of the cost for more local steps."""
_MISSES = 2
"""Number of consecutive worse numbers of local steps that ends the search in one direction."""
_RUNS, _PATIENCE, _LESS_PATIENCE = 25, 1e11, 2e10
"""Number of runs in a search for the best step size, and limit on the operations of all searches together without a
request by the user; lower for linear models, where each step size takes a run."""
_COMPILED = 16
"""Ratio of the time of an operation if the maps of each round are compiled anew, to that of other runs."""


@dataclass(frozen=True)
class Costs:
    """Costs of a round, in any unit, as in `fedtheory budget`."""

    local: float = 0.0
    """Cost of a local step with the planned batch; other batches cost in proportion to their rows."""
    aggregation: float = 1.0
    """Cost of a round's messages in federated averaging; other algorithms cost in proportion to their vectors."""

    def cost_round(self, run: Run, planned: Run) -> float:
        """Return the cost of a round of a run, relative to the planned batch and messages."""
        rows, before = _average_gradient_rows(run), _average_gradient_rows(planned)
        ratio = rows / before if rows and before else 1.0
        messages = count_vectors_of_client(run.algorithm) / count_vectors_of_client(planned.algorithm)
        return max(run.algorithm.work.steps) * self.local * ratio + self.aggregation * messages


@dataclass(frozen=True)
class Objective:
    """The error to reduce, and the costs."""

    error: str
    accuracy: float | None
    margin: float
    costs: Costs


@dataclass(frozen=True)
class Alternative:
    """A setting at its best step size."""

    name: str
    """Name of the algorithm."""
    local_steps: int
    batch: int | None
    """Size of the mini-batches; None for full gradients."""
    outcome: ErrorAtStepSize
    cost: float
    """Cost of all rounds."""
    is_planned: bool

    def rank(self, accuracy: float | None) -> tuple[bool, float]:
        """Return a sorting key, smaller is better: the cost if the target is reached, else the error."""
        if accuracy is None:
            return False, self.outcome.comparable_error
        return not self.outcome.reached, self.cost if self.outcome.reached else self.outcome.comparable_error


@dataclass(frozen=True)
class CheapAlternatives:
    """Alternatives that are cheap to compute."""

    planned: Alternative | None
    better_steps: Alternative | None
    """A number of local steps that is clearly better; None if there is none."""
    has_tried_steps: bool
    """Whether other numbers of local steps were tried."""
    scaffold: Alternative | None


class Alternatives:
    """Settings for one run, error and target; without a target, each may cost as much as the planned one."""

    def __init__(self, run: Run, objective: Objective, best: ErrorAtStepSize | None = None) -> None:
        self.run, self.objective, self.accuracy = run, objective, objective.accuracy
        self.steps = run.algorithm.work.common_steps
        self._tried: dict[tuple[str, int, int | None], Alternative | None] = {}
        self._spent = 0.0
        if best is not None and self.steps is not None:
            key = run.algorithm.name, self.steps, _get_batch_size(run)
            cost = best.rounds * objective.costs.cost_round(run, run)
            self._tried[key] = Alternative(*key, best, cost, is_planned=True)

    @property
    def planned(self) -> Alternative | None:
        """The planned setting at its best step size."""
        return None if self.steps is None else self.find_setting(self.steps, _get_batch_size(self.run))

    def find_setting(self, steps: int, batch: int | None, name: str | None = None) -> Alternative | None:
        """Return a setting at its best step size; None if it has no exact error."""
        called = name or self.run.algorithm.name
        key = called, steps, batch
        if key not in self._tried:
            self._tried[key] = self._try_setting(steps, batch, name)
        return self._tried[key]

    def _try_setting(self, steps: int, batch: int | None, name: str | None) -> Alternative | None:
        """Plan another setting with the same budget; return None if it is invalid."""
        try:
            run = self._change_setting(steps, batch, name)
            self._spent += _count_operations(run, self.objective.error)
            each = self.objective.costs.cost_round(run, self.run)
            if self.accuracy is None:
                total = self.run.algorithm.rounds * self.objective.costs.cost_round(self.run, self.run)
                run = run.with_rounds(max(1, math.floor(total / each * (1 + 1e-12))))
            reached = find_planned_and_best(
                ExactErrors(run), self.objective.error, self.accuracy, self.objective.margin
            )
        except (Diverging, FedtheoryError):
            return None
        if reached is None or not math.isfinite(reached.best.error):
            return None
        best = reached.best
        is_planned = name is None and steps == self.steps and batch == _get_batch_size(self.run)
        return Alternative(run.algorithm.name, steps, batch, best, best.rounds * each, is_planned)

    def _change_setting(self, steps: int, batch: int | None, name: str | None) -> Run:
        """Return the run with another number of local steps, batch size or algorithm."""
        run = self.run
        if batch != _get_batch_size(run):
            run = replace(run, problem=_set_batch_size(run.problem, batch))
        if steps != self.steps:
            work = replace(run.algorithm.work, steps=(steps,) * run.problem.clients)
            run = replace(run, algorithm=replace(run.algorithm, work=work))
        if name is None:
            return run
        defined = Defined(definition(name), {}, None)
        return replace(run, algorithm=replace(run.algorithm, name=name, defined=defined.as_floats()))

    def is_cheap(self, steps: int, name: str | None = None) -> bool:
        """Return whether a plan may compute a setting without a request by the user, beside those computed so far."""
        try:
            run = self._change_setting(steps, _get_batch_size(self.run), name)
        except FedtheoryError:
            return False
        cost = _count_operations(run, self.objective.error)
        if isinstance(run, LinearModelRun):
            return self._spent + cost <= _LESS_PATIENCE
        return cost == 0 or (self._spent + cost <= _PATIENCE and (name is None or is_deterministic(run)))

    def find_better_local_steps(self) -> Alternative | None:
        """Return a number of local steps, by doubling and halving, that is clearly better than the planned one.

        Returns None if there is none.
        """
        best = self.planned
        if best is None or self.steps is None:
            return None
        before = best
        for counts in (_list_doubled(self.steps), _list_halved(self.steps)):
            misses = 0
            for count in counts:
                found = self.find_setting(count, _get_batch_size(self.run)) if self.is_cheap(count) else None
                if found is not None and self._is_better(found, best):
                    best, misses = found, 0
                elif (misses := misses + 1) == _MISSES:
                    break
        return None if best is before else best

    def _is_better(self, one: Alternative, other: Alternative) -> bool:
        """Return whether a setting ranks before another one, by a clear margin if both reach the accuracy."""
        (missed, value), (missed_before, value_before) = one.rank(self.accuracy), other.rank(self.accuracy)
        return missed < missed_before or (missed == missed_before and value <= _PAYS * value_before)

    def find_cheap_alternatives(self) -> CheapAlternatives:
        """Return the cheap alternatives to the recommended setting."""
        # Settings that the user requested do not count.
        self._spent = 0.0
        tried = self.steps is not None and self.is_cheap(2 * self.steps)
        return CheapAlternatives(
            self.planned, self.find_better_local_steps() if tried else None, tried, self.scaffold()
        )

    def scaffold(self) -> Alternative | None:
        """Return SCAFFOLD with the planned local steps; None if it is costly to compute."""
        if self.run.algorithm.defined is not None or self.steps is None or not self.is_cheap(self.steps, "scaffold"):
            return None
        return self.find_setting(self.steps, _get_batch_size(self.run), "scaffold")

    def list_settings(self, kinds: Sequence[str]) -> list[Alternative]:
        """Return all settings of some kinds, at any cost, including the planned one."""
        if self.steps is None:
            raise InputError("vary", "expected the same number of local steps for all clients")
        steps = (
            [*reversed(list(_list_halved(self.steps))), self.steps, *_list_doubled(self.steps)]
            if "steps" in kinds
            else []
        )
        batches = list(_list_batch_sizes(self.run)) if "batch" in kinds else [_get_batch_size(self.run)]
        names = [None, "scaffold"] if "algorithm" in kinds and self.run.algorithm.defined is None else [None]
        tried = [self.find_setting(k, b, name) for name in names for b in batches for k in steps or [self.steps]]
        return [one for one in tried if one is not None]


def _count_operations(run: Run, error: str) -> float:
    """Return about how many operations the search for the best step size takes; zero for a closed form."""
    if has_closed_rounds(run) and error == "final":
        return 0.0
    algorithm = run.algorithm
    is_compiled = algorithm.clock.is_synchronous and not algorithm.rounds_are_alike and not is_deterministic(run)
    return (_COMPILED if is_compiled else 1) * _RUNS * count_operations(run, algorithm.rounds)


def _list_doubled(steps: int) -> Iterator[int]:
    """Yield doubled numbers of local steps."""
    return (steps * 2**power for power in range(1, _DOUBLINGS + 1))


def _list_halved(steps: int) -> Iterator[int]:
    """Yield halved numbers of local steps, down to 1."""
    while steps > 1:
        steps //= 2
        yield steps


def _list_batch_sizes(run: Run) -> Iterator[int | None]:
    """Yield batch sizes: the planned one, a quarter of it, four and sixteen times it, up to the smallest client.

    The last one stands for full gradients.
    """
    planned, counts = _get_batch_size(run), _count_rows(run.problem)
    if counts:
        most = min(counts)
        first = planned or max(1, most // 16)
        sizes = {max(1, first // 4), first, 4 * first, 16 * first} | ({planned} if planned else set())
        yield from sorted(size for size in sizes if size <= most or size == planned)
    yield None


def _get_batch_size(run: Run) -> int | None:
    """Return the batch size of a run; None without mini-batches."""
    oracle = run.problem.oracle
    return oracle.batch if isinstance(oracle, MiniBatch | RowBatches) else None


def _average_gradient_rows(run: Run) -> float:
    """Return the rows of a client's gradient, averaged over clients for full gradients; zero without data."""
    counts = _count_rows(run.problem)
    return float(_get_batch_size(run) or sum(counts) / len(counts)) if counts else 0.0


def _count_rows(problem: Problem) -> list[int]:
    """Return the number of rows of each client; empty without data."""
    if isinstance(problem, LinearModelProblem):
        return [int(count) for count in problem.model.counts]
    return [] if problem.data is None else [len(outputs) for outputs in problem.data.outputs]


def _set_batch_size(problem: Problem, batch: int | None) -> Problem:
    """Return the problem with another batch size; with full gradients for None."""
    if batch is None:
        return problem.with_full_gradients()
    oracle = problem.oracle
    replacement = oracle.replacement if isinstance(oracle, MiniBatch | RowBatches) else True
    if isinstance(problem, LinearModelProblem):
        return problem.with_batches(batch, replacement)
    if problem.data is None:
        raise InputError("vary", "expected data: batches are sampled from rows")
    return replace(problem, oracle=MiniBatch(problem.data, batch, replacement))
