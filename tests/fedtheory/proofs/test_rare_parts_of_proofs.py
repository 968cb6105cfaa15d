"""Parts of proofs, proof searches and plans that few runs reach, with stand-ins, against values by hand."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import Diverging
from fedtheory.kernel import Numbers, Rejected, lipschitz
from fedtheory.kernel.expressions import Average, Gradient, Inner, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.planner import admissible, error_curves, measurements, model_edges, pickling
from fedtheory.planner.setting_in_words import _describe_optimal_value
from fedtheory.proofs import certificate_of, check_certificate
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.run_terms import rename_condition, unused_symbol
from fedtheory.proofs.terms.indexed import ROUND, RangeSum, server
from fedtheory.proofs.terms.places import context_of_run, enter_step
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.rules.product import Factor, _check_cauchy_schwarz
from fedtheory.proofs.terms.run_form import RunForm
from fedtheory.runfile import parse_run
from fedtheory.search import blocks, chains, coefficients, contractions, lengths
from fedtheory.search.conditions import weaken_to_counts
from fedtheory.search.dimensions import Dimensions, _find_entry_dimension
from fedtheory.search.positivity import SignFacts, _list_slacks, _list_symbols
from verify.rocq.numbers import _list_bounds

eta, tau, T, L, G, M = sp.symbols("eta tau T L G M", positive=True)
d, h, v = sp.symbols("d h v", nonnegative=True)
x, y, z = sp.symbols("x y z", real=True)
WORK = (a.same_local_work, a.unit_server_step, a.full_participation)
WHERE = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, L: q.smoothness, M: q.clients}
CLAIM = Claim(id="t:rare", lhs=0, rhs=eta * tau * T * L, where=WHERE, assumptions=WORK)


def _prove_nothing(name: str) -> Any:
    raise Rejected(f"nothing is proved of {name}")


RUN = context_of_run(CLAIM, _prove_nothing)

# Proofs.


@pytest.mark.parametrize("claim_id", ["fraboni2022:lemma-4.proof", "fraboni2022:lemma-5.two-parts"])
def test_quantities_of_updates_are_written_out(claim_id: str) -> None:
    """A relation between quantities of updates is proved in their vectors, and a smaller bound is not."""
    claim: Any = find(claim_id)
    certificate: Any = certificate_of(claim_id)
    assert check_certificate(claim, certificate).verdict == "proved"
    (relation,) = claim.relations
    smaller = replace(claim, lhs=relation.left, relation=relation.operator, rhs=relation.right / 2, chain=(), also=())
    assert check_certificate(smaller, certificate).verdict == "broken"


def _form(expression: Any) -> Any:
    return RunForm(Process(CLAIM), numbers_of(CLAIM)).form(expression)


def test_forms_of_sums_over_a_run() -> None:
    """Constants come before sums, products of sums keep their order, and powers are those of the whole sum."""
    total = RangeSum(Value(RUN.symbols(q.objective), server()), ROUND, 0, T)
    (plain,) = _form(total)
    doubled = _form(2 * eta * total)
    assert doubled.keys() == {plain}
    assert sp.simplify(doubled[plain].expression - 2 * eta) == 0
    (inverse,) = _form(1 / (2 * total))
    assert inverse == 1 / plain
    assert sp.simplify(_form(1 / (2 * total))[inverse].expression - sp.Rational(1, 2)) == 0
    both = _form(total + eta)
    assert len(both) == 2
    (power,) = _form(1 / (total + eta))
    assert power == 1 / (plain + eta)
    with pytest.raises(Rejected, match="is not linear in what changes from step to step"):
        _form(sp.sqrt(total + eta))


@pytest.mark.parametrize(
    ("polynomial", "holds"),
    [("a*b - c**2", True), ("b*a - c**2", True), ("a*b - 2*c**2", False), ("a*a - c**2", False), ("a*b + c**2", False)],
)
def test_cauchy_schwarz_of_two_vectors(polynomial: str, *, holds: bool) -> None:
    """Only |u|^2 |v|^2 - <u, v>^2 of the vectors of the inner product, on one path, is not negative."""
    first, second, inner = sp.symbols("a b c", real=True)
    given = enter_step(RUN)
    path: Any = replace(given, vectors=replace(given.vectors, noise=frozenset(), random=frozenset()))  # type: ignore[type-var]
    own, mean = RUN.symbols(q.local_iterate), RUN.symbols(q.average_iterate)
    meanings = {first: norm_sq(own), second: norm_sq(mean), inner: Inner(own, mean)}
    factor = Factor("f", sp.sympify(polynomial, {"a": first, "b": second, "c": inner}))
    if holds:
        assert _check_cauchy_schwarz(factor, meanings, path) == factor.polynomial
    else:
        with pytest.raises(Rejected, match=r"is not .* of two vectors"):
            _check_cauchy_schwarz(factor, meanings, path)
    for swapped in (
        {first: norm_sq(own), second: norm_sq(own), inner: Inner(own, mean)},
        {first: norm_sq(own), second: 2 * norm_sq(mean), inner: Inner(own, mean)},
    ):
        with pytest.raises(Rejected, match="of two vectors"):
            _check_cauchy_schwarz(factor, swapped, path)
    for context in (RUN, given):
        with pytest.raises(Rejected, match="products of expectations"):
            _check_cauchy_schwarz(factor, meanings, context)


def test_symbols_of_unnamed_quantities() -> None:
    """A symbol that the claim or a quantifier has gets primes; orderings keep their form."""
    name = q.rounds.latex
    claim = Claim(id="t:unused", lhs=0, rhs=eta, where={eta: q.local_step_size}, for_all={sp.Symbol(name + "'"): (1,)})
    assert unused_symbol(q.rounds, {}, claim).name == name
    assert unused_symbol(q.rounds, {sp.Symbol(name): q.clients}, claim).name == name + "''"
    assert rename_condition(sp.true, {eta: tau}) is sp.true
    renamed = rename_condition(sp.Le(0, eta, evaluate=False), {eta: tau})
    assert (renamed.func, renamed.args) == (sp.Le, (0, tau))


# Searches.


def test_inequalities_of_lipschitz_objectives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lipschitz objectives give inequalities between all pairs of visited points with values."""
    f, own = sp.symbols("f f_i", real=True)
    context: Any = SimpleNamespace(means={f: own}, visited=[x, y, z], lipschitz={own: L})
    monkeypatch.setattr(lengths, "_is_same", lambda point, at, _: point == at)
    form: Any = {Value(own, x): 1, Value(own, y): 1, norm_sq(z): 1}
    assert list(lengths._list_of_values(context, form)) == [lipschitz(own, x, y), lipschitz(own, y, x)]
    context.lipschitz = {}
    assert list(lengths._list_of_values(context, form)) == []


