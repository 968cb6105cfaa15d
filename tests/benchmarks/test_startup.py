"""Start-up time of the package, relative to the import of SymPy in the same process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from problems import best_of
from rows import Row

pytestmark = pytest.mark.slow
COMMAND = str(Path(sys.executable).parent / "fedtheory")


def typed(*command: str) -> None:
    """Run a command in its own process."""
    subprocess.run(command, check=True, capture_output=True)


def test_start_up_is_quicker_than_importing_sympy(benchmark: Any, row: Row) -> None:
    """`import fedtheory` takes at most 1.3 times `import sympy`, and `fedtheory --help` less than it."""
    sympy = best_of(lambda: typed(sys.executable, "-c", "import sympy"), 7)
    package = best_of(lambda: typed(sys.executable, "-c", "import fedtheory"), 7)
    help_page = best_of(lambda: typed(COMMAND, "--help"), 7)
    benchmark.pedantic(typed, args=(COMMAND, "--help"), rounds=3)
    row("import fedtheory", "import of SymPy", package / sympy, "times the cost")
    row("fedtheory --help", "import of SymPy", help_page / sympy, "times the cost")
    assert package <= 1.3 * sympy
    assert help_page < sympy
