"""One argument suffices only where a slack increases with a maximum, or decreases with a minimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected, Term, lipschitz_gradient
from fedtheory.kernel.expressions import Average, Gradient
from fedtheory.language.claim import Relation
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.cases import Case, CaseOfMinimum, Cases, require_sufficient
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import ONE
from fedtheory.proofs.parts import Part

eta, L, mu, tau, M, T, s, E, W = sp.symbols("eta L mu tau M T s E W", positive=True)
x, y, F, L_i = sp.symbols("x y F L_i", real=True)
WHERE: dict[Any, Any] = {
    **{eta: q.local_step_size, L: q.smoothness, mu: q.strong_convexity, tau: q.local_steps, M: q.clients},
    **{T: q.rounds, s: q.noise_deviation, E: q.average_suboptimality, L_i: q.client_smoothness},
    W: q.server_suboptimality,
}
Max, Min, HALF = sp.Max, sp.Min, sp.Rational(1, 2)


def _state(lhs: Any, operator: Any, rhs: Any, conditions: Sequence[Any] = (), **more: Any) -> Claim:
    relation = Relation(sp.sympify(lhs), operator, sp.sympify(rhs))
    stated: dict[str, Any] = {"place": "run", "where": WHERE, "assumptions": (a.smooth,), **more}
    return Claim(id="t:cases", also=(relation,), conditions=conditions, **stated)


def _make_case(argument: Any, parts: Any, kind: type = Case) -> Any:
    """Return a case whose proof is a sum of numbers, or by a further case."""
    if isinstance(parts, Cases):
        return kind(sp.sympify(argument), parts)
    links = [[Part(sp.sympify(part), ONE) for part in parts]]
    return kind(sp.sympify(argument), Combination(claim="t:cases", links=links))


def _by(*cases: Any) -> Cases:
    return Cases(claim="t:cases", cases=list(cases))


def _one(argument: Any, *parts: Any) -> Cases:
    return _by(_make_case(argument, parts))


def _of_minimum(argument: Any, *parts: Any) -> Cases:
    return _by(_make_case(argument, parts, CaseOfMinimum))


def _all_of_minimum(**parts: Any) -> Cases:
    symbols = {"eta": eta, "L": L, "s": s}
    return _by(*(_make_case(symbols[name], [one], CaseOfMinimum) for name, one in parts.items()))


TRUE = {
    "whole side": (_state(eta, "<=", Max(eta, L)), _one(eta)),
    "three arguments": (_state(eta, "<=", Max(eta, L, s)), _one(eta)),
    "reversed": (_state(Max(eta, L), ">=", L), _one(L)),
    "times a count": (_state(tau * eta, "<=", tau * Max(eta, L) + s), _one(eta, s)),
    "power": (_state(eta**T, "<=", Max(eta, L) ** T), _one(eta)),
    "shifted power": (_state(L * eta ** (2 * T + 1), "<=", L * Max(eta, s) ** (2 * T + 1)), _one(eta)),
    "root": (_state(sp.sqrt(eta), "<=", sp.sqrt(Max(eta, L))), _one(eta)),
    "several powers": (_state(eta**2 + eta, "<=", Max(eta, L) ** 2 + Max(eta, L)), _one(eta)),
    "minimum on the smaller side": (_state(Min(eta, L), "<=", eta), _of_minimum(eta)),
    "divided by a minimum": (_state(1 / eta, "<=", 1 / Min(eta, L)), _of_minimum(eta)),
    "minimum on the larger side": (_state(0, "<=", Min(eta, L)), _all_of_minimum(eta=eta, L=L)),
    "condition of a minimum": (_state(2 * Min(eta, L), "<=", eta + L), _all_of_minimum(eta=L - eta, L=eta - L)),
    "a quantity of the run": (_state(eta, "<=", Max(eta, E)), _one(eta)),
    "inside of a maximum": (
        _state(eta, "<=", Max(eta, Min(L, s))),
        _by(*(_make_case(one, _one(eta), CaseOfMinimum) for one in (L, s))),
    ),
    "inside of a minimum": (
        _state(eta, "<=", Min(Max(eta, L), s), [eta <= s]),
        _by(_make_case(eta, _by(_make_case(eta, [], CaseOfMinimum), _make_case(s, [s - eta], CaseOfMinimum)))),
    ),
    "two maxima": (_state(eta + L, "<=", Max(eta, s) + Max(L, s)), _by(_make_case(L, _one(eta)))),
}
FALSE = {
    "maximum on the smaller side": (_state(Max(eta, L), "<=", eta), _one(eta)),
    "minimum on the larger side": (_state(eta, "<=", Min(eta, L)), _of_minimum(eta)),
    "negative factor": (_state(Max(eta, L), ">=", 2 * Max(eta, L) - eta), _one(eta)),
    "factor of any sign": (_state(eta * (eta - L), "<=", (eta - L) * Max(eta, s)), _one(eta)),
    "factor with another quantity": (_state(eta * (E - s), "<=", (E - s) * Max(eta, L)), _one(eta)),
    "square of any sign": (_state((eta - L) ** 2, "<=", Max(eta - L, 0) ** 2), _one(eta - L)),
    "power of any sign": (_state((1 - eta * L) ** T, "<=", Max(1 - eta * L, HALF) ** T), _one(1 - eta * L)),
    "divided by a maximum": (_state(1 / eta, "<=", 1 / Max(eta, L)), _one(eta)),
    "divided by any sign": (_state(1 / eta, "<=", 1 / Min(eta, L - eta)), _of_minimum(eta)),
    "one power falls": (_state(0, "<=", Max(eta, L) - Max(eta, L) ** 2 + eta**2 - eta), _one(eta)),
    "product": (_state(eta**2, "<=", Max(eta, L) * Min(eta, L)), _by(_make_case(eta, _of_minimum(eta)))),
    "inside of a difference": (_state(0, "<=", Max(eta, L) - Max(eta, s)), _by(_make_case(eta, _one(eta)))),
    "inside of a maximum": (_state(L, "<=", Max(eta, Min(L, s))), _of_minimum(L)),
    "maximum inside of a minimum": (_state(eta, "<=", Min(Max(eta, L), s)), _by(_make_case(eta, _of_minimum(eta)))),
    "falling inside of a maximum": (
        _state(s - eta, "<=", Max(s - Max(eta, L), 0)),
        _by(_make_case(eta, _one(s - eta))),
    ),
    "negative maximum of a maximum": (_state(Max(Max(eta, L) - s, 0), "<=", eta), _by(_make_case(eta, _one(0)))),
    "square of a minimum": (
        _state(Min(eta - s, L) ** 2, "<=", Min(Max(eta, 1) - s, L) ** 2),
        _by(_make_case(eta, [])),
    ),
    "inside of a power": (_state((1 - eta) ** T, "<=", (1 - Max(eta, L)) ** T), _one(eta)),
    "condition of the case": (_state(2 * eta, "<=", eta + Max(eta, L) - L), _one(eta, eta - L)),
    "condition of the minimum": (_state(eta + L, "<=", 2 * Min(eta, L)), _all_of_minimum(eta=eta - L, L=L - eta)),
    "two of three": (
        _state(eta + L, "<=", 2 * Max(eta, L, s)),
        _by(_make_case(eta, [eta - L]), _make_case(L, [L - eta])),
    ),
    "no case": (_state(eta, "<=", Max(eta, L)), _by()),
    "another number": (_state(s, "<=", Max(eta, L)), _one(s)),
    "case of a minimum": (_state(L, "<=", Min(eta, L)), _one(L)),
    "case of a maximum": (_state(Max(eta, L), "<=", L), _of_minimum(L)),
    "strict": (_state(eta, "<", Max(eta, L)), _one(eta)),
    "equation": (_state(eta, "=", Max(eta, L)), _one(eta)),
    "maximum of each client": (
        _state(Average(Max(L_i, eta)), "<=", Max(Average(L_i), eta)),
        _by(_make_case(L_i, _one(Average(L_i))), _make_case(eta, _one(eta))),
    ),
    "maximum of each round": (
        _state(Max(W, eta), "<=", L, [eta <= L]),
        _by(_make_case(W, [L - W]), _make_case(eta, [L - eta])),
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_an_argument_suffices(name: str) -> None:
    claim, certificate = TRUE[name]
    proof = check_certificate(claim, certificate)
    assert proof.verdict == "proved", [step.text for step in proof.steps if not step.holds]


@pytest.mark.parametrize("name", FALSE)
def test_an_argument_does_not(name: str) -> None:
    claim, certificate = FALSE[name]
    assert check_certificate(claim, certificate).verdict == "broken"


OF_POINTS: dict[Any, Any] = {x: q.point, y: q.second_point, F: q.objective, L: q.smoothness, eta: q.local_step_size}
DIFFERENCE = norm_sq(Gradient(F, x) - Gradient(F, y))


@pytest.mark.parametrize(
    ("larger", "verdict"),
    [
        (Max(L**2 * norm_sq(x - y), eta), "proved"),
        (eta**2 + Max(L**2, eta) * norm_sq(x - y), "broken"),
        (Max(L**2 * norm_sq(x - y), x), "broken"),
        (Max(L**2 * norm_sq(x - y), Gradient(F, x)), "broken"),
        (Max(L**2 * norm_sq(x - y), sp.Symbol("unknown")), "broken"),
        (Min(L**2 * norm_sq(x - y), eta), "broken"),
    ],
    ids=str,
)
def test_arguments_between_vectors(larger: Any, verdict: str) -> None:
    """Arguments are scalars, of which one may be a squared norm; the factor of a maximum is a number."""
    claim = _state(DIFFERENCE, "<=", larger, place="points", where=OF_POINTS)
    why = Certificate(claim=claim.id, links=[[Term(sp.S.One, lipschitz_gradient(F, x, y))]])
    kind = CaseOfMinimum if larger.has(Min) else Case
    (extreme,) = larger.atoms(Max, Min)
    argument = next(one for one in extreme.args if one.has(L))
    assert check_certificate(claim, _by(kind(argument, why))).verdict == verdict


def test_an_argument_is_compared_as_a_number() -> None:
    """A document may write a product where the claim has a sum."""
    claim = _state(eta * L + eta, "<=", Max(eta * (L + 1), s))
    assert check_certificate(claim, _one(eta * L + eta)).verdict == "proved"
    assert check_certificate(claim, _one(eta * L - eta)).verdict == "broken"


def test_another_minimum_with_the_same_arguments_is_no_part_of_it() -> None:
    """The minimum of eta, L and s is another number than that of eta and L, on the smaller side and on the larger."""
    smallest = Min(eta, L)
    outer = Max(s, s * smallest + Min(eta, L, s))
    assert outer.has(Min(eta, L, s))
    require_sufficient(_state(outer, "<=", tau), smallest)
    with pytest.raises(Rejected, match="is not shown"):
        require_sufficient(_state(0, "<=", outer), smallest)
