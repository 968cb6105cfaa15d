"""Rules of proof terms with stand-ins: inferred relations, and rejections, by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Inner, LocalSum, PastSum, Value, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.quantities.quantity import Over
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, STEP, RangeSum, average, server, vector_at
from fedtheory.proofs.terms.places import context_of_run, context_of_totals, enter_models, enter_step
from fedtheory.proofs.terms.proved import Comparison, Proved
from fedtheory.proofs.terms.rules.antisymmetry import Antisymmetry
from fedtheory.proofs.terms.rules.at import AfterSteps
from fedtheory.proofs.terms.rules.axiom import FACT, Axiom
from fedtheory.proofs.terms.rules.cases import FirstAndLater
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.consequence import Consequence
from fedtheory.proofs.terms.rules.draw import Draw
from fedtheory.proofs.terms.rules.hypothesis import Given, Hypothesis
from fedtheory.proofs.terms.rules.induct import HYPOTHESIS, InductDrift
from fedtheory.proofs.terms.rules.induct_steps import InductSteps
from fedtheory.proofs.terms.rules.know import Know, _list_conditions
from fedtheory.proofs.terms.rules.maximum import BoundMaximum, list_values_of_maximum
from fedtheory.proofs.terms.rules.past_total import PastTotal
from fedtheory.proofs.terms.rules.product import Factor, Multiply, ProductOfFactors, Scalar, divides_by
from fedtheory.proofs.terms.rules.root import Root, Square
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.unfold import Unfold
from fedtheory.proofs.terms.run_form import RunForm
from fedtheory.proofs.terms.term import ProofTerm, Weighted

eta, tau, T, d, k = sp.symbols("eta tau T d k", positive=True)
ONE = sp.S.One
WORK = (a.same_local_work, a.unit_server_step, a.full_participation)
CLAIM = Claim(
    id="mine:rules",
    lhs=d,
    rhs=eta * tau * T,
    where={d: q.max_drift, eta: q.local_step_size, tau: q.local_steps, T: q.rounds},
    assumptions=WORK,
    conditions=[eta <= 2],
)


def _prove_nothing(name: str) -> Proof:
    raise Rejected(f"nothing is proved of {name}")


@dataclass(frozen=True)
class Shown(ProofTerm):
    """A term that proves a given relation."""

    rule: ClassVar[str] = "shown"
    expression: Any
    comparison: Comparison = ">="

    def check(self, _context: TermContext) -> Proved:
        """Return the relation."""
        return Proved(self.expression, self.comparison)


RUN = context_of_run(CLAIM, _prove_nothing)
AT_STEP, MODELS = enter_step(RUN), enter_models(RUN)
UNEQUAL = context_of_run(replace(CLAIM, assumptions=WORK[1:]), _prove_nothing)
symbol = RUN.symbols
x, mean, w, best = (symbol(one) for one in (q.local_iterate, q.average_iterate, q.server_model, q.optimum))
F = symbol(q.objective)
DRIFT, NUMBER, FOREIGN = norm_sq(x - mean), Shown(eta), symbol(q.strong_convexity)
PAST = context_of_totals(
    Claim(
        id="mine:past",
        lhs=eta * k,
        rhs=eta * tau,
        where={eta: q.local_step_size, tau: q.local_steps, k: q.local_step_index},
        place="step",
        assumptions=WORK,
    ),
    _prove_nothing,
)
index = AT_STEP.index
PATH = replace(AT_STEP, vectors=replace(AT_STEP.vectors, noise=frozenset(), random=frozenset()))  # type: ignore[type-var]
DECLARED = context_of_run(replace(CLAIM, where={**CLAIM.where, FOREIGN: q.strong_convexity}), _prove_nothing)
UNSHARED = context_of_run(replace(CLAIM, rhs=T, conditions=[], assumptions=WORK[1:]), _prove_nothing)
REFUSED: dict[str, tuple[ProofTerm, TermContext, str]] = {
    "sum, weight of steps": (SumOver("steps", 2 * ONE, NUMBER), RUN, "has the weight one, got 2"),
    "sum, weight of rounds": (SumOver("rounds", eta, NUMBER), RUN, "has the weight one"),
    "sum, clients of a run": (SumOver("clients", ONE, NUMBER), RUN, "not on the whole run"),
    "sum, steps of a run": (SumOver("steps of a client", ONE, NUMBER), RUN, "not on the whole run"),
    "sum, numbers at a step": (SumOver("numbers of clients", ONE, NUMBER), AT_STEP, "on the whole run"),
    "sum, rounds at a step": (SumOver("rounds", ONE, NUMBER), AT_STEP, "on the whole run"),
    "sum, steps at a step": (SumOver("steps", ONE, NUMBER), AT_STEP, "entered from the whole run"),
    "sum, a step over rounds": (SumOver("rounds", ONE, Shown(norm_sq(vector_at("local")))), RUN, "about a local step"),
    "sum, unequal rounds": (SumOver("rounds", ONE, NUMBER), UNEQUAL, "need the same local work"),
    "sum, negative weight": (SumOver("clients", -eta, Shown(DRIFT)), AT_STEP, "is not shown"),
    "sum, no number": (SumOver("clients", 1 / (1 - eta), Shown(DRIFT, "==")), AT_STEP, "may be zero"),
    "sum, what need not exist": (
        SumOver("clients", ONE, Shown(FOREIGN)),
        AT_STEP,
        "need not exist",
    ),
    "past, another place": (PastTotal(ONE, k, k * (k + 1) / 2), RUN, "an equation between numbers of a step"),
    "past, vectors": (PastTotal(ONE, k, k), replace(PAST, vectors=AT_STEP.vectors), "between numbers of a step"),
    "past, changing factor": (PastTotal(k, ONE, k * (k + 1)), PAST, "changes from local step to local step"),
    "past, a start": (PastTotal(ONE, k, k * (k + 1) / 2 + 1), PAST, "over no steps"),
    "past, another member": (PastTotal(ONE, 2 * k, k * (k + 1) / 2), PAST, "what a step adds"),
    "past, another factor": (PastTotal(2 * ONE, k, k * (k + 1) / 2), PAST, "what a step adds"),
    "past, a pole": (PastTotal(ONE, k, 1 / (1 - eta)), PAST, "may be zero"),
    "root, negative": (Root(-eta, x - mean, Shown(eta**2 - DRIFT)), AT_STEP, "is not shown"),
    "root, other squares": (Root(eta, x - mean, Shown(2 * eta**2 - DRIFT)), AT_STEP, "the squares"),
    "root, foreign": (Root(eta, FOREIGN * x, Shown(eta**2 - norm_sq(FOREIGN * x))), AT_STEP, "need not exist"),
    "square, no length": (Square(eta, ONE, Shown(1 - eta)), AT_STEP, "is not a length"),
    "square, of a run": (Square(sp.sqrt(DRIFT), eta, Shown(eta - sp.sqrt(DRIFT))), RUN, "is that of a vector"),
    "square, another bound": (Square(sp.sqrt(DRIFT), eta, Shown(1 - sp.sqrt(DRIFT))), AT_STEP, "before it is"),
    "square, foreign": (
        Square(sp.sqrt(DRIFT), FOREIGN, Shown(FOREIGN - sp.sqrt(DRIFT))),
        PATH,
        "need not exist|not a number that the claim defines",
    ),
    "axiom, of a run": (Axiom("square", (x,)), RUN, "is about vectors"),
    "axiom, two subjects": (Axiom("square", (x, mean)), AT_STEP, "takes 1 arguments, got 2"),
    "axiom, none": (Axiom("square", ()), AT_STEP, "takes 1 arguments, got 0"),
    "axiom, a name": (Axiom("square", ("x",)), AT_STEP, "expects a formula"),
    "axiom, no name": (Axiom("assumption", (x,)), AT_STEP, "expects a name"),
    "axiom, foreign": (Axiom("square", (FOREIGN * x,)), AT_STEP, "need not exist"),
    "fact, unknown": (Axiom(FACT, ("strange",)), RUN, "no fact called 'strange'"),
    "fact, no name": (Axiom(FACT, (x,)), RUN, "no fact called"),
    "fact, two names": (Axiom(FACT, ("a", "b")), RUN, "no fact called None"),
    "after the last step, of a step": (AfterSteps(NUMBER), AT_STEP, "from the whole run"),
    "after the last step, unequal rounds": (AfterSteps(NUMBER), UNEQUAL, "need the same local work"),
    "cases, of a run": (FirstAndLater(Sign(eta), Sign(eta)), RUN, "is distinguished only in"),
    "cases, another start": (FirstAndLater(Sign(2 * ONE), Sign(1 + index)), AT_STEP, "the number without a step"),
    "cases, an earlier step": (FirstAndLater(Sign(ONE), Sign(index - 2)), AT_STEP, "is not shown"),
    "combine, positive": (Combine(eta, ">", (Weighted(ONE, NUMBER),)), RUN, "not that it is positive"),
    "combine, negative": (Combine(-eta, ">=", (Weighted(-ONE, NUMBER),)), RUN, "coefficient"),
    "combine, no equation": (Combine(eta, "==", (Weighted(ONE, NUMBER),)), RUN, "expected equations only"),
    "combine, another sum": (Combine(eta + 1, ">=", (Weighted(ONE, NUMBER),)), RUN, "the sum"),
    "combine, no part": (Combine(eta, ">="), RUN, "the sum"),
    "combine, a pole": (Combine(1 / (1 - eta), ">=", (Weighted(ONE, Shown(1 / (1 - eta))),)), RUN, "may be zero"),
    "draw, all": (Draw(best), RUN, "a run with sampled participants"),
    "hypothesis, none": (Hypothesis("h"), RUN, "there is none"),
    "hypothesis, another": (Hypothesis("h"), RUN.with_hypothesis("g", Proved(eta)), "there is 'g'"),
    "given, another": (Given(eta <= 1), RUN, "does not follow"),
    "know, at a step": (Know((NUMBER,), NUMBER), AT_STEP, "are shown on the whole run"),
    "sign, negative": (Sign(eta - 1), RUN, ">= 0 is not shown"),
    "sign, at an edge": (Sign(2 - eta, is_strict=True), RUN, "> 0 is not shown"),
    "maximum, by the round": (BoundMaximum(d, ROUND, Shown(ROUND - DRIFT)), RUN, "not the same|not a number"),
    "maximum, another value": (BoundMaximum(d, eta, Shown(eta - norm_sq(x - w))), RUN, "on another value"),
    "maximum, twice the bound": (BoundMaximum(d, eta, Shown(2 * eta - DRIFT)), RUN, "on another value"),
    "maximum, no maximum": (BoundMaximum(eta, tau, Shown(tau - eta)), RUN, "that its term defines"),
    "maximum, no symbol": (BoundMaximum(2 * d, eta, Shown(eta - DRIFT)), RUN, "that its term defines"),
    "steps, of a run": (InductSteps(DRIFT, eta, eta, False, NUMBER, NUMBER), RUN, "is about vectors at each"),
    "steps, of models": (InductSteps(DRIFT, eta, eta, False, NUMBER, NUMBER), MODELS, "is about vectors at each"),
    "unfold, what need not exist": (Unfold(d, FOREIGN, NUMBER), RUN, "need not exist"),
    "unfold, what no side names": (Unfold(d, FOREIGN, NUMBER), DECLARED, "need not exist"),
    "unfold, step sizes that differ": (Unfold(d, eta, NUMBER), UNSHARED, "need not exist: a step size"),
    "unfold, at a step": (Unfold(d, eta, NUMBER), AT_STEP, "are unfolded on the whole run"),
    "consequence, no law": (Consequence("strange", "mine:rules"), RUN, "no law called 'strange'"),
    "consequence, at a step": (Consequence("last of falling errors", "mine:rules"), AT_STEP, "about whole runs"),
    "antisymmetry": (Antisymmetry(NUMBER, NUMBER), RUN, "at least"),
    "drift, on the path": (
        InductDrift("spread", "mean", eta, NUMBER, NUMBER),
        replace(AT_STEP, reading="path"),
        "bounded in expectation",
    ),
    "drift, of a run": (InductDrift("spread", "mean", eta, NUMBER, NUMBER), RUN, "bounded in expectation"),
    "drift, of the loop": (
        InductDrift("loop pair", "mean", eta, NUMBER, NUMBER),
        MODELS,
        "in expectation, for loop, not for models",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_of_rules(name: str) -> None:
    term, context, why = REFUSED[name]
    with pytest.raises(Rejected, match=why):
        term.check(context)


INFERRED: dict[str, tuple[ProofTerm, TermContext, Any, Comparison]] = {
    "rounds": (SumOver("rounds", ONE, NUMBER), RUN, RangeSum(eta, ROUND, 0, T), ">="),
    "equations of rounds": (SumOver("rounds", ONE, Shown(eta, "==")), RUN, RangeSum(eta, ROUND, 0, T), "=="),
    "steps": (SumOver("steps", ONE, Shown(index * eta)), RUN, RangeSum(STEP * eta, STEP, 0, tau), ">="),
    "clients": (SumOver("clients", eta, Shown(DRIFT)), AT_STEP, Average(eta * DRIFT), ">="),
    "equations of clients": (SumOver("clients", -eta, Shown(DRIFT, "==")), AT_STEP, Average(-eta * DRIFT), "=="),
    "positive numbers": (SumOver("steps of a client", ONE, Shown(DRIFT, ">")), AT_STEP, LocalSum(DRIFT), ">="),
    "past": (PastTotal(2 * ONE, k, k * (k + 1)), PAST, k * (k + 1) - 2 * PastSum(k), "=="),
    "root": (Root(eta, x - mean, Shown(eta**2 - DRIFT)), AT_STEP, eta - sp.sqrt(DRIFT), ">="),
    "square": (Square(sp.sqrt(DRIFT), eta, Shown(eta - sp.sqrt(DRIFT))), PATH, eta**2 - DRIFT, ">="),
    "axiom": (Axiom("square", (x - mean,)), AT_STEP, DRIFT, ">="),
    "after the last step": (AfterSteps(Shown(index)), RUN, tau, ">="),
    "both cases": (FirstAndLater(Sign(ONE), Sign(1 + index)), AT_STEP, 1 + index, ">="),
    "a later case": (FirstAndLater(Shown(-eta), Sign(eta * (index - 1))), AT_STEP, eta * (index - 1), ">="),
    "a sum": (Combine(3 * eta, ">=", (Weighted(3 * ONE, NUMBER),)), RUN, 3 * eta, ">="),
    "an equation": (Combine(-eta, "==", (Weighted(-ONE, Shown(eta, "==")),)), RUN, -eta, "=="),
    "less of an equation": (Combine(-eta, ">=", (Weighted(-ONE, Shown(eta, "==")),)), RUN, -eta, ">="),
    "a hypothesis": (Hypothesis("h"), RUN.with_hypothesis("h", Proved(eta, "==")), eta, "=="),
    "a condition": (Given(eta <= 3), RUN, 3 - eta, ">="),
    "known numbers": (Know((Shown(1 - eta),), Sign(1 - eta)), RUN, 1 - eta, ">="),
    "a sign": (Sign(2 - eta), RUN, 2 - eta, ">="),
    "a strict sign": (Sign(3 - eta, is_strict=True), RUN, 3 - eta, ">"),
    "a maximum": (BoundMaximum(d, eta, Shown(eta - DRIFT)), RUN, eta - d, ">="),
    "neither larger": (Antisymmetry(NUMBER, Shown(-eta)), RUN, eta, "=="),
}


@pytest.mark.parametrize("name", INFERRED)
def test_conclusions_of_rules(name: str) -> None:
    term, context, expression, comparison = INFERRED[name]
    found = term.check(context)
    assert sp.expand(found.expression - expression) == 0
    assert found.comparison == comparison


def test_conditions_from_what_is_known() -> None:
    """A symbol alone on a side is bounded by the rest, which is then non-negative."""
    u, v = sp.symbols("u v", real=True)
    assert _list_conditions(Proved(u - v**2)) == (
        sp.Le(v**2, u, evaluate=False),
        sp.Ge(u - v**2, 0, evaluate=False),
    )
    assert _list_conditions(Proved(u * v)) == (sp.Ge(u * v, 0, evaluate=False),)
    assert _list_conditions(Proved(u - v, "==")) == (sp.Eq(u - v, 0, evaluate=False),)


def test_multiples_of_what_is_shown_are_kept_for_reports() -> None:
    context = replace(RUN, held=[])
    Combine(3 * eta, ">=", (Weighted(3 * ONE, NUMBER),)).check(context)
    assert [(step.text, step.holds) for step in context.held] == [("coefficient (3) >= 0: shown", True)]


def test_participants_are_drawn_around_fixed_points() -> None:
    """The cost is the sampling variance times the drift at the end of the round."""
    at, other = sp.symbols("x_best y", real=True)
    where = {**CLAIM.where, at: q.optimum, other: q.comparator}
    sampled = replace(CLAIM, where=where, assumptions=(*WORK[:2], a.averaged_participants))
    context = context_of_run(sampled, _prove_nothing)
    end, cost = average(ROUND, tau), context.symbols(q.sampling_variance)
    drift = Average(norm_sq(vector_at("local", ROUND, tau) - end))
    for point in (at, other):
        found = Draw(point).check(context).expression
        assert sp.expand(found - norm_sq(end - point) - cost * drift + norm_sq(server(ROUND + 1) - point)) == 0
    for point in (context.symbols(q.server_model), 2 * at, eta):
        with pytest.raises(Rejected, match="expected the optimum or the comparator"):
            Draw(point).check(context)
    with pytest.raises(Rejected, match="a run with sampled participants"):
        Draw(at).check(replace(context, place="step"))


# Products.

u, v, s = sp.symbols("u v s", real=True)
SCALARS = (Scalar(u, Inner(x, x)), Scalar(v, Inner(w, w)), Scalar(s, Inner(x, w)))
SQUARES = (Factor("u", u, Axiom("square", (x,))), Factor("v", v, Axiom("square", (w,))))
CAUCHY = Factor("c", u * v - s**2, None)


def _product(goal: Any, *products: ProductOfFactors, factors: Any = SQUARES, by: tuple[str, ...] = ()) -> Multiply:
    return Multiply(goal, SCALARS, factors, by, products)


def test_products_of_factors() -> None:
    """A goal is a sum of products, or a quotient of one by a factor in its denominator."""
    both = ProductOfFactors(2 * ONE, ("u", "v"))
    goal = 2 * Inner(x, x) * Inner(w, w)
    assert _product(goal, both).check(PATH) == Proved(goal)
    squares = _product(Inner(x, x) * Inner(w, w) - Inner(x, w) ** 2, ProductOfFactors(ONE, ("c",)), factors=(CAUCHY,))
    assert squares.check(PATH).comparison == ">="
    swapped = (SQUARES[0], replace(SQUARES[1], body=SQUARES[0].body))
    for term, context, why in (
        (_product(goal, ProductOfFactors(ONE, ("u", "v"))), PATH, "the identity"),
        (_product(-goal, ProductOfFactors(-2 * ONE, ("u", "v"))), PATH, "is not shown"),
        (_product(goal, ProductOfFactors(2 * ONE, ("u", "z"))), PATH, "no factor with the name 'z'"),
        (_product(goal, both, by=("u",)), PATH, "does not divide by u"),
        (_product(goal, both, by=("z",)), PATH, "no factor with the name 'z'"),
        (_product(goal, both, factors=swapped), PATH, "v: what is shown"),
        (squares, AT_STEP, "not expectations of products"),
        (squares, replace(PATH, vectors=None), "."),
        (_product(ONE, factors=(Factor("c", u * v - 2 * s**2, None),)), PATH, r"is not \|u\|\^2 \|v\|\^2"),
        (_product(ONE, factors=(Factor("c", u * u - s**2, None),)), PATH, r"is not \|u\|\^2 \|v\|\^2"),
        (_product(ONE, factors=(Factor("c", u * v - u**2, None),)), PATH, r"is not \|u\|\^2 \|v\|\^2"),
    ):
        with pytest.raises(Rejected, match=why):
            term.check(context)


def test_denominators_that_are_divided_by() -> None:
    """Denominators are in lowest terms, up to a number."""
    assert divides_by(1 / (u + v), 2 * (u + v))
    assert divides_by(u / (v * (u + v)), v)
    assert not divides_by((u + v) ** 2 / (u + v), u + v)
    assert not divides_by(1 / (u + v), u)
    assert not divides_by(1 / v, 3 * ONE)
    assert not divides_by(1 / v, v**2)


# Normal forms of a run.

FORM = RunForm(RUN.process, RUN.numbers)
GAP = Value(F, server()) - Value(F, best)
NEXT = GAP.xreplace({server(): server(ROUND + 1)})
VANISHING: dict[str, Any] = {
    "a shifted sum": RangeSum(NEXT - GAP, ROUND, 0, T)
    - GAP.xreplace({server(): server(T)})
    + GAP.xreplace({server(): server(sp.S.Zero)}),
    "a sum of a shifted weight": RangeSum((ROUND + 1) * NEXT - ROUND * GAP, ROUND, 0, T)
    - T * GAP.xreplace({server(): server(T)}),
    "a constant": RangeSum(eta, ROUND, 0, T) - T * eta,
    "a sum of numbers": RangeSum(ROUND * eta, ROUND, 0, T) - eta * T * (T - 1) / 2,
    "a sum of a sum": RangeSum(RangeSum(STEP, STEP, 0, tau), ROUND, 0, T) - T * tau * (tau - 1) / 2,
    "a fixed member": RangeSum(Value(F, best), ROUND, 0, T) - T * Value(F, best),
    "products": (2 * symbol(q.round_drift)) * (3 * symbol(q.round_drift)) - 6 * symbol(q.round_drift) ** 2,
    "a product of a sum": eta * (symbol(q.round_drift) + 1) - eta * symbol(q.round_drift) - eta,
    "an inverse": symbol(q.round_drift) ** -1 * 2 - 2 / symbol(q.round_drift),
    "a power of an inverse": (2 * symbol(q.round_drift)) ** -2 - symbol(q.round_drift) ** -2 / 4,
}


@pytest.mark.parametrize("name", VANISHING)
def test_expressions_about_a_run_that_vanish(name: str) -> None:
    """Each expression vanishes, but not with a changed or additional term."""
    expression = sp.expand(VANISHING[name]) if "RangeSum" not in str(VANISHING[name]) else VANISHING[name]
    assert FORM.check_zero(name, VANISHING[name]).holds
    assert not FORM.check_zero(name, VANISHING[name] + eta).holds
    for part in sp.Add.make_args(expression)[:1] if expression != 0 else ():
        assert not FORM.check_zero(name, VANISHING[name] + part).holds


@pytest.mark.parametrize(
    "first_end", [(5, T), (0, T + 5), (0, T - 5), (-1, T), (0, eta), (T, T), (sp.Rational(1, 2), T)]
)
def test_sums_over_other_ranges_are_refused(first_end: tuple[Any, Any]) -> None:
    """A sum may begin and end at most four terms later or earlier than the whole sum."""
    with pytest.raises(Rejected, match="is no sum over a whole range"):
        FORM.form(RangeSum(GAP, ROUND, *map(sp.sympify, first_end)))


@pytest.mark.parametrize(("first", "more"), [(0, 0), (1, 0), (4, 0), (0, 4), (0, -4), (2, 3)])
def test_members_at_the_ends_of_sums(first: int, more: int) -> None:
    """Terms before the first are subtracted, those after the last are added."""

    def member(at: Any) -> Any:
        return Average(Value(symbol(q.client_objective), server(sp.sympify(at))))

    found = FORM.form(RangeSum(member(ROUND), ROUND, sp.Integer(first), T + more))
    expected = {RangeSum(member(ROUND), ROUND, sp.S.Zero, T): 1}
    expected |= {member(at): -1 for at in range(first)}
    expected |= {member(T + at): 1 for at in range(more)} | {member(T + at): -1 for at in range(more, 0)}
    assert {monomial: number.expression for monomial, number in found.items()} == expected


def test_nonlinear_updates_are_refused() -> None:
    changing = symbol(q.round_drift)
    for expression in (sp.sqrt(changing + 1), (changing + 1) ** sp.Rational(1, 3)):
        with pytest.raises(Rejected, match="is not linear in what changes"):
            FORM.form(expression)
    assert list(FORM.form(sp.sqrt(changing))) == [sp.sqrt(changing)]
    squared = FORM.form((changing + eta) ** 2)
    assert {monomial: number.expression for monomial, number in squared.items()} == {
        changing**2: 1,
        changing: 2 * eta,
        ONE: eta**2,
    }


# Means, sums and ends over an index.


@pytest.mark.parametrize(
    ("by", "begin", "expected"),
    [
        ("sum", 0, lambda of: RangeSum(of, ROUND, 0, T)),
        ("sum", 1, lambda of: RangeSum(of, ROUND, 1, T)),
        ("mean", 0, lambda of: RangeSum(of, ROUND, 0, T) / T),
        ("mean", 1, lambda _: None),
        ("first", 0, lambda of: of.xreplace({server(): server(sp.S.Zero)})),
        ("last", 0, lambda of: of.xreplace({server(): server(T - 1)})),
        ("last", 1, lambda _: None),
        ("largest", 0, lambda _: None),
    ],
)
def test_values_over_rounds(by: Any, begin: int, expected: Callable[[Any], Any]) -> None:
    over = Over("rounds", by, begin=begin)
    assert RUN.process._reduce(GAP, over) == expected(GAP)
    assert RUN.process._reduce(GAP, replace(over, index="clients")) is None


def test_maxima_are_over_clients_steps_and_rounds() -> None:
    """A maximum is attained at one of its values; other quantities are rejected."""
    later = vector_at("local", ROUND, STEP + 1) - average(ROUND, STEP + 1)
    assert {*list_values_of_maximum(RUN.process, d)} == {norm_sq(vector_at("local") - average()), norm_sq(later)}
    for other in (q.round_drift, q.average_suboptimality, q.final_distance_sq):
        assert isinstance(other, RunQuantity)
        with pytest.raises(Rejected, match=r"is no maximum|that its term defines"):
            list_values_of_maximum(RUN.process, symbol(other))


def test_a_bound_by_the_power_itself_is_refused() -> None:
    """The symbol of the power belongs to the induction, so a bound with it is rejected."""
    term = InductSteps(DRIFT, POWER, POWER, False, NUMBER, NUMBER)
    with pytest.raises(Rejected):
        term.check(AT_STEP)
    assert HYPOTHESIS not in AT_STEP.hypotheses