def test_units_of_rows_and_entries() -> None:
    """Values have units of values, lengths those of their vectors, and products the sum of both."""
    find = Dimensions(Claim(id="t:units", lhs=0, rhs=1, where={}))._find_row_dimension
    length, gradient = find(sp.sqrt(norm_sq(x))), find(sp.sqrt(norm_sq(Gradient(z, x))))
    assert length != gradient
    assert find(sp.Integer(1)) == (0, 0)
    assert find(eta) is None
    assert find(Value(z, x)) == find(Average(Value(z, x)))
    assert find(Average(sp.sqrt(norm_sq(x)))) == length
    assert length is not None
    assert gradient is not None
    shared = _find_entry_dimension(blocks.SHARED, x, Gradient(z, x))
    assert shared == (length[0] + gradient[0], length[1] + gradient[1])
    assert _find_entry_dimension(blocks.DEVIATIONS, x, Average(x)) == (2 * length[0], 2 * length[1])
    assert _find_entry_dimension(blocks.NOISE, x, x) == (2 * gradient[0], 2 * gradient[1])


def test_costs_of_drift() -> None:
    """Dissimilarity and noise, without the client's own part if their number is known; or the second moment."""
    where = {tau: q.local_steps, h: q.gradient_dissimilarity, v: q.noise_deviation, M: q.clients, G: q.second_moment}

    def costs(*assumptions: Any, without: Any = ()) -> list[Any]:
        known = {symbol: of for symbol, of in where.items() if symbol not in without}
        claim = Claim(id="t:costs", lhs=0, rhs=sp.Add(*known), where=known, assumptions=assumptions)
        return [sp.expand(cost) for cost in contractions._list_increases(claim)]

    assert costs() == []
    spread = sp.expand((1 + tau) * h**2)
    assert costs(a.bounded_dissimilarity) == [spread]
    noisy = (a.bounded_dissimilarity, a.unbiased_bounded_variance)
    assert costs(*noisy) == [sp.expand(spread + (1 - 1 / M) * v**2)]
    assert costs(*noisy, without=(M,)) == [sp.expand(spread + v**2)]
    assert costs(a.bounded_second_moment) == [sp.expand((1 + tau) * G**2)]
    assert costs(a.bounded_second_moment, a.bounded_dissimilarity, without=(h,)) == [sp.expand((1 + tau) * G**2)]
    assert costs(a.bounded_second_moment, without=(G,)) == []


