"""Introductions to proofs, explanations of terms and reasons of divergence, word by word."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Inner, LocalSum, Value
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.planner import divergence
from fedtheory.planner.divergence import Cause
from fedtheory.proofs import outline, outline_steps
from fedtheory.proofs.contraction import Contracting, Contraction
from fedtheory.proofs.entries import Entry, Group
from fedtheory.proofs.terms import words
from fedtheory.proofs.terms.explanation import ExplainedStep, explain
from fedtheory.proofs.terms.proof_of_claim import TermProof
from fedtheory.proofs.terms.rules import RULES
from fedtheory.proofs.terms.rules.antisymmetry import Antisymmetry
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.term import Weighted
from fedtheory.sources.comparator.context.coupling import LastIterate, LastRound
from fedtheory.sources.comparator.context.discounted import ExponentialAverage

eta, c, tau, M = sp.symbols("eta c tau M", positive=True)
x, y = sp.symbols("x y", real=True)
FULL: Any = SimpleNamespace(assumptions=[a.full_participation])
SAMPLED = Claim(id="t:sampled", lhs=0, rhs=eta, where={eta: q.local_step_size})
ENDS = {
    "none": (FULL, None, ""),
    "full": (FULL, c, "${}$, is zero where a round ends."),
    "sampled": (SAMPLED, c, "${}$, bounds the sampling variance where a round ends."),
}
"""Potentials of drifts, and how an introduction ends."""
STEP: dict[str, Any] = {"claim": "t:run", "step": "t:step", "factor": 1 - eta, "offset": eta**2}
KINDS: dict[str, Callable[..., Contracting]] = {
    "contraction": partial(Contraction, **STEP, weight=tau),
    "exponential_average": partial(ExponentialAverage, **STEP, gain=2 * eta),
    "last_round": partial(LastRound, **STEP, gain=2 * eta, share=c),
    "last_iterate": partial(LastIterate, **STEP, kept=M, share=c),
}
SHRINKS = r"shrinks by the factor $1- \eta$, up to $\eta^{2}$"
INTRODUCTIONS: dict[str, tuple[str, ...]] = {
    "contraction": (
        r"$\tau$ times the squared distance of the average from the optimum " + SHRINKS,
        "geometric series.",
    ),
    "exponential_average": (SHRINKS + r" and less $2 \eta$ times the error.", "the distances telescope."),
    "last_round": (
        SHRINKS + r" and less $2 \eta$ times the error: so the mean error of ever more rounds is small",
        "the last iterate of a run is compared with those of runs that start from its later models, and $c$ of their",
        "is added for the difference.",
    ),
    "last_iterate": (
        SHRINKS + r" and with $M$ times the error counted beside it",
        "the last model of a run is compared with those of runs that start from its later models, and $c$ of",
        "is added for the difference.",
    ),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", INTRODUCTIONS)
def test_introductions_of_proofs_by_steps(kind: str, end: str) -> None:
    """Each names its numbers, and what becomes of the drift where a round ends."""
    claim, potential, last = ENDS[end]
    found = outline_steps.introduce_contracting_step(claim, KINDS[kind](potential=potential))
    parts = INTRODUCTIONS[kind]
    places = [found.index(part) for part in parts]
    assert places == sorted(places)
    assert found.endswith(last.format("c") if last else parts[-1])


@pytest.mark.parametrize(("span", "whole"), [("round", "a round"), ("run", "the run")])
def test_introduction_of_a_mean(span: str, whole: str) -> None:
    certificate: Any = SimpleNamespace(span=span, potential=None)
    found = outline_steps.introduce_mean(FULL, certificate)
    assert found.startswith(f"This is the mean, over the local steps of {whole}, of a claim")
    assert found.endswith("the definition of the quantities.")


def test_groups_of_proofs_by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof by steps shows the slack of the claim about a step; the measured relation is that of the run."""
    step = Claim(id="t:step", lhs=eta, rhs=2 * eta, where={eta: q.local_step_size})
    monkeypatch.setattr(outline_steps, "find", {"t:step": step}.__getitem__)
    claim = Claim(id="t:run", lhs=0, rhs=tau, where={tau: q.local_steps}, also=(Relation(tau, ">=", sp.S.Zero),))
    (group,) = outline_steps.show_steps(claim, SimpleNamespace(step="t:step"))  # type: ignore[arg-type]
    assert (group.statement, len(group.entries)) == (r"0 \le \tau", 1)
    (entry,) = group.entries
    assert (entry.coefficient, entry.reason, str(entry.factor)) == (1, "the slack at each local step", "eta")
    assert entry == Entry(sp.S.One, "the slack at each local step", entry.factor, "t:step")


