"""Table of all proved bounds: each term as published, as proved, and the number below which it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from markupsafe import Markup

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from report.mathml import typeset_formula
from report.slack import PartRow, SlackEntry
from verify.slack import WHOLE, list_parts
from verify.slack.bound_parts import has_parts

_SCALES = {
    *(q.clients, q.rounds, q.iterations, q.local_steps, q.local_step_index),
    *(q.local_step_size, q.server_step_size),
}
"""Symbols whose exponents may differ between corresponding terms: numbers of clients, rounds and steps, and step
sizes.
"""


@dataclass(frozen=True)
class ProvedTermRow:
    """One term of a proved bound."""

    printed: Markup
    """The sum of the published terms with the same symbols; empty if there are none."""
    proved: Markup
    constant: str
    """The number in front of the term."""
    lowest: str
    """The number below which a run refutes the term, or "attained"; empty if no run is known."""


@dataclass(frozen=True)
class Overview:
    """A bound, and the published statement that it tightens or corrects."""

    claim: Claim
    printed: Claim | None
    """The claim of the paper; None for a result of this project."""
    whole: PartRow
    lines: Sequence[ProvedTermRow]


def summarise_terms(entry: SlackEntry) -> Overview:
    """Return the terms of a bound, with those of the published statement; the whole right side if it has one term."""
    printed, whole = find_published_form(entry.claim), entry.rows[0]
    return Overview(entry.claim, printed, whole, list(_list_lines(entry, printed)))


def find_published_form(claim: Claim) -> Claim | None:
    """Return the statement of the paper that a claim states, tightens or corrects; None if there is none."""
    while (other := claim.sharpens or claim.corrects) is not None:
        claim = find(other)
    return None if claim.printed is None else claim


def _list_lines(entry: SlackEntry, printed: Claim | None) -> Iterator[ProvedTermRow]:
    for part, row in zip(list_parts(entry.claim), entry.rows, strict=True):
        if part.name != WHOLE or len(entry.rows) == 1:
            with entry.claim.typesetting():
                proved = typeset_formula(latex(part.expression))
            lowest = "attained" if row.is_attained else row.lowest or (row.share and f"{row.share} of it")
            yield ProvedTermRow(
                _format_published_term(part.expression, entry.claim, printed), proved, str(part.constant), lowest
            )


def _format_published_term(term: Expr, claim: Claim, printed: Claim | None) -> Markup:
    """Typeset the terms of the published bound with the symbols of a term; empty if there are none."""
    if printed is None or not has_parts(printed):
        return Markup()
    parts = list_parts(printed)
    terms = [one.expression for one in parts if one.name != WHOLE or len(parts) == 1]
    alike = [one for one in terms if _collect_symbols(one, printed) == _collect_symbols(term, claim)]
    with printed.typesetting():
        return typeset_formula(latex(sp.Add(*alike, evaluate=False))) if alike else Markup()


def _collect_symbols(term: Expr, claim: Claim) -> frozenset[tuple[object, Expr]]:
    """Return the symbols of a term with their powers, by quantity, without scales."""
    factors = {claim.notation.get(base, base): power for base, power in term.as_powers_dict().items()}
    return frozenset(
        (base, power)
        for base, power in factors.items()
        if base not in _SCALES and not isinstance(base, sp.Add | sp.Number)
    )
