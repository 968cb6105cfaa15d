"""What documents say of the algorithm that a claim is about: its letters, and which definition they are of."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.proofs import definitions
from fedtheory.proofs.definitions import definition_of, names_of, state
from fedtheory.runfile.definitions import is_own

_SHARED = {
    "optimum": definitions.OPTIMUM,
    "objective": definitions.OBJECTIVE,
    "client_objective": definitions.CLIENT_OBJECTIVE,
    "noise": definitions.NOISE,
    "start": definitions.START,
    "heard": definitions.HEARD,
}


def own_digest(claim: Claim) -> str | None:
    """What the definition in a file that a claim is about says; None where it is about none of these."""
    named = names_of(claim)
    return definition_of(claim).digest if len(named) == 1 and any(map(is_own, named)) else None


def letters(claim: Claim) -> dict[str, sp.Symbol]:
    """The letters of certificates about the claim's algorithm, by what a document calls them."""
    if len(names_of(claim)) != 1:
        return {}
    algorithm = definition_of(claim)
    own = {f"vector.{of.name}": state(of) for of in (*algorithm.server, *algorithm.client)}
    return own | {f"algorithm.{name}": one for name, one in _SHARED.items()}
