"""Explorers of bounds: compiled formulas are those of the claims, and sliders start where the conditions hold."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from math import isfinite
from random import Random
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel.admitted import HEADS
from fedtheory.kernel.expressions import Average
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.registry import all_claims, find
from report.explorer import explain_missing_explorer, make_explorer_section
from report.explorer.javascript import name_arguments, write_javascript
from report.explorer.ranges import Range
from report.explorer.subject import ExploredLink, find_subject


@cache
def explored() -> dict[str, ExploredLink]:
    """Return the subject of each claim that has an explorer."""
    found = {claim_id: find_subject(claim) for claim_id, claim in all_claims().items()}
    return {claim_id: subject for claim_id, subject in found.items() if subject is not None}


def expressions(subject: ExploredLink) -> list[Any]:
    """Return all expressions of a subject that a page computes."""
    sides = [side for condition in subject.conditions for side in condition.args]
    return [subject.link.right, *subject.terms, *sides, *([subject.link.left] if subject.has_left else [])]


def precise(expression: Any, symbols: Sequence[sp.Symbol], point: Sequence[float]) -> Any:
    """Return an expression at a point, in sixty digits."""
    return expression.xreplace({s: sp.Float(value, 60) for s, value in zip(symbols, point, strict=True)}).evalf(60)


def magnitude(expression: Any) -> Any:
    """Return an expression with all signs positive outside of denominators, as the scale of rounding errors."""
    if isinstance(expression, sp.Pow) and expression.exp.is_negative:
        return expression
    if isinstance(expression, sp.Number):
        return abs(expression)
    return expression.func(*map(magnitude, expression.args)) if expression.args else expression


def random_point(subject: ExploredLink, random: Random) -> list[float]:
    """Return a value for each slider, within a decade of its start."""
    return [random.choice(r.values[max(r.place - 20, 0) : r.place + 21]) for r in subject.ranges]


def javascript_values(functions: Sequence[str], points: Sequence[Sequence[Sequence[float]]]) -> list[list[Any]]:
    """Return the values of each function at its points, by Node.js; None for non-finite values."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    calls = (f"{json.dumps(at)}.map((v) => ({code})(...v))" for code, at in zip(functions, points, strict=True))
    program = f"console.log(JSON.stringify([{', '.join(calls)}]))"
    done = subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True)
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def compare_with_sympy(points: int) -> None:
    """Assert that each formula of each explorer agrees between JavaScript and SymPy at random points."""
    cases = [(subject, e) for subject in explored().values() for e in dict.fromkeys(expressions(subject))]
    at = [[random_point(subject, Random(n)) for n in range(points)] for subject, _ in cases]
    functions = [write_javascript(expression, name_arguments(subject.symbols)) for subject, expression in cases]
    assert len(cases) > 3 * len(explored())
    for (subject, expression), places, values in zip(cases, at, javascript_values(functions, at), strict=True):
        for place, value in zip(places, values, strict=True):
            expected = precise(expression, subject.symbols, place)
            if not (expected.is_real and isfinite(float(expected))):
                assert value is None, expression
                continue
            scale = abs(float(precise(magnitude(expression), subject.symbols, place)))
            assert value == pytest.approx(float(expected), rel=1e-9, abs=1e-14 * scale), expression


@pytest.mark.long
def test_compiled_formulas_agree_with_sympy() -> None:
    """Right sides, terms and sides of conditions are the same numbers in JavaScript as in SymPy."""
    compare_with_sympy(points=1)


@pytest.mark.slow
def test_compiled_formulas_agree_with_sympy_at_many_points() -> None:
    """Compiled formulas agree with SymPy at eight points each."""
    compare_with_sympy(points=8)


def test_terms_add_up_to_the_right_side() -> None:
    """Terms add up to the right side, to forty digits."""
    for claim_id, subject in explored().items():
        point = random_point(subject, Random(1))
        if subject.terms:
            whole, parts = (precise(e, subject.symbols, point) for e in (subject.link.right, sp.Add(*subject.terms)))
            assert abs(whole - parts) <= abs(whole) * sp.Float(10) ** -40, claim_id


def test_sliders_start_where_all_conditions_hold() -> None:
    """The sliders of every claim start at values that satisfy all conditions, with a defined right side."""
    for claim_id, subject in explored().items():
        start = [r.values[r.place] for r in subject.ranges]
        for condition in subject.conditions:
            at = condition.subs({s: sp.Rational(v) for s, v in zip(subject.symbols, start, strict=True)})
            assert bool(at), f"{claim_id}: {condition}"
        right = precise(subject.link.right, subject.symbols, start)
        assert right.is_finite, claim_id
        decreases = any(term.could_extract_minus_sign() for term in sp.Add.make_args(sp.expand(subject.link.left)))
        vanishes = right == 0 and subject.link.left == 0
        assert right > 0 or vanishes or subject.link.relation in (">=", ">") or decreases, claim_id


