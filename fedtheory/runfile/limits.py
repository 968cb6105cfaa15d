"""Limits on the size of a run: one that needs days or all memory is refused when it is read, with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.engine.moments import require_steps, rounds_repeat
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem

if TYPE_CHECKING:
    from fedtheory.federation.definition.run import Defined

MOST_ROUNDS = 10**7
"""Server updates of any run."""
MOST_LOCAL_STEPS = 10**5
"""Local steps of a client in a round."""
MOST_STEPS = 10**6
"""Rounds times local steps, where every round has to be gone through and kept."""
MOST_NUMBERS = 5 * 10**7
"""Numbers that are kept of all those rounds together."""
MOST_OPERATIONS = 10**12
"""Multiplications, set-up included: minutes or hours."""

MOST_ENTRIES = 10**8
"""Entries of the Hessians of all clients."""
MOST_EXACT_NUMBERS = 5 * 10**5
"""Numbers of the rows of a data set in rationals, which take a second to read."""


def require_affordable(problem: Problem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and a way out, for a run that could not be computed in hours."""
    rounds, local_steps = algorithm.rounds, max(algorithm.work.steps)
    require_countable(rounds, local_steps)
    # Expectations on quadratics can be enclosed in floats: rationals are refused where they are asked for.
    if problem.arithmetic.is_rigorous and isinstance(problem, LossProblem):
        require_steps(problem, algorithm)
    passed = _count_local_steps(problem, algorithm)
    require_passable(passed)
    square, way_out = (problem.dimension + 1) ** 2, "use fewer rounds or a smaller problem"
    if _keeps_local_steps(problem, algorithm):
        kept = "numbers (rounds x local steps x (clients + (dimension + 1)^2))"
        _expect("rounds", passed * (problem.clients + square), MOST_NUMBERS, way_out, kept)
    elif passed > local_steps:
        _expect("rounds", rounds * square, MOST_NUMBERS, way_out, "numbers (rounds x (dimension + 1)^2)")
    _expect("rounds", _operations(problem, algorithm, passed), MOST_OPERATIONS, way_out, "multiplications")


def require_countable(rounds: int, local_steps: int) -> None:
    """Raise `InputError` for more rounds or local steps than any run may have."""
    _expect("rounds", rounds, MOST_ROUNDS, "use fewer rounds")
    _expect("local_steps", local_steps, MOST_LOCAL_STEPS, "use fewer local steps and more rounds")


def require_passable(steps: int) -> None:
    """Raise `InputError` for more rounds times local steps than are gone through one by one."""
    _expect("rounds", steps, MOST_STEPS, "use fewer rounds", "rounds times local steps where rounds differ")


def require_fitting(clients: int, columns: int) -> None:
    """Raise `InputError` where the clients' Hessians would not fit into memory."""
    if clients * columns * columns > MOST_ENTRIES:
        expected = f"expected at most {MOST_ENTRIES} entries in all Hessians (clients x columns x columns)"
        raise InputError("problem.data", f"{expected}, got {clients} x {columns} x {columns}: use fewer")


def require_few_numbers(rows: int, columns: int) -> None:
    """Raise `InputError` for a data set that would take long to read in rationals."""
    if rows * columns > MOST_EXACT_NUMBERS:
        expected = f"expected at most {MOST_EXACT_NUMBERS} numbers in rationals (rows x columns)"
        way_out = "use fewer rows, or floats, --arithmetic float"
        raise InputError("problem.data", f"{expected}, got {rows} x {columns}: {way_out}")


def _keeps_local_steps(problem: Problem, algorithm: Algorithm) -> bool:
    """Whether moments of all local steps of all rounds are kept: not where they are forms in the round's model."""
    if algorithm.defined is not None:
        return False
    return isinstance(problem, LossProblem) or not algorithm.clock.is_synchronous


def _operations(problem: Problem, algorithm: Algorithm, passed: int) -> int:
    """Multiplications of a run that goes through so many local steps, those of its set-up included."""
    size = problem.dimension + 1
    if isinstance(problem.oracle, MiniBatch):
        # What a step costs by the rows, or by fourth moments where these are fewer.
        rows = [min(len(outputs), size * size // 4) for outputs in problem.oracle.data.outputs]
        return 2 * passed * (sum(rows) + problem.clients * size) * size * size
    each = 2 * problem.clients * size**3
    if algorithm.defined is None and not isinstance(problem, LossProblem) and algorithm.clock.is_synchronous:
        # Maps of clients are found once; sampled rounds go over clients or a map of second moments.
        return max(algorithm.work.steps) * each + algorithm.rounds * min(each, size**4)
    return passed * each


def _count_local_steps(problem: Problem, algorithm: Algorithm) -> int:
    """The local steps of all rounds that are gone through: those of one round where it says what those of all do."""
    rounds, local_steps = algorithm.rounds, max(algorithm.work.steps)
    if algorithm.defined is not None:
        is_noise_the_same = not problem.oracle.depends_on_model and _has_stateless_clients(algorithm.defined)
        return rounds + local_steps if algorithm.rounds_are_alike and is_noise_the_same else rounds * local_steps
    return local_steps if _rounds_repeat(problem, algorithm) else rounds * local_steps


def _rounds_repeat(problem: Problem, algorithm: Algorithm) -> bool:
    return not isinstance(problem, LossProblem) and rounds_repeat(problem, algorithm)


def _has_stateless_clients(defined: Defined) -> bool:
    """Return whether clients keep no vectors, and send what they have."""
    from fedtheory.federation.definition import Compressed

    return not defined.algorithm.client and not defined.algorithm.uses(Compressed)


def _expect(key: str, given: int, most: int, way_out: str, what: str = "") -> None:
    if given > most:
        counted = f" {what}" if what else ""
        raise InputError(f"algorithm.{key}", f"expected at most {most}{counted}, got {_short(given)}: {way_out}")


def _short(count: int) -> str:
    """A whole number, or how long it is: numbers of thousands of digits cannot even be written."""
    return str(count) if count < 10**15 else f"a number of {count.bit_length()} bits"
