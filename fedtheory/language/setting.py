"""The default setting of a user-defined claim without one: plain FedAvg, up to what its quantities require.

A quantity that only makes sense beyond a default removes it: a claim that counts participants is about sampled
clients, a claim with staleness about any clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption, Boundedness, Setting
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import import_parts
from fedtheory.language.quantities import Quantity
from fedtheory.language.quantities.quantity import PointQuantity, RunQuantity

PLAIN: tuple[Assumption, ...] = (a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step)
"""Plain FedAvg: synchronous rounds of all clients, equal weights, the same local work, and a server step of one."""

Lifted = Mapping[Assumption, Mapping[Quantity, Assumption | None]]
"""For parts of plain FedAvg, the quantities that remove them, and the assumption instead, if any."""


def list_removals(*quantities: Quantity) -> dict[Quantity, Assumption | None]:
    """Map quantities that remove a default to no replacement."""
    return dict.fromkeys(quantities)


def list_replacements(instead: Assumption, *quantities: Quantity) -> dict[Quantity, Assumption | None]:
    """Map quantities that replace a default to the assumption instead."""
    return dict.fromkeys(quantities, instead)


_DEFAULTS: Lifted = {
    a.every_client: {
        **list_replacements(a.uniform_sampling, q.participants, q.participates),
        **list_removals(q.sampling_variance),
    },
    a.importance_weights: {},
    a.synchronous: {},
    a.uniform_shares: list_removals(q.importance, q.largest_importance),
    a.same_local_work: {
        q.effective_step_size: a.normalised_steps,
        q.step_shift: a.decreasing_steps,
        q.client_step_size: None,
        q.client_local_steps: a.same_step_size,
    },
    a.server_step_of_one: {q.server_step_size: None},
    a.update_rule: {
        q.communication_probability: a.scaffnew,
        q.momentum: a.server_momentum,
        q.proximal_weight: a.fedprox,
        q.compression_variance: a.compressed,
        q.step_shift: None,
        **list_replacements(a.dsgd, q.mixing_contraction, q.consensus_distance_sq, q.final_consensus_distance_sq),
    },
}
"""The parts of plain FedAvg; for each part the quantities that remove it, and the assumption instead, if any.

The first listed quantity that occurs in the claim decides."""


@cache
def _collect_defaults() -> Lifted:
    """Return the quantities that remove each default, including those of papers."""
    others = [part.LIFTED for part in import_parts("setting")]
    every = {default: dict(beyond) for default, beyond in _DEFAULTS.items()}
    for default, beyond in every.items():
        for other in others:
            beyond.update(other.get(default, {}))
    return every


_FULL = (a.every_client, a.importance_weights, a.synchronous)
_UNIT = (a.server_step_of_one, a.update_rule)


def with_setting(claim: Claim) -> Claim:
    """Return the claim with its default setting, if it names none, and with the assumptions of its constants."""
    claim = _add_assumptions_of_constants(claim)
    found = list_default_assumptions(claim)
    return replace(claim, assumptions=(*found, *claim.assumptions), supposed=found) if found else claim


def _add_assumptions_of_constants(claim: Claim) -> Claim:
    """Return the claim with the assumptions of its constants, so that it applies only where they are finite."""
    if claim.is_published:
        return claim
    used = (claim.notation[symbol] for symbol in sorted(claim.used_symbols, key=str) if symbol in claim.notation)
    brought = (quantity.assumption for quantity in used if isinstance(quantity, RunQuantity))
    added = [one for one in brought if isinstance(one, Boundedness) and one not in claim.assumptions]
    own = tuple(dict.fromkeys(added))
    return replace(claim, assumptions=(*claim.assumptions, *own), of_constants=own) if own else claim


def list_default_assumptions(claim: Claim) -> tuple[Assumption, ...]:
    """Return the default setting of a user-defined claim; empty if it names one, and for published claims.

    For a statement about points only the weights of the objective matter.
    """
    if claim.is_published or not claim.is_testable or any(isinstance(one, Setting) for one in claim.assumptions):
        return ()
    if claim.place != "points":
        return _condense([one for one in _map_parts(claim).values() if one is not None])
    speaks_of_runs = any(not isinstance(quantity, PointQuantity) for quantity in claim.notation.values())
    is_lifted = a.uniform_shares in list_extensions(claim)
    return (a.uniform_shares,) if speaks_of_runs and not is_lifted else ()


def list_extensions(claim: Claim) -> tuple[Assumption, ...]:
    """Return the parts of plain FedAvg that the quantities of a claim remove, as they have no meaning there."""
    return tuple(default for default, instead in _map_parts(claim).items() if instead is not default)


def _map_parts(claim: Claim) -> dict[Assumption, Assumption | None]:
    """Map each part of plain FedAvg to the part itself if a claim keeps it, else to its replacement."""
    quantities = set(claim.notation.values())
    return {
        default: next((instead for quantity, instead in beyond.items() if quantity in quantities), default)
        for default, beyond in _collect_defaults().items()
    }


def _condense(parts: list[Assumption]) -> tuple[Assumption, ...]:
    """Merge the parts into full participation and a unit server step; omit each part that follows from another."""
    if a.uniform_sampling in parts:
        # Unit server step includes waiting rounds and client weights, which a quantity may have removed.
        is_plain = all(one in parts for one in (a.importance_weights, a.synchronous))
        left = (a.importance_weights, a.synchronous) if is_plain else (a.uniform_sampling,)
        parts = [one for one in parts if one not in left]
    for together, one in ((_FULL, a.full_participation), (_UNIT, a.unit_server_step)):
        if all(part in parts for part in together):
            parts = [one if part is together[0] else part for part in parts if part not in together[1:]]
    return tuple(dict.fromkeys(parts))


def format_setting(claim: Claim) -> str:
    """Return the Python argument that states a claim's assumptions, as in ``assumptions=[a.full_participation]``."""
    return f"assumptions=[{', '.join(_list_names(claim))}]"


def describe_setting(claim: Claim) -> str:
    """Describe the default setting: plain FedAvg, or the part of it that the claim's quantities leave."""
    parts = ", ".join(assumption.name for assumption in claim.supposed)
    return "plain FedAvg" if claim.supposed == PLAIN else f"plain FedAvg extended by its quantities ({parts})"


def list_setting_facts(claim: Claim) -> dict[str, str]:
    """Return the setting for cards: the line that states it, if it is assumed by default."""
    return {"assumed setting": f"{describe_setting(claim)}; {format_setting(claim)}"} if claim.supposed else {}


def _list_names(claim: Claim) -> Iterator[str]:
    """Yield the assumptions of a claim as they are written in Python."""
    names = {getattr(a, name): name for name in a.__all__}
    for assumption in claim.assumptions:
        if assumption in claim.of_constants:
            continue
        yield f"a.{names[assumption]}" if assumption in names else f"<{assumption.name}>"
