"""The command as a separate process: modules of the user with the same names, and the cost of imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_claims import CONTRACT
from cli_support import QUADRATIC, ROOT, read_json, run_text

pytestmark = pytest.mark.long

SCRIPT = [str(Path(sys.executable).parent / "fedtheory")]
MODULE = [sys.executable, "-m", "fedtheory"]
VERIFY = ["verify", "renard2022:property-2.5", "--jobs", "2", "--json"]


def execute(arguments: list[str], folder: Path, python_path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a process in a folder, with or without PYTHONPATH."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def shadow(folder: Path, manner: str) -> None:
    """Create modules `report` and `verify` in a folder, which must not be imported."""
    for name in ("report", "verify"):
        if manner == "files":
            (folder / f"{name}.py").write_text("raise RuntimeError('this is mine')\n")
        else:
            (folder / name).mkdir()
        if manner == "packages":
            (folder / name / "__init__.py").write_text("raise RuntimeError('this is mine')\n")


@pytest.mark.parametrize(
    ("program", "manner", "python_path"),
    [
        (SCRIPT, "files", "{folder}"),
        (MODULE, "packages", "{folder}"),
        (MODULE, "empty folders", f".{os.pathsep}{os.pathsep}nowhere"),
    ],
    ids=["script-files-on-path", "module-packages-on-path", "module-folders-on-relative-path"],
)
def test_shadowing(program: list[str], manner: str, python_path: str | None, tmp_path: Path) -> None:
    """The toolkit's own `verify` is used, in this process and in its workers."""
    folder = tmp_path / "my work"
    folder.mkdir()
    shadow(folder, manner)
    done = execute([*program, *VERIFY], folder, python_path and python_path.format(folder=folder))
    assert done.returncode == 0, done.stderr
    assert read_json(done.stdout)["claims"][0]["verdict"] == "proved"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("program", [SCRIPT, MODULE], ids=["script", "module"])
def test_shadowing_of_a_check(program: list[str], tmp_path: Path) -> None:
    """The toolkit's own `verify` is used without workers as well, with several spellings of the folder on the path."""
    shadow(tmp_path, "files")
    (tmp_path / "run.toml").write_text(run_text(QUADRATIC))
    path = os.pathsep.join([".", str(tmp_path), f"{tmp_path}/", f"{tmp_path}/../{tmp_path.name}"])
    done = execute([*program, "check", "renard2022:thm-2.1", "run.toml", "--json"], tmp_path, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_json(done.stdout)["holds"] is True


def test_own_claim_beside_shadowing_names(tmp_path: Path) -> None:
    """A user-defined claim works in such a folder, named by a relative path, in worker processes too."""
    (tmp_path / "verify.py").write_text("raise RuntimeError('this is mine')\n")
    (tmp_path / "mine.py").write_text(CONTRACT)
    (tmp_path / "run.toml").write_text(run_text(QUADRATIC))
    done = execute([*SCRIPT, "verify", "mine.py:drift", "--jobs", "2", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_json(done.stdout)["claims"][0]["verdict"] == "supported"
    done = execute([*SCRIPT, "check", "mine.py:drift", "run.toml", "--json"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert read_json(done.stdout)["holds"] is True


def test_exit_codes_of_the_process(tmp_path: Path) -> None:
    """A mistake leaves the process with exit code 2 and one line."""
    done = execute([*SCRIPT, "simulate", "nowhere.toml"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["fedtheory: nowhere.toml: cannot be read (No such file or directory)"]


def test_closed_pipe(tmp_path: Path) -> None:
    """A reader that stops early, as `head` does, causes no traceback."""
    (tmp_path / "run.toml").write_text(run_text(QUADRATIC, {"algorithm.rounds": "2000"}))
    process = subprocess.Popen(
        [*SCRIPT, "simulate", "run.toml", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        errors = process.stderr.read()
        process.wait(timeout=60)
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors


def imported_by(code: str, names: tuple[str, ...]) -> set[str]:
    """Return which of the named modules a piece of code imports."""
    probe = f"{code}\nimport sys\nprint('imported', *(set({names!r}) & sys.modules.keys()))"
    done = execute([sys.executable, "-c", probe], ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_import_is_cheap() -> None:
    """Importing the package does not import heavy modules."""
    heavy = ("sympy", "numpy", "typer", "scipy", "flint", "joblib", "rich", "sklearn", "matplotlib")
    assert imported_by("import fedtheory", heavy) == set()


@pytest.mark.parametrize("arguments", [["--help"], ["simulate", "--help"], ["verify", "--help"]], ids=" ".join)
def test_help_is_cheap(arguments: list[str]) -> None:
    """Help imports neither SymPy nor the numerical libraries."""
    code = f"from fedtheory.cli import run\nassert run({arguments!r}) == 0"
    assert imported_by(code, ("sympy", "numpy", "scipy", "flint", "joblib", "sklearn", "matplotlib")) == set()
