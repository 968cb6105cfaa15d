"""Steps of searches for lemmas, and of plans from numbers, against values by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.errors import InputError, NotApplicable
from fedtheory.kernel import Numbers, Rejected, square
from fedtheory.kernel.expressions import Average, Expectation, LocalSum, Value
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.planner import data, optimum, planning
from fedtheory.planner.setting_in_words import _describe_batch
from fedtheory.proofs.last_errors import _read_contraction, count_iterations
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.search import blocks, contractions, positivity, restated, samples, together
from fedtheory.search.blocks import CLIENT_STEP_DEVIATIONS, DEVIATIONS, NOISE, SHARED

eta, tau, T, mu, L, M, K, v = sp.symbols("eta tau T mu L M K v", positive=True)
D, G = sp.symbols("D G", nonnegative=True)
WHERE = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, mu: q.strong_convexity, D: q.initial_distance}
NOISE_OF_ALL = {**WHERE, v: q.noise_deviation, M: q.clients}


def _bound(larger: Any, where: Any = WHERE, assumptions: Any = (), conditions: Any = ()) -> Claim:
    return Claim(
        id="t:lemmas",
        lhs=q.final_distance_sq,
        rhs=larger,
        where=where,
        assumptions=assumptions,
        conditions=conditions,
    )


def test_factors_of_a_claimed_bound() -> None:
    """A power q^K of the number of steps gives q, and 1 - q times the rest of the bound."""
    factor = 1 - eta * mu
    power = factor ** (tau * T)
    assert list(together._find_factors(_bound(power * D**2 + eta))) == [(factor, sp.expand(eta**2 * mu))]
    assert list(together._find_factors(_bound(D**2 + eta))) == []
    assert list(together._find_factors(_bound(factor**2 * D**2))) == []
    ((doubled, rest),) = together._find_factors(_bound(factor ** (2 * tau * T) * D**2))
    assert (sp.expand(doubled - factor**2), rest) == (0, 0)
    both = list(together._find_factors(_bound(power * D**2 + (1 - eta) ** (tau * T))))
    assert both == []


def test_conditions_on_the_base_of_a_factor() -> None:
    """1 - eta mu >= 0 is a bound on the step size; other bases are compared with zero."""
    claim = _bound(eta * mu)
    assert together._require_base(claim, 1 - eta * mu) == sp.Le(eta, 1 / mu, evaluate=False)
    assert together._require_base(claim, (1 - eta * mu / 2) ** 2) == sp.Le(eta, 2 / mu, evaluate=False)
    assert together._require_base(claim, 1 - eta**2 * mu) == sp.Ge(1 - eta**2 * mu, 0, evaluate=False)


def test_parts_of_a_bound_by_its_start() -> None:
    """The coefficient of the start, times the number of steps, and the rest."""
    start = D**2
    assert together._split_bound(start / (2 * eta * tau * T) + eta * v**2, start, tau * T) == (
        1 / (2 * eta),
        eta * v**2,
    )
    assert together._split_bound(eta * v**2, start, tau * T) == (0, eta * v**2)


def test_variances_of_averages() -> None:
    """The variance of one gradient over the number of clients, where the claim names and assumes it."""
    noisy = (a.unbiased_bounded_variance,)
    assert together._average_variance(_bound(v + M, NOISE_OF_ALL, noisy)) == v**2 / M
    assert together._average_variance(_bound(v, {v: q.noise_deviation}, noisy)) == v**2
    assert together._average_variance(_bound(v + M, NOISE_OF_ALL)) == 0
    assert together._average_variance(_bound(eta, {eta: q.local_step_size}, noisy)) == 0
    assert contractions._average_noise(_bound(v + M + eta, NOISE_OF_ALL, noisy)) == eta**2 * v**2 / M
    assert contractions._average_noise(_bound(v + eta, {v: q.noise_deviation, eta: q.local_step_size}, noisy)) == (
        eta**2 * v**2
    )


def test_multiples_of_an_inequality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summands without a negative sign, each with the inequality; none for zero, and no answer for other numbers."""
    parts: dict[Any, Any] = {eta: [eta], eta + mu: None}
    monkeypatch.setattr(contractions, "split_quickly", lambda number, _: parts[number])
    monkeypatch.setattr(
        contractions, "split_into_products", lambda number, _: [eta, mu] if number == eta + mu else None
    )
    reason = square(sp.Symbol("x", real=True))
    signs: Any = None
    assert contractions._split_multiples(sp.S.Zero, reason, signs) == []
    (one,) = contractions._split_multiples(eta, reason, signs, averaged=True) or ()
    assert (one.coefficient, one.reason, one.averaged) == (eta, reason, True)
    found = contractions._split_multiples(eta + mu, reason, signs) or ()
    assert [(term.coefficient, term.averaged) for term in found] == [(eta, False), (mu, False)]
    parts[mu] = None
    assert contractions._split_multiples(mu, reason, signs) is None


