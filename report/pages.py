"""Content of a claim's page, with the fields of its template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.arithmetic import ENCLOSED
from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.meaning_latex import typeset_meaning
from fedtheory.language.numbers import format_decimal
from fedtheory.language.registry import explain_unproved, find_publisher, list_sharper_claims, repairs_of
from fedtheory.language.setting import describe_setting, format_setting
from fedtheory.language.targets import display_name
from fedtheory.language.typesetting import latex
from report.certificates import CertificateSection, make_certificate_section
from report.evidence import Evidence, describe_evidence, describe_size
from report.exhibits import ExhibitSection, collect_exhibits
from report.explorer import ExplorerSection, explain_missing_explorer, make_explorer_section
from report.figures.style import Figure
from report.mathml import typeset_formula, typeset_prose, typeset_statement
from report.regime_section import SearchSection, make_search_section
from report.slack import SlackSection, make_slack_section
from report.theorems import TheoremSection, make_theorem_section
from report.user_runs import RunSection, UserRun
from report.worst_case import WorstCaseSection, make_worst_case_section
from verify.claim_verdict import ClaimVerdict
from verify.instances import FAMILIES, families_for
from verify.left_open import describe_left_open
from verify.published_proofs import PrintedStep, check_published_proof
from verify.worst_case import WorstCase


@dataclass(frozen=True)
class ClaimPage:
    """Everything on a claim's page."""

    claim: Claim
    called: str
    """Displayed name: the id of a paper's claim, or ``file.py:NAME``."""
    title: str
    origin: Markup
    """Origin of the claim."""
    file: str
    verdict: str
    summary: Markup
    why_not_proved: str
    """Reason why a claim that is only supported has no certificate; empty for others."""
    printed: Sequence[Markup]
    encoded: Sequence[Markup]
    assumptions: Sequence[Markup]
    setting: Markup
    """The supposed setting if no assumption names one; else empty."""
    conditions: Sequence[Markup]
    symbols: Sequence[tuple[Markup, Markup]]
    families: Sequence[str]
    evidence: Evidence | None
    search: SearchSection | None
    """The regimes that the search of the verdict tried; None without a search."""
    figures: Sequence[Figure]
    exhibits: Sequence[ExhibitSection]
    """Exhibits with a section of their own."""
    corrected_by: Sequence[str]
    tightened_by: Sequence[TightenedClaim]
    certificate: CertificateSection | None
    theorem: TheoremSection | None
    """The theorem that Rocq has accepted."""
    printed_proof: Sequence[PrintedStep]
    """The steps of the published proof; empty where the source has none."""
    slack: SlackSection | None
    worst_case: WorstCaseSection | None
    explorer: ExplorerSection | None
    no_explorer: str
    """Reason why an inequality has no explorer: a part that is no function of numbers."""
    runs: Sequence[RunSection]
    """The claim on user-defined runs."""


@dataclass(frozen=True)
class TightenedClaim:
    """A tightened claim, shown on the page of the published one."""

    id: str
    title: str
    statement: Markup
    verdict: str


def _build_link(claim: Claim) -> TightenedClaim:
    """Return the link to a tightened claim: id, title, formula and verdict."""
    return TightenedClaim(claim.id, claim.title, typeset_statement(claim.encoded), claim.verdict or "")


def format_largest_ratio(verdict: ClaimVerdict) -> str:
    """Return the largest ratio of the sides in a few digits; empty for refuted claims, and without a meaningful
    ratio.
    """
    if verdict.worst_ratio is None or verdict.verdict == "refuted":
        return ""
    return format_decimal(verdict.worst_ratio, 3)


def name_page(claim: Claim) -> str:
    """Return the file name of a claim's page."""
    return f"{claim.slug}.html"


