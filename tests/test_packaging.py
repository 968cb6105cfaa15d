"""The wheel and the source distribution: complete, typed, and usable without any optional extra."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
FLOORS = ("fedtheory", "verify", "report")
VERSIONS = ("3.11", "3.12", "3.13")
RUN = """
[problem]
kind = "quadratic"
hessians = [[["2"]], [["1"]]]
linear = [["1"], ["-1"]]
start = ["3"]
[algorithm]
local_step_size = "1/20"
local_steps = 2
rounds = 3
"""
DIGITS = """
[problem]
kind = "least-squares"
data = "digits:3-8"
clients = 3
[algorithm]
local_step_size = 0.01
local_steps = 2
rounds = 2
"""
EXTRAS = {
    "report": ["report", "-o", "site"],
    "data": ["simulate", "digits.toml"],
    "worst-case": ["worst-case", "renard2022:lemma-2.3"],
}
"""Commands that need an extra."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of the files under version control."""
    folder = tmp_path_factory.mktemp("build")
    source = folder / "source"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in listed:
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder / "dist"], cwd=source, check=True)
    return folder / "dist"


def of_kind(folder: Path, ending: str) -> Path:
    """The one file with an ending."""
    (found,) = folder.glob(f"*{ending}")
    return found


def test_the_wheel_is_complete(built: Path) -> None:
    """Every module, template and counterexample is in it, and each package says that it is typed."""
    names = set(zipfile.ZipFile(of_kind(built, ".whl")).namelist())
    for floor in FLOORS:
        assert f"{floor}/py.typed" in names
        files = [path for path in (ROOT / floor).rglob("*") if path.suffix in (".py", ".toml", ".html", ".css", ".js")]
        assert {str(path.relative_to(ROOT)) for path in files} <= names


def test_the_source_distribution_has_the_tests(built: Path) -> None:
    """Who has the sources can test them."""
    with tarfile.open(of_kind(built, ".tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile"} <= names
    assert any(name.startswith("tests/fedtheory/") for name in names)


@pytest.fixture(scope="module", params=VERSIONS)
def command(request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the wheel, installed without extras for one version of Python."""
    python = shutil.which(f"python{request.param}")
    if python is None or subprocess.run([python, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {request.param} here")
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, of_kind(built, ".whl")], check=True)
    (folder / "run.toml").write_text(RUN)
    (folder / "digits.toml").write_text(DIGITS)
    return folder / "venv/bin/fedtheory"


def typed(command: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the command does outside of the project's own folder."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [command, *arguments], cwd=command.parents[2], env=alone, capture_output=True, text=True, check=False
    )


def test_commands_work_without_extras(command: Path) -> None:
    """Claims, runs, checks, proofs, searches and assignments need nothing optional."""
    for arguments in (
        ["claims"],
        ["show", "lecture27:lemma-4"],
        ["simulate", "run.toml", "--arithmetic", "rational"],
        ["check", "renard2022:thm-2.1", "run.toml"],
        ["prove", "renard2022:thm-2.1"],
        ["falsify", "renard2022:lemma-2.2", "--budget", "2"],
        ["plan", "run.toml"],
        ["errata"],
    ):
        done = typed(command, *arguments, "--json")
        assert done.returncode == 0, (arguments, done.stderr)
        json.loads(done.stdout)


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_one_line(command: Path, extra: str) -> None:
    """It says what to install."""
    done = typed(command, *EXTRAS[extra])
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"pip install 'fedtheory[{extra}]'" in line
