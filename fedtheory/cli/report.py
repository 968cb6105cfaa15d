"""`fedtheory report`: write the HTML pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedtheory.cli.figure import require_pages
from fedtheory.cli.output import Jobs, Json, NoCache, NoCode, SourceKey, Targets, print_json, print_lines, progress
from fedtheory.errors import InputError

NAME = "report"

Folder = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The folder for the pages.")]

Sweep = Annotated[str | None, typer.Option("--sweep", metavar="FILE", help="The table of a sweep, for its page.")]


Runs = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="RUN", help="Your own run file, for all claims; may be repeated."),
]


def run(
    targets: Targets = None,
    output: Folder = "site",
    source: SourceKey = None,
    *,
    runs: Runs = None,
    sweep: Sweep = None,
    jobs: Jobs = -1,
    no_cache: NoCache = False,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Verify the claims and write self-contained HTML pages: statements, verdicts, figures, counterexamples.

    A claim may be user-defined, as file.py:NAME; with --run each page also shows the claim on your run.

    With --sweep the page of a sweep's table is written instead: ratios over the swept keys, and the worst runs.
    """
    from fedtheory.language.targets import expand_targets
    from verify import cache

    if no_cache:
        cache.ignore()
    if sweep is not None and (source is not None or targets or runs):
        raise InputError(
            "--sweep", "expected no claims, runs or source beside it: the page shows the claims of the sweep"
        )
    require_pages()
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("--output", f"expected a folder for the pages, got {output} ({error.strerror})") from None
    from report.website import write_site, write_sweep

    if sweep is None:
        with progress("report") as tell:
            files = write_site(
                Path(output), expand_targets(targets, source), runs=runs or [], jobs=jobs, on_progress=tell
            )
    else:
        files = [write_sweep(Path(output), Path(sweep))]
    if as_json:
        print_json({"files": [str(file) for file in files]})
    else:
        print_lines(f"wrote {len(files)} file{'s' if len(files) > 1 else ''}; open {files[0]}")
