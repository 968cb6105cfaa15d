"""Selects the search for the proof of a claim, and limits its work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected
from fedtheory.kernel.work import Exhausted, limit_work
from fedtheory.language.claim import Claim, Place
from fedtheory.proofs.cases import list_extremes
from fedtheory.proofs.restatements import list_exponentials
from fedtheory.search.cases import Search, search_cases
from fedtheory.search.certificate_terms import search_terms
from fedtheory.search.chains import search_chains
from fedtheory.search.known import search_known, search_with_conditions
from fedtheory.search.lyapunov import search_lyapunov
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.reductions import list_linked, search_reduced
from fedtheory.search.restatements import has_roots, search_powers, search_smaller_powers, search_squares

EFFORT = 2 * 10**8
"""Default limit on the counted work of a search, which takes some seconds."""


def _search_run(claim: Claim) -> Found | NotFound:
    """Search proved claims about the same quantities, then the other families of proofs.

    Without a proof, the result is that of the proved claims, which names the closest bound.  Inequalities between
    vectors come last, for papers that define the quantities by vectors.
    """
    known = search_known(claim)
    if isinstance(known, Found):
        return known
    later = (
        search_lyapunov,
        search_chains,
        _search_linked,
        search_with_conditions,
        _search_with_smaller_powers,
        _search_in_vectors,
    )
    try:
        return next((found for family in later if isinstance(found := family(claim), Found)), known)
    except Exhausted:
        # The closest bound is reported even if the budget ended.
        return replace(known, reason=_EXHAUSTED, is_exhausted=True)


_EXHAUSTED = "the search used all of its budget"


def _search_linked(claim: Claim) -> Found | NotFound:
    """Search for a bound on another quantity, from which a fact gives the claim."""
    return search_reduced(claim, list_linked(claim), lambda other: _first_found(other, (search_known, search_chains)))


def _search_with_smaller_powers(claim: Claim) -> Found | NotFound:
    """Search for a bound with the powers of known bounds."""
    return search_smaller_powers(claim, _search_bounds)


def _search_with_powers(claim: Claim) -> Found | NotFound:
    """Search for a bound with powers for its exponentials."""
    return search_powers(claim, _search_bounds)


def _search_bounds(claim: Claim) -> Found | NotFound:
    """Search known bounds, chains of steps, and bounds on other quantities."""
    return _first_found(claim, (search_known, search_chains, _search_linked))


def _first_found(claim: Claim, families: Sequence[Search]) -> Found | NotFound:
    """Return the first proof that some families of proofs find, or the reason of the last."""
    found: Found | NotFound = NotFound("no family of proofs is tried")
    for family in families:
        found = family(claim)
        if isinstance(found, Found):
            break
    return found


def _search_in_vectors(claim: Claim) -> Found | NotFound:
    """Search for a proof by inequalities between vectors."""
    return _try(claim, search_terms)


def _try(claim: Claim, family: Search) -> Found | NotFound:
    """Search a family of proofs; a statement that it rejects is not found."""
    try:
        return family(claim)
    except (Rejected, InputError) as reason:
        return NotFound(str(reason))


def _search_with_extremes(claim: Claim, family: Search) -> Found | NotFound:
    """Search known claims with the maxima and minima of a claim, and then for arguments in the place of one."""
    known = _search_quickly(claim)
    if isinstance(known, Found):
        return known
    return search_cases(claim, list_extremes(claim)[0], lambda case: _search_functions(case, family), _search_quickly)


def _search_quickly(claim: Claim) -> Found | NotFound:
    """Search known claims with the maxima and minima of a claim, or with arguments in their places."""
    if claim.place != "run":
        return NotFound("only bounds on a run are searched quickly")
    known = _try(claim, search_known)
    extremes = list_extremes(claim)
    if isinstance(known, Found) or not extremes:
        return known
    return search_cases(claim, extremes[0], _search_quickly, _search_quickly)


def _search_with_squares(claim: Claim, family: Search) -> Found | NotFound:
    """Search a family of proofs, and then for a proof between squares if the claim has square roots."""
    found = _try(claim, family)
    if isinstance(found, Found) or not has_roots(claim):
        return found
    squared = _try(claim, lambda other: search_squares(other, family))
    return squared if isinstance(squared, Found) else found


_FAMILIES: Mapping[Place, Search] = {
    "run": _search_run,
    **dict.fromkeys(("points", "step", "path", "round"), search_terms),
}


def _search_functions(claim: Claim, family: Search) -> Found | NotFound:
    """Search for a claim that may contain exponentials, maxima or minima."""
    if list_extremes(claim):
        return _search_with_extremes(claim, family)
    if list_exponentials(claim):
        return _first_found(claim, (_search_with_powers, _search_with_smaller_powers))
    return _search_with_squares(claim, family)


def find_proof(claim: Claim, effort: int = EFFORT) -> Found | NotFound:
    """Search for a certificate of a claim from its statement alone; a result has been accepted by the kernel.

    `effort` limits counted work, not seconds: the search has the same result on every machine.
    """
    family = _FAMILIES.get(claim.place)
    if family is None:
        return NotFound(f"no family of proofs is searched for statements about a {claim.place}")
    with limit_work(effort) as meter:
        try:
            found = _search_functions(claim, family)
        except (Rejected, InputError) as reason:
            found = NotFound(str(reason))
        except Exhausted:
            found = NotFound(_EXHAUSTED, is_exhausted=True)
        return replace(found, work=meter.spent)
