"""Searches for bounds on runs by chains of published bounds on several quantities.

The steps are those of the published proofs: drift and progress bound the error, noise and dissimilarity bound the
drift, and the initial distance bounds the progress.  Each step becomes a lemma of the document, with the assumptions of
the claim.  Conditions of a lemma that the kernel does not recognise as implied become lemmas as well.
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
from fedtheory.search.positivity import split_pairs, split_quickly
from fedtheory.search.premises import (
    PARAMETERS,
    LinearPremise,
    list_fact_premises,
    list_supposable,
    make_premise,
)
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.remainders import (
    Goal,
    Remainder,
    list_remainders,
    make_goal,
    prove_conditions,
    prove_remainder,
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
"""Counts that a step may name although the claim does not: every run has them, and they are at least one."""
_OF_FACTS = tuple(
    one.name for one in (q.total_progress, q.initial_distance, q.final_distance_sq, q.total_descent, q.initial_gap)
)
"""Quantities that facts relate to those of steps."""
_NUMBERS = PARAMETERS.union(OF_CLIENTS)
"""Numbers of a run and of its clients: a step may name those that the claim names."""
_ITERATIONS = {"iterations": "(local_steps*rounds)"}
"""Replacement for the number of iterations, in lemmas for a claim that does not name it."""
_WITHOUT_NOISE = dict.fromkeys((q.noise_smoothness.name, q.comparator_noise.name, q.noise_at_optimum.name), "0")
"""Constants of smooth noise, which are zero for full gradients."""


@dataclass(frozen=True)
class _Step:
    """A published bound on one quantity, as a step of a chain."""

    name: str
    """Id of the published claim."""
    replacements: Mapping[str, str]
    """Names of quantities that are replaced in the lemma, with what replaces them."""
    row: str
    """The bounded quantity."""
    rows: frozenset[str]
    """Other quantities in the bound, which further steps have to bound."""
    numbers: frozenset[str]
    """Numbers of the run and its clients in the bound."""
    settings: Sequence[Assumption]
    """Assumptions of the published claim about the setting."""
    fits_noise: bool
    """Whether the bound holds with noise."""
    fits_full_gradients: bool
    """Whether the bound, as the lemma states it, names no constant that is zero for full gradients."""


def search_chains(claim: Claim) -> Found | NotFound:
    """Search for a proof by steps, for the claim as stated and then with an added assumption."""
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
    """Search for a proof by steps with some assumptions added."""
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
    """Search for a combination of premises that proves the goal and uses at least one of the first premises."""
    seen: list[Remainder] = []
    for remainder in list_remainders(goal, first, others):
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
    """Add a step as a lemma, and return it as a premise; return None if the kernel rejects it."""
    name = restate(workspace, step.name, step.replacements)
    return None if name is None else _make_premise(goal, workspace, name, step.name)


def _make_premise(goal: Goal, workspace: Workspace, name: str, label: str) -> LinearPremise | None:
    """Return a lemma as a premise, with further lemmas for conditions that the kernel does not recognise."""
    lemma = workspace.proofs[name].claim
    given = prove_conditions(goal, workspace, lemma.conditions)
    if given is None:
        return None
    return make_premise(name, label, lemma.relations[0].slack, goal.claim, given)


def _list_last_errors(goal: Goal, workspace: Workspace) -> list[LinearPremise]:
    """Return the bounds on the last iterate that follow from lemmas on the error after a step, as premises."""
    found = []
    for part in find_last_errors(workspace):
        slack_of_step = workspace.proofs[part.claim].claim.relations[0].slack
        slack_of_run = part.slack(symbols_of(goal.claim), slack_of_step)
        premise = make_premise(part.claim, part.label, slack_of_run, goal.claim, ())
        found += [] if premise is None else [replace(premise, part=part)]
    return found


def _list_rows(claim: Claim) -> tuple[str, ...]:
    """Return the quantities that the larger side of a claim bounds."""
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
    """Return the steps that bound the quantities of a claim, those that bound the quantities in these, and so on."""
    named = {quantity.name for quantity in claim.notation.values()}
    # Exponents that count local steps are written with the number of iterations.
    counts_iterations = q.iterations.name in named or has_power_of_rounds(claim)
    numbers = _COUNTS | named | ({q.iterations.name} if counts_iterations else set())
    if a.bounded_dissimilarity in claim.assumptions and q.gradient_dissimilarity.name in named:
        # The client average is at most the largest value; a lemma may name it although the claim does not.
        numbers |= {q.mean_dissimilarity.name}
    is_quiet = a.full_gradients in claim.assumptions
    # Weights of clients bound the variance of the average noise, which is zero for full gradients.
    numbers |= {q.largest_importance.name} if is_quiet else set()
    usable = [
        step
        for step in _collect_steps()
        if step.numbers <= numbers
        and counts_iterations != ("iterations" in step.replacements)
        and (step.fits_full_gradients if is_quiet else step.fits_noise)
    ]
    reached = set(_list_rows(claim))
    found: dict[tuple[str, frozenset[str]], _Step] = {}
    while True:
        more = {
            key: step
            for step in usable
            if step.row in reached
            and (key := (step.name, frozenset(step.replacements))) not in found
            and check_assumed(claim, step.settings, "").holds
        }
        if not more:
            return list(found.values())
        found |= more
        reached |= {name for step in more.values() for name in step.rows}


@cache
def _collect_steps() -> Sequence[_Step]:
    """Return the published claims that may be steps."""
    return tuple(step for claim in all_claims().values() for step in _list_steps_by(claim))


def _list_steps_by(claim: Claim) -> Iterator[_Step]:
    """Yield a proved bound as a step, also with other names for its quantities.

    A bound for any comparator is a step for the optimum as well.
    """
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
        replacements = {**point, **counts, **noise}
        renamed = {replacements.get(name, name): is_number for name, is_number in names.items()}
        numbers = frozenset(name for name, is_number in renamed.items() if is_number and name.isidentifier())
        (row,) = (replacements.get(name, name) for name in _list_rows(claim))
        rows = frozenset(name for name, is_number in renamed.items() if not is_number and name.isidentifier())
        yield _Step(
            claim.id, replacements, row, rows - {row}, numbers, settings, not noise, bool(noise) or not has_noise
        )


def _list_quantities(step: _Step) -> Iterator[str]:
    """Yield the quantities that the lemma of a step and its dependencies name."""
    texts = (step.replacements.get(name, name) for name in sorted(list_quantities_behind(step.name)))
    yield from (text for text in texts if text.isidentifier())
