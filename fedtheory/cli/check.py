"""`fedtheory check`: check one claim on one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fedtheory.cli.figure import require_figure, write_figure
from fedtheory.cli.output import (
    ArithmeticName,
    FigureFile,
    Json,
    NoCode,
    RunFile,
    escape,
    name_file_in_errors,
    print_json,
    print_lines,
    print_table,
    progress,
    short,
)
from fedtheory.cli.setting import encode_setting, print_setting
from fedtheory.cli.typed_relations import NamedOrTyped, is_relation, parse_relation

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.figure import Figure

    from fedtheory.engine.run import Run
    from fedtheory.language.claim import Claim
    from verify.check import Check
    from verify.check.applicability import ConditionCheck
    from verify.check.comparison import Comparison
    from verify.check.growth import Growth
    from verify.check.measured_ladders import LadderLevel, MeasuredLadder, RateCheck

NAME = "check"


def run(
    target: NamedOrTyped,
    run_file: RunFile,
    arithmetic: ArithmeticName = "float",
    *,
    figure: FigureFile = None,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Check one claim on one run: its conditions with their margins, both sides, each term, the verdict."""
    from fedtheory.arithmetic import RATIONAL, select_arithmetic
    from fedtheory.language.targets import resolve
    from fedtheory.runfile import read_run
    from verify.check.escalation import check_and_escalate

    require_figure(figure)
    claim = parse_relation(target) if is_relation(target) else resolve(target)
    given = read_run(run_file, select_arithmetic(arithmetic))
    with progress("rounds") as tell:
        found = check_and_escalate(claim, given, lambda: read_run(run_file, RATIONAL), tell)
    with name_file_in_errors(run_file):
        write_figure(figure, lambda: draw_bound(claim, given))
    rounded: dict[str, str] = {}
    if found.applicable and found.arithmetic is RATIONAL:
        rounded = explain_rounded(found, given if given.arithmetic is RATIONAL else read_run(run_file, RATIONAL))
    if as_json:
        print_json(encode_check(found) | {"rounded": rounded})
    else:
        print_text(found)
        print_lines(*(f"{name}: {escape(meaning)}, not exact" for name, meaning in rounded.items()))
        if found.worst is not None and found.holds is None and found.worst.holds is False:
            _print_advice(target)


def draw_bound(claim: Claim, given: Run) -> Figure:
    """Return the figure of a claim on a run."""
    from report.pictures import bound_figure

    return bound_figure(claim, given)


def explain_rounded(found: Check, run: Run) -> dict[str, str]:
    """Return the constants of a checked claim whose fractions are bounds on a run in rationals, with their meaning."""
    from verify.check.loose_constants import list_loose_constants

    return {one.quantity.name: one.meaning for one in list_loose_constants(found.claim, run)}


def encode_check(found: Check) -> dict[str, Any]:
    """Return the JSON document of a check."""
    from verify.shown_place import choose_place

    text, worst = found.arithmetic.text, choose_place(found)
    settled_by = None if found.final_decision is None else found.final_decision.reason
    is_open = found.applicable and found.holds is None
    # Averages over clients are typeset in the claim's own notation.
    with found.claim.typesetting():
        return {
            "id": found.claim.id,
            "applicable": found.applicable,
            "reason": _describe_arithmetic(found) if is_open else found.reason or _explain_rate(found),
            "conditions": [
                {
                    "condition": c.latex,
                    "holds": c.holds,
                    "slack": text(c.slack),
                    "reason": _explain_open(found) if c.holds is None else None,
                }
                for c in found.conditions
            ],
            "lhs": None if worst is None else text(worst.lhs),
            "rhs": None if worst is None else text(worst.rhs),
            "ratio": None if worst is None or worst.ratio is None else text(worst.ratio),
            "holds": found.holds,
            "terms": [{"term": t.latex, "value": text(t.value)} for t in worst.terms] if worst else [],
            "place": {} if worst is None else worst.index,
            "points": {} if worst is None else {n: [text(x) for x in point] for n, point in worst.points.items()},
            "regions": found.regions,
            "rate": _encode_rate(found),
            "arithmetic": found.arithmetic.kind,
            "settled_by": settled_by,
            "bits": found.bits,
            "interval": None if found.estimate is None else asdict(found.estimate),
            **encode_setting(found.claim),
            "excluded": [{"name": one.name, "reason": one.reason} for one in found.excluded],
        }


def _explain_rate(found: Check) -> str | None:
    """Return the reason why a rate fails: an exact limit, or the growth of the ratio."""
    return None if found.rate is None else found.rate.reason(found.claim.in_words)


def _explain_open(found: Check) -> str:
    """Return the reason why an arithmetic leaves the check undecided."""
    if found.claim.rate is not None and found.claim.rate.constant is None:
        return "rounding decides: perturbed runs give another result"
    if found.arithmetic.kind == "float":
        return "both sides agree up to rounding: exact arithmetic decides (--arithmetic rational)"
    return "the enclosures of both sides overlap: no precision distinguishes equal values from close ones"


