"""Draw pages in several processes: tasks are plain data, and results are texts.

Claims are not sent between processes: each process resolves them again by the names that the user gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from fedtheory.errors import MissingExtra
from fedtheory.language.exhibits.declarations import exhibits_for
from fedtheory.language.registry import find_publisher, list_sharper_claims, repairs_of
from fedtheory.language.targets import resolve
from report.errata import ERRATA_PAGE, list_ledgers
from report.finished_pages import FinishedPages, ListedPage, PageFiles
from report.gallery import draw_figures
from report.miniatures import draw_miniature
from report.page_cache import Inputs, find_page, store_page
from report.pages import make_claim_page
from report.paper_pages import make_paper_pages
from report.slack import SLACK_PAGE, make_slack_tables
from report.slack_overview import summarise_terms
from report.step_size_page import COLUMNS, FAMILY_COLUMNS, PLAN_PAGE, list_comparable_claims, make_plan_page
from report.theorems import find_accepted
from report.user_runs import UserRun, make_run_sections
from report.worst_case import compute_over_local_steps
from verify.claim_verdict import ClaimVerdict
from verify.digests import STATEMENTS, digest_claim, digest_paper, digest_target, digest_trials
from verify.processes import run_unordered

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Neighbour:
    """The page before or after another one."""

    file: str
    title: str


@dataclass(frozen=True)
class ClaimTask:
    """Task for the page of a claim."""

    verdict: ClaimVerdict
    before: Neighbour | None
    after: Neighbour | None
    runs: Sequence[UserRun]
    jobs: int = 1
    """Number of processes for a single page, which is then drawn in this process; several pages share the processes."""

    @property
    def inputs(self) -> Inputs | None:
        """Return the inputs of the page; None with user-defined runs, whose files are not watched for changes.

        The certificate of a proved claim may use other claims of the paper.
        """
        if self.runs:
            return None
        claim, around = self.verdict.claim, (self.before, self.after)
        beside = [digest_claim(other) for other in (*repairs_of(claim), *list_sharper_claims(claim))]
        stated = repr((asdict(replace(self.verdict, seconds=0)), find_accepted(claim)))
        return (
            stated,
            repr(around),
            *digest_trials(self.verdict.target),
            digest_paper(claim.source, *(() if self.verdict.verdict == "proved" else (STATEMENTS,))),
            *beside,
        )

    def draw(self, environment: Environment) -> FinishedPages:
        """Draw the page, and write the certificate and the theorem next to it."""
        runs = make_run_sections(self.verdict.given, self.runs, self.jobs)
        worst_cases = compute_over_local_steps(self.verdict.given, self.jobs)
        page = make_claim_page(self.verdict, draw_figures(self.verdict), runs, worst_cases, self.runs)
        text = environment.get_template("claim.html").render(page=page, before=self.before, after=self.after)
        certificate = {} if page.certificate is None else {page.certificate.file: page.certificate.content}
        theorem = {} if page.theorem is None else {page.theorem.file: page.theorem.content}
        of_runs = [section.summary for section in page.runs]
        is_explored = page.explorer is not None
        files = {page.file: text, **certificate, **theorem}
        return FinishedPages(files, is_explored, self.verdict.target, of_runs, miniature=draw_miniature(self.verdict))


@dataclass(frozen=True)
class PaperTask:
    """Task for the pages of a paper, apart from those of its claims."""

    key: str

    @property
    def inputs(self) -> Inputs:
        """Return the inputs of the pages: the whole paper."""
        return "paper", self.key, digest_paper(self.key)

    def draw(self, environment: Environment) -> FinishedPages:
        """Draw all pages of the paper."""
        template, found = environment.get_template("page.html"), make_paper_pages({self.key})
        files = {
            other.file: template.render(
                page=other.page,
                source=other.source,
                claims=other.claims,
                drawn=other.figures,
                coverage=other.coverage,
            )
            for other in found
        }
        listed = [
            ListedPage(self.key, str(other.page.occasion), str(other.page.contents), other.file) for other in found
        ]
        return FinishedPages(files, listed=listed)


@dataclass(frozen=True)
class ErrataTask:
    """Task for the errata of some claims; no file is written if none of them is refuted."""

    targets: Sequence[str]

    @property
    def inputs(self) -> Inputs:
        """Return the inputs of the page: all claims."""
        return "errata", *self.targets, *map(digest_target, self.targets)

    def draw(self, environment: Environment) -> FinishedPages:
        """Draw the page."""
        found = list_ledgers([resolve(target) for target in self.targets])
        return FinishedPages(
            {ERRATA_PAGE: environment.get_template("errata.html").render(ledgers=found)} if found else {}
        )


@dataclass(frozen=True)
class SlackTask:
    """Task for the page on the tightness of all proved bounds; no file is written without stored runs."""

    targets: Sequence[str]

    @property
    def inputs(self) -> Inputs:
        """Return the inputs of the page: all claims, and the runs in the folders of their papers."""
        keys = sorted({resolve(target).source for target in self.targets})
        return "slack", *self.targets, *map(digest_target, self.targets), *map(digest_paper, keys)

    def draw(self, environment: Environment) -> FinishedPages:
        """Draw the page."""
        found = make_slack_tables([resolve(target) for target in self.targets])
        page = environment.get_template("slack.html")
        return FinishedPages({SLACK_PAGE: page.render(tables=found, overview=summarise_terms)} if found else {})


@dataclass(frozen=True)
class PlanTask:
    """Task for the page of plans; no file is written without scikit-learn."""

    @property
    def inputs(self) -> Inputs:
        """Return the inputs of the page: the claims that it compares."""
        return "plan", *map(digest_claim, list_comparable_claims())

    def draw(self, environment: Environment) -> FinishedPages:
        """Draw the page."""
        try:
            page = make_plan_page()
        except MissingExtra:
            return FinishedPages({})
        template = environment.get_template("plan.html")
        return FinishedPages({PLAN_PAGE: template.render(plan=page, columns=COLUMNS, family_columns=FAMILY_COLUMNS)})


Task = ClaimTask | PaperTask | ErrataTask | SlackTask | PlanTask


def draw_pages(tasks: Sequence[Task], written: PageFiles, jobs: int) -> Iterator[FinishedPages]:
    """Yield the pages of all tasks as they are finished; links lead to the pages in `written`."""
    unknown = []
    for task in tasks:
        inputs = task.inputs
        found = None if inputs is None else find_page(written, inputs)
        if found is None:
            unknown.append(task)
        else:
            yield found
    alone = [task for task in unknown if isinstance(task, ClaimTask) and task.jobs != 1]
    batches = _split_into_batches([task for task in unknown if task not in alone])
    yield from chain.from_iterable(run_unordered(_draw_all, [(batch, written) for batch in batches], jobs))
    yield from (_draw(task, written) for task in alone)


def _split_into_batches(tasks: Sequence[Task]) -> list[list[Task]]:
    """Split tasks into batches for one process each, the longest first.

    The longest tasks are pages with exhibits of one paper; these share results in memory, so they form one batch.
    """
    batches: dict[object, list[Task]] = {}
    for task in tasks:
        batches.setdefault(_find_exhibitor(task) or id(task), []).append(task)
    return sorted(batches.values(), key=len, reverse=True)


def _find_exhibitor(task: Task) -> str | None:
    """Return the paper that adds exhibits to the page of a claim."""
    if not isinstance(task, ClaimTask):
        return None
    claim = task.verdict.claim
    paper = find_publisher(claim)
    return claim.source if paper is not None and exhibits_for(paper, claim) else None


def _draw_all(tasks: Sequence[Task], written: PageFiles) -> list[FinishedPages]:
    """Draw all pages in this process."""
    return [_draw(task, written) for task in tasks]


def _draw(task: Task, written: PageFiles) -> FinishedPages:
    found = task.draw(load_templates(written))
    if task.inputs is not None:
        store_page(found, written, task.inputs)
    return found


@lru_cache(maxsize=1)
def load_templates(written: PageFiles) -> Environment:
    """Return the compiled templates, once for each process."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from fedtheory.language.registry import find
    from report.mathml import typeset_formula, typeset_prose
    from report.pages import name_page

    environment = Environment(
        loader=PackageLoader("report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    pages = dict(written)
    environment.globals["written"] = pages
    environment.filters |= {
        "page_name": lambda claim_id: pages.get(claim_id) or name_page(find(claim_id)),
        "prose": typeset_prose,
        "formula": typeset_formula,
    }
    return environment
