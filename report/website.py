"""The site: a front page, a page for each source and claim, pages of papers, the errata, and the verdicts as JSON.

The front page is written first and shows the progress of the checks; every other page is written when it is drawn.
Pages contain no dates or timings, so that the same claims give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from fedtheory.errors import InputError
from fedtheory.language.claim import Verdict
from report.drawing import (
    ClaimTask,
    ErrataTask,
    Neighbour,
    PaperTask,
    PlanTask,
    SlackTask,
    Task,
    draw_pages,
    load_templates,
)
from report.errata import ERRATA_PAGE
from report.figures.style import Figure
from report.finished_pages import FinishedPages, ListedPage, PageFiles
from report.listing import ClaimCounts, ClaimRow, SourceGroup, list_groups
from report.progress_page import ProgressPage
from report.slack import SLACK_PAGE
from report.step_size_page import PLAN_PAGE, list_comparable_claims
from report.user_runs import RunSummary, UserRun, draw_run_figures, draw_together, read_runs
from verify.claim_verdict import ClaimVerdict
from verify.slack import has_runs
from verify.verdict import verify

SCRIPT = "explorer.js"
_SEARCH = 10.0
"""Seconds of search for each user-defined claim, as in `fedtheory verify`."""


def write_site(
    folder: Path,
    targets: Sequence[str],
    *,
    runs: Sequence[str] = (),
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Path]:
    """Verify claims, named as on the command line, and write their pages, also on run files; return the written
    files.
    """
    own = read_runs(runs)
    waiting = ProgressPage(folder / "index.html", targets, on_progress)
    verdicts = verify(targets, jobs=jobs, search=_SEARCH, on_progress=waiting)
    folder.mkdir(parents=True, exist_ok=True)
    site = _Site(folder, list_groups([ClaimRow.from_verdict(verdict) for verdict in verdicts]), own)
    site.write("verdicts.json", _encode_verdicts(verdicts))
    site.write_index()
    tasks = _list_tasks(verdicts, site.groups, own, jobs)
    for done, found in enumerate(draw_pages(tasks, site.linked, jobs), start=1):
        site.add(found)
        on_progress(done, len(tasks))
    site.finish()
    return [folder / name for name in site.names]


def write_sweep(folder: Path, file: Path) -> Path:
    """Write the page of a sweep's table; return the written file."""
    from report.sweep import make_sweep_page

    page = make_sweep_page(file)
    folder.mkdir(parents=True, exist_ok=True)
    return _write(folder / f"{page.name}.html", load_templates(()).get_template("sweep.html").render(page=page))


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _list_tasks(
    verdicts: Sequence[ClaimVerdict], groups: Sequence[SourceGroup], runs: Sequence[UserRun], jobs: int = 1
) -> list[Task]:
    """Return all pages to draw, the longest tasks first; previous and next pages follow the order of the lists.

    The page of a single claim can use all processes.
    """
    compares = {verdict.claim for verdict in verdicts} >= set(list_comparable_claims())
    papers = [PaperTask(group.key) for group in groups if group.is_whole]
    rows = [row for group in groups for row in group.rows]
    found = {verdict.target: verdict for verdict in verdicts}
    at = [Neighbour(row.file, row.title) for row in rows]
    own = jobs if len(rows) == 1 else 1
    pages = [
        ClaimTask(found[row.target], before, after, runs, own)
        for row, before, after in zip(rows, [None, *at[:-1]], [*at[1:], None], strict=True)
    ]
    named = [row.target for row in rows]
    return [*([PlanTask()] if compares else []), *papers, ErrataTask(named), SlackTask(named), *pages]


