"""``python -m verify.counterexamples [TARGET]...``: find and shrink counterexamples of refuted claims."""

from __future__ import annotations

import argparse
import sys

from fedtheory.language.registry import all_claims
from fedtheory.language.targets import expand
from verify.counterexamples.search import regenerate, remove_stale, select_refuted


def main() -> int:
    """Regenerate the files; exit code 1 if a claim has no counterexample."""
    parser = argparse.ArgumentParser(prog="python -m verify.counterexamples", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="refuted claims, or papers' folders; all if none")
    parser.add_argument("--seconds", type=float, default=10.0, help="time to shrink each run")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 for all cores")
    given = parser.parse_args()
    chosen = select_refuted(expand(given.targets) if given.targets else list(all_claims()))
    missing = regenerate(chosen, seconds=given.seconds, jobs=given.jobs)
    if not given.targets:
        remove_stale()
    for claim_id in missing:
        print(f"{claim_id}: no counterexample found", file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
