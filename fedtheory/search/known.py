"""Searches for bounds on runs that are sums of multiples of proved claims and facts, and a non-negative number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import Exhausted, limit_work, spend
from fedtheory.language.claim import Claim
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.differences import split_differences
from fedtheory.search.nearest import explain_assumptions, explain_misfit
from fedtheory.search.positivity import SignFacts, split_into_products, split_into_squares, split_pairs, split_quickly
from fedtheory.search.premises import (
    KnownClaim,
    adopt_symbols,
    find_known_claims,
    list_fact_premises,
    list_lacking_quantities,
    list_premises,
    make_premise,
    use_known_claim,
)
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.remainders import (
    Remainder,
    list_remainders,
    make_goal,
    prove_conditions,
    prove_remainder,
    search_products,
)
from fedtheory.search.restated import restate_cases, reuse_certificate
from fedtheory.search.workspace import Workspace


def search_known(claim: Claim) -> Found | NotFound:
    """Search for a proof of a bound on a run from proved claims about the same quantities.

    Quick tests run for all known claims before any linear program.
    """
    unfit = _explain_unfit(claim)
    if unfit is not None:
        return NotFound(unfit)
    candidates = find_known_claims(use_plain_symbols(claim))
    if not candidates:
        return _search_facts(claim)
    seen: list[Remainder] = []
    others: list[KnownClaim] = []
    for known in candidates:
        before = len(seen)
        for remainder in _list_remainders(claim, known):
            found = _prove_quickly(remainder)
            if found is not None:
                return found
            seen.append(remainder)
        if len(seen) == before:
            others.append(known)
    result = search_products(seen) if seen else explain_misfit(claim, candidates)
    return result if isinstance(result, Found) else _search_without_bounds(claim, others) or result


def _prove_quickly(remainder: Remainder) -> Found | None:
    """Return a proof if the remainder is non-negative by parts, by pairs of terms, by its terms, or by squares."""
    # Without known bounds, other families often prove the claim with less work.
    prove = prove_remainder if remainder.parts else _prove_within_limit
    return (
        prove(remainder, remainder.written, split_differences)
        or prove(remainder, remainder.written, split_pairs)
        or prove(remainder, remainder.number, split_quickly)
        or _prove_within_limit(remainder, remainder.number, split_into_squares)
    )


_MOST_QUICK = 10**7
"""Limit on the work of an attempt: the signs of a long number may take all the work that other families need."""


def _prove_within_limit(
    remainder: Remainder, number: Expr, split: Callable[[Expr, SignFacts], list[Expr] | None]
) -> Found | None:
    """Return the proof by the summands of a remainder; None if none are found, or only with much work."""
    with limit_work(_MOST_QUICK) as meter:
        try:
            found = prove_remainder(remainder, number, split)
        except Exhausted:
            found = None
    spend(meter.spent)
    return found


def _search_without_bounds(claim: Claim, others: Sequence[KnownClaim]) -> Found | None:
    """Search for a proof by the certificate of a known claim whose bound does not fit, or from facts alone."""
    reused = next(filter(None, (reuse_certificate(claim, known) for known in others)), None)
    if reused is not None:
        return reused
    of_case = next(filter(None, (_search_cases_of(claim, known) for known in others)), None)
    if of_case is not None:
        return of_case
    alone = _search_facts(claim)
    return alone if isinstance(alone, Found) else None


def _search_cases_of(claim: Claim, known: KnownClaim) -> Found | None:
    """Search for a proof from a known bound with a maximum, each argument of which is the largest in its case."""
    goal = make_goal(claim, list_lacking_quantities(claim, [known.claim]), known.missing)
    workspace = Workspace(goal.claim)
    names = restate_cases(workspace, known.claim.id)
    slacks = {name: workspace.proofs[name].claim.relations[0].slack for name in names}
    premises = (make_premise(name, known.claim.id, slack, goal.claim, ()) for name, slack in slacks.items())
    first = [one for one in premises if one is not None]
    found = list_remainders(replace(goal, workspace=workspace), first, list_fact_premises(goal.claim)) if first else ()
    return next(filter(None, map(_prove_quickly, found)), None)


def search_with_conditions(claim: Claim) -> Found | NotFound:
    """Search proved claims whose conditions follow only by lemmas of the document."""
    if _explain_unfit(claim) is not None or claim.for_all:
        return NotFound("it is not one inequality about a run")
    seen: list[Remainder] = []
    for known in find_known_claims(use_plain_symbols(claim)):
        goal = make_goal(claim, list_lacking_quantities(claim, [known.claim]), known.missing)
        workspace = Workspace(goal.claim)
        with suppress(Rejected):
            renamed = adopt_symbols(goal.claim, known.claim)
            given = None if renamed is None else prove_conditions(goal, workspace, renamed.conditions)
            # If no condition needs a lemma, `search_known` has tried the claim.
            if renamed is not None and given:
                first = [replace(premise, given=given) for premise in list_premises(goal.claim, renamed)]
                whole = replace(goal, workspace=workspace)
                seen += list_remainders(whole, first, list_fact_premises(goal.claim))
    found = (prove_remainder(one, one.number, split) for split in (split_quickly, split_into_products) for one in seen)
    return next(filter(None, found), NotFound("no proved claim has conditions that follow by products"))


def _search_facts(claim: Claim) -> Found | NotFound:
    """Search for a proof from facts alone, such as that a squared distance is not negative."""
    goal = make_goal(claim, [])
    facts = list_fact_premises(goal.claim)
    found = (prove_remainder(one, one.number, split_quickly) for one in list_remainders(goal, facts, ()))
    return next(filter(None, found), None) or explain_assumptions(claim)


def _explain_unfit(claim: Claim) -> str | None:
    """Return the reason why the search does not treat a claim; None if it does."""
    if claim.place != "run" or claim.rate is not None or len(claim.relations) != 1:
        return "it is not one inequality about a run"
    if claim.relations[0].operator not in ("<=", ">="):
        return "it is an equation or strict, which no combination of bounds shows"
    return None


def _list_remainders(claim: Claim, known: KnownClaim) -> Iterator[Remainder]:
    """Yield the remainders of combinations that use a known claim."""
    goal = make_goal(claim, list_lacking_quantities(claim, [known.claim]), known.missing)
    first = use_known_claim(goal.claim, known.claim)
    if first:
        yield from list_remainders(goal, first, list_fact_premises(goal.claim))
