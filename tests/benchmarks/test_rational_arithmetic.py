"""Cost of exact rationals and of enclosures, relative to floats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from problems import best_of, seconds_of_sympy
from rows import Row

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.run import Run
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check

pytestmark = pytest.mark.slow
RUN = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2", "0"], ["0", "1"]], [["2", "0"], ["0", "1"]]],
        "linear": [["1", "0"], ["-1", "0"]],
        "start": ["3", "-2"],
        "noise": "1",
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/20", "local_steps": 5, "rounds": 20},
}


DIGITS = {
    "problem": {"kind": "least-squares", "data": "digits:3-8", "clients": 10, "split": "dirichlet", "batch": 8},
    "algorithm": {"name": "fedavg", "local_step_size": "1/50", "local_steps": 5, "rounds": 100},
}


def checked(arithmetic: Arithmetic) -> object:
    """Check Theorem 2.1 on the run."""
    return check(find("renard2022:thm-2.1"), parse_run(RUN, arithmetic))


def test_rationals_against_floats(benchmark: Any, row: Row) -> None:
    """Theorem 2.1 is checked on a run of twenty rounds in both arithmetics."""
    checked(FLOAT)
    benchmark.pedantic(checked, args=(RATIONAL,), rounds=5)
    ratio = best_of(lambda: checked(RATIONAL)) / best_of(lambda: checked(FLOAT))
    row("check in rationals, 20 rounds", "the same in floats", ratio, "times the cost")


def moments_of(run: Run) -> object:
    """Return the second moments of a new run, for which nothing is cached."""
    return replace(run).trajectory.moments


def test_enclosures_against_floats(benchmark: Any, row: Row) -> None:
    """A hundred rounds on images of digits are computed in floats and in enclosures."""
    floats, enclosed = parse_run(DIGITS, FLOAT), certify_run(parse_run(DIGITS, RATIONAL))
    moments_of(floats)
    found = best_of(lambda: benchmark.pedantic(moments_of, args=(enclosed,), rounds=1), 1)
    ratio = found / best_of(lambda: moments_of(floats))
    row("expectations on digits enclosed, d = 65", "the same in floats", ratio, "times the cost")


def test_constants_on_data_in_rationals(benchmark: Any, row: Row) -> None:
    """A problem on images of digits is read exactly, with its optimum and the constants of Theorem 2.1."""

    def constants() -> object:
        run = parse_run(DIGITS, RATIONAL)
        return run.smoothness, run.dissimilarity_sq, run.noise_variance

    ratio = best_of(lambda: benchmark.pedantic(constants, rounds=1), 1) / seconds_of_sympy()
    row("constants on digits in rationals, d = 65", "import of SymPy", ratio, "times the cost")