@pytest.mark.parametrize("largest", [True, False])
def test_introduction_of_a_recursion(monkeypatch: pytest.MonkeyPatch, *, largest: bool) -> None:
    """The largest drift and the mean drift are different shares of the distance of two clients."""
    monkeypatch.setattr(outline_steps.rule_labels, "describe_measure", lambda measure: f"the {measure.word}")
    measure = SimpleNamespace(
        word="distance",
        largest=q.max_drift,
        largest_drift=lambda clients: 7 * clients,
        mean_drift=lambda clients: 5 * clients,
        observes_together=True,
    )
    certificate: Any = SimpleNamespace(measure=measure, bound=eta**2)
    left = q.max_drift if largest else q.average_round_drift
    claim = Claim(id="t:drift", lhs=left, rhs=M, where={M: q.clients})
    found = outline_steps.introduce_recursion(claim, certificate)
    assert found.startswith("All clients start a round at the server's model.  One local step takes")
    assert r"steps the distance is in expectation at most $\eta^{2}$" in found
    whose = "the drift of a client is at most $7 M$" if largest else "the mean drift is at most $5 M$"
    assert found.endswith(f"and {whose} times the bounds for the steps of a round.")
    if largest:
        measure.largest_drift = None
        assert "and the mean drift is at most $5 M$" in outline_steps.introduce_recursion(claim, certificate)
    measure.observes_together = False
    assert outline_steps.introduce_recursion(claim, certificate).startswith(r"Where $t\bmod K=0$ all clients")


def test_means_of_runs_have_client_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """In claims about a run a mean over clients is a sum with weights, and a sum over steps has an index."""
    monkeypatch.setattr(outline, "find_weight", lambda _claim, _relation: q.importance)
    p = sp.Symbol("p_i", nonnegative=True)
    claim = Claim(id="t:run", lhs=0, rhs=p, where={p: q.importance})
    entry = Entry(Average(eta), "why", LocalSum(tau), "t:step")
    group = outline._use_client_weights(claim, claim.relations[0], Group("0 <= p", (entry,)))
    (shown,) = group.entries
    assert (group.statement, shown.reason, shown.premise) == ("0 <= p", "why", "t:step")
    assert not shown.coefficient.has(Average)
    assert {str(symbol) for symbol in shown.coefficient.free_symbols} == {"p_i", "eta"}
    assert sp.latex(shown.factor) == r"\sum_l\left[\tau\right]"
    assert sp.latex(shown.factor**2) == r"\left(\sum_l\left[\tau\right]\right)^{2}"


@pytest.mark.parametrize(
    ("local_step", "words"), [("idle", "leaves the local vectors where they are"), ("one", "single")]
)
def test_introduction_of_a_fixed_point(local_step: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "definition_of", lambda _: SimpleNamespace(name="scaffold"))
    certificate: Any = SimpleNamespace(local_step=local_step)
    found = outline._introduce_fixed_point(FULL, certificate)
    assert found.startswith("From the definition of scaffold, with its vectors as below: ")
    assert words in found
    assert ("single" in found) is (local_step == "one")


def test_terms_in_words() -> None:
    """Parts have numbers and factors, an inequality is stated once, and long symbols have names."""
    long = sp.Symbol("eta_{own}", positive=True)
    claim = Claim(id="t:words", lhs=0, rhs=long, where={long: q.local_step_size, x: q.point, y: q.second_point})
    triangle = Axiom("triangle", (x, y))
    whole = Combine(long * Inner(x, x), ">=", (Weighted(sp.S.One, triangle), Weighted(2 * long, triangle)))
    steps = explain(claim, TermProof(claim.id, (Antisymmetry(whole, Sign(long)), Sign(long))))
    assert [(step.number, step.rule, step.depth) for step in steps] == [
        *(("1", "antisymmetry", 0), ("1.1", "combine", 1), ("1.1.1", "axiom", 2), ("1.1.2", "axiom", 2)),
        *(("1.2", "sign", 1), ("2", "sign", 0)),
    ]
    texts = [step.text for step in steps]
    assert texts[1] == "at most: local_step_size*|x|^2 >= 0, as the sum of"
    assert "; it says " in texts[2]
    assert texts[3] == f"(2*local_step_size) times: {texts[2].partition('; it says ')[0]}"
    assert texts[4].startswith("at least: ")
    assert texts[4] == f"at least: {texts[5]}"
    assert all(isinstance(step, ExplainedStep) for step in steps)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Inner(x, x), "|x|^2"),
        (Inner(x, y), "<x, y>"),
        (Gradient(sp.Symbol("f"), x), "grad f(x)"),
        (Value(sp.Symbol("f"), x), "f(x)"),
        (Average(Expectation(Inner(x, y))), "mean[E[<x, y>]]"),
    ],
)
def test_formulas_in_words(formula: Any, text: str) -> None:
    claim = Claim(id="t:words", lhs=0, rhs=eta, where={eta: q.local_step_size})
    (step,) = explain(claim, TermProof(claim.id, (Combine(formula, "=="),)))
    assert step.text == f"{text} == 0, by definitions alone"


