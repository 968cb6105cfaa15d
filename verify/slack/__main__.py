"""``python -m verify.slack [TARGET]...``: search runs with larger attained ratios of proved bounds, and store them.

With ``--tighten`` the command searches for smaller proved constants, and stores them with their certificates.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flint import fmpq

from fedtheory.arithmetic import plain_float
from fedtheory.language.targets import expand, resolve
from fedtheory.runfile import read_toml
from verify.slack import select_proved_bounds, select_proved_claims
from verify.slack.bound_parts import Part
from verify.slack.search import regenerate, remove_stale
from verify.slack.tightening import regenerate_tightened


def main() -> None:
    """Search again; a stored run is replaced only by a better one."""
    parser = argparse.ArgumentParser(prog="python -m verify.slack", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="proved claims, or papers; all if none")
    parser.add_argument("--seconds", type=float, default=10.0, help="time of the search for each part of a bound")
    parser.add_argument("--also", nargs="*", default=[], metavar="RUN", help="run files to try on each part")
    parser.add_argument("--tighten", action="store_true", help="search for smaller constants with proofs instead")
    given = parser.parse_args()
    chosen = [resolve(target) for target in expand(given.targets)] if given.targets else None
    if given.tighten:
        for claim in select_proved_bounds(chosen):
            regenerate_tightened(claim, lambda text: print(text, flush=True))
        return
    regenerate(
        select_proved_claims(chosen), given.seconds, [read_toml(Path(file)) for file in given.also], _print_share
    )
    if chosen is None:
        remove_stale()


def _print_share(part: Part, share: fmpq | None) -> None:
    found = "nothing" if share is None else f"{plain_float(share):.4g}"
    print(f"{part.bound.id} {part.name}: {found}", flush=True)


if __name__ == "__main__":
    main()
