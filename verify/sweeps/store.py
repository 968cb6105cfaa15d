"""Results on disk: one file for each part of a sweep, written atomically, and finally one table.

A part is named by its runs and is either complete or absent, so that a killed sweep continues from the finished parts.
After a power failure parts may be damaged; their checksums reveal this, and they are computed again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.errors import InputError, MissingExtra
from verify.sweeps.arrow import build_table, is_whole, read_table
from verify.sweeps.columns import classify_keys, encode_row, schema
from verify.sweeps.spec import Spec

if TYPE_CHECKING:
    import pyarrow as pa

METADATA = "fedtheory.sweep"
"""Key of the metadata of the table: the sweep as JSON."""
_MOST_PARTS, _ENOUGH_PARTS = 100, 40
"""Numbers of parts of a long sweep, and of one whose runs may be quick: enough for many processes and for a restart."""
_WORTH_A_FILE = 25
"""Number of runs that may take less time than writing a file."""
_DIGEST = "digest"


@dataclass(frozen=True)
class Store:
    """Storage of the results of a sweep."""

    spec: Spec
    output: Path
    """The table of all results (Parquet)."""

    @property
    def folder(self) -> Path:
        """Return the folder of the parts until the table is complete."""
        return self.output.with_name(f"{self.output.name}.parts")

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Return the first run and the end of each part; they depend only on the number of runs."""
        runs = self.spec.design.runs
        size = max(-(-runs // _MOST_PARTS), min(_WORTH_A_FILE, runs // _ENOUGH_PARTS))
        return [(first, min(first + size, runs)) for first in range(0, runs, size)]

    @contextmanager
    def open(self, restart: bool) -> Iterator[None]:
        """Lock the parts for this process; raises `InputError` if they, or the table, belong to another sweep.

        With `restart` the results of another sweep are deleted.
        """
        from filelock import FileLock, Timeout

        self._refuse_strange_output()
        # The operating system releases the lock when the process ends, for whatever reason.
        lock = FileLock(self.folder / "lock", blocking=False)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            held = lock.acquire()
        except Timeout:
            raise InputError(
                "", "another process is running this sweep: wait until it ends", str(self.output)
            ) from None
        except OSError as error:
            raise InputError("--output", f"cannot be written ({error.strerror})", str(self.output)) from None
        with held:
            if restart:
                self.output.unlink(missing_ok=True)
                self._remove_parts()
            self._reserve_parts()
            yield

    @property
    def is_complete(self) -> bool:
        """Return whether the table exists."""
        return self.output.exists()

    def has(self, part: tuple[int, int]) -> bool:
        """Return whether a part exists and is undamaged."""
        return is_whole(self._locate(part))

    def save(self, part: tuple[int, int], rows: Sequence[dict[str, Any]]) -> None:
        """Write a part atomically."""
        import pyarrow.parquet as pq

        table = build_table([encode_row(row, self._kinds, self.spec.arithmetic) for row in rows], self._schema)
        _write_and_rename(self._locate(part), lambda path: pq.write_table(table, path, write_page_checksum=True))

    def merge(self) -> None:
        """Write the table of all parts atomically."""
        import pyarrow.parquet as pq

        def write(path: Path) -> None:
            with pq.ParquetWriter(path, self._schema) as writer:
                for part in self.parts:
                    writer.write_table(read_table(self._locate(part)))

        _write_and_rename(self.output, _write_durably(write), self.folder)

    def clear(self) -> None:
        """Remove the parts after the table is complete."""
        self._remove_parts()
        shutil.rmtree(self.folder)

    @cached_property
    def _kinds(self) -> dict[str, str]:
        return classify_keys(self.spec.design)

    @cached_property
    def _schema(self) -> pa.Schema:
        spec = self.spec
        described = {_DIGEST: spec.digest, **spec.described}
        return schema(spec.design, spec.arithmetic, spec.errors, {METADATA: json.dumps(described, default=str)})

    def _locate(self, part: tuple[int, int]) -> Path:
        return self.folder / f"{part[0]:09d}-{part[1]:09d}.parquet"

    def _refuse_strange_output(self) -> None:
        if self.is_complete and read_digest(self.output) is None:
            raise InputError("--output", "exists, and is not the table of a sweep: name another file", str(self.output))

    def _remove_parts(self) -> None:
        """Remove the parts, and only then the note of their sweep, so that no part exists without the note."""
        for path in self.folder.glob("*.parquet*"):
            path.unlink()
        (self.folder / _DIGEST).unlink(missing_ok=True)

    def _reserve_parts(self) -> None:
        """Record the sweep to which the parts belong; raises `InputError` if they belong to another one."""
        digest = self.folder / _DIGEST
        known = {read_digest(self.output)} if self.is_complete else set()
        known |= {digest.read_text()} if digest.exists() else set()
        if known - {self.spec.digest}:
            message = "holds results of another sweep, or the sweep has changed; --restart throws them away"
            raise InputError("", message, str(self.output))
        _write_and_rename(digest, _write_durably(lambda path: path.write_text(self.spec.digest)))


def require_pyarrow() -> None:
    """Raise `MissingExtra` if pyarrow is not installed."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise MissingExtra("sweep", "a sweep's table of results")


def read_digest(file: Path) -> str | None:
    """Return the digest of the sweep whose results a table holds; None for any other file."""
    described = read_description(file)
    return None if described is None else str(described[_DIGEST])


def read_description(file: Path) -> dict[str, Any] | None:
    """Return the description in a table of a sweep; None for another file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(file).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    return json.loads(metadata[METADATA.encode()]) if METADATA.encode() in metadata else None


def _write_durably(write: Callable[[Path], object]) -> Callable[[Path], None]:
    """Write a file, and wait until it has reached the disk."""

    def written(path: Path) -> None:
        write(path)
        with path.open("rb+") as file:
            os.fsync(file.fileno())

    return written


def _write_and_rename(path: Path, write: Callable[[Path], object], folder: Path | None = None) -> None:
    """Write a file under a temporary name, and then rename it."""
    half_written = (folder or path.parent) / f"{path.name}.half"
    try:
        write(half_written)
        half_written.replace(path)
    except OSError as error:
        raise InputError("", f"cannot be written ({error.strerror or error})", str(path)) from None