def make_claim_page(
    verdict: ClaimVerdict,
    figures: Sequence[Figure],
    runs: Iterable[RunSection] = (),
    worst_cases: Iterable[WorstCase | None] = (),
    explored: Sequence[UserRun] = (),
) -> ClaimPage:
    """Return the page of a claim: its verdict, the figures for its statement, and user-defined runs.

    `runs` come from `make_run_sections`, and `worst_cases` from `compute_over_local_steps`; both are consumed last. The
    explorer uses the problems of the runs in `explored`.
    """
    claim = verdict.claim
    shown, called = collect_exhibits(claim), display_name(verdict.target, claim)
    with claim.typesetting():
        return ClaimPage(
            claim=claim,
            called=called,
            title=claim.title or claim.id,
            origin=_typeset_origin(claim, called),
            file=name_page(claim),
            verdict=verdict.verdict,
            summary=typeset_prose(_summarise_verdict(verdict)),
            why_not_proved=explain_unproved(claim) or "",
            printed=[typeset_statement(claim.printed)] if claim.printed else [],
            encoded=[typeset_statement(link) for link in claim.links],
            assumptions=[typeset_prose(f"{a.name}: {a.statement}") for a in claim.assumptions],
            setting=_describe_setting(claim),
            conditions=[typeset_formula(latex(condition)) for condition in claim.conditions],
            symbols=_list_symbols(claim),
            families=[f"{name}: {FAMILIES[name].description} ({FAMILIES[name].size})" for name in families_for(claim)],
            evidence=describe_evidence(verdict, called),
            search=make_search_section(verdict),
            figures=[*(figure for each in shown if not each.heading for figure in each.figures), *figures],
            exhibits=[each for each in shown if each.heading],
            corrected_by=[repair.id for repair in repairs_of(claim)],
            tightened_by=[_build_link(other) for other in list_sharper_claims(claim)],
            certificate=make_certificate_section(claim),
            theorem=make_theorem_section(claim),
            printed_proof=check_published_proof(claim),
            slack=make_slack_section(claim),
            explorer=make_explorer_section(claim, explored),
            no_explorer=explain_missing_explorer(claim),
            runs=list(runs),
            worst_case=make_worst_case_section(verdict, worst_cases),
        )


def _typeset_origin(claim: Claim, called: str) -> Markup:
    paper = find_publisher(claim)
    if paper is None:
        return Markup("from <code>{}</code>").format(called.rpartition(":")[0])
    source = paper.source
    return Markup("{}, <em>{}</em>, {}").format(source.authors, source.title, claim.locator)


def _list_symbols(claim: Claim) -> list[tuple[Markup, Markup]]:
    """Return each symbol, typeset, with what it stands for or the values that are tried for it."""
    meanings = {symbol: typeset_meaning(quantity.meaning, "$", "$") for symbol, quantity in claim.notation.items()}
    return [
        (typeset_formula(latex(symbol)), typeset_prose(text))
        for symbol, text in (meanings | claim.symbols_with_values).items()
    ]


def _describe_setting(claim: Claim) -> Markup:
    """Describe the default setting of a claim that names none; empty for others."""
    if not claim.supposed:
        return Markup("")
    heading = Markup("The claim names no setting, so {} is assumed, which is <code>{}</code>.")
    return heading.format(describe_setting(claim), format_setting(claim))


def _summarise_verdict(verdict: ClaimVerdict) -> str:
    """Describe the verdict in a sentence or two."""
    if verdict.claim.kind == "experiment":
        return (
            "An experiment, repeated with exact expectations; pages of its figures say which findings are reproduced."
        )
    return _SUMMARIES[verdict.verdict](verdict)


def _describe_refuted(verdict: ClaimVerdict) -> str:
    failures = f"the statement fails on {verdict.violations} of {_describe_instances(verdict)}."
    if verdict.searched:
        failures += f" The violation was found by a search, after {verdict.searched} further runs."
    return f"Refuted: {failures} {_describe_refutation(verdict)}"


