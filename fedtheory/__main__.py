"""The front door: `fedtheory` and `python -m fedtheory`."""

from __future__ import annotations

import sys

from fedtheory import find_floors_first


def main() -> None:
    """Run the command line and leave with its exit code."""
    find_floors_first()
    from fedtheory.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