@pytest.mark.parametrize("strict", [False, True])
def test_samples_that_are_moved_into_a_condition(*, strict: bool) -> None:
    """Points above a bound are moved to it, or below it by a power of two; others stay; strict bounds have no edge."""
    condition = sp.Lt(eta, 1 / mu) if strict else sp.Le(eta, 1 / mu)
    random = SimpleNamespace(
        random=lambda count: np.linspace(0.0, 0.9, count), integers=lambda low, _, count: np.full(count, low)
    )
    at = np.array([[3.0, 0.25, 3.0, 3.0], [1.0, 1.0, 2.0, 0.0]])
    move = samples._make_mover(condition, {eta: 0, mu: 1}, Numbers(symbols=frozenset((eta, mu))), random)  # type: ignore[arg-type]
    move(at)
    # The third of four draws, 0.6, is no edge; 1/0 is no bound.
    assert at.tolist() == [[0.5 if strict else 1.0, 0.25, 0.25, 3.0], [1.0, 1.0, 2.0, 0.0]]
    below = np.array([[0.25, 3.0]])
    lower = samples._make_mover(sp.Gt(eta, 1) if strict else sp.Ge(eta, 1), {eta: 0}, Numbers(), random)  # type: ignore[arg-type]
    lower(below)
    assert below.tolist() == [[2.0 if strict else 1.0, 3.0]]


def test_members_of_gram_matrices() -> None:
    """Deviations from averages over clients, and from means over the steps."""
    x = sp.Symbol("x", real=True)
    context: Any = SimpleNamespace(number_of_steps=tau)
    assert blocks.centre_vector(x, SHARED, context) == x
    assert blocks.centre_vector(x, NOISE, context) == x
    assert blocks.centre_vector(x, DEVIATIONS, context) == x - Average(x)
    own = x - LocalSum(x) / tau
    assert blocks.centre_vector(x, CLIENT_STEP_DEVIATIONS, context) == own - Average(own)


def test_relations_from_the_smaller_side() -> None:
    assert [restated.find_operator(Relation(eta, sign, mu)) for sign in ("<=", ">=", "<", ">", "==")] == [
        *("<=", "<=", "<", "<", "=="),
    ]


SYMBOLS = SymbolTable({eta: q.local_step_size, mu: q.strong_convexity, v: q.noise_deviation, G: q.loop_gradient_sq})
BEFORE, AFTER, LEAST = (
    Value(SYMBOLS(q.objective), SYMBOLS(of)) for of in (q.average_iterate, q.next_average_iterate, q.optimum)
)


def test_errors_that_contract_in_each_step() -> None:
    """e' <= q e + b of errors to the optimum; other coefficients, or numbers of single steps, are refused."""
    factor, added = 1 - eta * mu, eta * v**2

    def slack(after: Any = 1, least: Any = 1, more: Any = 0) -> Any:
        return factor * (Expectation(BEFORE) - LEAST) + added - after * Expectation(AFTER) + least * LEAST + more

    found = _read_contraction(SYMBOLS, slack())
    assert [sp.expand(one) for one in found] == [sp.expand(factor), added]
    for other in (slack(after=2), slack(least=2), slack(least=0)):
        with pytest.raises(Rejected, match="a bound on the error after a local step by that before it"):
            _read_contraction(SYMBOLS, other)
    with pytest.raises(Rejected, match="numbers that are the same at every local step"):
        _read_contraction(SYMBOLS, slack(more=SYMBOLS(q.average_suboptimality)))


def test_numbers_of_iterations() -> None:
    assert count_iterations(SymbolTable({tau: q.local_steps, T: q.rounds})) == tau * T
    assert count_iterations(SymbolTable({K: q.iterations, tau: q.local_steps})) == K


# Plans.


