"""Limits on runs in rationals, whose numerators and denominators grow with every step."""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.errors import InputError
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem

MOST_EXACT_STEPS = 2 * 10**4
"""Limit on rounds times local steps in rationals."""
MOST_WORDS = 2 * 10**9
"""Limit on multiplications of 64-bit words for the noise of mini-batches in rationals: about two minutes."""
_WORD = 64


def is_too_long_for_rationals(problem: Problem, algorithm: Algorithm) -> bool:
    """Return whether a run in rationals exceeds the limit on growing numbers."""
    return _count_steps(algorithm) > limit_exact_steps(problem, algorithm)


def require_short(problem: Problem, algorithm: Algorithm) -> None:
    """Raise `InputError`, with the limit and advice, for a run that is too long for exact numbers."""
    require_steps(problem, algorithm, limit_exact_steps(problem, algorithm))


def require_steps(problem: Problem, algorithm: Algorithm, most: int = MOST_EXACT_STEPS) -> None:
    """Raise `InputError`, with the limit and advice, for a run with more than `most` local steps."""
    steps, local_steps = _count_steps(algorithm), max(algorithm.work.steps)
    if steps <= most:
        return
    limit = f"expected at most {most} rounds times local steps in {problem.arithmetic.numbers}"
    if most < MOST_EXACT_STEPS:
        limit += f" with these mini-batches ({problem.oracle.sample_products:.2g} products of growing numbers a step)"
    fitting = f"{most // local_steps} rounds" if most >= local_steps else f"{most} local steps"
    shorter = f"shorten the run to at most {fitting}, or " if most else ""
    raise InputError("algorithm.rounds", f"{limit}, got {steps}: {shorter}use floats, --arithmetic float")


def limit_exact_steps(problem: Problem, algorithm: Algorithm) -> int:
    """Return the limit on rounds times local steps in rationals: lower if mini-batches multiply long numbers."""
    products = problem.oracle.sample_products
    if problem.arithmetic is not RATIONAL or not isinstance(problem.oracle, MiniBatch):
        return MOST_EXACT_STEPS
    words = MOST_WORDS // products
    first, growth = _count_bits(problem, problem.oracle, algorithm) if words else (1, 1)
    # Step s multiplies numbers of (first + s growth) / 64 words, plus one word each.
    low, high = 0, min(words, MOST_EXACT_STEPS)
    while low < high:
        middle = (low + high + 1) // 2
        length = middle * (_WORD + first) + growth * middle * (middle + 1) // 2
        low, high = (middle, high) if length <= words * _WORD else (low, middle - 1)
    return low


def _count_steps(algorithm: Algorithm) -> int:
    """Return the number of local steps of a run."""
    return algorithm.rounds * max(algorithm.work.steps)


def _count_bits(problem: Problem, oracle: MiniBatch, algorithm: Algorithm) -> tuple[int, int]:
    """Return the bits of the start's second moments, and the bits that each step adds.

    The minimiser is a ratio of determinants of d moments of the rows; a step multiplies by fourth moments of the rows,
    and by squared step sizes.
    """
    data = oracle.data
    of_rows = max(_measure_longest(part) for client in data for part in client)
    of_counts = max(map(len, data.outputs)).bit_length()
    start = 2 * problem.dimension * (2 * of_rows + of_counts) + 2 * _measure_longest(problem.start)
    return start, 4 * of_rows + of_counts + oracle.batch.bit_length() + 2 * _measure_longest(algorithm.work.step_sizes)


def _measure_longest(numbers: Array) -> int:
    """Return the bits of the longest numerator or denominator of some rationals."""
    return max((int(part).bit_length() for number in numbers.flat for part in (number.p, number.q)), default=0)
