"""Cost of proving and verifying: certificates against semidefinite programs, and all claims at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from problems import best_of, seconds_of_sympy, seconds_to_prove
from rows import Row

from fedtheory.language.registry import find
from fedtheory.proofs import certificates
from verify.worst_case import find_worst_case

pytestmark = pytest.mark.slow
COMMAND = str(Path(sys.executable).parent / "fedtheory")
DRIFT = "renard2022:lemma-2.3"


def test_a_certificate_against_a_semidefinite_program(benchmark: Any, row: Row) -> None:
    """The certificate of the drift lemma, for all M and tau, is faster than the program for two clients and three
    steps.
    """
    pytest.importorskip("PEPit")
    found = benchmark.pedantic(seconds_to_prove, args=(DRIFT,), rounds=1)
    ratio = found / best_of(lambda: find_worst_case(find(DRIFT), 2, 3), 1)
    row("certificate of the drift lemma, any M and tau", "PEPit, M = 2 and tau = 3", ratio, "times the cost")


def test_all_certificates(benchmark: Any, row: Row) -> None:
    """The time to check all certificates is measured in imports of SymPy."""
    found = benchmark.pedantic(seconds_to_prove, rounds=1)
    row(f"all {len(certificates())} certificates", "import of SymPy", found / seconds_of_sympy(), "times the cost")


def test_the_whole_of_verify(benchmark: Any, row: Row) -> None:
    """The time to verify every claim on all its instances is measured in imports of SymPy."""

    def verify() -> None:
        subprocess.run([COMMAND, "verify", "--json"], check=True, capture_output=True)

    ratio = best_of(lambda: benchmark.pedantic(verify, rounds=1), 1) / seconds_of_sympy()
    row("fedtheory verify, every claim", "import of SymPy", ratio, "times the cost")
