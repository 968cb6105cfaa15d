"""The site: an index, a page for each claim, papers' own pages, the errata, a script, and the verdicts as JSON.

The index is there first, and every page as soon as it is drawn.  Pages carry
no dates and no timings: the same claims give the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import get_args

from markupsafe import Markup

from fedtheory.errors import InputError
from fedtheory.language.claim import Verdict
from fedtheory.language.registry import all_sources, paper_with
from fedtheory.language.source import Source
from fedtheory.language.targets import shown_as
from report.drawing import (
    ClaimTask,
    Drawn,
    ErrataTask,
    Neighbour,
    OwnPage,
    PaperTask,
    PlainVerdict,
    PlanTask,
    Task,
    Written,
    drawn,
    environment_for,
)
from report.errata import ERRATA_PAGE
from report.own_runs import OnRun, OwnRun, own_runs, run_figures, together
from report.pages import page_name, tightest
from report.planning import PLAN_PAGE, comparable
from verify.verdict import ClaimVerdict, verify

SCRIPT = "explorer.js"
_SEARCH = 10.0
"""Seconds for each claim of one's own, as `fedtheory verify` has it."""


def write_site(
    folder: Path,
    targets: Sequence[str],
    *,
    runs: Sequence[str] = (),
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Path]:
    """Verify claims, named as on the command line, and write their pages, also on some run files; the files written."""
    own = own_runs(runs)
    verdicts = verify(targets, jobs=jobs, search=_SEARCH, on_progress=on_progress)
    folder.mkdir(parents=True, exist_ok=True)
    site = _Site(folder, [Row.of(verdict) for verdict in verdicts], own)
    site.write("verdicts.json", _verdicts_json(verdicts))
    site.write_index()
    tasks = _tasks(verdicts, site.rows, own)
    for done, found in enumerate(drawn(tasks, site.linked, jobs), start=1):
        site.add(found)
        on_progress(done, len(tasks))
    site.finish()
    return [folder / name for name in site.names]


def write_sweep(folder: Path, file: Path) -> Path:
    """Write the page of a sweep's table; the file written."""
    from report.sweep import sweep_page

    page = sweep_page(file)
    folder.mkdir(parents=True, exist_ok=True)
    return _write(folder / f"{page.name}.html", environment_for(()).get_template("sweep.html").render(page=page))


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Row:
    """A claim on the index."""

    target: str
    id: str
    called: str
    title: str
    locator: str
    is_repair: bool
    file: str
    source: str
    verdict: Verdict
    instances: int
    ratio: str

    @classmethod
    def of(cls, found: ClaimVerdict) -> Row:
        """What the index says of a verdict."""
        claim, called = found.claim, shown_as(found.target, found.claim)
        return cls(
            target=found.target,
            id=claim.id,
            called=called,
            title=claim.title or called,
            locator=claim.locator,
            is_repair=bool(claim.corrects),
            file=page_name(claim),
            source=claim.source,
            verdict=found.verdict,
            instances=found.instances,
            ratio=tightest(found),
        )

    @property
    def own_file(self) -> str | None:
        """The file of a claim of one's own; None for that of a paper."""
        return self.called.rpartition(":")[0] if paper_with(self.source) is None else None


@dataclass(frozen=True)
class Group:
    """Claims of one paper, or of one file, on the index."""

    key: str
    heading: Markup
    rows: Sequence[Row]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many there are of each verdict."""
        counted = Counter(row.verdict for row in self.rows)
        return [(verdict, counted[verdict]) for verdict in get_args(Verdict) if counted[verdict]]


def _groups(rows: Sequence[Row]) -> list[Group]:
    """The claims of each file of one's own, then those of each paper."""
    own = dict.fromkeys(row.own_file for row in rows if row.own_file is not None)
    by_file = [_of_file(file, [row for row in rows if row.own_file == file]) for file in own]
    by_paper = [_of_source(s, [row for row in rows if row.source == s.key]) for s in all_sources().values()]
    return [group for group in (*by_file, *by_paper) if group.rows]


