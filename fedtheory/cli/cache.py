"""`fedtheory cache`: stored results."""

from __future__ import annotations

from typing import Annotated

import typer

from fedtheory.cli.output import Json, print_json, print_lines

NAME = "cache"

Clear = Annotated[bool, typer.Option("--clear", help="Delete all stored results.")]


def run(clear: Clear = False, as_json: Json = False) -> None:
    """Show the folder and the size of stored verdicts and pages; FEDTHEORY_CACHE names another folder."""
    from verify import cache

    home, (entries, size) = cache.folder(), cache.measure()
    cleared = cache.clear() if clear else 0
    if as_json:
        print_json(
            {"folder": None if home is None else str(home), "entries": entries, "bytes": size, "cleared": cleared}
        )
    elif home is None:
        print_lines(f"nothing is kept: {cache.VARIABLE} is empty")
    elif clear:
        print_lines(f"{home}: {cleared} results forgotten")
    else:
        print_lines(f"{home}: {entries} results in {size / 2**20:.1f} MiB, at most {cache.LIMIT / 2**20:.0f} MiB")
