"""Problems and timings that the benchmarks share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

import numpy as np
from rows import Row

from fedtheory.federation.problem import Problem, quadratic


def random_problem(clients: int, dimension: int = 10) -> Problem:
    """Random positive definite Hessians with eigenvalues up to about one, nearby minimisers, noise variance one."""
    generator = np.random.default_rng(clients)
    factors = generator.standard_normal((clients, dimension, dimension)) / np.sqrt(dimension)
    hessians = factors @ factors.transpose(0, 2, 1) / 4 + 0.05 * np.eye(dimension)
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    minimisers = 1 + 0.1 * generator.standard_normal((clients, dimension))
    linear = (hessians @ minimisers[..., None])[..., 0]
    return quadratic(hessians, linear, 2 * np.ones(dimension), noise=np.ones(clients))


def best_of(task: Callable[[], object], runs: int = 5) -> float:
    """Return the shortest of several processor times of this process and of its finished children."""
    timings = []
    for _ in range(runs):
        begin = _seconds_at_work()
        task()
        timings.append(_seconds_at_work() - begin)
    return min(timings)


def _seconds_at_work() -> float:
    ended = getrusage(RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of a straight line through the logarithms of costs against those of sizes."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


Scale = tuple[Sequence[int], Callable[[int], float], float]
"""Sizes, a function that returns the seconds for a size, and the largest expected exponent."""


def require_growth(name: str, scale: Scale, benchmark: Any, row: Row) -> None:
    """Record the exponent of a fitted power of the size, and assert that it is not too large."""
    sizes, seconds, largest = scale
    found = exponent(sizes, [seconds(size) for size in sizes])
    benchmark.pedantic(seconds, args=(sizes[0],), rounds=1)
    row(f"cost of {name}", f"{sizes[0]:,} to {sizes[-1]:,}", found, "exponent")
    assert found <= largest


@cache
def seconds_of_sympy() -> float:
    """Return the seconds of a new process that imports SymPy."""
    return best_of(lambda: subprocess.run([sys.executable, "-c", "import sympy"], check=True), 3)


_PROVE = """
from time import process_time
from fedtheory.proofs import certificates, check_certificate
from fedtheory.language.registry import find
chosen = {chosen!r} or sorted(certificates())
begin = process_time()
assert all(check_certificate(find(name), certificates()[name]).verdict == "proved" for name in chosen)
print(process_time() - begin)
"""


def seconds_to_prove(*claim_ids: str) -> float:
    """Return the seconds to check certificates in a new process without cached signs; all of them by default."""
    command = [sys.executable, "-c", _PROVE.format(chosen=claim_ids)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
