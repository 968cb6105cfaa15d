"""`fedtheory rocq`: write proved claims as theorems for Rocq."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedtheory.cli.output import Json, NoCode, SourceKey, Targets, print_json, print_lines, progress

NAME = "rocq"

Folder = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")]


def run(
    targets: Targets = None,
    output: Folder = "rocq",
    source: SourceKey = None,
    *,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> int:
    """Write claims with their proofs as theorems for Rocq (Coq 8.16 or newer), with the library that they need.

    Without targets, all proved claims are written.  In the folder `coq_makefile -f _CoqProject -o Makefile && make`
    checks them; the last file prints the assumptions of each theorem.  A claim that cannot be written is listed with
    the reason.  Exit code 1 if the kernel rejects a certificate: its theorem is not written.
    """
    from fedtheory.language.targets import expand_targets
    from verify.rocq.project import list_proved_ids, write_project

    named = expand_targets(targets, source) if targets or source else list_proved_ids()
    with progress("rocq") as on_progress:
        entries = write_project(Path(output), named, on_progress)
    if as_json:
        print_json([entry.document() for entry in entries])
        return int(any(entry.is_refused for entry in entries))
    for entry in entries:
        print_lines(f"{entry.id}: {entry.file or entry.reason}")
    print_lines(f"{sum(entry.file is not None for entry in entries)} of {len(entries)} claims are theorems in {output}")
    refused = [entry.id for entry in entries if entry.is_refused]
    if refused:
        print_lines(f"the kernel refuses the certificates of {', '.join(refused)}: `fedtheory prove` names each step")
    return int(bool(refused))