def test_numbers_of_sliders_increase() -> None:
    """Counts are integers from one on; zero is a value exactly if the symbol may be zero."""
    for claim_id, subject in explored().items():
        for symbol, r in zip(subject.symbols, subject.ranges, strict=True):
            assert list(r.values) == sorted(set(r.values)), claim_id
            assert (r.values[0] == 0) == (symbol.is_positive is not True)
            assert not r.whole or set(map(float.is_integer, r.values)) == {True}
            assert not r.whole or 1.0 in r.values
            assert r.values[-1] >= 900 * r.values[r.place]


def test_numbers_are_what_is_shown() -> None:
    """Values have three digits, or are integers, without repetition."""
    assert Range(-20, -18, -20, whole=False, zero=False).values == (0.1, 0.112, 0.126)
    assert Range(0, 20, 14, whole=True, zero=True).values == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert Range(0, 20, 14, whole=True, zero=True).place == 5


def inequalities(claim: Claim) -> list[Any]:
    """Return the right sides of inequalities in two symbols or more, and the order of a rate."""
    rights = [r.right for r in claim.relations if r.operator != "==" and not r.right.is_Symbol]
    rates = [] if claim.rate is None else [claim.rate.order * (claim.rate.constant or 1)]
    return [right for right in (*rights, *rates) if len(right.free_symbols) >= 2]


def test_every_bound_on_numbers_has_an_explorer_and_every_other_says_why() -> None:
    """A claim has an explorer exactly if a right side has no sums, averages and vectors."""
    claims = [c for c in all_claims().values() if c.kind not in ("assumption", "definition") and inequalities(c)]
    reasons = set()
    for claim in claims:
        possible = any(not right.atoms(*HEADS) for right in inequalities(claim))
        assert not possible or claim.id in explored(), claim.id
        assert (claim.id in explored()) != bool(explain_missing_explorer(claim)), claim.id
        reasons.add(explain_missing_explorer(claim))
    assert reasons <= {
        "",
        "a function value",
        "a mean over clients",
        "a sum over clients",
        "a sum over local steps",
        "an expectation",
        "an inner product",
    }
    share = sum(claim.id in explored() for claim in claims) / len(claims)
    assert 0.6 < share < 0.7, f"{share:.0%} of the claims with an inequality have an explorer"


def test_other_claims_have_neither_explorer_nor_reason() -> None:
    """Algorithms, identities and assumptions have neither explorer nor reason."""
    for claim_id in ("renard2022:algorithm-1", "renard2022:assumption-1", "liu2022:noniid.bgd"):
        assert make_explorer_section(find(claim_id)) is None
        assert explain_missing_explorer(find(claim_id)) == ""


def test_a_claim_of_a_user_gets_one() -> None:
    """A user-defined claim has four sliders, a step size below its limit, and its formula on the right."""
    eta, zeta, L, sigma = sp.symbols("eta zeta L sigma", positive=True)
    where = {eta: q.local_step_size, zeta: q.gradient_dissimilarity, L: q.smoothness, sigma: q.noise_deviation}
    claim = Claim(
        id="mine:bound",
        lhs=eta**2 * zeta**2 + eta * sigma,
        relation=">=",
        rhs=q.max_drift,
        where=where,
        conditions=[eta <= 1 / (4000 * L)],
    )
    subject = find_subject(claim)
    assert subject is not None
    assert (subject.link.left, subject.link.relation) == (q.max_drift.symbol, "<=")
    assert set(subject.terms) == {eta**2 * zeta**2, eta * sigma}
    assert [str(s) for s in subject.symbols] == ["eta", "L", "sigma", "zeta"]
    assert subject.ranges[0].values[subject.ranges[0].place] == 0.000178


def test_a_rate_with_a_step_size_of_its_own_is_asked_for_its_conditions_there() -> None:
    """The conditions of a rate with its own step size concern the horizon, and there is no slider for the step."""
    eta, L, T, D = sp.symbols("eta L T D", positive=True)
    claim = Claim(
        id="mine:rate",
        kind="rate",
        rate=Rate(q.average_suboptimality.symbol, D / sp.sqrt(T), T, step_size=1 / sp.sqrt(T)),
        where={eta: q.local_step_size, L: q.smoothness, T: q.rounds, D: q.initial_distance},
        conditions=[eta <= 1 / L],
    )
    subject = find_subject(claim)
    assert subject is not None
    assert subject.link.is_order
    assert subject.symbols[subject.across] == T
    assert subject.conditions == [sp.Le(1 / sp.sqrt(T), 1 / L)]
    assert eta not in subject.symbols


def test_conditions_on_clients_stay_undecided() -> None:
    """A condition with an average over clients is left undecided, and the page says so."""
    eta, L = sp.symbols("eta L", positive=True)
    where = {eta: q.local_step_size, L: q.smoothness}
    conditions = [Average(q.importance.symbol) <= 1, eta <= 1 / L]
    subject = find_subject(Claim(id="mine:means", lhs=q.max_drift, rhs=eta**2 * L, where=where, conditions=conditions))
    assert subject is not None
    assert (subject.undecided, subject.conditions) == (conditions[:1], conditions[1:])
