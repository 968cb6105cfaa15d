"""Places that proof terms enter, by hand: indices from zero to the last step, and values that belong to one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.indexed import ROUND, STEP
from fedtheory.proofs.terms.places import context_of_run, enter_end, enter_models, enter_step
from fedtheory.proofs.terms.rules.maximum import BelowMaximum

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
    """A step is one of 0 .. tau - 1, models are those after 0 .. tau steps; nothing is divided by a number of steps."""
    inside = enter(RUN)
    index = inside.index
    assert inside.require_nonnegative(least(index)) == least(index)
    assert inside.require_nonnegative(1 / (index + 1)) == 1 / (index + 1)
    for number, why in ((refused(index), "is not shown"), (1 / index, "may be zero"), (index - 1, "is not shown")):
        with pytest.raises(Rejected, match=why):
            inside.require_nonnegative(number)


@pytest.mark.parametrize("enter", [enter_step, enter_models, enter_end])
def test_places_are_entered_from_the_run_where_clients_do_the_same_work(
    enter: Callable[[TermContext], TermContext],
) -> None:
    """Not from a step, and not where rounds may have other numbers of steps."""
    with pytest.raises(Rejected, match="is entered from the whole run"):
        enter(enter_step(RUN))
    for missing in WORK:
        fewer = replace(CLAIM, assumptions=tuple(one for one in WORK if one is not missing))
        with pytest.raises(Rejected, match="need the same local work"):
            enter(context_of_run(fewer, _prove_nothing))


def test_a_maximum_over_steps_needs_the_same_work() -> None:
    """The largest drift is one over common steps: of a claim without them it bounds nothing at a step."""
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
    """Moved to another round or step they would be other numbers of one name; numbers of the run stay."""
    process, symbol = RUN.process, RUN.symbols(quantity)
    for index in (STEP, ROUND):
        assert process.depends_on(symbol, index) == (index in indices)
        if index in indices:
            with pytest.raises(Rejected, match="are known at the present round or step alone"):
                process.at(2 * symbol, index, sp.S.Zero)
        else:
            assert process.at(2 * symbol, index, sp.S.Zero) == 2 * symbol
    assert process.is_fixed(symbol) == (not indices)