def _describe_supported(verdict: ClaimVerdict) -> str:
    proof = verdict.found_proof
    supposed = f" It would be proved if it assumed: {' and '.join(proof.supposed)}." if proof is not None else ""
    return f"Supported on {_describe_satisfied(verdict)}{supposed}"


def _describe_proof(verdict: ClaimVerdict) -> str:
    proof = verdict.found_proof
    rests = "" if proof is None or not proof.uses else f", which rests on {', '.join(proof.uses)}"
    found = "the certificate below" if proof is None else f"a certificate that a search found{rests}"
    return f"Proved: the kernel accepts {found}. It was tested on {_describe_satisfied(verdict)}"


def _describe_satisfied(verdict: ClaimVerdict) -> str:
    """Describe the instances without violation and the largest ratio on them."""
    ratio = (
        f" The largest ratio of the two sides on them is {format_decimal(verdict.worst_ratio)}."
        if verdict.worst_ratio
        else ""
    )
    searched = f" A search found none on {verdict.searched} further runs." if verdict.searched else ""
    return f"{_describe_instances(verdict)}; no violation was found.{searched}{ratio}"


def _describe_undecided(verdict: ClaimVerdict) -> str:
    """Describe the undecided instances or runs of the search, or the small number of instances."""
    found = [f"on {verdict.undecided} of {_describe_instances(verdict)} neither floats nor exact arithmetic decide"]
    if verdict.left_open:
        found = found if verdict.undecided else []
        found.append(f"in the search {describe_left_open(verdict.left_open)}")
    return f"Undecided: {'; '.join(found)}."


def _describe_definition(verdict: ClaimVerdict) -> str:
    checked = f" Its identity holds on {_describe_instances(verdict)}." if verdict.instances else ""
    article = "An" if verdict.claim.kind[0] in "aeiou" else "A"
    return f"{article} {verdict.claim.kind}, which needs no proof.{checked}"


_SUMMARIES: dict[Verdict, Callable[[ClaimVerdict], str]] = {
    "proved": _describe_proof,
    "supported": _describe_supported,
    "asymptotic": lambda verdict: (
        "Supported by ladders of runs, along which a variable grows: they begin at "
        f"{_describe_instances(verdict)}; no violation was found."
    ),
    "refuted": _describe_refuted,
    "undecided": _describe_undecided,
    "not applicable": lambda _verdict: "Not applicable to any tested instance.",
    "definition": _describe_definition,
}


def _describe_instances(verdict: ClaimVerdict) -> str:
    """Describe the number of instances and their arithmetic."""
    in_floats = verdict.instances - verdict.exact_instances
    if not in_floats:
        return f"{verdict.instances} instances that satisfy its assumptions and conditions, all in exact arithmetic"
    exact = f"{verdict.exact_instances} in exact arithmetic" if verdict.exact_instances else "none of them exactly"
    return f"{verdict.instances} instances that satisfy its assumptions and conditions ({exact}, {in_floats} in floats)"


def _describe_refutation(verdict: ClaimVerdict) -> str:
    """Describe the kind of counterexample."""
    check = verdict.evidence
    growth = None if check is None or check.rate is None else check.rate.growth
    if check is not None and growth is not None and growth.power == 0 and growth.coefficient is not None:
        limit = format_decimal(growth.coefficient)
        return f"On the simplest known instance, below, the exact limit is {limit}, while the claimed order vanishes."
    if check is not None and growth is not None:
        return f"On the simplest known instance, below, {growth.words(check.claim.in_words)}."
    where = "" if check is None or check.everywhere else " Its constants hold on a ball that contains the run."
    how = (
        "in exact rational arithmetic"
        if check is None or check.arithmetic is not ENCLOSED
        else "by certified enclosures"
    )
    size = "" if verdict.run is None else describe_size(verdict.run, verdict.sides)
    return " ".join(filter(None, (f"The simplest counterexample known is below, confirmed {how}.{where}", size)))