def _run(**changes: Any) -> Any:
    """Return a run of two clients that is stable, apart from some parts."""
    parts = {
        "defined": None,
        "clock": SimpleNamespace(policy=SimpleNamespace(changes_weights=False), is_synchronous=True),
        "oracle": SimpleNamespace(depends_on_model=False),
        "weight": 1.0,
    } | changes
    algorithm = SimpleNamespace(defined=parts["defined"], clock=parts["clock"])
    return SimpleNamespace(algorithm=algorithm, problem=SimpleNamespace(oracle=parts["oracle"]), weight=parts["weight"])


WEIGHTS = "an update multiplies the change of a client by up to 2"
STALE, BATCHES = "clients report changes of stale models", "the noise of mini-batches grows with the distance from x*"


def _clock(*, changes_weights: bool, is_synchronous: bool) -> Any:
    return SimpleNamespace(policy=SimpleNamespace(changes_weights=changes_weights), is_synchronous=is_synchronous)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, []),
        ({"weight": 1 + 1e-10}, []),
        ({"weight": 2.0}, [WEIGHTS]),
        ({"weight": 2.0, "defined": "mine"}, ["the algorithm makes other updates than averages"]),
        ({"weight": 2.0, "clock": _clock(changes_weights=True, is_synchronous=True)}, []),
        ({"weight": 2.0, "clock": _clock(changes_weights=False, is_synchronous=False)}, [WEIGHTS, STALE]),
        ({"oracle": SimpleNamespace(depends_on_model=True)}, [BATCHES]),
    ],
)
def test_reasons_of_divergence(changes: Any, reasons: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A user-defined algorithm has one reason; weights, stale models and batches are reasons in this order."""
    monkeypatch.setattr(divergence, "_measure_largest_weight", lambda run: run.weight)
    assert list(divergence._list_other_reasons(_run(**changes))) == reasons


@pytest.mark.parametrize("is_synchronous", [True, False])
def test_the_largest_weight_of_an_update(*, is_synchronous: bool) -> None:
    """E[w^2] / E[w] of sampled clients, or the weight of a client that reports alone, times the server's step."""
    moments = SimpleNamespace(mean=np.array([0.25, 0.0]), squares=np.array([0.125, 0.0]))
    aggregation = SimpleNamespace(server_step_size=3.0, moments=lambda _: moments, weights=lambda weights: 2 * weights)
    run: Any = SimpleNamespace(
        algorithm=SimpleNamespace(aggregation=aggregation, clock=SimpleNamespace(is_synchronous=is_synchronous)),
        problem=SimpleNamespace(weights=np.array([0.5, 0.75])),
        average_over_types=lambda weights: 4 * weights,
        arithmetic=FLOAT,
    )
    assert divergence._measure_largest_weight(run) == (1.5 if is_synchronous else 18.0)


def test_sentences_on_a_cause() -> None:
    """The client's own edge is 2/L_i; a run that is stable nowhere, or everywhere, says so."""
    cause = Cause("3", 1, 4.0, 0.75, 0.5)
    assert cause.alone == 0.5
    assert cause.sentence() == "client 3 (1 row) has curvature 4, 2/4 = 0.5; this run is stable up to 0.5"
    several = Cause("a", 2, 4.0, 0.75, math.inf, ("one", "other"))
    assert several.sentence() == (
        "no client diverges alone (client a (2 rows) has curvature 4, 2/4 = 0.5), but one, and other; "
        "this run is stable at all step sizes tried"
    )
    flat = Cause("0", None, 0.0, 0.75, 0.5)
    assert flat.sentence() == "client 0 has curvature 0, none; this run is stable up to 0.5"
    for edge, hopeless in ((0.75e-6, False), (0.74e-6, True)):
        found = Cause("0", None, 1.0, 0.75, edge)
        assert found.is_hopeless is hopeless
        assert found.sentence().startswith("smaller step sizes diverge as well") is hopeless


def test_sentences_on_divergence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason comes first, then the cause where it is known; random clocks and stable runs have none."""

    def run(*, is_random: bool = False, reason: Any = "it overflows") -> Any:
        found = None if reason is None else SimpleNamespace(reason=reason)
        clock = SimpleNamespace(is_random=is_random)
        return SimpleNamespace(
            algorithm=SimpleNamespace(clock=clock), attempted_trajectory=SimpleNamespace(divergence=found)
        )

    cause = Cause("3", None, 4.0, 0.75, 0.5)
    monkeypatch.setattr(divergence, "explain_divergence", lambda _: cause)
    assert divergence.describe_divergence(run()) == ["it overflows", cause.sentence()]
    assert divergence.describe_divergence(run(is_random=True)) == []
    assert divergence.describe_divergence(run(reason=None)) == []
    monkeypatch.setattr(divergence, "explain_divergence", lambda _: None)
    assert divergence.describe_divergence(run()) == ["it overflows"]

    def fail(_run: Any) -> Any:
        raise NotApplicable("unknown")

    monkeypatch.setattr(divergence, "explain_divergence", fail)
    assert divergence.describe_divergence(run()) == ["it overflows"]


def test_every_rule_has_words() -> None:
    """Each rule is described, and nothing else."""
    assert words._WORDS.keys() == RULES.keys()
