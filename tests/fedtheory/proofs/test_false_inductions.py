"""False inductions: iterates move, and so does every sum over the steps of a round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp
from attempts import Attempt, terms

from fedtheory.kernel import Step, Term, assumption, lipschitz_gradient, square, steps
from fedtheory.kernel.expressions import Gradient, LocalSum, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Proof, check_certificate
from fedtheory.proofs.links import Induction

k = sp.Symbol("k", nonnegative=True, integer=True)
E = sp.Symbol("E", positive=True, integer=True)
s, L = sp.symbols("s L", positive=True)
x, w, F = sp.symbols("x w F", real=True)
ONE, TWO = sp.S.One, sp.Integer(2)
SLOPE, HERE = Gradient(F, w), Gradient(F, x)
LINES = {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
ROUND: dict[str, Any] = {
    "problem": LINES,
    "algorithm": {"local_steps": 3},
    "where": {
        **{k: q.local_step_index, E: q.client_local_steps, s: q.client_step_size, L: q.smoothness},
        **{x: q.local_iterate, w: q.server_model, F: q.client_objective},
    },
    "place": "round",
    "assumptions": (
        *(a.uniform_sampling, a.unit_server_step, a.uniform_shares),
        *(a.full_gradients, a.smooth, a.same_step_size),
    ),
}
FLAT = sp.Le(L, 0, evaluate=False)


def nothing(of: Any, times: Any, summed: bool = False) -> list[Term]:
    """Return a multiple of the terms by which gradients of affine objectives are equal."""
    parts = ((times, lipschitz_gradient(F, x, w)), (-times * L * (L + 1), square(of)), (times * L, square(of)))
    return [Term(number, reason, summed=summed) for number, reason in parts]


def by_two(measured: Any, offset: Any, bound: Any, terms: Any, start: Any = ()) -> Induction:
    return Induction(measured=measured, factor=TWO, offset=offset, bound=bound, base=TWO, terms=terms, start=start)


def sum_of_all() -> Attempt:
    """Return an attempt that takes the sum over all steps of a round as zero before the first step."""
    moves, size = LocalSum(x - w), 4 * s**2 * E**2 * norm_sq(SLOPE)
    why = [
        Term(ONE, square(moves + s * LocalSum(HERE))),
        Term(2 * s**2, square(E * SLOPE - LocalSum(HERE - SLOPE))),
        Term(4 * s**2, steps(HERE - SLOPE)),
        *nothing(x - w, 4 * s**2 * E, summed=True),
    ]
    bound = (2**k - 1) * size
    parts = {"links": [by_two(norm_sq(moves), size, bound, why)]}
    return terms(parts, "not a distance of iterates", lhs=norm_sq(moves), rhs=bound, conditions=[FLAT], **ROUND)


def test_sums_over_steps_are_not_zero_at_the_first() -> None:
    one = sum_of_all()
    found = check_certificate(one.claim, one.certificate)
    assert found.verdict == "broken"
    assert one.because in found.steps[-1].text
    assert one.fails


def moved(slope_sq: Any) -> Claim:
    """Return the true claim that a client with an affine objective leaves the start with its first step."""
    parts = {name: part for name, part in ROUND.items() if name not in ("problem", "algorithm")}
    conditions = [FLAT, sp.Ge(E, 2, evaluate=False)]
    return Claim(id="t:moved", lhs=s**2 * slope_sq, rhs=LocalSum(norm_sq(x - w)), conditions=conditions, **parts)


def below_zero() -> Attempt:
    """Return an attempt that applies a lemma about all steps of a round at its start."""
    size = s**2 * norm_sq(SLOPE)
    away = x - w
    why = [
        Term(ONE, square(away + s * HERE)),
        Term(2 * s**2, square(2 * SLOPE - HERE)),
        *nothing(away, 4 * s**2),
    ]
    bound = (3 * 2**k - 4) * size
    start = [Term(ONE, assumption("t:moved, relation 1"))]
    parts = {"links": [by_two(norm_sq(away), 4 * size, bound, why, start)], "lemmas": ["t:moved"]}
    conditions = [FLAT, sp.Ge(E, 2, evaluate=False)]
    because = "sums over steps that are not taken"
    return terms(parts, because, lhs=norm_sq(away), rhs=bound, conditions=conditions, **ROUND)


def test_at_the_first_step_nothing_is_known_of_later_ones() -> None:
    one, lemma = below_zero(), moved(norm_sq(SLOPE))
    assert not replace(one, claim=lemma).fails
    proved = Proof(lemma, "a certificate", (Step("it holds", True),))
    found = check_certificate(one.claim, one.certificate, lambda _name: proved)
    assert found.verdict == "broken"
    assert one.because in found.steps[-1].text
    assert one.fails
