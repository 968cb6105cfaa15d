"""The commands as functions agree with the command line, and take objects as well as names."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from threadpoolctl import threadpool_info, threadpool_limits

import fedtheory as ft
from fedtheory import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.process import LINEAR_ALGEBRA
from fedtheory.runfile import run_toml

RUN = {
    "problem": {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["3"]},
    "algorithm": {"local_step_size": "1/20", "local_steps": 2, "rounds": 3},
}
eta, tau, zeta, sigma, L = sp.symbols("eta tau zeta sigma L", positive=True)
FALSE = ft.Claim(
    id="mine:drift",
    lhs=q.max_drift,
    rhs=tau * eta**2 * zeta**2,
    where={eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, L: q.smoothness},
    conditions=[eta <= 1 / (4 * L)],
)
VIOLATED = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]},
    "algorithm": {"local_step_size": "1/4", "local_steps": 2, "rounds": 1},
}


def test_a_run_is_a_file_a_table_or_an_object(tmp_path: Path) -> None:
    """All three give the same exact numbers."""
    file = tmp_path / "run.toml"
    file.write_text(run_toml(RUN))
    exact = ft.simulate(RUN, arithmetic="rational")
    for given in (file, str(file), exact.run, ft.simulate(RUN).run):
        assert (ft.simulate(given, arithmetic="rational").suboptimality == exact.suboptimality).all()


@pytest.mark.long
def test_simulate_gives_the_numbers_of_the_command(tmp_path: Path) -> None:
    """Each column of the command is equal to that of the function, in rationals."""
    file = tmp_path / "run.toml"
    file.write_text(run_toml(RUN))
    command = [sys.executable, "-m", "fedtheory", "simulate", str(file), "--arithmetic", "rational", "--json"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = ft.simulate(file, arithmetic="rational")
    for name in ("suboptimality", "distance_sq", "gradient_sq"):
        assert [str(value) for value in getattr(found, name)] == printed["server"][name]
    assert [str(time) for time in found.times[1:]] == printed["times"]


def test_a_violation_is_confirmed_in_rationals() -> None:
    """A claim made in Python is refuted by a run for pencil and paper: 49/256 is more than 1/8."""
    found = ft.check(FALSE, VIOLATED, arithmetic="rational")
    assert found.holds is False
    assert str(found.worst.lhs) == "49/256"
    assert str(found.worst.rhs) == "1/8"
    assert ft.check(FALSE, VIOLATED).holds is False


@pytest.mark.long
def test_a_claim_of_a_notebook_is_verified() -> None:
    """A claim without a file is verified, and the verdict carries a run that violates it."""
    (found,) = ft.verify(FALSE, search=0, jobs=2)
    assert found.verdict == "refuted"
    assert found.target == "mine:drift"
    assert ft.check(FALSE, found.run, arithmetic="rational").holds is False


def test_prove_and_plan() -> None:
    """A certificate is accepted; a plan of a run and one of constants find a step size."""
    assert ft.prove("liu2022:thm-1").verdict == "proved"
    assert ft.prove(ft.all_claims()["liu2022:thm-1"]).verdict == "proved"
    claims = ["renard2022:thm-2.1"]
    assert ft.plan(RUN, claims=claims).recommended is not None
    numbers = {"L": 1, "M": 10, "tau": 5, "T": 100, "D": 2, "sigma": 1, "zeta": "1/2"}
    assert ft.plan(numbers, claims=claims, target=0.5).claims[0].target.rounds > 0


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    """The message of an error says what was expected."""
    with pytest.raises(ft.InputError, match="at least one claim"):
        ft.verify()
    with pytest.raises(ft.InputError, match="cannot be read"):
        ft.simulate(tmp_path / "missing.toml")
    with pytest.raises(ft.InputError, match="unknown key"):
        ft.run_on(ft.simulate(RUN).run.problem, local_step_size=1, rounds=1, speed=3)


def test_random_clocks_give_means() -> None:
    """Schedules are sampled; columns have one entry for each update, and one for the start."""
    clock = {"policy": "async", "times": [1, 2], "law": "exponential"}
    found = ft.simulate({**RUN, "algorithm": {**RUN["algorithm"], "clock": clock}}, schedules=3)
    assert found.to_numpy().shape == (4, 4)
    assert np.isfinite(found.to_numpy()).all()


def test_importing_the_package_imports_no_floor_above() -> None:
    """`verify` and `report` are loaded by the first function that needs them."""
    asked = (
        "import sys, fedtheory; print(any(name.split('.')[0] in ('verify', 'report', 'sympy') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.long
def test_a_found_run_violates_the_claim() -> None:
    """The found run violates the claim in `check`, with the same two sides in rationals."""
    found = ft.falsify(FALSE, budget=8)
    assert found.verdict == "refuted"
    assert found.found is not None
    assert found.run is not None
    checked = ft.check(FALSE, found.run, arithmetic="rational")
    assert checked.holds is False
    assert (checked.worst.lhs, checked.worst.rhs) == (found.found.worst.lhs, found.found.worst.rhs)
    assert found.run_file is not None
    assert ft.check(FALSE, VIOLATED).holds is False


def test_linear_algebra_has_one_thread_unless_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear algebra uses one thread while a function runs."""

    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen = []
    asked = Assumption("watched", "it sees how many threads there are", lambda _run: seen.append(threads()))
    with threadpool_limits(2, "blas"):
        several = threads()
        for name in LINEAR_ALGEBRA:
            monkeypatch.delenv(name, raising=False)
        ft.check(replace(FALSE, assumptions=[asked]), RUN)
        assert seen == [{1}] * len(seen) != []
        assert threads() == several
        seen.clear()
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        ft.check(replace(FALSE, assumptions=[asked]), RUN)
    assert seen == [several] * len(seen) != []


def test_each_public_name_has_an_object() -> None:
    """The names of the package are those of its modules, of which each exists."""
    assert {"Claim", "check", "quantities", "weighted_mean"} <= set(ft.__all__)
    assert all(getattr(ft, name) is not None for name in ft.__all__)
