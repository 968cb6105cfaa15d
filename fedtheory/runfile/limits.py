"""Limits on the size of a run: a run that needs days or all memory is refused with advice when it is read."""

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
"""Largest number of server updates of any run."""
MOST_LOCAL_STEPS = 10**5
"""Largest number of local steps of a client in a round."""
MOST_STEPS = 10**6
"""Largest product of rounds and local steps, if every round is computed and stored."""
MOST_NUMBERS = 5 * 10**7
"""Largest total of numbers that are stored for these rounds."""
MOST_OPERATIONS = 10**12
"""Largest number of multiplications, set-up included: minutes to hours of work."""

MOST_ENTRIES = 10**8
"""Largest number of entries in the Hessians of all clients."""
MOST_EXACT_NUMBERS = 5 * 10**5
"""Largest number of values of a data set in rationals; reading them takes about a second."""


def require_affordable(problem: Problem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and advice, for a run that could not be computed in hours."""
    rounds, local_steps = algorithm.rounds, max(algorithm.work.steps)
    require_countable(rounds, local_steps)
    # Float intervals can enclose expectations on quadratics; commands that need rationals refuse long runs themselves.
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
    _expect("rounds", _count_operations(problem, algorithm, passed), MOST_OPERATIONS, way_out, "multiplications")


def require_countable(rounds: int, local_steps: int) -> None:
    """Raise `InputError` for more rounds or local steps than the limits allow."""
    _expect("rounds", rounds, MOST_ROUNDS, "use fewer rounds")
    _expect("local_steps", local_steps, MOST_LOCAL_STEPS, "use fewer local steps and more rounds")


def require_passable(steps: int) -> None:
    """Raise `InputError` for a product of rounds and local steps above the limit, if steps are computed one by one."""
    _expect("rounds", steps, MOST_STEPS, "use fewer rounds", "rounds times local steps where rounds differ")


def require_fitting(clients: int, columns: int) -> None:
    """Raise `InputError` if the clients' Hessians would not fit into memory."""
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
    """Return whether moments of all local steps are stored.

    False if they are quadratic forms in the round's first model.
    """
    if algorithm.defined is not None:
        return False
    return isinstance(problem, LossProblem) or not algorithm.clock.is_synchronous


def _count_operations(problem: Problem, algorithm: Algorithm, passed: int) -> int:
    """Return the number of multiplications of a run with `passed` local steps, set-up included."""
    size = problem.dimension + 1
    if isinstance(problem.oracle, MiniBatch):
        # Cost of a step, by the rows, or by fourth moments if these are fewer.
        rows = [min(len(outputs), size * size // 4) for outputs in problem.oracle.data.outputs]
        return 2 * passed * (sum(rows) + problem.clients * size) * size * size
    each = 2 * problem.clients * size**3
    if algorithm.defined is None and not isinstance(problem, LossProblem) and algorithm.clock.is_synchronous:
        # Clients' maps are computed once; a sampled round costs a pass over the clients or a map of second moments.
        return max(algorithm.work.steps) * each + algorithm.rounds * min(each, size**4)
    return passed * each


def _count_local_steps(problem: Problem, algorithm: Algorithm) -> int:
    """Return the number of local steps that are computed one by one: those of one round if all rounds are alike."""
    rounds, local_steps = algorithm.rounds, max(algorithm.work.steps)
    if algorithm.defined is not None:
        is_noise_the_same = not problem.oracle.depends_on_model and _has_stateless_clients(algorithm.defined)
        return rounds + local_steps if algorithm.rounds_are_alike and is_noise_the_same else rounds * local_steps
    has_equal_rounds = not isinstance(problem, LossProblem) and rounds_repeat(problem, algorithm)
    return local_steps if has_equal_rounds else rounds * local_steps


def _has_stateless_clients(defined: Defined) -> bool:
    """Return whether clients keep no state between rounds."""
    from fedtheory.federation.definition import Compressed

    return not defined.algorithm.client and not defined.algorithm.uses(Compressed)


def _expect(key: str, given: int, most: int, way_out: str, what: str = "") -> None:
    if given > most:
        counted = f" {what}" if what else ""
        raise InputError(f"algorithm.{key}", f"expected at most {most}{counted}, got {_format_short(given)}: {way_out}")


def _format_short(count: int) -> str:
    """Return a whole number as text, or its length in bits: Python refuses to print numbers of thousands of digits."""
    return str(count) if count < 10**15 else f"a number of {count.bit_length()} bits"
