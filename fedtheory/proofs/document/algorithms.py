"""The algorithm of a claim in documents: its symbols and the digest of its definition."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.claim import Claim
from fedtheory.proofs import definitions
from fedtheory.proofs.definitions import definition_of, names_of, state
from fedtheory.runfile.definitions import is_user_defined

_SHARED = {
    "optimum": definitions.OPTIMUM,
    "objective": definitions.OBJECTIVE,
    "client_objective": definitions.CLIENT_OBJECTIVE,
    "noise": definitions.NOISE,
    "start": definitions.START,
    "heard": definitions.HEARD,
}


def digest_definition(claim: Claim) -> str | None:
    """Return the digest of the user's definition that a claim is about; None if there is none."""
    named = names_of(claim)
    return definition_of(claim).digest if len(named) == 1 and any(map(is_user_defined, named)) else None


def symbols(claim: Claim) -> dict[str, sp.Symbol]:
    """Return the symbols of certificates about the claim's algorithm, by their names in documents."""
    if len(names_of(claim)) != 1:
        return {}
    algorithm = definition_of(claim)
    own = {f"vector.{of.name}": state(of) for of in (*algorithm.server, *algorithm.client)}
    return own | {f"algorithm.{name}": one for name, one in _SHARED.items()}