def test_simple_values_of_a_free_coefficient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are tried in turn until one solves the rest; infeasible systems and impossible values are left out."""
    tried: list[Any] = []

    class System:
        """A system with one free coefficient at place 3, which may not be two."""

        free: Any = (3,)
        goal = "goal"

        def copy(self) -> Any:
            return System()

        def impose(self, equation: Any) -> bool:
            assert set(equation) == {3, -1}
            self.value = -equation[-1].expression
            return bool(self.value != 2)

    def solve(system: Any, *_: Any) -> Any:
        tried.append(system.value)
        return ["terms"] if system.value == 3 else None

    dimensions = SimpleNamespace(find_dimension=lambda of: (1, 0) if of == "goal" else (0, 1))
    choice: Any = SimpleNamespace(dimensions=dimensions, candidates={3: SimpleNamespace(blocks="blocks")})
    monkeypatch.setattr(coefficients, "_find_interval", lambda *_: [(0.0, 1.0)])

    def list_values(between: Any, _choice: Any, units: Any) -> Any:
        assert (between, units) == ([(0.0, 1.0)], (1, -1))
        return map(sp.Integer, (1, 2, 3, 4))

    monkeypatch.setattr(coefficients, "list_simple_values", list_values)
    monkeypatch.setattr(coefficients, "_solve", solve)
    assert coefficients._try_values(System(), choice, None, None) == ["terms"]  # type: ignore[arg-type]
    assert tried == [1, 3]
    monkeypatch.setattr(coefficients, "_MOST_VALUES", 2)
    assert coefficients._try_values(System(), choice, None, None) is None  # type: ignore[arg-type]
    assert tried == [1, 3, 1]
    monkeypatch.setattr(coefficients, "_find_interval", lambda *_: None)
    assert coefficients._try_values(System(), choice, None, None) is None  # type: ignore[arg-type]


def _signs(*conditions: Any) -> SignFacts:
    return SignFacts(Numbers(symbols=frozenset((eta, L, tau))), conditions)


def test_symbols_that_conditions_connect() -> None:
    """Symbols of conditions on shared numbers are added; roots and foreign symbols have no polynomials."""
    assert _list_symbols(eta + 1, _signs(eta * L <= 1, tau >= 2)) == [L, eta]
    assert _list_symbols(eta + 1, _signs(sp.Eq(eta, L))) == [eta]
    assert _list_symbols(eta + 1, _signs(eta <= M)) == [eta]
    assert _list_symbols(sp.sqrt(eta), _signs()) is None
    assert _list_symbols(eta + M, _signs()) is None
    assert _list_symbols(eta**2 * L, _signs()) == [L, eta]


def test_slacks_of_conditions() -> None:
    """Numerators of the slacks, without conditions in other symbols or equations."""
    conditions = (eta <= 1 / L, sp.Eq(eta, L), eta <= tau)
    found = [slack_.expression for slack_ in _list_slacks(_signs(*conditions), [L, eta], {})]
    assert found == [1 - L * eta]


def test_conditions_at_the_least_counts() -> None:
    """8 tau L eta <= 1 with tau >= 1 gives 8 L eta <= 1, unless the claim has it or nothing is left."""

    def weaker(*conditions: Any) -> list[Any]:
        claim = Claim(id="t:least", lhs=0, rhs=eta * tau * L, where=WHERE, assumptions=WORK, conditions=conditions)
        return weaken_to_counts(claim)

    assert weaker(8 * tau * L * eta <= 1) == [sp.Le(8 * L * eta, 1, evaluate=False)]
    assert weaker(8 * L * eta <= 1) == []
    assert weaker(tau <= 4) == []
    assert weaker(8 * tau * L * eta <= 1, 8 * L * eta <= 1) in ([], [sp.Ge(1 - 8 * L * eta, 0, evaluate=False)])
    assert weaker(sp.Eq(tau * eta, 1)) == []


def test_rows_of_a_claim() -> None:
    """The quantities on the smaller side that no author chooses."""
    claim = Claim(id="t:rows", lhs=d * eta, rhs=L, where={d: q.max_drift, eta: q.local_step_size, L: q.smoothness})
    assert chains._list_rows(claim) == ("max_drift",)
    turned = replace(claim, lhs=L, relation=">=", rhs=d)
    assert chains._list_rows(turned) == ("max_drift",)
    assert chains._list_rows(replace(claim, lhs=eta)) == ()


def test_bounds_of_conditions_in_rocq() -> None:
    """A condition bounds a symbol from above if its slope is negative and the rest has no negative coefficient."""
    found = [(bound.symbol, bound.slope, bound.rest) for bound in _list_bounds(eta * L <= 1)]
    assert found == [(L, eta, 1), (eta, L, 1)]
    assert [bound.symbol for bound in _list_bounds(eta >= 1)] == []
    assert [bound.symbol for bound in _list_bounds(eta <= 1 - L)] == []
    assert [bound.symbol for bound in _list_bounds(eta <= 1 + L)] == [eta]


# Plans.


@pytest.mark.parametrize(
    ("edge", "start", "expected"),
    [(0.5, 1.0, 0.0), (3.0, 1.0, 3.0), (1.0, 1.0, 1.0), (math.inf, 1.0, math.inf), (0.3, 1e-3, 0.3)],
)
def test_ends_of_intervals(edge: float, start: float, expected: float) -> None:
    """Doubling and bisection end within rounding of the edge, however many steps are allowed."""
    calls: list[float] = []

    def holds(step: float) -> bool:
        calls.append(step)
        return step <= edge

    assert admissible.find_interval_end(holds, start) == pytest.approx(expected, rel=1e-13)
    assert len(calls) < 4 * admissible._DOUBLINGS + 200


@pytest.mark.parametrize("edge", [0.1, 0.7, 3.0, 5.0, 1e9])
def test_first_step_size_that_grows(edge: float) -> None:
    """Bisection between the last size without growth and the first one with it; the first size starts at zero."""
    found = model_edges._find_first_growing(lambda size: 1 + (size - edge), np.array([1.0, 2.0, 4.0]))
    assert found == pytest.approx(edge if edge < 4 else math.inf, rel=1e-9)


@pytest.mark.parametrize("is_synchronous", [True, False])
def test_growth_of_distant_models(*, is_synchronous: bool) -> None:
    """The mean of (1 - eta_i l)^K_i with the weights of the clients, or the largest of them if models are stale."""
    aggregation = SimpleNamespace(moments=lambda _: SimpleNamespace(mean=np.array([0.25, 0.75])), server_step_size=2.0)
    work = SimpleNamespace(step_sizes=np.array([1.0, 0.5]), steps=(1, 2))
    clock = SimpleNamespace(is_synchronous=is_synchronous)
    run: Any = SimpleNamespace(
        algorithm=SimpleNamespace(work=work, aggregation=aggregation, clock=clock),
        problem=SimpleNamespace(model=SimpleNamespace(ridge=2.0), weights=None),
    )
    # At size 2 the clients keep 1 - 4 = -3 and (1 - 2)^2 = 1.
    expected = abs(1 + 2 * (0.25 * -4)) if is_synchronous else abs(1 + 2 * (3 - 1))
    assert model_edges._compute_growth(run, 2.0) == expected


def test_fine_steps_around_the_best_one() -> None:
    """Steps of the fine grid between the neighbours of the best step size, without known ones."""
    errors: Any = SimpleNamespace(step=lambda exponent: 2.0**exponent)
    found = measurements._refine_grid({0.25: 3.0, 0.5: 1.0, 1.0: 2.0}, errors)
    assert found == pytest.approx([2 ** (-5 / 3), 2 ** (-4 / 3), 2 ** (-2 / 3), 2 ** (-1 / 3)])
    assert measurements._refine_grid({0.25: 1.0, 0.5: 3.0}, errors) == pytest.approx([2 ** (-5 / 3), 2 ** (-4 / 3)])
    assert measurements.compare_numbers({"a": 1.0, "b": 2.0}, {"a": 1.0 + 1e-15, "b": 3.0}) == ["b"]


def test_errors_after_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors are those of the final model along its path or trajectory, or means over the rounds so far."""
    monkeypatch.setattr(error_curves, "is_deterministic", lambda run: run.is_path)
    monkeypatch.setattr(error_curves, "compute_path_errors", lambda _run, rounds: ("path", rounds))
    quantity = SimpleNamespace(on=lambda run: run.per_round)
    monkeypatch.setattr(error_curves, "q", SimpleNamespace(final_suboptimality="final", round_suboptimality=quantity))
    trajectory = SimpleNamespace(server_suboptimality=np.array([9.0, 4.0, 2.0]))
    run: Any = SimpleNamespace(
        is_path=True, trajectory=trajectory, per_round=[[3.0], [1.0]], algorithm=SimpleNamespace(rounds=2)
    )
    compute: Any = error_curves.compute_errors
    assert compute(run, "final") == ("path", 2)
    assert compute(run, "mean").tolist() == [3.0, 2.0]
    run.is_path = False
    assert compute(run, "final").tolist() == [4.0, 2.0]

    def diverge(_run: Any) -> Any:
        raise Diverging("it overflows")

    quantity.on = diverge
    assert compute(run, "mean").tolist() == [math.inf] * 2


