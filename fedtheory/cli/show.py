"""`fedtheory show`: display one claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedtheory.cli.claims import encode_summary
from fedtheory.cli.output import Json, NoCode, Target, escape, print_json, print_lines, style_verdict
from fedtheory.cli.setting import encode_setting, list_setting_lines

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

NAME = "show"


def run(target: Target, *, _no_code: NoCode = False, as_json: Json = False) -> None:
    """Show one claim: statement, assumptions, conditions, and the meaning of its symbols."""
    from fedtheory.language.targets import resolve

    claim = resolve(target)
    if as_json:
        print_json(encode_claim(claim))
        return
    print_text(claim)


def encode_claim(claim: Claim) -> dict[str, Any]:
    """Return all data of a claim, as JSON."""
    from fedtheory.language.registry import explain_unproved
    from fedtheory.language.typesetting import latex

    with claim.typesetting():
        conditions = [latex(condition) for condition in claim.conditions]
    return encode_summary(claim) | {
        "encoded": claim.encoded,
        "assumptions": [{"name": a.name, "statement": a.statement} for a in claim.assumptions],
        **encode_setting(claim),
        "conditions": conditions,
        "symbols": [
            {"symbol": latex(symbol), "quantity": quantity.name, "meaning": quantity.meaning}
            for symbol, quantity in claim.notation.items()
        ],
        "note": claim.note,
        "implemented_by": claim.implemented_by,
        "why_not_proved": explain_unproved(claim),
        "certificate": _encode_certificate(claim),
    }


def _encode_certificate(claim: Claim) -> list[dict[str, Any]] | None:
    """Return each link's coefficients, with the inequality that each multiplies; None without a certificate."""
    from fedtheory.proofs.outline import document, outline

    found = outline(claim)
    with claim.typesetting():
        return None if found is None else document(found)


def print_text(claim: Claim) -> None:
    """Print a claim for a terminal."""
    from fedtheory.cli.unicode_math import unicode_math, unicode_prose
    from fedtheory.language.registry import explain_unproved

    about = filter(None, (claim.source, claim.locator, claim.kind, style_verdict(claim.verdict)))
    lines = [f"[bold]{claim.id}[/bold]  {escape(unicode_prose(claim.title))}", " · ".join(about)]
    lines += [
        "",
        "[bold]as published[/bold]" if claim.printed else "[bold]statement[/bold]",
        f"  {escape(unicode_math(claim.statement))}",
    ]
    encoded = [f"{claim.in_words(r.left)} {r.operator} {claim.in_words(r.right)}" for r in claim.relations]
    encoded += [f"{claim.in_words(claim.rate.measured)} is O({claim.in_words(claim.rate.order)})"] if claim.rate else []
    lines += _list_section_lines("as encoded", encoded)
    lines += _list_section_lines("assumptions", [f"{a.name}: {unicode_prose(a.statement)}" for a in claim.assumptions])
    lines += _list_section_lines("setting", list_setting_lines([(claim.id, claim)]))
    lines += _list_section_lines("conditions", [claim.in_words(condition) for condition in claim.conditions])
    lines += _list_section_lines(
        "symbols",
        [
            *(f"{claim.in_words(symbol)}: {quantity.meaning}" for symbol, quantity in claim.notation.items()),
            *(f"{claim.in_words(symbol)}: {values}" for symbol, values in claim.symbols_with_values.items()),
        ],
    )
    lines += _list_section_lines("note", [unicode_prose(claim.note)] if claim.note else [])
    lines += _list_section_lines("corrects", [claim.corrects] if claim.corrects else [])
    reason = explain_unproved(claim)
    lines += _list_section_lines("why it is not proved", [reason] if reason else [])
    lines += _list_section_lines("implemented by", [claim.implemented_by] if claim.implemented_by else [])
    print_lines(*lines)


def _list_section_lines(title: str, entries: list[str]) -> list[str]:
    """Return the lines of a section under its title; none if there are no entries."""
    return [f"[bold]{title}[/bold]", *(f"  {escape(entry)}" for entry in entries)] if entries else []