def _of_source(source: Source, rows: Sequence[Row]) -> Group:
    return Group(source.key, Markup("{}, <em>{}</em> ({})").format(source.authors, source.title, source.year), rows)


def _of_file(file: str, rows: Sequence[Row]) -> Group:
    return Group(Path(file).stem, Markup("Your claims in <code>{}</code>").format(file), rows)


def _tasks(verdicts: Sequence[ClaimVerdict], rows: Sequence[Row], runs: Sequence[OwnRun]) -> list[Task]:
    """All pages to draw, those that take longest first."""
    claims = [verdict.claim for verdict in verdicts]
    compares = set(claims) >= set(comparable())
    papers = [PaperTask(key) for key in _whole_papers(rows)]
    at = [Neighbour(row.file, row.title) for row in rows]
    pages = [
        ClaimTask(PlainVerdict.of(verdict), before, after, runs)
        for verdict, before, after in zip(verdicts, [None, *at[:-1]], [*at[1:], None], strict=True)
    ]
    return [*([PlanTask()] if compares else []), *papers, ErrataTask([row.target for row in rows]), *pages]


def _whole_papers(rows: Sequence[Row]) -> list[str]:
    """The papers of which all claims are here: their own pages belong to them as a whole."""
    counted = Counter(row.source for row in rows)
    papers = {key: paper for key in counted if (paper := paper_with(key)) is not None}
    return [key for key, paper in papers.items() if counted[key] >= len(paper.source.claims)]


@dataclass
class _Site:
    """A folder that fills with pages."""

    folder: Path
    rows: Sequence[Row]
    runs: Sequence[OwnRun]
    names: list[str] = field(default_factory=lambda: ["index.html"])
    """Of the files, the index first."""
    own_pages: list[OwnPage] = field(default_factory=list)
    on_runs: dict[str, Sequence[OnRun]] = field(default_factory=dict)
    has_explorer: bool = False

    @property
    def linked(self) -> Written:
        """The pages of the claims."""
        return tuple((row.id, row.file) for row in self.rows)

    def write(self, name: str, text: str) -> None:
        """A file of its own name; `InputError` where two go by the same one."""
        if name in self.names:
            raise InputError(name, "expected another name for a paper's page, the site has a file of this one")
        self.names.append(name)
        _write(self.folder / name, text)

    def write_index(self) -> None:
        """The index, with what there is so far."""
        text = (
            environment_for(self.linked)
            .get_template("index.html")
            .render(
                groups=_groups(self.rows),
                others=sorted(self.own_pages, key=lambda page: (page.source, page.file)),
                runs=self.runs,
                errata=ERRATA_PAGE if ERRATA_PAGE in self.names else None,
                plan=PLAN_PAGE if PLAN_PAGE in self.names else None,
            )
        )
        _write(self.folder / "index.html", text)

    def add(self, found: Drawn) -> None:
        """Pages that are drawn."""
        for name, text in found.files.items():
            self.write(name, text)
        self.has_explorer |= found.has_explorer
        self.own_pages += found.own
        if found.target is not None:
            self.on_runs[found.target] = found.runs

    def finish(self) -> None:
        """What is known once all pages are drawn."""
        if self.has_explorer:
            self.write(SCRIPT, files("report").joinpath("templates", SCRIPT).read_text(encoding="utf-8"))
        for name, text in self._run_pages():
            self.write(name, text)
        self.write_index()

    def _run_pages(self) -> Iterator[tuple[str, str]]:
        template = environment_for(self.linked).get_template("run.html")
        for number, own in enumerate(self.runs):
            found = [(row, self.on_runs[row.target][number]) for row in self.rows]
            curves = {row.called: section.curve for row, section in found if section.curve is not None}
            drawn = run_figures(own)
            yield own.page, template.render(own=own, rows=found, together=together(own, curves), drawn=drawn)


def _verdicts_json(verdicts: Sequence[ClaimVerdict]) -> str:
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
