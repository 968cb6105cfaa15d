"""Instances that are made for a claim cover every kind that the claim allows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau

from fedtheory import Claim, InputError
from fedtheory import assumptions as a
from fedtheory import quantities as q
from verify.check import check
from verify.falsify.counts import list_allowed_counts
from verify.falsify.generation import ASPECTS, KINDS, InstanceKind, classify_run, find_bases
from verify.targeted_instances import ENOUGH, count_missing, count_missing_aspects, evaluate_targeted
from verify.verdict import verify

mu = sp.Symbol("mu", positive=True)
CURVED = {**WHERE, mu: q.strong_convexity}
STEPS_OF_ONE = eta * sigma**2 / (mu * M) + 2 * L * eta**2 * (tau - 1) * sigma**2 / mu
FORGETFUL = Claim(
    id="mine:forgetful",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** (tau * T) * D**2 + STEPS_OF_ONE,
    where=CURVED,
    conditions=[eta <= 1 / (4 * L), mu > 0],
)
"""A claim that is false for clients of different curvatures, which few members of the families show."""
ONE_STEP = Claim(
    id="mine:one-step",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** (2 * T) * D**2 + eta * sigma**2 / (mu * M),
    where=CURVED,
    conditions=[eta <= 1 / L, sp.Eq(tau, 1)],
)
"""A true claim: a gradient step of the mean contracts, and only its noise is added."""


def test_instances_refute_a_bound_without_differing_curvatures() -> None:
    """From the optimum, with exact gradients and several steps, all of its terms vanish: made runs violate it."""
    made = evaluate_targeted(
        [FORGETFUL],
        InstanceKind("curvatures that differ", noisy=False, many_steps=True, at_optimum=True),
        5,
        find_bases(FORGETFUL),
    )
    violated = next(outcome for outcome in made if outcome.holds is False)
    assert check(FORGETFUL, violated.instance.run()).holds is False


@pytest.mark.slow
def test_the_verdict_follows_from_the_instances_that_were_made() -> None:
    """Without any search the forgetful bound is refuted by an exact run, the true one supported."""
    false, true = verify([FORGETFUL, ONE_STEP], search=0)
    assert false.verdict == "refuted"
    assert false.evidence is not None
    assert false.evidence.arithmetic.is_rigorous
    assert true.verdict == "supported"
    assert true.instances >= ENOUGH
    assert true.lacking["several local steps"] == 0


@pytest.mark.parametrize("kind", KINDS[::5], ids=lambda kind: ", ".join(kind.words))
def test_made_instances_are_of_their_kind(kind) -> None:
    """Made instances are exact runs of the kind that was requested, on which the claim applies, the same each time."""
    made, again = (evaluate_targeted([ONE_STEP], kind, 3, find_bases(ONE_STEP)) for _ in range(2))
    assert len(made) == (0 if kind.many_steps else 3)
    assert all(outcome.applicable and outcome.exact and outcome.holds for outcome in made)
    assert [classify_run(outcome.instance.run()) for outcome in made] == [kind] * len(made)
    assert [outcome.ratio for outcome in made] == [outcome.ratio for outcome in again]


def test_an_assumption_with_a_family_of_its_own_does_not_hide_the_others() -> None:
    """Strong convexity stands with sampled clients in a source; a user-defined claim may have all of them."""
    everybody = [a.strongly_convex_clients, a.full_participation, a.unit_server_step]
    claim = replace(ONE_STEP, id="mine:everybody", assumptions=everybody)
    kind = InstanceKind("curvatures that differ", noisy=True, many_steps=False, at_optimum=False)
    assert len(evaluate_targeted([claim], kind, 10, find_bases(claim))) == 10


def test_claims_share_what_is_made_for_the_first_of_them() -> None:
    """Each claim has an outcome on every made instance to which it applies."""
    kind = InstanceKind("one client", noisy=True, many_steps=False, at_optimum=False)
    false = replace(ONE_STEP, id="mine:too-small", rhs=D**2 / 10**6)
    elsewhere = replace(ONE_STEP, id="mine:elsewhere", conditions=[M >= 2])
    alone = evaluate_targeted([ONE_STEP], kind, 3, find_bases(ONE_STEP))
    together = evaluate_targeted([ONE_STEP, false, elsewhere], kind, 3, find_bases(ONE_STEP))
    assert [(o.instance.run().summary(), o.ratio) for o in together if o.target is ONE_STEP] == [
        (o.instance.run().summary(), o.ratio) for o in alone
    ]
    assert [o.holds for o in together if o.target is false] == [False] * 3
    assert not [o for o in together if o.target is elsewhere]


def test_missing_instances_complete_every_aspect() -> None:
    """With what is missing, each aspect has about as many instances as are enough; with enough, nothing is missing."""
    wanted = count_missing([])
    count = Counter(word for kind, number in wanted for word in [*kind.words] * number)
    assert set(count) == set(ASPECTS)
    assert min(count.values()) >= 0.9 * ENOUGH
    assert count_missing([kind for kind, number in wanted for _ in range(number)]) == []
    assert count_missing_aspects([]) == dict.fromkeys(ASPECTS, 0)


def test_the_kinds_that_are_left_share_what_is_missing() -> None:
    """If a claim leaves four kinds, each aspect of these gets enough instances all the same."""
    left = [kind for kind in KINDS if kind.clients == "one client" and not kind.many_steps]
    count = Counter(word for kind, number in count_missing([], left) for word in [*kind.words] * number)
    assert set(count) == {word for kind in left for word in kind.words}
    assert min(count.values()) >= ENOUGH


GRADIENT_DESCENT = [a.one_client, a.full_gradients, a.strongly_convex_clients, a.full_rounds, a.unit_server_step]
BEST_STEP = Claim(
    id="mine:best-step",
    lhs=q.final_distance_sq,
    rhs=((L - mu) / (L + mu)) ** (2 * T) * D**2,
    where=CURVED,
    conditions=[sp.Eq(tau, 1), sp.Eq(eta, 2 / (mu + L))],
    assumptions=GRADIENT_DESCENT,
)
"""The classical rate of gradient descent with its best step size, which no family contains."""
TOO_FAST = replace(BEST_STEP, id="mine:too-fast", rhs=((L - mu) / (L + mu)) ** (4 * T) * D**2)


def test_instances_satisfy_equations_of_the_step_size() -> None:
    """The step size is solved for: each of the runs has it exactly, and each turn makes other ones."""
    kind = InstanceKind("one client", noisy=False, many_steps=False, at_optimum=False)
    first, second = (evaluate_targeted([BEST_STEP], kind, 20, find_bases(BEST_STEP), turn) for turn in (0, 1))
    assert len(first) == len(second) == 20
    for outcome in (*first, *second):
        run = outcome.instance.run()
        assert run.algorithm.work.step_sizes[0] * (run.strong_convexity + run.smoothness) == 2
        assert outcome.holds
    assert [o.instance for o in first] != [o.instance for o in second]


@pytest.mark.parametrize(
    ("condition", "count_of", "allowed"),
    [
        (sp.Eq(T, 10), lambda run: run.algorithm.rounds, {10}),
        (sp.Eq(tau, 5), lambda run: max(run.algorithm.work.steps), {5}),
        (sp.Ge(tau, 7), lambda run: max(run.algorithm.work.steps), {7, 8, 9, 10}),
        (sp.Eq(M, 5), lambda run: run.problem.clients, {5}),
        (sp.Gt(M**2, 30), lambda run: run.problem.clients, {6, 7, 8, 9}),
    ],
    ids=["T = 10", "tau = 5", "tau >= 7", "M = 5", "M^2 > 30"],
)
def test_instances_have_the_counts_that_conditions_ask_for(condition, count_of, allowed) -> None:
    """Rounds, local steps and clients are those that a condition on them alone allows, the smallest ones."""
    claim = Claim(id="mine:counts", lhs=q.final_distance_sq, rhs=2 * D**2 + 10**6, where=CURVED, conditions=[condition])
    kind = InstanceKind("pulls that differ", noisy=True, many_steps=True, at_optimum=False)
    made = evaluate_targeted([claim], kind, 12, find_bases(claim))
    assert len(made) == 12
    assert {count_of(outcome.instance.run()) for outcome in made} <= allowed


def test_counts_that_conditions_exclude_are_not_made() -> None:
    """A claim about five clients has no instance with one; one about many rounds keeps the runs that are drawn."""
    one = InstanceKind("one client", noisy=False, many_steps=False, at_optimum=False)
    five = replace(ONE_STEP, id="mine:five", conditions=[*ONE_STEP.conditions, sp.Eq(M, 5)])
    assert evaluate_targeted([five], one, 5, find_bases(five)) == []
    assert list_allowed_counts(five, q.clients) == (5,)
    assert list_allowed_counts(five, q.local_steps) == (1,)
    assert list_allowed_counts(five, q.rounds) == ()
    long = replace(ONE_STEP, id="mine:long", conditions=[sp.Ge(T, 10**6), sp.Ge(T, M)])
    assert list_allowed_counts(long, q.rounds) == ()


@pytest.mark.long
def test_one_client_and_one_step_are_enough() -> None:
    """A textbook bound has its instances though only one kind of clients is left; a false one is refuted."""
    true, false = verify([BEST_STEP, TOO_FAST], search=0)
    assert true.verdict == "supported"
    assert true.instances >= ENOUGH
    assert true.worst_ratio == 1
    assert false.verdict == "refuted"


@pytest.mark.long
def test_few_instances_support_nothing() -> None:
    """If hardly a run satisfies the conditions the verdict is not "supported", and says so."""
    rare = Claim(id="mine:rare", lhs=q.max_drift, rhs=10**9, where=CURVED, conditions=[T >= 30])
    found = verify(rare)[0]
    assert 0 < found.instances < ENOUGH
    assert found.is_thin
    assert found.verdict == "undecided"


@pytest.mark.long
def test_claims_that_are_given_themselves() -> None:
    """A list of claims or one claim is accepted; anything else is an error that says what is expected."""
    wrong = replace(ONE_STEP, rhs=D**2, conditions=[])
    assert [(found.target, found.verdict) for found in verify([wrong])] == [("mine:one-step", "refuted")]
    assert verify(wrong)[0].given is wrong
    with pytest.raises(InputError, match=r"expected ids, file\.py:NAME or claims, got 3"):
        verify([3])
    with pytest.raises(InputError, match="rhs"):
        verify([Claim(id="mine:text", lhs=q.max_drift, rhs="eta", where=CURVED)])
