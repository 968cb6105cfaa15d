"""The supposed setting of a user-defined claim that names none."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption, Setting
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import all_claims
from fedtheory.language.setting import PLAIN, describe_setting, format_setting, list_default_assumptions, with_setting
from fedtheory.language.targets import resolve
from fedtheory.language.vocabulary import list_assumptions

PLAIN_LINE = "assumptions=[a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step]"


def claim_about(*quantities: Quantity, assumptions: tuple[Assumption, ...] = ()) -> Claim:
    """Return a claim that mentions some quantities."""
    symbols = {sp.Symbol(f"s{n}", positive=True): quantity for n, quantity in enumerate(quantities)}
    return Claim(id="mine:claim", lhs=0, rhs=sp.Add(*symbols), where=symbols, assumptions=assumptions)


def test_a_claim_without_a_setting_is_about_plain_fedavg() -> None:
    """All four parts of plain FedAvg are supposed, with the line that states them."""
    claim = with_setting(claim_about(q.max_drift, q.local_steps, q.clients))
    assert claim.supposed == PLAIN
    assert tuple(claim.assumptions) == PLAIN
    assert format_setting(claim) == PLAIN_LINE
    assert describe_setting(claim) == "plain FedAvg"


OBJECTIVES = (a.full_gradients, a.convex_and_smooth, a.strongly_convex_clients, a.one_type, a.unbiased_bounded_variance)


@pytest.mark.parametrize("assumption", OBJECTIVES, ids=lambda one: str(one.name))
def test_objectives_and_gradients_are_no_setting(assumption: Assumption) -> None:
    """A claim about full gradients is one about plain FedAvg with full gradients."""
    claim = with_setting(claim_about(q.max_drift, assumptions=(assumption,)))
    assert claim.supposed == PLAIN
    assert tuple(claim.assumptions) == (*PLAIN, assumption)


@pytest.mark.parametrize("chapter", ["algorithms", "clocks", "participation", "steps", "turns", "weights"])
def test_every_assumption_of_a_chapter_on_settings_is_one(chapter: str) -> None:
    """A claim with an assumption on settings keeps it, and other settings are free."""
    found = [one for one in list_assumptions() if one.module.__name__.endswith(f".{chapter}")]
    assert found
    for one in found:
        assert isinstance(one.assumption, Setting), one.name
        claim = claim_about(q.max_drift, assumptions=(one.assumption,))
        assert list_default_assumptions(claim) == ()
        assert with_setting(claim) is claim


LIFTED = {
    q.participants: (a.uniform_sampling, a.uniform_shares, a.same_local_work, a.unit_server_step),
    q.server_step_size: (a.full_participation, a.uniform_shares, a.same_local_work, a.update_rule),
    q.largest_staleness: (
        *(a.every_client, a.importance_weights, a.uniform_shares),
        *(a.same_local_work, a.unit_server_step),
    ),
    q.largest_importance: (a.full_participation, a.same_local_work, a.unit_server_step),
    q.largest_aggregation_weight: (a.every_client, a.synchronous, a.same_local_work, a.unit_server_step),
    q.client_local_steps: (a.full_participation, a.uniform_shares, a.same_step_size, a.unit_server_step),
    q.client_step_size: (a.full_participation, a.uniform_shares, a.unit_server_step),
    q.effective_step_size: (a.full_participation, a.uniform_shares, a.normalised_steps, a.unit_server_step),
    q.step_shift: (a.full_participation, a.uniform_shares, a.decreasing_steps, a.server_step_of_one),
    q.mixing_contraction: (
        *(a.full_participation, a.uniform_shares, a.same_local_work),
        *(a.server_step_of_one, a.dsgd),
    ),
}


@pytest.mark.parametrize("quantity", LIFTED, ids=lambda one: str(one.name))
def test_a_quantity_lifts_the_default_beyond_which_it_has_a_meaning(quantity: Quantity) -> None:
    """A quantity that needs another setting removes only that default."""
    claim = with_setting(claim_about(q.final_suboptimality, quantity))
    assert claim.supposed == LIFTED[quantity]
    assert describe_setting(claim).startswith("plain FedAvg extended by its quantities (")


def test_quantities_lift_together() -> None:
    """A default that one quantity removes is not restored by another."""
    claim = with_setting(claim_about(q.participants, q.largest_importance, q.server_step_size))
    assert claim.supposed == (a.uniform_sampling, a.same_local_work, a.update_rule)
    both = with_setting(claim_about(q.client_local_steps, q.client_step_size))
    assert a.same_step_size not in both.supposed


def test_published_claims_keep_what_they_say() -> None:
    """Published claims have exactly the settings of their sources."""
    assert all(list_default_assumptions(claim) == () and resolve(claim) is claim for claim in all_claims().values())


def test_points_depend_on_the_weights_alone() -> None:
    """Points depend on the weights of the objective, if the statement has one; an inequality of vectors on nothing."""
    x, y, f = sp.symbols("x y F", real=True)
    bare = Claim(id="mine:points", place="points", lhs=x, rhs=y, where={x: q.point, y: q.second_point})
    assert list_default_assumptions(bare) == ()
    smooth = replace(bare, rhs=f, where={x: q.point, f: q.objective})
    assert list_default_assumptions(smooth) == (a.uniform_shares,)


def test_rates_have_a_setting_and_definitions_none() -> None:
    """Rates have a supposed setting; definitions are not tried."""
    rate = Claim(id="mine:rate", rate=Rate(q.average_suboptimality, 1 / q.rounds.symbol, q.rounds))
    assert list_default_assumptions(rate) == PLAIN
    assert list_default_assumptions(Claim(id="mine:definition", kind="definition")) == ()


def test_the_setting_is_supposed_once() -> None:
    """The supposed setting is not added twice."""
    claim = with_setting(claim_about(q.max_drift))
    assert with_setting(claim) is claim
    assert resolve(claim) is claim
    named = claim_about(q.max_drift, assumptions=PLAIN)
    assert resolve(named) is named


def test_the_line_names_an_assumption_of_ones_own() -> None:
    """The line names a user-defined assumption by its Python name."""
    small = Assumption("small", "the problem is small", lambda run: run.problem)
    assert (
        format_setting(with_setting(claim_about(q.max_drift, assumptions=(small,)))) == PLAIN_LINE[:-1] + ", <small>]"
    )
