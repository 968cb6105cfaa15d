"""Fixtures for the command line: commands in-process, and a folder with data files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cli_support import CLIENT_OF_ROW, QUADRATIC, Changes, Command, Outcome, run_text

from fedtheory.cli import run
from fedtheory.language import registry
from fedtheory.language.folder import open_paper
from fedtheory.language.targets import resolve


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `fedtheory ARGUMENTS...` in this process."""

    def execute(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return execute


@pytest.fixture
def no_open_paper(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the folders of papers that a test opens, since other tests list all claims."""
    monkeypatch.setattr(registry, "_OPENED", {})
    _forget_papers()
    yield
    _forget_papers()


def _forget_papers() -> None:
    for cached in (registry.all_claims, resolve, open_paper):
        cached.cache_clear()


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a run file, `base` with changes, into a temporary folder."""

    def write(changes: Changes | None = None, base: dict[str, str] = QUADRATIC, name: str = "run.toml") -> Path:
        path = tmp_path / name
        path.write_text(run_text(base, changes), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with good and bad data files; run files of the tests are written next to them."""
    folder = tmp_path_factory.mktemp("data")
    generator = np.random.default_rng(5)
    count = len(CLIENT_OF_ROW)
    X, y = generator.integers(-2, 3, (count, 3)) / 2, generator.integers(-2, 3, count) / 2
    client = np.array(CLIENT_OF_ROW)
    _write_npz_files(folder, X, y, client)
    _write_csv_files(folder, X, y, client)
    (folder / "folder.csv").mkdir()
    return folder


def _write_npz_files(folder: Path, X: np.ndarray, y: np.ndarray, client: np.ndarray) -> None:
    np.savez(folder / "good.npz", X=X, y=y, client=client)
    np.savez(folder / "no_client.npz", X=X, y=y)
    np.savez(folder / "no_y.npz", X=X, client=client)
    np.savez(folder / "no_x.npz", y=y, client=client)
    np.savez(folder / "nan.npz", X=np.where(np.arange(X.size).reshape(X.shape) == 4, np.nan, X), y=y, client=client)
    np.savez(folder / "inf.npz", X=X, y=np.where(np.arange(len(y)) == 4, np.inf, y), client=client)
    np.savez(folder / "text.npz", X=X.astype(str), y=y, client=client)
    np.savez(folder / "flat.npz", X=X[:, 0], y=y, client=client)
    np.savez(folder / "short_y.npz", X=X, y=y[1:], client=client)
    np.savez(folder / "short_client.npz", X=X, y=y, client=client[1:])
    np.savez(folder / "no_rows.npz", X=X[:0], y=y[:0], client=client[:0])
    np.savez(folder / "objects.npz", X=X.astype(object), y=y, client=client)
    whole = (folder / "good.npz").read_bytes()
    (folder / "truncated.npz").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.npz").write_bytes(b"")
    (folder / "garbage.npz").write_text("this is no archive\n" * 20)
    with (folder / "array.npz").open("wb") as file:
        np.save(file, X)


def _write_csv_files(folder: Path, X: np.ndarray, y: np.ndarray, client: np.ndarray) -> None:
    rows = [",".join(map(repr, map(float, row))) for row in np.column_stack([X, y, client])]
    (folder / "good.csv").write_text("\n".join(["a,b,c,y,client", *rows]) + "\n")
    (folder / "text.csv").write_text("\n".join(["a,b,c,y,client", *rows[:-1], "1,2,three,4,0"]) + "\n")
    (folder / "ragged.csv").write_text("\n".join(["a,b,c,y,client", *rows, "1,2,3"]) + "\n")
    (folder / "two_columns.csv").write_text("y,client\n1,0\n2,0\n")
    (folder / "header_only.csv").write_text("a,b,c,y,client\n")
    (folder / "empty.csv").write_text("")
    (folder / "nan.csv").write_text("a,y,client\n1,2,0\nnan,2,0\n1,1,1\n")
    (folder / "nan_client.csv").write_text("a,y,client\n1,2,0\n3,2,nan\n1,1,1\n")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
