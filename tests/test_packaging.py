"""The wheel and the source distribution are complete, typed, and usable without optional extras."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
HOMES = {"fedtheory": "fedtheory", "verify": "fedtheory/_floors/verify", "report": "fedtheory/_floors/report"}
"""Paths of the three packages in a wheel."""
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
    """Return a folder with the wheel and the source distribution of the files under version control."""
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
    """Return the only file with a suffix."""
    (found,) = folder.glob(f"*{ending}")
    return found


def test_the_wheel_is_complete(built: Path) -> None:
    """The wheel contains every module, template and counterexample, and type markers."""
    names = set(zipfile.ZipFile(of_kind(built, ".whl")).namelist())
    for floor, home in HOMES.items():
        assert f"{home}/py.typed" in names
        files = [path for path in (ROOT / floor).rglob("*") if path.suffix in (".py", ".toml", ".html", ".css", ".js")]
        assert {f"{home}/{path.relative_to(ROOT / floor)}" for path in files} <= names


def test_the_wheel_takes_one_name(built: Path) -> None:
    """The wheel uses one top-level name, since other distributions may have a `verify` or a `report`."""
    names = {name.partition("/")[0] for name in zipfile.ZipFile(of_kind(built, ".whl")).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"fedtheory", "fedtheory-floors.pth"}


def test_the_source_distribution_has_the_tests(built: Path) -> None:
    """The source distribution contains the tests."""
    with tarfile.open(of_kind(built, ".tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "Makefile",
    } <= names
    assert {"docs/schemas/run-file.schema.json", "docs/tutorials/step-size.md"} <= names
    assert any(name.startswith("tests/fedtheory/") for name in names)


@pytest.fixture(scope="module", params=VERSIONS)
def command(request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the command of the wheel, installed without extras for one version of Python."""
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
    """Return the output of the command outside of the project's own folder."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [command, *arguments], cwd=command.parents[2], env=alone, capture_output=True, text=True, check=False
    )


def test_commands_work_without_extras(command: Path) -> None:
    """Claims, runs, checks, proofs, searches and assignments work without optional packages."""
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
    """The message says what to install."""
    done = typed(command, *EXTRAS[extra])
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"pip install 'fedtheory[{extra}]'" in line


FOREIGN = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "foreign"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["verify", "report"]
"""


def _foreign(folder: Path) -> Path:
    """Create the sources of a distribution with packages `verify` and `report`."""
    for floor in ("verify", "report"):
        (folder / floor).mkdir(parents=True)
        (folder / floor / "__init__.py").write_text("OWNER = 'foreign'\n")
        (folder / floor / "check.py").write_text("")
    (folder / "pyproject.toml").write_text(FOREIGN)
    return folder


@pytest.fixture(params=["wheel", "editable"])
def crowded(request: pytest.FixtureRequest, built: Path, tmp_path: Path) -> Path:
    """Return the Python of an environment in which another distribution has both names."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "zz-dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    source = ["--editable", built.parent / "source"] if request.param == "editable" else [of_kind(built, ".whl")]
    for chosen in (source, [_foreign(tmp_path / "foreign")]):
        subprocess.run([*pip, *chosen], check=True)
    return python


def test_everybody_finds_their_own(crowded: Path, tmp_path: Path) -> None:
    """The command and its workers import the toolkit's packages, other programs those of the other distribution."""
    for command in ([crowded.parent / "fedtheory"], [crowded, "-m", "fedtheory"]):
        arguments = ["verify", "renard2022:property-2.5", "--jobs", "2", "--json"]
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["claims"][0]["verdict"] == "proved"
    theirs = "import fedtheory, verify, report; print(verify.OWNER, report.OWNER)"
    done = subprocess.run([crowded, "-c", theirs], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["foreign", "foreign"]
    subprocess.run([crowded, "-m", "pip", "uninstall", "--quiet", "--yes", "foreign"], check=True)
    ours = "from verify.check import check; import report.website"
    subprocess.run([crowded, "-c", ours], cwd=tmp_path, check=True)
