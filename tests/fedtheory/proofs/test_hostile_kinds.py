"""False claims about whole runs with adversarial certificates of all kinds are not accepted.

A proved claim is made false on an exact run: with a smaller bound, other symbols, weaker premises, or another
algorithm. Its certificate is changed consistently as far as possible.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import count, islice
from typing import Any
from unittest.mock import patch

import pytest
import sympy as sp
from test_lemmas_of_random_runs import settings as settings_at_random

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, InputError
from fedtheory.federation.algorithms import definition
from fedtheory.federation.definition import FederatedAlgorithm, eta, eta_g, eta_sum, importance, tau
from fedtheory.kernel import InequalityRef
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, certificates, check_certificate, definitions
from fedtheory.proofs.cases import Cases
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import Lyapunov
from fedtheory.proofs.numbers import NONNEGATIVE, POSITIVE, numbers_of
from fedtheory.proofs.parts import Part
from fedtheory.sources.comparator.context.coupling import LastIterate, LastRound
from fedtheory.sources.comparator.context.discounted import ExponentialAverage
from fedtheory.sources.fraboni2022.context.averages import OverClients, OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.windows import OverWindow, OverWindows
from verify.check import check

_OF_UPDATES = (OverClients, OverSteps, OverUpdates, OverWindow, OverWindows)


def _kind(certificate: Any) -> str | None:
    if isinstance(certificate, Combination):
        derived = any(isinstance(part.premise, _OF_UPDATES) for parts in certificate.links for part in parts)
        return "Updates" if derived else None
    known = (Lyapunov, Cases, FixedPoint, Contraction, ExponentialAverage, LastIterate, LastRound)
    return type(certificate).__name__ if isinstance(certificate, known) else None


KINDS: dict[str, list[str]] = {}
for _name, _certificate in sorted(certificates().items()):
    if (kind := _kind(_certificate)) is not None:
        KINDS.setdefault(kind, []).append(_name)

LINE: dict[str, Any] = {"hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["3"], "noise": "1"}
PLANE: dict[str, Any] = {
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "weights": ["1/3", "2/3"],
    "start": ["3", "-2"],
}
ALIKE: dict[str, Any] = {**LINE, "hessians": [[["2"]]] * 2}
QUIET: dict[str, Any] = {**LINE, "linear": [["2"], ["1"]], "noise": "0", "start": ["2"]}
_HALVES = [["2/3", "1/3"], ["1/3", "2/3"]]
OF_DEFINITIONS: dict[str, Sequence[Mapping[str, Any]]] = {
    "scaffnew": [{"probability": "1/2"}, {"probability": "1/10", "rounds": 5}],
    "scaffold": [{"local_steps": 3, "local_step_size": "1/(8 + k)"}, {"local_steps": [3, 1]}],
    "fedavgm": [{"momentum": "1/2", "local_step_size": "1/40"}, {"momentum": "1/2", "local_steps": 2}],
    "dsgd": [{"mixing": _HALVES}, {"mixing": [["0", "1"], ["1", "0"]]}, {"mixing": _HALVES, "rounds": 5}],
    "fedavg": [{}, {"local_steps": 2}, {"participation": {"kind": "uniform", "clients": 1}}],
}
SMALL: list[dict[str, Any]] = [
    {"local_step_size": "1/200", "local_steps": 2, "rounds": 5},
    {"local_step_size": "1/200", "rounds": 5, "participation": {"kind": "uniform", "clients": 1}},
    {"local_step_size": "1/60", "local_steps": 3, "rounds": 40},
    {"local_step_size": "1/2", "local_steps": 2, "rounds": 3},
]


def _parse(problem: Mapping[str, Any], algorithm: Mapping[str, Any]) -> Iterator[Run]:
    keys = {"local_step_size": "1/8", "rounds": 2, "local_steps": 1, **algorithm}
    try:
        yield parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": keys}, RATIONAL)
    except InputError:
        return


@cache
def runs_of(name: str) -> tuple[Run, ...]:
    """Return runs on which a claim may fail: of its algorithm, or of the update rule with small steps or any clock."""
    algorithm = name.partition(":")[2].partition(".")[0]
    if algorithm in OF_DEFINITIONS:
        tables = [(p, {"name": algorithm, **keys}) for p in (LINE, PLANE, ALIKE) for keys in OF_DEFINITIONS[algorithm]]
    elif name in KINDS["Updates"]:
        chance = random.Random(name)
        found = [settings_at_random(chance) for _ in range(12)]
        tables = [(one["problem"], {**one["algorithm"], "local_step_size": chance.choice(_SIZES)}) for one in found]
    else:
        tables = [(problem, keys) for problem in (LINE, QUIET) for keys in SMALL]
    return tuple(run for table in tables for run in _parse(*table))


_SIZES = ("1/200", "1/40", "1/8", "1/2")


@dataclass(frozen=True)
class Attempt:
    """A claim, its certificate, and the changed definition of its algorithm, if any."""

    claim: Claim
    certificate: Any
    name: str
    algorithm: FederatedAlgorithm | None = None

    @property
    def is_false(self) -> bool:
        """Return whether the claim fails on one of its runs."""
        return any(self._fails_on(run) for run in runs_of(self.name))

    def _fails_on(self, run: Run) -> bool:
        try:
            return check(self.claim, self._with_own_definition(run)).holds is False
        except FedtheoryError:
            return False

    def _with_own_definition(self, run: Run) -> Run:
        """Return the run with the changed definition; raises `InputError` if the setting is not allowed."""
        if self.algorithm is None:
            return run
        assert run.algorithm.defined is not None
        defined = replace(run.algorithm.defined, algorithm=self.algorithm)
        return Run(run.problem, replace(run.algorithm, defined=defined))

    @property
    def is_refused(self) -> bool:
        """Return whether the certificate is rejected."""
        if self.algorithm is None:
            return check_certificate(self.claim, self.certificate).verdict == "broken"
        with patch.object(definitions, "definition", lambda _name: self.algorithm):
            return check_certificate(self.claim, self.certificate).verdict == "broken"


def exchanged(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a certificate with all expressions mapped."""
    if isinstance(value, InequalityRef):
        return replace(value, about=tuple(exchanged(one, change) for one in value.about))
    if isinstance(value, Fact) or value is None or isinstance(value, str):
        return value
    if is_dataclass(value):
        return replace(value, **{one.name: exchanged(getattr(value, one.name), change) for one in fields(value)})  # type: ignore[type-var]
    if isinstance(value, list | tuple):
        return [exchanged(one, change) for one in value]
    return change(value) if isinstance(value, sp.Basic) else value


