"""The site: an index, a page for each claim, papers' own pages, the errata, a script, and the verdicts as JSON.

Pages carry no dates and no timings: the same claims give the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from fedtheory.errors import InputError, MissingExtra
from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.registry import all_sources, find, paper_with
from fedtheory.language.targets import resolve
from report.errata import ERRATA_PAGE, ledgers
from report.gallery import figures_for
from report.pages import ClaimPage, claim_page
from report.paper_pages import PaperPage, paper_pages
from report.planning import COLUMNS, FAMILY_COLUMNS, PLAN_PAGE, comparable, plan_page
from verify.verdict import ClaimVerdict, verify

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPT = "explorer.js"


def write_site(
    folder: Path,
    targets: Sequence[str],
    *,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Path]:
    """Verify claims of papers, named as on the command line, and write their pages; the files written."""
    claims = [_of_a_paper(target) for target in targets]
    verdicts = verify(targets, jobs=jobs, on_progress=on_progress)
    pages = [claim_page(v, figures_for(v)) for v in verdicts]
    environment = _environment()
    folder.mkdir(parents=True, exist_ok=True)
    others = paper_pages({claim.source for claim in claims})
    errata = _errata_page(environment, claims)
    plan = _plan_page(environment, claims)
    index = _index(environment, pages, others, has_errata=bool(errata), has_plan=bool(plan))
    first = {"index.html": index, "verdicts.json": _verdicts_json(verdicts)}
    own = _paper_pages(environment, others)
    proofs = {page.certificate.file: page.certificate.content for page in pages if page.certificate}
    contents = _together(first, _claim_pages(environment, pages), proofs, errata, own, plan, _scripts(pages))
    return [_write(folder / name, text) for name, text in contents.items()]


def _of_a_paper(target: str) -> Claim:
    claim = resolve(target)
    if paper_with(claim.source) is None:
        raise InputError(target, "expected claims of a paper; `fedtheory new-source` makes a folder for one of yours")
    return claim


def _together(*parts: dict[str, str]) -> dict[str, str]:
    """All files by their names; `InputError` where two go by the same one."""
    counted = Counter(name for part in parts for name in part)
    twice = [name for name, count in counted.items() if count > 1]
    if twice:
        raise InputError(twice[0], "expected another name for a paper's page, the site has a file of this one")
    return {name: text for part in parts for name, text in part.items()}


def write_sweep(folder: Path, file: Path) -> Path:
    """Write the page of a sweep's table; the file written."""
    from report.sweep import sweep_page

    page = sweep_page(file)
    folder.mkdir(parents=True, exist_ok=True)
    return _write(folder / f"{page.name}.html", _environment().get_template("sweep.html").render(page=page))


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from report.mathml import formula, prose
    from report.pages import page_name

    environment = Environment(
        loader=PackageLoader("report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"page_name": lambda claim_id: page_name(find(claim_id)), "prose": prose, "formula": formula}
    return environment


def _index(
    environment: Environment, pages: Sequence[ClaimPage], others: Sequence[PaperPage], has_errata: bool, has_plan: bool
) -> str:
    by_source = {
        source: [page for page in pages if page.claim.source == source.key] for source in all_sources().values()
    }
    shown = {source: found for source, found in by_source.items() if found}
    counts = {source.key: _counts(found) for source, found in shown.items()}
    return environment.get_template("index.html").render(
        sources=shown,
        counts=counts,
        others=others,
        errata=ERRATA_PAGE if has_errata else None,
        plan=PLAN_PAGE if has_plan else None,
    )


def _counts(pages: Sequence[ClaimPage]) -> list[tuple[str, int]]:
    counted = Counter(page.verdict for page in pages)
    return [(verdict, counted[verdict]) for verdict in get_args(Verdict) if counted[verdict]]


def _claim_pages(environment: Environment, pages: Sequence[ClaimPage]) -> dict[str, str]:
    template, sources = environment.get_template("claim.html"), all_sources()
    neighbours = zip([None, *pages[:-1]], pages, [*pages[1:], None], strict=True)
    return {
        page.file: template.render(page=page, source=sources[page.claim.source], before=before, after=after)
        for before, page, after in neighbours
    }


def _scripts(pages: Sequence[ClaimPage]) -> dict[str, str]:
    """The script of the explorers, once for all pages that have one."""
    if not any(page.explorer for page in pages):
        return {}
    return {SCRIPT: files("report").joinpath("templates", SCRIPT).read_text(encoding="utf-8")}


def _errata_page(environment: Environment, claims: Sequence[Claim]) -> dict[str, str]:
    """The errata of these claims; none where none of them is refuted."""
    found = ledgers(claims)
    return {ERRATA_PAGE: environment.get_template("errata.html").render(ledgers=found)} if found else {}


def _paper_pages(environment: Environment, others: Sequence[PaperPage]) -> dict[str, str]:
    template = environment.get_template("page.html")
    return {
        other.file: template.render(page=other.page, source=other.source, drawn=other.figures, coverage=other.coverage)
        for other in others
    }


def _plan_page(environment: Environment, claims: Sequence[Claim]) -> dict[str, str]:
    """The page of plans, which compares claims of several sources; none without them or scikit-learn's data."""
    if not set(claims) >= set(comparable()):
        return {}
    try:
        page = plan_page()
    except MissingExtra:
        return {}
    template = environment.get_template("plan.html")
    return {PLAN_PAGE: template.render(plan=page, columns=COLUMNS, family_columns=FAMILY_COLUMNS)}


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
