"""How long a user waits before anything happens, against the import of SymPy in the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

COMMAND = str(Path(sys.executable).parent / "fedtheory")


def best_of(command: list[str], runs: int = 7) -> float:
    """Shortest wall time of a command, in seconds."""
    timings = []
    for _ in range(runs):
        begin = perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        timings.append(perf_counter() - begin)
    return min(timings)


@pytest.mark.slow
def test_start_up_is_quicker_than_importing_sympy() -> None:
    """`import fedtheory` takes at most 1.3 times `import sympy`, and `fedtheory --help` less than it."""
    sympy = best_of([sys.executable, "-c", "import sympy"])
    package = best_of([sys.executable, "-c", "import fedtheory"])
    help_page = best_of([COMMAND, "--help"])
    ratios = f"import fedtheory {package / sympy:.2f}, --help {help_page / sympy:.2f}"
    print(f"\nimport sympy {sympy:.3f} s; of it: {ratios}")
    assert package <= 1.3 * sympy
    assert help_page < sympy
