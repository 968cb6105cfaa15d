"""Families of instances: exact rational runs on which claims are tried.

An instance is named by its family and a number, so that any process can build it again. To add a family, write a
function of a number, decorate it with `family`, and list its module here or put it into the folder ``instances`` of a
paper. A family for an assumption is used by the claims that make this assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from fedtheory.arithmetic import ENCLOSED
from fedtheory.engine.run import Run
from fedtheory.federation.losses.problem import LossProblem
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import Assumption
from fedtheory.language.assumptions.algorithms import OfAlgorithm
from fedtheory.language.claim import Claim
from fedtheory.language.families import FAMILIES, PARTS, Family, Given, Instance
from fedtheory.language.paper_parts import list_module_names
from fedtheory.language.registry import is_of_the_package
from fedtheory.language.schedules import StepSizes
from fedtheory.language.setting import list_extensions
from fedtheory.runfile import run_table, run_toml
from verify.instances.schedules import register_families
from verify.instances.user_algorithms import own_families

__all__ = [
    "FAMILIES",
    "PARTS",
    "Complexity",
    "Family",
    "Given",
    "Instance",
    "assumes_only_smoothness",
    "complexity",
    "families_for",
]

_MODULES = [f"{__name__}.{own}" for own in ("algorithms", "general", "losses", "nonconvex")]
for _module in sorted((*_MODULES, *list_module_names("instances")), key=lambda name: name.rpartition(".")[2]):
    # Families are sorted by module name, independent of their folder; searches begin with the first ones.
    import_module(_module)

Complexity = tuple[bool, bool, int, int, int]


@cache
def families_for(claim: Claim) -> tuple[str, ...]:
    """Return the names of the families on which a claim is tried; none for a definition.

    A claim is tried on the families for its assumptions. A user-defined claim is also tried on the general families and
    on those for its quantities, as its combination of assumptions may be new. Claims that assume smoothness without
    convexity are also tried on nonconvex objectives.
    """
    if not claim.is_testable:
        return ()
    return (*_list_families(claim), *_list_nonconvex_families(claim))


def _list_families(claim: Claim) -> tuple[str, ...]:
    if claim.rate is None and (stated := register_families(claim)):
        return tuple(stated)
    is_own = not (claim.is_published and is_of_the_package(claim.source))
    is_on_fedavg = not _is_of_another_algorithm(claim)
    meant = (*claim.assumptions, *(_list_implied_settings(claim) if is_own and is_on_fedavg else ()))
    of_kind = (family for family in FAMILIES.values() if family.for_rates == (claim.rate is not None))
    suiting = [family for family in of_kind if family.meant_for is not a.smooth]
    special = [family.name for family in suiting if family.meant_for in meant]
    special += own_families(claim) if claim.rate is None else []
    if special and not (is_own and is_on_fedavg):
        return tuple(special)
    general = [family for family in suiting if family.meant_for is None]
    return (*special, *(f.name for f in general if claim.place == "run" or f.for_rates or not f.in_floats))


def _list_nonconvex_families(claim: Claim) -> tuple[str, ...]:
    """Return the families for claims that assume smoothness without convexity."""
    if claim.rate is not None or not assumes_only_smoothness(claim) or _is_of_another_algorithm(claim):
        return ()
    return tuple(family.name for family in FAMILIES.values() if family.meant_for is a.smooth)


def assumes_only_smoothness(claim: Claim) -> bool:
    """Return whether a claim assumes smooth objectives, and nothing that implies convexity."""
    return a.smooth in claim.assumptions and a.IMPLY_CONVEXITY.isdisjoint(claim.assumptions)


_BEYOND: Mapping[Assumption, tuple[Assumption, ...]] = {
    a.every_client: (a.uniform_sampling, a.same_step_size),
    a.importance_weights: (a.aggregation_scheme,),
    a.synchronous: (a.asynchronous, a.fixed_intervals, a.aggregation_scheme),
    a.uniform_shares: (a.full_rounds,),
    a.same_local_work: (a.uniform_sampling, a.same_step_size),
    a.server_step_of_one: (a.two_sided_steps,),
}
"""Assumptions of settings beyond plain FedAvg, by the part of the setting that they replace."""


def _list_implied_settings(claim: Claim) -> Iterator[Assumption]:
    """Yield the settings that a claim implies by its quantities; a number of participants implies client sampling."""
    for default in list_extensions(claim):
        yield from _BEYOND.get(default, ())


def _is_of_another_algorithm(claim: Claim) -> bool:
    """Return whether a claim concerns no run of the general families."""
    return any(
        isinstance(one, StepSizes) or (isinstance(one, OfAlgorithm) and "fedavg" not in one.names)
        for one in claim.assumptions
    )


def complexity(instance: Instance, run: Run) -> Complexity:
    """Return a key that orders runs by the work of checking them by hand.

    The key compares in turn: irrational values, nonlinear gradients, the size of the run, the length of its numbers,
    its index.
    """
    problem, algorithm = run.problem, run.algorithm
    size = problem.clients * problem.dimension**2 * max(algorithm.work.steps) * algorithm.rounds
    length = len(run_toml(run_table(run)))
    return run.arithmetic is ENCLOSED, isinstance(problem, LossProblem), size, length, instance.number
