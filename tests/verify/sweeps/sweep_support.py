"""Shared parts of the tests of sweeps: a sweep's file, a slow claim, tables without their timings."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verify.sweeps import read_results, read_spec, run_sweep

BASE = """
[problem]
kind = "quadratic"
hessians = [[["2","0"],["0","1"]], [["1","0"],["0","1"]]]
linear = [["1","0"], ["-1","0"]]
start = ["3", "-2"]
noise = "1"

[algorithm]
local_step_size = "1/20"
local_steps = 2
rounds = 4
"""

PATIENCE = "time.sleep(0.06)"
SLOW = f"""
import time
import sympy as sp
from fedtheory import Claim
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption

eta, gap = sp.symbols("eta gap", positive=True)
patience = Assumption("patience", "it takes a while", lambda run: {PATIENCE})
slow = Claim(id="mine:slow", lhs=q.final_suboptimality, rhs=gap, where={{gap: q.initial_gap}}, assumptions=[patience])
"""
"""A claim that takes a while on each run, without using the processor."""

SLOW_SWEEP = f"""
claims = ["slow.py:slow", "renard2022:thm-2.1"]
{BASE}
[grid]
algorithm.local_steps = [1, 2, 3, 4, 5]
problem.noise = ["0", "1/2", 1]
[random]
count = 4
seed = 7
algorithm.local_step_size = {{ law = "log-uniform", low = "1/100", high = 2 }}
"""
"""Sixty runs of two claims, four seconds for one process; some are outside the theorem."""

COMMAND = [sys.executable, "-m", "fedtheory", "sweep"]


def write_sweep(folder: Path, text: str, name: str = "sweep.toml") -> Path:
    """Write the file of a sweep to a folder, next to the slow claim, and return its path."""
    (folder / "slow.py").write_text(SLOW)
    path = folder / name
    path.write_text(text)
    return path


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a table, without their timings."""
    return [{key: value for key, value in row.items() if key != "seconds"} for row in read_results(file).rows]


def swept(folder: Path, text: str, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of a sweep that is run without interruption."""
    output = folder / "sweep.parquet"
    run_sweep(read_spec(write_sweep(folder, text)), output, **options)
    return rows(output)


def parts(output: Path) -> set[str]:
    """Return the names of the parts that are complete."""
    return {path.name for path in output.with_name(f"{output.name}.parts").glob("*.parquet")}


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds, for one minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.06)


def environment() -> dict[str, str]:
    """Return the environment of a process that imports the package from this folder."""
    return os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3]), "OMP_NUM_THREADS": "1"}
