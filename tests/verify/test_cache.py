"""Cache between commands: entries are found again, change no result, and are dropped when their inputs change."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify import cache
from verify.verdict import verify

WRITES = """
import itertools
from verify import cache
for n in itertools.count():
    cache.save("x" * 100_000, "entry", str(n % 50))
    print(n, flush=True)
"""
DIGESTS = """
import json
from fedtheory.language.targets import expand, resolve
from verify.digests import digest_code, digest_target
print(json.dumps({resolve(t).id: digest_target(t) for t in expand(["PAPER"])} | {"code": digest_code()}))
"""
PAPER = """
import sympy as sp

from fedtheory import Claim, Source
from fedtheory import quantities as q

eta, L = sp.symbols("eta L", positive=True)


def _half(run):
    return twice(run) / four.on(run)


def _four(run):
    return 4 if odd.name else 0


def twice(run):
    return 2 * q.max_drift.on(run)


# Each of them refers to the other.
odd = q.RunQuantity("odd", "o", "half of the drift", _half)
four = q.RunQuantity("four", "f", "four", _four)
SOURCE = Source(
    key="paper",
    title="A paper",
    authors="A. N. Author",
    year=2026,
    claims=(
        Claim(id="paper:one", lhs=q.max_drift, rhs=eta * L, where={eta: q.local_step_size, L: q.smoothness}),
        Claim(id="paper:two", lhs=q.final_distance_sq, rhs=eta * 2, where={eta: q.local_step_size}),
        Claim(id="paper:three", lhs=odd, rhs=eta, where={eta: q.local_step_size}),
    ),
)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use an empty cache of the test's own."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    yield tmp_path / "kept"
    cache._store.cache_clear()


def test_kept_and_forgotten(home: Path) -> None:
    """A value comes back by its key, and by no other one, until all is forgotten."""
    cache.save([1, 2], "numbers", "a")
    assert cache.folder() == home
    assert cache.find("numbers", "a") == [1, 2]
    assert cache.find("numbers", "b") is None
    assert cache.measure()[0] == 1
    assert cache.clear() == 1
    assert cache.find("numbers", "a") is None


def test_an_empty_variable_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable switches the cache off, like the option of the commands."""
    monkeypatch.setenv(cache.VARIABLE, "somewhere")
    cache.ignore()
    cache.save(1, "one")
    assert cache.folder() is None
    assert cache.find("one") is None
    assert not Path("somewhere").exists()


def test_a_folder_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a file has the path of the cache folder, nothing is cached and nothing fails."""
    (tmp_path / "file").write_text("here")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    cache.save(1, "one")
    assert cache.find("one") is None
    assert cache.measure() == (0, 0)


@pytest.mark.parametrize("error", [sqlite3.OperationalError("database or disk is full"), OSError(28, "No space left")])
def test_a_full_disk(home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Results that cannot be written are not cached."""
    assert home is not None

    def full(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(cache._store(cache.folder()), "set", full)
    cache.save(1, "one")
    assert cache.find("one") is None


def test_a_broken_entry_is_none(home: Path) -> None:
    """A file that was cut short counts as missing."""
    cache.save(["x" * 100_000], "long")
    (entry,) = (path for path in home.rglob("*.val"))
    entry.write_bytes(entry.read_bytes()[:50])
    assert cache.find("long") is None


def test_a_writer_that_is_killed_does_no_harm(home: Path) -> None:
    """Another process writes and is killed at once; what it had written can be read, and more can be written."""
    with subprocess.Popen([sys.executable, "-c", WRITES], stdout=subprocess.PIPE, env=os.environ) as writer:
        assert writer.stdout is not None
        for _ in range(60):
            assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    assert home.is_dir()
    assert all(cache.find("entry", str(n)) == "x" * 100_000 for n in range(50))
    cache.save("y", "entry", "0")
    assert cache.find("entry", "0") == "y"


def _digests(paper: Path) -> dict[str, str]:
    import json

    done = subprocess.run(
        [sys.executable, "-c", DIGESTS.replace("PAPER", str(paper))], capture_output=True, text=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of a paper, and the digests of its claims."""
    folder = Path(tmp_path_factory.mktemp("papers")) / "paper"
    folder.mkdir()
    (folder / "__init__.py").write_text(PAPER)
    return folder, _digests(folder)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        pytest.param("eta * 2", "eta * 3", {"paper:two"}, id="a bound"),
        pytest.param("eta, L =", "# a line more\n\neta, L =", set(), id="a line above", marks=pytest.mark.long),
        pytest.param("rhs=eta * L", "rhs=L * eta", set(), id="another order", marks=pytest.mark.long),
        pytest.param(
            "return 2 *", "return 3 *", {"paper:three"}, id="a function behind a quantity", marks=pytest.mark.long
        ),
        pytest.param(
            "return 4 if",
            "return 5 if",
            {"paper:three"},
            id="a function behind a quantity behind it",
            marks=pytest.mark.long,
        ),
        pytest.param(
            '"eta L", positive',
            '"eta L", nonnegative',
            {"paper:one", "paper:two", "paper:three"},
            id="another assumption on a letter",
            marks=pytest.mark.long,
        ),
        pytest.param(
            '"eta L", positive', '"eta L", real=True, positive', set(), id="an implied one", marks=pytest.mark.long
        ),
    ],
)
def test_digests_follow_the_content_of_claims(
    paper: tuple[Path, dict[str, str]], old: str, new: str, changed: set[str]
) -> None:
    """An edit changes the digests of the claims that it changes, and no others; processes agree."""
    folder, before = paper
    assert old in PAPER
    (folder / "__init__.py").write_text(PAPER.replace(old, new))
    after = _digests(folder)
    assert {claim for claim in before if after[claim] != before[claim]} == changed


@pytest.mark.long
@pytest.mark.usefixtures("home")
def test_a_page_of_a_claim_of_ones_own_needs_no_second_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page reuses the verdict for all instances or a sample, and for 1 second or 1.0."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import sympy as sp\nfrom fedtheory import Claim, quantities as q\n"
        "eta = sp.Symbol('eta', positive=True)\n"
        "loose = Claim(id='mine:loose', lhs=q.local_step_size, rhs=2 * eta, where={eta: q.local_step_size})\n"
    )
    (found,) = verify(f"{mine}:loose", search=1, in_full=True)

    def find_none(targets: list[str], *_: object) -> Iterator[None]:
        assert targets == []
        return iter(())

    monkeypatch.setattr("verify.verdict._find_verdicts", find_none)
    (again,) = verify(f"{mine}:loose", search=1.0)
    assert (again.verdict, again.instances, again.regimes) == (found.verdict, found.instances, found.regimes)
