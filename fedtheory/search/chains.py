"""Bounds on runs by chains: bounds on several quantities, restated for the claim, and a non-negative number at the end.

The steps are those of the published proofs: the error is bounded by the drift and the progress, the drift by
the noise and the dissimilarity, the progress by the start.  Each step becomes a lemma of the document, with the
assumptions of the claim; conditions of a lemma that the kernel does not recognise become lemmas as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.assumptions.assumption import Setting
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.claim_context import with_iterations_in_powers
from fedtheory.proofs.document import with_quantities
from fedtheory.proofs.numbers import OF_CLIENTS, symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import check_assumed
from fedtheory.search.contractions import find_contractions, is_contracting, list_needed
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.positivity import split_pairs, split_quickly
from fedtheory.search.premises import (
    PARAMETERS,
    LinearPremise,
    list_fact_premises,
    list_supposable,
    make_premise,
)
from fedtheory.search.remainders import (
    Goal,
    Remainder,
    make_goal,
    prove_conditions,
    prove_remainder,
    remainders,
    search_products,
)
from fedtheory.search.restated import AT_OPTIMUM, AT_OPTIMUM_SAMPLED, list_quantities_behind, restate
from fedtheory.search.together import (
    find_last_errors,
    find_steps_together,
    has_power_of_rounds,
    is_together,
    list_needed_together,
)
from fedtheory.search.workspace import Workspace

_COUNTS = frozenset(one.name for one in (q.clients, q.local_steps, q.rounds))
"""Numbers that a bound may have although the claim does not name them: they are at least one."""
_OF_FACTS = tuple(
    one.name for one in (q.total_progress, q.initial_distance, q.final_distance_sq, q.total_descent, q.initial_gap)
)
"""Quantities that facts relate to those of steps."""
_NUMBERS = PARAMETERS.union(OF_CLIENTS)
"""Numbers of a run and of its clients: a step has those that a claim names."""
_ITERATIONS = {"iterations": "(local_steps*rounds)"}
_WITHOUT_NOISE = dict.fromkeys((q.noise_smoothness.name, q.comparator_noise.name, q.noise_at_optimum.name), "0")
"""Constants of smooth noise, which are zero for full gradients."""


@dataclass(frozen=True)
class _Step:
    """A published bound on one quantity, and the quantities for which its own are replaced in the lemma."""

    name: str
    words: Mapping[str, str]
    row: str
    """The bounded quantity."""
    rows: frozenset[str]
    """Quantities in the bound."""
    numbers: frozenset[str]
    settings: Sequence[Assumption]
    fits_noise: bool
    """Whether it may be used with noise."""
    fits_full_gradients: bool


def search_chains(claim: Claim) -> Found | NotFound:
    """Return a certificate with lemmas for a bound on a run.

    The claim is tried as stated first, then with more assumptions.
    """
    found: Found | NotFound = NotFound("no chain of known steps leads to its quantities")
    if not _is_fit(claim):
        return found
    for missing in ((), *((each,) for each in list_supposable(claim))):
        found = _search(claim, missing)
        if isinstance(found, Found):
            return found
    return found


def _is_fit(claim: Claim) -> bool:
    """Return whether a claim is one inequality that bounds quantities of a run."""
    is_single = claim.rate is None and not claim.for_all and len(claim.relations) == 1
    return is_single and claim.relations[0].operator in ("<=", ">=") and bool(_list_rows(claim))


def _search(claim: Claim, missing: Sequence[Assumption]) -> Found | NotFound:
    """Search for a proof from the steps of other claims."""
    steps = _select_steps(claim)
    wanted = _list_wanted(claim, steps)
    own = {quantity.name for quantity in {**claim.where, **claim.notation}.values()}
    goal = make_goal(claim, [name for name in wanted if name not in own], missing)
    plain = use_plain_symbols(with_quantities(goal.original, {"quantities": list(goal.quantities)}))
    workspace = Workspace(with_iterations_in_powers(plain, plain.conditions))
    goal = replace(goal, workspace=workspace)
    rows = _list_rows(claim)
    first: list[LinearPremise] = []
    others = list_fact_premises(goal.claim)
    for step in steps:
        premise = _add_premise(goal, workspace, step)
        if premise is not None:
            (first if step.row in rows else others).append(premise)
    if is_contracting(goal.original):
        first += _collect_premises(goal, workspace, find_contractions(workspace))
    if is_together(goal.original):
        lemmas = _collect_premises(goal, workspace, find_steps_together(workspace))
        last = _list_last_errors(goal, workspace) if q.final_suboptimality.name in rows else []
        first += last or lemmas
        others += lemmas
    return _combine(goal, first, others)


def _list_wanted(claim: Claim, steps: Sequence[_Step]) -> list[str]:
    """Return the names of the quantities that the lemmas of a claim may mention."""
    wanted = dict.fromkeys([*_OF_FACTS, *(name for step in steps for name in _list_quantities(step))])
    if is_contracting(claim):
        wanted |= dict.fromkeys(list_needed(claim))
    if is_together(claim):
        wanted |= dict.fromkeys(list_needed_together(claim))
    if has_power_of_rounds(claim):
        wanted |= {q.iterations.name: None}
    return list(wanted)


def _combine(goal: Goal, first: Sequence[LinearPremise], others: Sequence[LinearPremise]) -> Found | NotFound:
    """Search for a combination of premises that shows the goal."""
    seen: list[Remainder] = []
    for remainder in remainders(goal, first, others):
        found = prove_remainder(remainder, remainder.written, split_pairs) or prove_remainder(
            remainder, remainder.number, split_quickly
        )
        if found is not None:
            return found
        seen.append(remainder)
    return search_products(seen) if seen else NotFound("no chain of known steps leads to its quantities")


def _collect_premises(goal: Goal, workspace: Workspace, names: Iterable[str]) -> list[LinearPremise]:
    """Return the premises that the named lemmas give."""
    found = (_make_premise(goal, workspace, name, "a step that contracts") for name in names)
    return [premise for premise in found if premise is not None]


def _add_premise(goal: Goal, workspace: Workspace, step: _Step) -> LinearPremise | None:
    """Return a step as a premise, after adding it as a lemma."""
    name = restate(workspace, step.name, step.words)
    return None if name is None else _make_premise(goal, workspace, name, step.name)


def _make_premise(goal: Goal, workspace: Workspace, name: str, said: str) -> LinearPremise | None:
    """Return a lemma as a premise, with further lemmas for conditions that the kernel does not recognise."""
    lemma = workspace.proofs[name].claim
    given = prove_conditions(goal, workspace, lemma.conditions)
    if given is None:
        return None
    return make_premise(name, said, lemma.relations[0].slack, goal.claim, given)


def _list_last_errors(goal: Goal, workspace: Workspace) -> list[LinearPremise]:
    """Return the premises on the last iterate that follow from lemmas on the error after a step."""
    found = []
    for part in find_last_errors(workspace):
        slack_of_step = workspace.proofs[part.claim].claim.relations[0].slack
        slack_of_run = part.slack(symbols_of(goal.claim), slack_of_step)
        premise = make_premise(part.claim, part.label, slack_of_run, goal.claim, ())
        found += [] if premise is None else [replace(premise, part=part)]
    return found


def _list_rows(claim: Claim) -> tuple[str, ...]:
    """Return the quantities on the smaller side of a claim."""
    smaller, _ = claim.relations[0].ordered
    notation = claim.notation
    return tuple(
        dict.fromkeys(
            notation[symbol].name
            for symbol in smaller.free_symbols
            if symbol in notation and notation[symbol] not in PARAMETERS
        )
    )


def _select_steps(claim: Claim) -> list[_Step]:
    """Return the steps that lead from the quantity of a claim, with numbers that the claim names."""
    known = {quantity.name for quantity in claim.notation.values()}
    have = _COUNTS | known | ({q.iterations.name} if has_power_of_rounds(claim) else set())
    if a.bounded_dissimilarity in claim.assumptions and q.gradient_dissimilarity.name in known:
        # The client average is at most the largest value; a lemma may name it although the claim does not.
        have |= {q.mean_dissimilarity.name}
    is_quiet = a.full_gradients in claim.assumptions
    # Weights of clients bound the variance of the average noise, which is zero then.
    have |= {q.largest_importance.name} if is_quiet else set()
    # Exponents that count local steps are written with the number of iterations.
    counted = q.iterations.name in known or has_power_of_rounds(claim)
    reached = set(_list_rows(claim))
    found: dict[tuple[str, frozenset[str]], _Step] = {}
    while True:
        more = [
            step
            for step in _collect_steps()
            if step.row in reached
            and (step.name, frozenset(step.words)) not in found
            and step.numbers <= have
            and counted != ("iterations" in step.words)
            and check_assumed(claim, step.settings, "").holds
            and (step.fits_full_gradients if is_quiet else step.fits_noise)
        ]
        if not more:
            return list(found.values())
        for step in more:
            found[step.name, frozenset(step.words)] = step
            reached |= step.rows


@cache
def _collect_steps() -> Sequence[_Step]:
    """Return the steps of all claims."""
    return tuple(step for claim in all_claims().values() for step in _list_steps_by(claim))


def _list_steps_by(claim: Claim) -> Iterator[_Step]:
    """Yield a published bound as a step; if it holds for any comparator, also for the optimum."""
    is_bound = claim.verdict == "proved" and claim.place == "run" and claim.rate is None and not claim.for_all
    if not is_bound or len(claim.relations) != 1 or claim.relations[0].operator not in ("<=", ">="):
        return
    certificate = certificate_of(claim.id)
    if certificate is None or len(_list_rows(claim)) != 1:
        return
    names = {quantity.name: quantity in _NUMBERS for quantity in claim.notation.values()}
    settings = [one for one in claim.assumptions if isinstance(one, Setting)]
    compares = any(name in AT_OPTIMUM for name in names)
    at_optimum = AT_OPTIMUM_SAMPLED if a.averaged_participants in settings else AT_OPTIMUM
    points: Sequence[Mapping[str, str]] = ({}, at_optimum) if compares else ({},)
    has_noise = not _WITHOUT_NOISE.keys().isdisjoint(names)
    noises: Sequence[Mapping[str, str]] = ({}, _WITHOUT_NOISE) if has_noise else ({},)
    for point, counts, noise in product(points, ({}, _ITERATIONS), noises):
        words = {**point, **counts, **noise}
        renamed = {words.get(name, name): is_number for name, is_number in names.items()}
        numbers = frozenset(name for name, is_number in renamed.items() if is_number and name.isidentifier())
        (row,) = (words.get(name, name) for name in _list_rows(claim))
        rows = frozenset(name for name, is_number in renamed.items() if not is_number and name.isidentifier())
        yield _Step(claim.id, words, row, rows - {row}, numbers, settings, not noise, bool(noise) or not has_noise)


def _list_quantities(step: _Step) -> Iterator[str]:
    """Yield the quantities that a step and its dependencies name, after replacement."""
    words = (step.words.get(name, name) for name in sorted(list_quantities_behind(step.name)))
    yield from (word for word in words if word.isidentifier())
