"""Places of proof terms, by hand: indices from zero to the last step, and values of one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import LocalSum, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find
from fedtheory.language.vocabulary import vocabulary
from fedtheory.proofs import Combination, Part, check_certificate
from fedtheory.proofs.facts import NO_LATER_STEP
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, STEP, RangeSum
from fedtheory.proofs.terms.places import context_of_run, context_of_vectors, enter_models, enter_step
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.hypothesis import Hypothesis
from fedtheory.proofs.terms.rules.induct import HYPOTHESIS, InductDrift
from fedtheory.proofs.terms.rules.induct_steps import InductSteps
from fedtheory.proofs.terms.rules.maximum import BelowMaximum
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.term import Weighted

eta, tau, T, d = sp.symbols("eta tau T d", positive=True)
WORK = (a.same_local_work, a.unit_server_step, a.full_participation)
CLAIM = Claim(
    id="mine:drift",
    lhs=d,
    rhs=eta * tau * T,
    where={d: q.max_drift, eta: q.local_step_size, tau: q.local_steps, T: q.rounds},
    assumptions=WORK,
)


def _prove_nothing(name: str) -> Proof:
    raise Rejected(f"nothing is proved of {name}")


RUN = context_of_run(CLAIM, _prove_nothing)


@pytest.mark.parametrize(
    ("enter", "least", "refused"),
    [
        (enter_step, lambda k: tau - k - 1, lambda k: tau - k - 2),
        (enter_models, lambda k: tau - k, lambda k: tau - k - 1),
    ],
    ids=["step", "models"],
)
def test_an_index_runs_from_zero_to_the_last_value(
    enter: Callable[[TermContext], TermContext],
    least: Callable[[sp.Expr], sp.Expr],
    refused: Callable[[sp.Expr], sp.Expr],
) -> None:
    """A step is one of 0 .. tau - 1, models are those after 0 .. tau steps; a number of steps is no denominator."""
    inside = enter(RUN)
    index = inside.index
    assert inside.require_nonnegative(least(index)) == least(index)
    assert inside.require_nonnegative(1 / (index + 1)) == 1 / (index + 1)
    for number, why in ((refused(index), "is not shown"), (1 / index, "may be zero"), (index - 1, "is not shown")):
        with pytest.raises(Rejected, match=why):
            inside.require_nonnegative(number)


@pytest.mark.parametrize("enter", [enter_step, enter_models])
def test_places_are_entered_from_the_run_where_clients_do_the_same_work(
    enter: Callable[[TermContext], TermContext],
) -> None:
    """Places are entered from a run with equal work of all clients, not from a step or other rounds."""
    with pytest.raises(Rejected, match="is entered from the whole run"):
        enter(enter_step(RUN))
    for missing in WORK:
        fewer = replace(CLAIM, assumptions=tuple(one for one in WORK if one is not missing))
        with pytest.raises(Rejected, match="need the same local work"):
            enter(context_of_run(fewer, _prove_nothing))


def test_a_round_has_at_least_one_step() -> None:
    """A round has at least one step, also if a claim counts local steps only."""
    counted = sp.Symbol("K", positive=True)
    claim = replace(CLAIM, rhs=eta * counted, where={d: q.max_drift, eta: q.local_step_size, counted: q.iterations})
    inside = enter_step(context_of_run(claim, _prove_nothing))
    steps = inside.process.steps
    assert inside.require_nonnegative(steps - 1) == steps - 1
    with pytest.raises(Rejected, match="is not shown"):
        inside.require_nonnegative(steps - 2)


def test_weighted_means_are_not_read_without_their_weights() -> None:
    """Weighted averages over rounds or steps stay symbols; a plain average is a sum over both."""
    weighted = [
        entry.quantity
        for entry in vocabulary()
        if isinstance(entry.quantity, RunQuantity)
        and entry.quantity.term is not None
        and any(over.weights is not None for over in entry.quantity.term.over)
    ]
    assert q.discounted_suboptimality in weighted
    for quantity in weighted:
        symbol = RUN.symbols(quantity)
        assert RUN.process.unfold(symbol) == symbol
    assert RUN.process.unfold(RUN.symbols(q.average_suboptimality)).atoms(RangeSum)


def test_a_maximum_over_steps_needs_the_same_work() -> None:
    """The largest drift is a maximum over common steps; without these it bounds nothing at a step."""
    inside = enter_step(RUN)
    value = d - BelowMaximum(d).check(inside).expression
    assert value.free_symbols == {inside.symbols(q.local_iterate), inside.symbols(q.average_iterate)}
    fewer = replace(inside, claim=replace(CLAIM, assumptions=WORK[1:]))
    with pytest.raises(Rejected, match="need the same local work"):
        BelowMaximum(d).check(fewer)
    with pytest.raises(Rejected, match="bounds values in expectation"):
        BelowMaximum(d).check(replace(inside, reading="path"))


@pytest.mark.parametrize(
    ("quantity", "indices"),
    [
        (q.suboptimality_at_step, (STEP, ROUND)),
        (q.round_drift, (ROUND,)),
        (q.max_drift, ()),
        (q.local_steps, ()),
    ],
)
def test_values_of_the_present_step_have_no_other_index(quantity: RunQuantity, indices: tuple[sp.Symbol, ...]) -> None:
    """Values of the present step cannot be moved to another index; numbers of the run are constant."""
    process, symbol = RUN.process, RUN.symbols(quantity)
    for index in (STEP, ROUND):
        assert process.depends_on(symbol, index) == (index in indices)
        if index in indices:
            with pytest.raises(Rejected, match="are known at the present round or step alone"):
                process.substitute(2 * symbol, index, sp.S.Zero)
        else:
            assert process.substitute(2 * symbol, index, sp.S.Zero) == 2 * symbol
    assert process.is_fixed(symbol) == (not indices)


def test_relations_at_late_steps_are_not_summed_over_all() -> None:
    """A relation that holds after e steps is not summed over all steps, since the sum may be false."""
    claim = use_plain_symbols(find("vlaski2023:eq-5.53.way"))
    context = context_of_vectors(claim, claim.relations[1], _prove_nothing)
    symbol, e = context.symbols, context.index
    apart = symbol(q.local_iterate) - symbol(q.server_model)
    steps = symbol(q.client_local_steps)
    square = SumOver("steps of a client", sp.S.One, Axiom("square", (apart,)))
    assert square.check(context).expression == LocalSum(norm_sq(apart))
    assumed = SumOver("steps of a client", sp.S.One, Hypothesis(HYPOTHESIS))
    total = Combine(steps - steps * (steps - 1) / 2, ">=", (Weighted(sp.S.One, assumed), Weighted(sp.S.One, square)))
    false = InductSteps(norm_sq(apart), 1 - e, 1 - e, False, base=Sign(sp.S.One), step=total)
    with pytest.raises(Rejected, match="at the present step alone"):
        false.check(context)
    for term in (total, square):
        for place in ("induction", "start"):
            with pytest.raises(Rejected, match="at the present step alone"):
                term.check(replace(context, place=place))


def test_numbers_of_later_steps_are_not_summed_over_all() -> None:
    """A sign that holds after a step is not used in a sum over all steps."""
    inside = enter_step(RUN)
    later = replace(inside, numbers=replace(inside.numbers, at_least={**inside.numbers.at_least, inside.index: 1}))
    assert Sign(inside.index - 1).check(later).expression == inside.index - 1
    with pytest.raises(Rejected, match="at the present step alone"):
        SumOver("steps of a client", sp.S.One, Sign(inside.index - 1)).check(later)
    with pytest.raises(Rejected, match="at the present step alone"):
        SumOver("steps of a client", sp.S.One, Sign(inside.index)).check(
            inside.with_hypothesis(HYPOTHESIS, Proved(inside.index))
        )
    assert SumOver("steps of a client", sp.S.One, Sign(inside.index)).check(inside).expression == LocalSum(inside.index)


def test_a_bound_on_the_drift_is_a_number_of_the_claim_after_any_step() -> None:
    """A bound on the drift is a finite number after every step, equal in all rounds, of named quantities."""
    inside = enter_step(RUN)
    refused = {
        1 / inside.index: "may be zero",
        inside.symbols(q.second_moment): "is not a number that the claim defines",
        sp.Symbol("anything"): "is not a number that the claim defines",
        inside.process.rounds - inside.index: "at the start: what is shown",
    }
    for bound, why in refused.items():
        term = InductDrift("spread", "mean", bound, base=Sign(sp.S.One), step=Sign(sp.S.One))
        with pytest.raises(Rejected, match=why):
            term.check(inside)


@pytest.mark.parametrize(
    ("condition", "stands"),
    [(sp.Eq(tau, 1, evaluate=False), True), (tau >= 1, False), (tau > 1, False), (sp.Ne(tau, 1), False)],
)
def test_a_number_is_known_to_be_zero_by_an_equation_alone(condition: sp.Expr, stands: bool) -> None:
    """Without later local steps there is no drift, by an equation; an inequality is not enough."""
    where = {d: q.average_round_drift, tau: q.local_steps}
    known = (*WORK, a.uniform_shares)
    claim = Claim(id="mine:none", lhs=d, rhs=0, where=where, assumptions=known, conditions=[condition])
    certificate = Combination(claim=claim.id, links=[[Part(-sp.S.One, NO_LATER_STEP)]])
    assert (check_certificate(claim, certificate).verdict == "proved") is stands