def _encode_rate(found: Check) -> dict[str, Any] | None:
    """Return the measured growth of the left side as a JSON object; None if the claim has no rate."""
    if found.rate is None:
        return None
    text, rate = found.arithmetic.text, found.rate
    return {
        "rungs": _describe_levels(found, rate.ladders[0]),
        "slope": rate.slope,
        "ladders": [
            {
                "variables": _list_names(found, ladder.variables),
                "rungs": _describe_levels(found, ladder),
                "slope": ladder.slope,
                "rise": ladder.rise,
            }
            for ladder in rate.ladders
        ],
        "constant": rate.constant,
        "limit": None if rate.limit is None else text(rate.limit),
        "refuted_by": None if rate.growth is None or not rate.growth.exceeds else _encode_limits(found, rate.growth),
    }


def _encode_limits(found: Check, growth: Growth) -> dict[str, Any]:
    """Return the exact limits that refute a rate.

    measured / variable^power tends to the coefficient, order / variable^power to zero.
    """
    return {
        "variable": found.claim.notation[growth.variable].name,
        "limit": "infinity" if growth.goes_to_infinity else "0",
        "power": str(growth.power),
        "coefficient": None if growth.coefficient is None else str(growth.coefficient),
    }


def _describe_levels(found: Check, ladder: MeasuredLadder) -> list[dict[str, Any]]:
    """Return the runs along which a rate is measured, each with the values of the variables that change."""
    changing = _list_names(found, ladder.variables)

    def describe(level: LadderLevel) -> dict[str, Any]:
        """Return the changing variables, the measured value and the order of one run, as text."""
        values = {name: value for name, value in _encode_values(found, level).items() if name in changing}
        return {
            **values,
            "measured": _encode_number(found, level.measured),
            "order": _encode_number(found, level.order),
        }

    return [describe(level) for level in ladder.levels]


def _encode_number(found: Check, value: Any) -> Any:
    """Return a number in the arithmetic of a check, or as a float: exact checks extend some rates in floats."""
    from fedtheory.arithmetic import FLOAT

    return (FLOAT if isinstance(value, float) else found.arithmetic).text(value)


def _list_names(found: Check, variables: Iterable[sp.Symbol]) -> list[str]:
    """Return the names of the quantities that variables of a rate stand for."""
    return [found.claim.notation[variable].name for variable in variables]


def _encode_values(found: Check, level: LadderLevel) -> dict[str, Any]:
    """Return a rate's variables on one run of its sequence: whole numbers, or numbers of the run's arithmetic."""
    from verify.check.ladders import list_ladders

    values = zip(_list_names(found, list_ladders(found.claim)), level.values, strict=True)
    return {name: _encode_number(found, value) if name.endswith("size") else int(value) for name, value in values}


def print_text(found: Check) -> None:
    """Print a check for a terminal: the verdict in three lines, one table, then conditions and regions."""
    from verify.shown_place import choose_place

    print_lines(f"[bold]{found.claim.id}[/bold]  {escape(found.claim.title)}", *_list_answer_lines(found), "")
    shown = choose_place(found)
    if shown is not None:
        _print_sides(found, shown)
    if found.rate is not None:
        _print_ladder(found, found.rate)
    print_lines(
        *(escape(f"condition {found.claim.in_words(c.expression)}: margin {short(c.slack)}") for c in found.conditions),
        *(f"{name}: on {escape(region)}" for name, region in found.regions.items()),
    )
    if found.applicable:
        print_setting([(found.claim.id, found.claim)])


def _print_advice(target: str) -> None:
    """Print advice about a violation that was found in floats only."""
    named = f'"{target}"' if is_relation(target) else target
    print_lines(
        "with fewer rounds or local steps the run can be repeated in rationals;"
        f" `fedtheory falsify {escape(named)}` looks for a smaller run"
    )


def _list_answer_lines(found: Check) -> list[str]:
    """Return the lines on the verdict, the closest condition, and the term that dominates the bound."""
    from verify.shown_place import choose_place

    worst = choose_place(found) if found.applicable else None
    sides = "" if worst is None else f": {_compare(worst)}"
    lines = [_describe_outcome(found) + sides]
    if closest := min(found.conditions, key=lambda c: (c.holds is True, c.slack), default=None):
        margin = f"margin {short(closest.slack)}: {_describe_distance(found, closest)}"
        words = f"{found.claim.in_words(closest.expression)}, {margin}"
        label = "failing condition" if closest.holds is False else "tightest condition"
        lines.append(f"[bold]{label}:[/bold] {escape(words)}")
    if worst is not None and (limit := _describe_largest_term(found, worst)):
        lines.append(f"[bold]dominant term:[/bold] {escape(limit)}")
    return lines


