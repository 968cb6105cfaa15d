"""The instance on which a verdict rests, as tables that a reader can check by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq
from markupsafe import Markup

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.claim import Claim
from fedtheory.language.numbers import format_decimal, format_exactly
from fedtheory.language.quantities import RunQuantity, rounds
from fedtheory.language.typesetting import latex
from report.mathml import typeset_prose, typeset_statement
from verify.check import Check
from verify.check.comparison import Comparison
from verify.check.ladders import list_ladders
from verify.check.measured_ladders import LadderLevel, RateCheck
from verify.claim_verdict import ClaimVerdict
from verify.shown_place import choose_place, describe_origin, has_only_free_vectors, name_of_point
from verify.witness import PrintedSides, explain_size

RUN_FILE = "run.toml"


def describe_size(run: dict[str, Any], sides: PrintedSides | None) -> str:
    """Describe a counterexample that is too large to be checked by hand; empty if it is small."""
    reasons = explain_size(run, sides)
    if not reasons:
        return ""
    return f"This counterexample has {', '.join(reasons)}; no smaller one is known that can be checked by hand."


@dataclass(frozen=True)
class NumberRow:
    """A row of a table of numbers."""

    name: Markup
    value: str
    decimal: str


@dataclass(frozen=True)
class Evidence:
    """The instance, both sides on it, its constants, and the command that checks it."""

    title: str
    remark: Markup
    relation: Markup | None
    """The decisive link, if the statement has several."""
    rows: Sequence[NumberRow]
    constants: Sequence[NumberRow]
    regions: Sequence[str]
    run_file: str
    command: str


def describe_evidence(verdict: ClaimVerdict, called: str) -> Evidence | None:
    """Return the evidence of a verdict, if it rests on an instance; `called` is the displayed name of the claim."""
    check, witness, run_file = verdict.evidence, verdict.witness, verdict.run_file
    if check is None or witness is None or run_file is None:
        return None
    worst = choose_place(check)
    return Evidence(
        title=_choose_title(verdict),
        remark=typeset_prose(_describe_place(check)),
        relation=None if worst is None or len(check.comparisons) == 1 else typeset_statement(worst.relation.latex),
        rows=_list_rows(check),
        constants=_list_constants(verdict.claim, witness),
        regions=[f"{name.replace('_', ' ')}: on {region}" for name, region in check.regions.items()],
        run_file=run_file,
        command=f"fedtheory check {called} {RUN_FILE} --arithmetic rational",
    )


def _choose_title(verdict: ClaimVerdict) -> str:
    if verdict.verdict == "refuted":
        return "Counterexample"
    return "An instance" if verdict.worst_ratio is None else "The simplest instance with nearly the largest ratio"


def _describe_place(check: Check) -> str:
    """Describe the place in the run, and the origin of its coordinates."""
    if check.rate is not None:
        return f"The levels of the ladder replace the run's {_name_variables(check)}."
    worst = choose_place(check)
    if has_only_free_vectors(check.claim):
        return "The statement is about free vectors and does not depend on the run."
    if worst is None or not (worst.index or worst.points):
        return ""
    place = ", ".join(
        f"{axis} = {value}" if worst.points.keys() & {axis} else f"{axis} {value}"
        for axis, value in worst.index.items()
    )
    measured = [f"Points are measured from {_describe_origin(worst)}."] if worst.points else []
    return " ".join([*([f"At {place} of this run."] if place else []), *measured])


def _describe_origin(worst: Comparison) -> str:
    origin = describe_origin(worst)
    return "$x^*$" if origin == "x*" else origin


def _list_rows(check: Check) -> list[NumberRow]:
    if check.rate is not None:
        return _list_rate_rows(check.claim, check.rate)
    worst = choose_place(check)
    return [] if worst is None else _list_sides(check.claim, worst)


def _list_sides(claim: Claim, worst: Comparison) -> list[NumberRow]:
    """Return the points of a comparison, its sides, and the terms of sides that have several."""
    rows = [_make_vector_row(name_of_point(claim, name, worst), point) for name, point in worst.points.items()]
    for side, value, terms in (("left", worst.lhs, worst.left_terms), ("right", worst.rhs, worst.terms)):
        rows.append(_make_row(f"{side} side", value))
        if len(terms) > 1:
            rows += [_make_row(f"its term ${term.latex}$", term.value) for term in terms]
    if worst.relation.operator == "==":
        return [*rows, _make_row("difference", worst.lhs - worst.rhs)]
    return rows if worst.ratio is None else [*rows, _make_row("ratio", worst.ratio)]


def _name_variables(check: Check) -> str:
    names = [check.claim.notation[variable].name.replace("_", " ") for variable in list_ladders(check.claim)]
    return " and ".join(names)


def _list_rate_rows(claim: Claim, rate: RateCheck) -> list[NumberRow]:
    """Return the values at each level; with several variables also the slope along each ladder."""
    symbols = [latex(variable) for variable in list_ladders(claim)]
    rows = [_make_row(_format_values(symbols, level), level.measured) for level in rate.all_levels]
    if len(symbols) > 1:
        for ladder in rate.ladders:
            along = ", ".join(f"${latex(variable)}$" for variable in ladder.variables)
            rows += [] if ladder.slope is None else [_make_row(f"fitted slope along {along}", ladder.slope)]
    rows += [] if rate.limit is None else [_make_row(rf"limit for ${symbols[0]}\to\infty$", rate.limit)]
    growth = rate.growth
    if growth is None or not growth.exceeds or not growth.power or growth.coefficient is None:
        return rows
    scaled = latex(growth.variable ** -sp.Rational(growth.power.numerator, growth.power.denominator))
    end = r"\infty" if growth.goes_to_infinity else "0"
    return [
        *rows,
        _make_row(rf"limit of ${scaled}$ times it for ${latex(growth.variable)}\to{end}$", growth.coefficient),
    ]


def _format_values(symbols: Sequence[str], level: LadderLevel) -> str:
    return ", ".join(f"${symbol}={format_exactly(value)}$" for symbol, value in zip(symbols, level.values, strict=True))


def _list_constants(claim: Claim, run: Run) -> list[NumberRow]:
    """Return the run's constants in the claim's symbols; for roots their squares, which are rational."""
    constants = {symbol: n for symbol, n in claim.notation.items() if isinstance(n, RunQuantity)}
    shown = {s: n for s, n in constants.items() if n.is_constant or (n is rounds and claim.rate is None)}
    return [row for s, n in shown.items() for row in _list_constant_rows(f"{latex(s)}{'^2' if n.root else ''}", n, run)]


def _list_constant_rows(name: str, quantity: RunQuantity, run: Run) -> list[NumberRow]:
    """Return one row, or one for each client; empty if the quantity has no value on this run."""
    try:
        value = quantity.measure(run)
    except NotApplicable:
        return []
    if not isinstance(value, np.ndarray):
        return [_make_row(f"${name}$", value)]
    return [_make_row(f"${name}$ of client {number}", entry) for number, entry in enumerate(value.ravel())]


def _make_row(name: str, value: Number) -> NumberRow:
    number = value if isinstance(value, fmpq) else fmpq(value) if isinstance(value, int) else value
    return NumberRow(typeset_prose(name), format_exactly(number), format_decimal(number, 6))


def _make_vector_row(name: str, point: Array) -> NumberRow:
    """Return the row of a point: exact coordinates, and decimals."""
    return NumberRow(
        typeset_prose(f"${name.replace('*', '^*')}$"),
        ", ".join(map(format_exactly, point)),
        ", ".join(format_decimal(x, 4) for x in point),
    )