def _state(claim: Claim, change: Callable[[Relation], tuple[Any, Any, Any]]) -> Claim:
    relations = [Relation(*change(one)) for one in claim.relations]
    where = {**claim.where, **claim.notation}
    return replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations), where=where)


def _scale(chance: random.Random) -> Any:
    return chance.choice(
        [sp.Rational(1, 2), sp.Rational(1, 10), sp.Rational(1, 100), sp.Integer(2), -sp.S.One, sp.S.Zero]
    )


# Changes that make a claim false.


def claims_less(claim: Claim, certificate: Any, chance: random.Random) -> tuple[Claim, Any]:
    """Scale the larger side or one of its terms, and the certificate's numbers with it."""
    scale, part = _scale(chance), chance.choice(["all", "term"])

    def less(relation: Relation) -> tuple[Any, Any, Any]:
        larger = relation.ordered[1]
        terms = list(sp.Add.make_args(larger)) if part == "term" else [larger]
        at = chance.randrange(len(terms))
        smaller = sp.Add(*(scale * term if place == at else term for place, term in enumerate(terms)))
        sides = relation.in_order(relation.ordered[0], smaller)
        return sides[0], relation.operator, sides[1]

    often = chance.choice([0, 0.3, 1])
    numbers = [one.name for one in fields(certificate) if one.name in _NUMBERS and chance.random() < often]
    changed = {name: scale * getattr(certificate, name) for name in numbers}
    return _state(claim, less), replace(certificate, **changed)


_NUMBERS = ("factor", "offset", "level", "least", "gain", "share", "weight", "potential")


def has_other_symbols(claim: Claim, certificate: Any, chance: random.Random) -> tuple[Claim, Any]:
    """Replace a symbol by a multiple of it, in the claim and in its certificate, or vice versa."""
    symbols = sorted(numbers_of(claim).symbols & claim.notation.keys(), key=str)
    if not symbols:
        return claim, certificate
    one, other = chance.choice(symbols), chance.choice(symbols)
    new = {one: _scale(chance) * one} if chance.random() < 0.6 else {one: other, other: one}
    everywhere = chance.random() < 0.5

    def change(expression: Any) -> Any:
        return expression.xreplace(new)

    stated = _state(claim, lambda r: (change(r.left), r.operator, change(r.right)))
    conditions = [_change(condition, change) for condition in claim.conditions] if everywhere else claim.conditions
    return replace(stated, conditions=conditions), exchanged(certificate, change)


def _change(condition: Any, change: Callable[[Any], Any]) -> Any:
    return condition.func(*map(change, condition.args), evaluate=False)


def asks_for_less(claim: Claim, certificate: Any, chance: random.Random) -> tuple[Claim, Any]:
    """Remove assumptions or conditions, or weaken conditions."""
    assumptions = [one for one in claim.assumptions if chance.random() < 0.8]
    wider = [one.func(one.lhs, 4 * one.rhs, evaluate=False) for one in claim.conditions]
    conditions = chance.choice([list(claim.conditions), wider, list(claim.conditions)[1:], []])
    return replace(claim, assumptions=assumptions, conditions=conditions), certificate


def means_something_else(claim: Claim, certificate: Any, chance: random.Random) -> tuple[Claim, Any]:
    """Let a symbol, or the bounded quantity, denote another quantity of the same sign."""
    stated = _state(claim, lambda relation: (relation.left, relation.operator, relation.right))
    symbols = [symbol for symbol, quantity in stated.notation.items() if isinstance(quantity, q.RunQuantity)]
    one = chance.choice(sorted(symbols, key=str))
    taken = stated.where.values()
    others = [
        quantity for quantity in _QUANTITIES if _sign(quantity) == _sign(stated.where[one]) and quantity not in taken
    ]
    return replace(stated, where={**stated.where, one: chance.choice(others)}), certificate


