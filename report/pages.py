"""What a page shows, in words and numbers: the view of a claim, ready for its template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fedtheory.claim import Claim
from fedtheory.expressions import latex
from fedtheory.run import Run
from report.figures.style import Figure
from report.mathml import displayed, formula, prose
from report.numbers import decimal, exact
from verify.check import Check
from verify.instances import FAMILIES, families_for
from verify.verdict import ClaimVerdict

RUN_FILE = "run.toml"


@dataclass(frozen=True)
class Row:
    """A line of a table of numbers."""

    name: Markup
    value: str
    decimal: str

    @property
    def is_long(self) -> bool:
        """Whether the exact value is given in words."""
        return not self.decimal


@dataclass(frozen=True)
class Evidence:
    """The instance that a verdict rests on."""

    title: str
    run_file: str
    command: str
    place: str
    relation: Markup | None
    rows: Sequence[Row]
    constants: Sequence[Row]
    regions: Sequence[str]


@dataclass(frozen=True)
class ClaimPage:
    """Everything on a claim's page."""

    claim: Claim
    file: str
    verdict: str
    summary: Markup
    printed: Sequence[Markup]
    encoded: Sequence[Markup]
    assumptions: Sequence[Markup]
    conditions: Sequence[Markup]
    symbols: Sequence[tuple[Markup, str]]
    families: Sequence[str]
    evidence: Evidence | None
    figures: Sequence[Figure]
    corrected_by: Sequence[str]
    instances: int
    ratio: str


def page_name(claim_id: str) -> str:
    """File name of a claim's page."""
    return claim_id.replace(":", "-").replace(".", "-") + ".html"


def claim_page(verdict: ClaimVerdict, figures: Sequence[Figure], corrected_by: Sequence[str]) -> ClaimPage:
    """The page of a claim with its verdict."""
    claim = verdict.claim
    return ClaimPage(
        claim=claim,
        file=page_name(claim.id),
        verdict=verdict.verdict,
        summary=prose(_summary(verdict)),
        printed=[displayed(claim.printed)] if claim.printed else [],
        encoded=[displayed(relation) for relation in _encoded(claim)],
        assumptions=[prose(f"{a.name}: {a.statement}") for a in claim.assumptions],
        conditions=[formula(latex(condition)) for condition in claim.conditions],
        symbols=[(formula(latex(symbol)), notion.meaning) for symbol, notion in claim.notation.items()],
        families=[f"{name}: {FAMILIES[name].description} ({FAMILIES[name].size})" for name in families_for(claim)],
        evidence=_evidence(verdict),
        figures=figures,
        corrected_by=corrected_by,
        instances=verdict.instances,
        ratio="" if verdict.worst_ratio is None or verdict.verdict == "refuted" else decimal(verdict.worst_ratio, 3),
    )


def _encoded(claim: Claim) -> list[str]:
    """LaTeX of each relation, or of the rate."""
    return [relation.latex for relation in claim.relations] + ([claim.rate.latex] if claim.rate else [])


def _summary(verdict: ClaimVerdict) -> str:
    """The verdict in a sentence or two."""
    tried = f"{verdict.instances} exact instances"
    undecided = f" On {verdict.undecided} of them nothing could be decided." if verdict.undecided else ""
    ratio = (
        "" if verdict.worst_ratio is None else f" The largest ratio of the two sides is {decimal(verdict.worst_ratio)}."
    )
    if verdict.verdict == "refuted":
        return (
            f"Refuted: the statement fails on {verdict.violations} of {tried} that satisfy its assumptions and "
            "conditions. The simplest of them is below; it is confirmed in exact rational arithmetic."
        )
    if verdict.verdict == "asymptotic":
        return f"Supported along a ladder of horizons on {tried}; no violation was found.{undecided}"
    if verdict.verdict == "supported":
        return f"Supported on {tried}; no violation was found.{ratio}{undecided}"
    if verdict.verdict == "definition":
        checked = f" Its identity holds on {tried}." if verdict.instances else ""
        return f"A {verdict.claim.kind}: it says what something is, and points at what implements it.{checked}"
    return "Not applicable to any instance that was tried."


def _evidence(verdict: ClaimVerdict) -> Evidence | None:
    check, witness, run_file = verdict.evidence, verdict.witness, verdict.run_file
    if check is None or witness is None or run_file is None:
        return None
    worst = check.worst
    return Evidence(
        title=_title(verdict),
        run_file=run_file,
        command=f"fedtheory check {verdict.claim.id} {RUN_FILE} --arithmetic rational",
        place="" if worst is None else ", ".join(f"{axis} {value}" for axis, value in worst.index.items()),
        relation=None if worst is None or len(check.comparisons) == 1 else displayed(worst.relation.latex),
        rows=_rate_rows(check) if check.rate is not None else _side_rows(check),
        constants=_constants(verdict.claim, witness.run()),
        regions=[f"{name.replace('_', ' ')}: on {region}" for name, region in check.regions.items()],
    )


def _title(verdict: ClaimVerdict) -> str:
    if verdict.verdict == "refuted":
        return "Counterexample"
    return "An instance" if verdict.worst_ratio is None else "The instance with the largest ratio"


def _row(name: str, value: object) -> Row:
    shown = exact(value)
    return Row(prose(name), shown, "" if shown.startswith("≈") else decimal(value, 6))


def _side_rows(check: Check) -> list[Row]:
    worst = check.worst
    if worst is None:
        return []
    rows = [_row("left side", worst.lhs), _row("right side", worst.rhs)]
    if len(worst.terms) > 1:
        rows += [_row(f"term ${term.latex}$", term.value) for term in worst.terms]
    return rows if worst.ratio is None else [*rows, _row("ratio", worst.ratio)]


def _rate_rows(check: Check) -> list[Row]:
    assert check.rate is not None
    rows = [_row(f"$T={rung.horizon}$", rung.measured) for rung in check.rate.rungs]
    return rows if check.rate.limit is None else [*rows, _row(r"limit for $T\to\infty$", check.rate.limit)]


def _constants(claim: Claim, run: Run) -> list[Row]:
    """The run's constants in the claim's letters; of roots the squares, which are rational."""
    from fedtheory.quantities import Quantity, constants

    named = {id(value) for value in vars(constants).values() if isinstance(value, Quantity)}
    rows = []
    for symbol, notion in claim.notation.items():
        if isinstance(notion, Quantity) and id(notion) in named:
            rows.append(_row(f"${latex(symbol)}{'^2' if notion.root else ''}$", notion.measure(run)))
    return rows