def test_optimal_values_in_words() -> None:
    """F* of data without a penalty has a root; other problems have no sentence."""
    data = {"kind": "least-squares", "inputs": [[["1"]], [["1"]]], "outputs": [["1"], ["3"]], "start": ["0"]}
    keys = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2}

    def words(**problem: Any) -> str:
        return _describe_optimal_value(parse_run({"problem": {**data, **problem}, "algorithm": keys}, FLOAT))

    plain = words()
    assert plain.startswith("F* = ")
    assert "(smallest mean squared error, RMSE " in plain
    penalised = words(ridge="1")
    assert "(smallest mean squared error plus ridge penalty);" in penalised
    quadratic = {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["1"], ["-1"]], "start": ["0"]}
    assert _describe_optimal_value(parse_run({"problem": quadratic, "algorithm": keys}, RATIONAL)) == ""
    assert _describe_optimal_value(SimpleNamespace(problem="logistic")) == ""  # type: ignore[arg-type]


def test_pickled_claims_of_proofs() -> None:
    """Claims of the package and errors travel by name; user-defined claims do not travel."""
    claim = find("renard2022:thm-2.1")
    found = pickling.unpack(pickling.pack([claim, q.final_suboptimality, 3]))
    assert found[0] is claim
    assert found[1] is q.final_suboptimality
    assert found[2] == 3
    for own in (CLAIM, replace(claim)):
        with pytest.raises(pickle.PicklingError, match="other processes cannot load"):
            pickling.pack(own)