_QUANTITIES = [quantity for quantity in vars(q).values() if isinstance(quantity, q.RunQuantity)]


def _sign(quantity: Any) -> tuple[bool, bool]:
    return quantity in POSITIVE, quantity in NONNEGATIVE


def is_shown_otherwise(claim: Claim, certificate: Any, chance: random.Random) -> tuple[Claim, Any]:
    """Change one part of a sum or its coefficient, or the proof of the remainder."""
    if isinstance(certificate, FixedPoint):
        return claim, replace(certificate, local_step={"idle": "single", "single": "idle"}[certificate.local_step])
    if not isinstance(certificate, Combination):
        return claim, exchanged(certificate, lambda one: chance.choice([*[one] * 20, -one, 2 * one, one / 2]))

    def other(part: Part) -> Part:
        premise = part.premise
        if isinstance(premise, Derived) and chance.random() < 0.5:
            premise = chance.choice(_OF_UPDATES)(premise.claim, chance.randrange(2))
        return Part(chance.choice([1, 1, 2, -1, sp.S.Half]) * part.coefficient, premise, part.over)

    links = [[other(part) if chance.random() < 0.3 else part for part in parts] for parts in certificate.links]
    return claim, replace(certificate, links=links)


WAYS = (claims_less, has_other_symbols, asks_for_less, means_something_else, is_shown_otherwise)


def other_algorithm(known: FederatedAlgorithm, chance: random.Random) -> FederatedAlgorithm:
    """Return a definition with another number or vector; raises `InputError` if it is invalid."""
    part = chance.choice(["local", "server_update", "client_update", "at_optimum", "client", "server"])
    if part == "local":
        changed: Any = tuple(replace(one, step=_other(one.step, known, chance)) for one in known.steps)
    else:
        table = getattr(known, part)
        changed = {of: _other(end, known, chance) if chance.random() < 0.6 else end for of, end in table.items()}
    return replace(known, **{part: changed})


def rescaled(known: FederatedAlgorithm, chance: random.Random) -> FederatedAlgorithm:
    """Return a definition with a rescaled vector, which is equivalent unless a number is changed as well.

    Vectors that start at zero still do.
    """
    vector, number = chance.choice([*known.client]), chance.choice([eta, eta_sum, tau, importance, 2, 1 + eta])

    def inside(table: Mapping[Any, Any]) -> dict[Any, Any]:
        new = {of: sp.sympify(end).xreplace({vector: vector / number}) for of, end in table.items()}
        return new | ({vector: number * new[vector]} if vector in new else {})

    steps = (replace(one, step=one.step.xreplace({vector: vector / number})) for one in known.steps)
    ends = {part: inside(getattr(known, part)) for part in ("server_update", "client_update", "at_optimum")}
    return replace(known, local=tuple(steps), **ends)


def _other(expression: Any, known: FederatedAlgorithm, chance: random.Random) -> Any:
    terms = list(sp.Add.make_args(sp.expand(expression)))
    number = chance.choice([0, 2, -1, sp.S.Half, eta, eta_g, *known.coins, *known.coins.values()])
    at = chance.randrange(len(terms))
    terms[at] = number * terms[at]
    if chance.random() < 0.3:
        terms.append(number * chance.choice([*known.server, *known.client]))
    return sp.Add(*terms)


def attempts(kind: str) -> Iterator[Attempt]:
    """Yield fixed false claims with certificates of a kind."""
    for seed in count():
        chance = random.Random(f"{kind} {seed}")
        name = chance.choice(KINDS[kind])
        claim, certificate, algorithm = find(name), certificates()[name], None
        known = name.partition(":")[2].partition(".")[0]
        try:
            if known in OF_DEFINITIONS and known != "fedavg" and chance.random() < 0.6:
                change = rescaled if known in ("scaffold", "scaffnew") and chance.random() < 0.5 else other_algorithm
                algorithm = change(definition(known), chance)
            ways = chance.sample(WAYS, chance.choice([0, 1] if algorithm else [1, 2]))
            for way in ways:
                claim, certificate = way(claim, certificate, chance)
        except InputError:
            continue
        tried = Attempt(replace(claim, id=name), certificate, name, algorithm)
        if tried.is_false:
            yield tried


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_none_is_accepted(kind: str) -> None:
    """A few attempts are rejected."""
    for tried in islice(attempts(kind), 6):
        assert tried.is_refused, tried


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_none_is_accepted_in_many_tries(kind: str) -> None:
    """Hundreds of attempts are rejected."""
    for tried in islice(attempts(kind), 300):
        assert tried.is_refused, tried


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_change_all_are_proved(kind: str) -> None:
    """The unchanged claims are proved, and hold on their runs."""
    for name in KINDS[kind]:
        tried = Attempt(find(name), certificates()[name], name)
        assert not tried.is_refused
        assert not tried.is_false
