"""``python -m verify.counterexamples [ID]...``: find the counterexamples of refuted claims again, and shrink them."""

from __future__ import annotations

import argparse
import sys

from fedtheory.language.registry import find
from verify.counterexamples.search import refuted_claims, regenerate, remove_stale


def main() -> int:
    """Regenerate the files; exit code 1 if a claim has no counterexample."""
    parser = argparse.ArgumentParser(prog="python -m verify.counterexamples", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="refuted claims; all if none is given")
    parser.add_argument("--seconds", type=float, default=10.0, help="time to shrink each run")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 for all cores")
    given = parser.parse_args()
    missing = regenerate(
        [find(claim_id) for claim_id in given.ids] or refuted_claims(), seconds=given.seconds, jobs=given.jobs
    )
    if not given.ids:
        remove_stale()
    for claim_id in missing:
        print(f"{claim_id}: no counterexample", file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
