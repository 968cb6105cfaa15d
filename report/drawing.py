"""Pages drawn on all cores: what a page is made of travels as plain data, and comes back as text.

A claim does not travel: whoever draws its page resolves it again by the name
that the user gave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import MissingExtra
from fedtheory.language.claim import Verdict
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run
from report.errata import ERRATA_PAGE, ledgers
from report.gallery import figures_for
from report.own_runs import OnRun, OwnRun
from report.pages import claim_page
from report.paper_pages import paper_pages
from report.planning import COLUMNS, FAMILY_COLUMNS, PLAN_PAGE, plan_page
from verify.check import check
from verify.verdict import ClaimVerdict

if TYPE_CHECKING:
    from jinja2 import Environment

Files = dict[str, str]
"""Texts by the names of their files."""


@dataclass(frozen=True)
class PlainVerdict:
    """A verdict without its claim and its instance, which are found again from names and a run file."""

    target: str
    verdict: Verdict
    counts: tuple[int, int, int, int]
    """Instances, exact ones, violations, undecided ones."""
    worst_ratio: float | None
    run: Mapping[str, Any] | None
    seconds: float
    searched: int

    @classmethod
    def of(cls, found: ClaimVerdict) -> PlainVerdict:
        """What travels of a verdict."""
        counts = (found.instances, found.exact_instances, found.violations, found.undecided)
        return cls(found.target, found.verdict, counts, found.worst_ratio, found.run, found.seconds, found.searched)

    def whole(self) -> ClaimVerdict:
        """The verdict again; its evidence is checked anew, in exact arithmetic."""
        claim = resolve(self.target)
        witness = None if self.run is None else parse_run(dict(self.run), RATIONAL)
        return ClaimVerdict(
            self.target,
            claim,
            self.verdict,
            *self.counts,
            self.worst_ratio,
            witness,
            None if witness is None else check(claim, witness),
            self.seconds,
            self.searched,
        )


@dataclass(frozen=True)
class Neighbour:
    """The page before or after another one."""

    file: str
    title: str


@dataclass(frozen=True)
class Drawn:
    """Finished files, and what other pages say of them."""

    files: Files
    has_explorer: bool = False
    target: str | None = None
    """The claim whose page this is."""
    runs: Sequence[OnRun] = ()
    own: Sequence[OwnPage] = ()


@dataclass(frozen=True)
class OwnPage:
    """A page of a paper, as the index names it."""

    source: str
    occasion: str
    contents: str
    file: str


@dataclass(frozen=True)
class ClaimTask:
    """The page of a claim."""

    verdict: PlainVerdict
    before: Neighbour | None
    after: Neighbour | None
    runs: Sequence[OwnRun]

    def draw(self, environment: Environment) -> Drawn:
        """The page, and the certificate beside it."""
        verdict = self.verdict.whole()
        page = claim_page(verdict, figures_for(verdict), self.runs)
        text = environment.get_template("claim.html").render(page=page, before=self.before, after=self.after)
        certificate = {} if page.certificate is None else {page.certificate.file: page.certificate.content}
        runs = [section.summary for section in page.runs]
        return Drawn({page.file: text, **certificate}, page.explorer is not None, self.verdict.target, runs)


@dataclass(frozen=True)
class PaperTask:
    """The pages that a paper has beside those of its claims."""

    key: str

    def draw(self, environment: Environment) -> Drawn:
        """All of them."""
        template, found = environment.get_template("page.html"), paper_pages({self.key})
        files = {
            other.file: template.render(
                page=other.page, source=other.source, drawn=other.figures, coverage=other.coverage
            )
            for other in found
        }
        own = [OwnPage(self.key, str(other.page.occasion), str(other.page.contents), other.file) for other in found]
        return Drawn(files, own=own)


@dataclass(frozen=True)
class ErrataTask:
    """The errata of some claims; no file where none of them is refuted."""

    targets: Sequence[str]

    def draw(self, environment: Environment) -> Drawn:
        """One page."""
        found = ledgers([resolve(target) for target in self.targets])
        return Drawn({ERRATA_PAGE: environment.get_template("errata.html").render(ledgers=found)} if found else {})


@dataclass(frozen=True)
class PlanTask:
    """The page of plans; no file without scikit-learn's data."""

    def draw(self, environment: Environment) -> Drawn:
        """One page."""
        try:
            page = plan_page()
        except MissingExtra:
            return Drawn({})
        template = environment.get_template("plan.html")
        return Drawn({PLAN_PAGE: template.render(plan=page, columns=COLUMNS, family_columns=FAMILY_COLUMNS)})


Task = ClaimTask | PaperTask | ErrataTask | PlanTask


Written = tuple[tuple[str, str], ...]
"""Ids of claims, keys of sources and ``errata``, and the files of their pages."""


def drawn(tasks: Sequence[Task], written: Written, jobs: int) -> Iterator[Drawn]:
    """The pages of all tasks, as they are finished; links go to the pages that are `written`."""
    from joblib import Parallel, delayed

    results: Iterator[Drawn] = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(_draw)(task, written) for task in tasks
    )
    return results


def _draw(task: Task, written: Written) -> Drawn:
    return task.draw(environment_for(written))


@lru_cache(maxsize=1)
def environment_for(written: Written) -> Environment:
    """The templates, compiled once in each process."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from fedtheory.language.registry import find
    from report.mathml import formula, prose
    from report.pages import page_name

    environment = Environment(
        loader=PackageLoader("report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    pages = dict(written)
    environment.globals["written"] = pages
    environment.filters |= {
        "page_name": lambda claim_id: pages.get(claim_id) or page_name(find(claim_id)),
        "prose": prose,
        "formula": formula,
    }
    return environment
