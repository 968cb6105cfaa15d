"""False claims about whole runs with adversarial certificates from local steps are not accepted.

The right side of a proved claim is reduced until an exact run refutes it. Its certificate is changed: disguised or
negated numbers, terms removed or added, conditions and steps exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_hostile_certificates import DISGUISES, ENOUGH, is_refused

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.kernel import Term, one
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import MeanCertificate, Recursion, certificates, check_certificate
from fedtheory.proofs.contraction import Contraction
from fedtheory.sources.comparator.context.coupling import LastIterate, LastRound
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from fedtheory.sources.liu2022.context.restarts import LoopMean
from verify.check import check

ALIKE: dict[str, Any] = {"hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["2"], "noise": "1"}
APART: dict[str, Any] = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["2"]}
SHORT: dict[str, Any] = {"local_step_size": "1/100", "rounds": 2, "local_steps": 2}
SETUPS = (
    *((ALIKE, SHORT), (APART, SHORT), (ALIKE, {**SHORT, "local_steps": 1}), (ALIKE, {**SHORT, "rounds": 3})),
    ({**APART, "noise": "1"}, {**SHORT, "participation": {"kind": "uniform", "clients": 1}}),
)
OF_STEPS = [
    name
    for name, found in certificates().items()
    if isinstance(
        found, Contraction | ExponentialAverage | LastIterate | LastRound | LoopMean | MeanCertificate | Recursion
    )
]
STEPS = [
    "comparator:one-step",
    "comparator:strongly-convex.one-step",
    "comparator:sampled.strongly-convex.one-step",
    "comparator:drift.one-step",
    "liu2022:thm-1.mean",
]


@cache
def runs() -> Sequence[Run]:
    """Return exact runs of two clients."""
    tables = [{"problem": {"kind": "quadratic", **problem}, "algorithm": table} for problem, table in SETUPS]
    return [parse_run(table, RATIONAL) for table in tables]


@cache
def false_claims(name: str) -> list[Claim]:
    """Return a proved claim with smaller right sides that a run refutes."""
    claim, shares = find(name), (sp.Rational(1, 2), sp.Rational(1, 10), sp.Rational(1, 1000), sp.S.Zero)
    smaller = [replace(claim, rhs=share * claim.rhs) for share in shares]
    return [one for one in smaller if any(check(one, run).holds is False for run in runs())]


CHANGES: Sequence[Callable[[Any, Any, Any], Any]] = [
    *DISGUISES[:12],
    lambda number, _zero, symbol: number - symbol,
    lambda number, _zero, symbol: number / (1 + symbol),
    lambda number, _zero, _symbol: number / 10,
    lambda number, _zero, _symbol: 2 * number,
    lambda _number, _zero, _symbol: sp.S.Zero,
]
"""Functions that change a number, given a number that is zero on some runs, and a symbol."""


@st.composite
def attempts(draw: st.DrawFn) -> tuple[Claim, Any]:
    """Generate a false claim with a certificate."""
    claim = draw(st.sampled_from([one for name in OF_STEPS for one in false_claims(name)]))
    symbols = sorted((symbol for symbol in claim.where if symbol.is_nonnegative), key=str)
    symbol = st.sampled_from(symbols)

    def changed(number: Any) -> Any:
        first, second = draw(st.lists(symbol, min_size=2, max_size=2, unique=True))
        zero = draw(st.sampled_from([first - 1, first - second]))
        return draw(st.sampled_from(CHANGES))(number, zero, draw(symbol))

    def other(terms: Sequence[Term]) -> list[Term]:
        at = draw(st.integers(0, len(terms) - 1))
        term = replace(terms[at], coefficient=changed(terms[at].coefficient))
        ways = [[term], [], [terms[at], Term(changed(sp.S.One), one())]]
        return [*terms[:at], *draw(st.sampled_from(ways)), *terms[at + 1 :]]

    kinds: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(
            ("factor", "weight", "gain", "kept", "share", "potential", "offset", "bound", "total"), changed
        ),
        **dict.fromkeys(("terms", "first"), lambda terms: other(terms) if terms else terms),
        "relaxed": lambda _own: draw(st.sampled_from([None, [], claim.conditions[1:], [draw(symbol) <= 0]])),
        "step": lambda _own: draw(st.sampled_from(STEPS)),
    }
    certificate: Any = certificates()[claim.id]
    named = [entry.name for entry in fields(certificate) if entry.name in kinds]
    chosen = draw(st.lists(st.sampled_from(named), unique=True))
    own = {name: getattr(certificate, name) for name in chosen}
    known = {name: value for name, value in own.items() if value is not None or name == "relaxed"}
    return claim, replace(certificate, **{name: kinds[name](value) for name, value in known.items()})


@pytest.mark.long
@given(attempts())
@settings(ENOUGH, max_examples=60)
def test_no_false_claim_is_accepted(tried: tuple[Claim, Any]) -> None:
    """Some attempts are rejected."""
    assert is_refused(*tried)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(attempts())
@settings(ENOUGH, max_examples=1300, database=None)
def test_no_false_claim_is_accepted_in_many_tries(tried: tuple[Claim, Any]) -> None:
    """Thousands of attempts are rejected."""
    assert is_refused(*tried)


@pytest.mark.long
def test_claims_are_false_that_are_true_as_they_were() -> None:
    """Some claims of each kind have smaller right sides that a run refutes; certificates prove the original ones."""
    kinds = {type(certificates()[name]) for name in OF_STEPS if false_claims(name)}
    assert kinds == {Contraction, ExponentialAverage, LastIterate, LastRound, LoopMean, MeanCertificate, Recursion}
    assert all(check_certificate(find(name), certificates()[name]).verdict == "proved" for name in OF_STEPS)
