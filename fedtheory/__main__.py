"""The front door: `fedtheory` and `python -m fedtheory`."""

from __future__ import annotations

import sys
from pathlib import Path

_HOME = Path(__file__).resolve().parent.parent
_FLOORS = ("verify", "report")


def guard_imports(path: list[str]) -> None:
    """Drop the folders of an import path that would shadow `verify` or `report`, in place.

    Both names are generic, and a user's folder may hold a ``report.py`` of its
    own.  Worker processes inherit the path, so they are guarded as well.
    """
    path[:] = [entry for entry in path if Path(entry or ".").resolve() == _HOME or not _shadows(Path(entry or "."))]


def _shadows(folder: Path) -> bool:
    try:
        return any((folder / f"{name}.py").is_file() or (folder / name).is_dir() for name in _FLOORS)
    except OSError:
        return False


def main() -> None:
    """Run the command line and leave with its exit code."""
    guard_imports(sys.path)
    from fedtheory.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