@pytest.mark.parametrize(
    ("numbers", "trouble"),
    [
        ({"eta": 0.5, "T": 3}, None),
        ({"other": 1}, "no bound has a symbol"),
        ({"eta": -0.5}, "not negative"),
        ({"eta": math.nan}, "not negative"),
        ({"T": 2.5}, "a whole number"),
        ({"eta": 0}, None),
    ],
)
def test_numbers_of_bounds(numbers: dict[str, float], trouble: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number belongs to a symbol of a bound, is not negative, and is whole for counts."""
    whole = next(iter(planning.WHOLE))
    known = {"eta": {"local_step_size"}, "T": {whole}}
    monkeypatch.setattr(planning, "covering_claims", tuple)
    monkeypatch.setattr(planning, "collect_meanings", lambda _: known)
    if trouble is None:
        planning._require_known_numbers(numbers, ())
    else:
        with pytest.raises(InputError, match=trouble):
            planning._require_known_numbers(numbers, ())


def test_numbers_that_contradict_an_assumption() -> None:
    """Noise contradicts full gradients, by symbol or name, and another server step the plain average."""
    claim = _bound(v + M, NOISE_OF_ALL, (a.full_gradients, a.unit_server_step))
    find = planning._find_contradiction
    assert find(claim, {}) is None
    assert find(claim, {"v": 0.0}) is None
    for name in ("v", "noise_deviation"):
        assert (find(claim, {name: 0.1}) or "").endswith("the gradients are noisy")
    assert find(claim, {planning.SERVER_STEP: 1}) is None
    assert (find(claim, {planning.SERVER_STEP: 2}) or "").endswith("the server step size is 2, not 1")
    free = _bound(v + M, NOISE_OF_ALL)
    assert find(free, {"v": 0.1, planning.SERVER_STEP: 2}) is None


def test_rounds_that_an_accuracy_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given rounds stay; otherwise they follow from the accuracy, at the given step size or at the best one."""
    answers = {"step": SimpleNamespace(rounds=7, reason=""), "best": SimpleNamespace(rounds=None, reason="no step")}
    monkeypatch.setattr(planning.target, "find_rounds_at_step", lambda *_: answers["step"])
    monkeypatch.setattr(planning.target, "find_rounds_at_best_step", lambda *_: answers["best"])
    monkeypatch.setattr(planning, "StepSizes", lambda bound: bound)

    def rounds(*given: str, accuracy: float | None = 0.5, depends: bool = True) -> Any:
        bound: Any = SimpleNamespace(values=dict.fromkeys(given, 1), expression="right")
        bound.depends_on = lambda expression, name: depends and (expression, name) == ("right", planning.ROUNDS)
        bound.with_numbers = lambda values: values
        found = planning._set_rounds(bound, accuracy)
        return "same" if found is bound else found

    assert rounds(planning.ROUNDS) == "same"
    assert rounds(depends=False, accuracy=None) == "same"
    assert rounds(planning.STEP) == {planning.ROUNDS: 7}
    with pytest.raises(NotApplicable, match=f"{planning.NOT_GIVEN}: the rounds"):
        rounds(planning.STEP, accuracy=None)
    with pytest.raises(NotApplicable, match=r"the accuracy 0\.5 is out of reach: no step"):
        rounds()


@pytest.mark.parametrize(("edge", "at_edge"), [(0.25, True), (0.5, False)])
def test_bounds_with_measured_constants(edge: float, monkeypatch: pytest.MonkeyPatch, *, at_edge: bool) -> None:
    """The plan uses the best step size with measured constants; without a value it has no optimum."""
    monkeypatch.setattr(planning, "replace", lambda of, **changes: {**vars(of), **changes})
    measured = SimpleNamespace(step_size=0.25, value_at_step=3.0, value=9.0)
    found: Any = planning._use_measurements(
        SimpleNamespace(measurements=measured),
        SimpleNamespace(value=edge),  # type: ignore[arg-type]
    )
    best = found["optimum"]
    assert (best.step_size, best.value, best.at_edge) == (0.25, 3.0, at_edge)
    assert found["measurements"] == {"step_size": 0.25, "value_at_step": 3.0, "value": 3.0}
    measured.value_at_step = None  # type: ignore[assignment]
    assert planning._use_measurements(SimpleNamespace(measurements=measured), None) == {  # type: ignore[arg-type]
        "measurements": measured,
        "optimum": None,
    }


@pytest.mark.parametrize(
    ("a_", "b", "c", "real"), [(1, 3, 1, True), (1, 3, 1.01, False), (2, 6, 2, True), (1, 0, 1, False)]
)
def test_discriminants_of_cubic_equations(a_: float, b: float, c: float, *, real: bool) -> None:
    """a y^3 - b y - 2 c has three real roots if its discriminant is not negative, which is at most one here."""
    found = optimum._compute_discriminant({-1: a_, 1: b, 2: c})
    assert (found <= 1 + 1e-12) is real
    if b:
        roots = np.roots([a_, 0, -b, -2 * c])
        assert bool((abs(roots.imag) < 1e-6).all()) is real


def test_batches_in_words() -> None:
    """Batches of rows with or without replacement; nothing for other noise."""
    from fedtheory.planner import setting_in_words

    def words(oracle: Any) -> str:
        return _describe_batch(SimpleNamespace(problem=SimpleNamespace(oracle=oracle)))  # type: ignore[arg-type]

    class Batches(setting_in_words.RowBatches):  # type: ignore[misc]
        """Batches of four rows."""

        batch = 4
        replacement = True

        def __init__(self) -> None:
            """Leave out the data."""

    assert words(Batches()) == "batches of 4 rows drawn with replacement"
    Batches.replacement = False
    assert words(Batches()) == "batches of 4 rows drawn without replacement"
    assert words("none") == ""


def test_numbers_of_options() -> None:
    """Sizes are numbers, all other options counts; flags are true or false."""
    assert data._read_number("server_step_size", "1.5") == 1.5
    assert data._read_number("rounds", "3") == 3
    with pytest.raises(InputError, match=r"expected a whole number, got 1\.5"):
        data._read_number("rounds", "1.5")
    assert (data._read_flag("x", "true"), data._read_flag("x", "false")) == (True, False)
    with pytest.raises(InputError, match="expected true or false, got yes"):
        data._read_flag("x", "yes")


@pytest.mark.parametrize("verdict", ["proved", "broken"])
@pytest.mark.parametrize("missing", [(), (a.one_client,)])
def test_certificates_of_known_claims_are_reused(missing: Any, verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim with the missing assumptions is checked by the document of the other, under its own id."""
    checked: list[Any] = []
    known_claim = _bound(eta)
    steps = [{"claim": "t:lemmas", "word": "t:lemmas"}, {"claim": "t:b"}]
    recorded: dict[str, Any] = {"claim": "t:lemmas", "steps": steps}

    def check(claim: Claim, document: Any) -> Any:
        checked.append((claim, document))
        return SimpleNamespace(work={"a": 3, "b": 4}, verdict=verdict)

    spent: list[int] = []
    monkeypatch.setattr(restated, "find", lambda _: known_claim)
    monkeypatch.setattr(restated, "certificate_of", {"t:lemmas": "certificate"}.get)
    monkeypatch.setattr(restated, "document_of", lambda claim, _: recorded if claim is known_claim else None)
    monkeypatch.setattr(restated, "check_certificate", check)
    monkeypatch.setattr(restated, "spend", spent.append)
    claim = Claim(id="mine:own", lhs=0, rhs=eta, where=WHERE, assumptions=(a.full_gradients,))
    known: Any = SimpleNamespace(claim=known_claim, missing=missing)
    found: Any = restated.reuse_certificate(claim, known)
    ((supposing, document),) = checked
    assert supposing.assumptions == (a.full_gradients, *missing)
    assert (supposing is claim) is (not missing)
    assert document == {"claim": "mine:own", "steps": [{"claim": "mine:own", "word": "t:lemmas"}, {"claim": "t:b"}]}
    assert spent == [7]
    if verdict == "broken":
        assert found is None
    else:
        assert (list(found.supposed), found.proof.verdict) == (list(missing), "proved")
    monkeypatch.setattr(restated, "certificate_of", lambda _: None)
    assert restated.reuse_certificate(claim, known) is None


def test_negative_terms_are_paired_with_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each negative term takes the first term from which it may be subtracted; without one there is no answer."""
    monkeypatch.setattr(positivity, "_subtract", sp.Function("d"))
    number = eta + mu - L
    allowed = {eta, mu, sp.Function("d")(mu, L)}
    signs: Any = SimpleNamespace(is_nonnegative=lambda one: one in allowed)
    found = positivity.split_pairs(number, signs) or []
    assert set(found) == {eta, sp.Function("d")(mu, L)}
    allowed.discard(sp.Function("d")(mu, L))
    assert positivity.split_pairs(number, signs) is None
    assert positivity.split_pairs(sp.Add(*sp.symbols("s:13", positive=True)), signs) is None


@pytest.mark.parametrize(
    ("quickly", "products", "rest"), [(["q"], None, ["q"]), (None, ["p"], ["p"]), (None, None, None)]
)
def test_squares_and_the_rest(quickly: Any, products: Any, rest: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """(eta - mu)^2 and the summands of the rest, found quickly or as products."""
    asked: list[Any] = []
    monkeypatch.setattr(positivity, "split_quickly", lambda *_: quickly)
    monkeypatch.setattr(positivity, "split_pairs", lambda *_: None)
    monkeypatch.setattr(positivity, "split_into_products", lambda number, _: asked.append(number) or products)
    signs = positivity.SignFacts(Numbers(symbols=frozenset((eta, mu, L))), ())
    found = positivity.split_with_squares(sp.expand((eta - mu) ** 2) + L, signs)
    assert asked == ([] if quickly else [L])
    if rest is None:
        assert found is None
    else:
        assert found is not None
        assert sp.expand(found[0] - (eta - mu) ** 2) == 0
        assert found[1:] == rest