@dataclass
class _Site:
    """A folder in which pages are written."""

    folder: Path
    groups: Sequence[SourceGroup]
    runs: Sequence[UserRun]
    names: list[str] = field(default_factory=lambda: ["index.html"])
    """Names of the files, the index first."""
    listed_pages: list[ListedPage] = field(default_factory=list)
    on_runs: dict[str, Sequence[RunSummary]] = field(default_factory=dict)
    miniatures: dict[str, Figure] = field(default_factory=dict)
    """Figures of main theorems and their corrections, by target."""
    has_explorer: bool = False

    @property
    def rows(self) -> list[ClaimRow]:
        """Return all claims, in the order of the lists."""
        return [row for group in self.groups for row in group.rows]

    @cached_property
    def linked(self) -> PageFiles:
        """Return the pages to which others link."""
        sources = {group.source.key: group.file for group in self.groups if group.source is not None}
        has_errata = any(row.claim.verdict == "refuted" for row in self.rows)
        claims = ((row.claim.id, row.file) for row in self.rows)
        has_slack = has_runs(row.claim for row in self.rows)
        others = [("errata", ERRATA_PAGE)] * has_errata + [("slack", SLACK_PAGE)] * has_slack
        return (*claims, *sources.items(), *others)

    def write(self, name: str, text: str) -> None:
        """Write a file; raises `InputError` if two files have the same name."""
        if name in self.names:
            raise InputError(name, "a page of the site has this name already: rename the paper's page")
        self.names.append(name)
        _write(self.folder / name, text)

    def write_index(self) -> None:
        """Write the front page with the results so far."""
        text = self._render(
            "index.html",
            groups=self.groups,
            found=ClaimCounts.from_rows(self.rows),
            verdicts=[verdict for verdict in get_args(Verdict) if any(row.verdict == verdict for row in self.rows)],
            kinds=sorted({row.claim.kind for row in self.rows}),
            runs=self.runs,
            miniatures={group.key: self._draw_miniature(group) for group in self.groups},
            plan=PLAN_PAGE if PLAN_PAGE in self.names else None,
        )
        _write(self.folder / "index.html", text)

    def _draw_miniature(self, group: SourceGroup) -> tuple[ClaimRow, Figure] | None:
        """Return the figure of a source's main theorem, or of its correction if the theorem has none."""
        rows = [] if group.main is None else [group.main.row, *group.main.corrections]
        drawn_rows = [row for row in rows if row.target in self.miniatures]
        return (drawn_rows[0], self.miniatures[drawn_rows[0].target]) if drawn_rows else None

    def _render(self, template: str, **values: Any) -> str:
        others = sorted(self.listed_pages, key=lambda page: (page.source, page.file))
        return load_templates(self.linked).get_template(template).render(others=others, **values)

    def add(self, found: FinishedPages) -> None:
        """Write drawn pages."""
        for name, text in found.files.items():
            self.write(name, text)
        self.has_explorer |= found.has_explorer
        self.listed_pages += found.listed
        if found.target is not None:
            self.on_runs[found.target] = found.runs
        if found.target is not None and found.miniature is not None:
            self.miniatures[found.target] = found.miniature

    def finish(self) -> None:
        """Write the files that depend on all pages."""
        if self.has_explorer:
            self.write(SCRIPT, files("report").joinpath("templates", SCRIPT).read_text(encoding="utf-8"))
        for group in self.groups:
            self.write(group.file, self._render("source.html", group=group, graph=group.graph()))
        for name, text in self._run_pages():
            self.write(name, text)
        self.write_index()

    def _run_pages(self) -> Iterator[tuple[str, str]]:
        for number, own in enumerate(self.runs):
            found = [(row, self.on_runs[row.target][number]) for row in self.rows]
            curves = {row.called: section.curve for row, section in found if section.curve is not None}
            drawn = draw_run_figures(own)
            bounds = draw_together(own, curves)
            yield own.page, self._render("run.html", own=own, rows=found, together=bounds, drawn=drawn)


def _encode_verdicts(verdicts: Sequence[ClaimVerdict]) -> str:
    entries = [
        {
            "id": v.claim.id,
            "kind": v.claim.kind,
            "verdict": v.verdict,
            "recorded": v.claim.verdict,
            "instances": v.instances,
            "violations": v.violations,
            "worst_ratio": v.worst_ratio,
            "run_file": v.run_file,
        }
        for v in verdicts
    ]
    return json.dumps({"claims": entries}, indent=1, ensure_ascii=False) + "\n"