def _describe_distance(found: Check, condition: ConditionCheck) -> str:
    """Describe the distance of a number from its limit; print both sides if a condition limits no single number."""
    from fedtheory.arithmetic import plain_float

    value, limit = condition.sides
    left, operator = condition.expression.lhs, condition.expression.rel_op
    if not left.is_Symbol or operator not in ("<", "<=", ">", ">=") or not plain_float(limit) > 0:
        return f"left side {short(value)}, right side {short(limit)}"
    ratio = plain_float(value) / plain_float(limit)
    far = f"{100 * abs(1 - ratio):.2g}% {'above' if ratio > 1 else 'below'}" if ratio != 1 else "at"
    far = f"{ratio:.3g} times" if ratio >= _TWICE else far
    return f"{found.claim.in_words(left)} = {short(value)} is {far} the limit {short(limit)}"


_TWICE = 2
"""Ratio of a number to its limit above which it is not printed as a percentage."""


def _compare(worst: Comparison) -> str:
    ratio = "" if worst.ratio is None else f", ratio {short(worst.ratio)}"
    return f"left side {short(worst.lhs)}, right side {short(worst.rhs)}{ratio}"


def _describe_largest_term(found: Check, worst: Comparison) -> str:
    """Describe the largest term of the right side, if there are several and none is negative."""
    from fedtheory.arithmetic import plain_float

    values = [plain_float(term.value) for term in worst.terms]
    if len(values) < 2 or min(values) < 0 or not sum(values) > 0:
        return ""
    largest = max(range(len(values)), key=values.__getitem__)
    words = found.claim.in_words(worst.terms[largest].expression)
    return f"{words} ({values[largest] / sum(values):.0%} of the right side)"


def _print_ladder(found: Check, rate: RateCheck) -> None:
    """Print each sequence of a rate, its limit and the largest ratio of the measured value to the order."""
    for ladder in rate.ladders:
        _print_one_ladder(found, ladder)
    print_lines(f"limit {short(rate.limit)}, largest measured / order {short(rate.constant)}")


def _print_one_ladder(found: Check, ladder: MeasuredLadder) -> None:
    """Print the values of all variables along the sequence of a rate, and its slope."""
    rows = [
        [*map(str, _encode_values(found, level).values()), short(level.measured), short(level.measured / level.order)]
        for level in ladder.levels
    ]
    names = [name.replace("_", " ") for name in _encode_values(found, ladder.levels[0])]
    changing = " and ".join(name.replace("_", " ") for name in _list_names(found, ladder.variables))
    columns = [*names, "measured", "measured / order"]
    print_table(f"ladder of {changing} (instead of the run's own)", columns, rows, whole=tuple(columns))
    rises = (
        f"; {escape(ladder.describe_rise(found.claim.in_words))}"
        if ladder.is_rising and found.holds is not True
        else ""
    )
    print_lines(f"slope {short(ladder.slope)}{rises}")


def _describe_outcome(found: Check) -> str:
    """Return the outcome of a check in words, with colour."""
    if not found.applicable:
        return f"[yellow]not applicable[/yellow]: {escape(found.reason or '')}"
    if not found.comparisons and found.rate is None:
        return escape(found.reason or "")
    words = {True: "[green]holds[/green]", False: "[bold red]violated[/bold red]", None: "[yellow]undecided[/yellow]"}
    return words[found.holds] + (f" ({escape(why)})" if (why := _describe_arithmetic(found)) else "")


def _describe_arithmetic(found: Check) -> str | None:
    """Describe the arithmetic that decided the check, or the reason why it is undecided."""
    of_rate = _explain_rate(found) if found.applicable else None
    if found.final_decision is not None:
        return "; ".join(filter(None, (of_rate, found.final_decision.reason)))
    if found.applicable and found.holds is None:
        return found.reason or of_rate or _explain_open(found)
    return of_rate or found.decided_in or found.reason


def _label_left_side(found: Check) -> str:
    """Label the left side; an estimate has a confidence level and an interval."""
    seen = found.estimate
    if seen is None:
        return "left side"
    return f"left side, {seen.confidence:.0%} interval {short(seen.low)} to {short(seen.high)}"


def _print_sides(found: Check, worst: Comparison) -> None:
    from verify.shown_place import name_of_point

    place = ", ".join(f"{axis} {value}" for axis, value in worst.index.items())
    rows = [
        [short(worst.lhs), _label_left_side(found)],
        [short(worst.rhs), "right side"],
        [short(worst.ratio), "ratio"],
    ]
    rows += [[short(term.value), f"term {escape(found.claim.in_words(term.expression))}"] for term in worst.terms]
    for name, point in worst.points.items():
        rows.append([", ".join(short(value) for value in point), name_of_point(found.claim, name, worst)])
    where = "place: the points below" if worst.points and not place else f"worst place: {place or 'the run'}"
    print_table(where, ["value", "of"], rows, whole=())
