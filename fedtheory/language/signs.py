"""Facts about quantities on every run: signs of numbers, and which quantities exist on the same runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from fedtheory.language import quantities
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity, RunQuantity, VectorQuantity


@dataclass(frozen=True)
class Existing:
    """Quantities that exist on the same runs, and the assumptions each of which says that they do."""

    name: str
    quantities: frozenset[Quantity]
    by: frozenset[Assumption]


@dataclass(frozen=True, kw_only=True)
class Signs:
    """Quantities by the signs of their values, and what is known of others; proofs use no other numbers."""

    counts: tuple[Quantity, ...] = ()
    """Whole numbers of at least one, the same for all clients and all rounds."""
    positive: tuple[Quantity, ...] = ()
    """Other positive numbers that are the same for all clients and all rounds."""
    nonnegative: tuple[Quantity, ...] = ()
    """Numbers that are the same for all clients and all rounds, and may be zero."""
    of_an_update: tuple[Quantity, ...] = ()
    """Non-negative numbers that are the same for all clients and local steps of an update."""
    positive_of_clients: tuple[Quantity, ...] = ()
    """Positive numbers that each client has one of."""
    nonnegative_of_clients: tuple[Quantity, ...] = ()
    """Non-negative numbers that each client has one of."""
    at_least_one: tuple[Quantity, ...] = ()
    """Numbers of at least one that need not be whole."""
    times: tuple[Quantity, ...] = ()
    """Numbers of at least one where the clients' times are whole."""
    flat: tuple[Quantity, ...] = ()
    """Constants of smoothness, which are zero where all objectives are flat."""
    divided_by: tuple[Quantity, ...] = ()
    """Numbers that may be zero; a claim that divides by one of them says nothing of such runs."""
    positive_with: Mapping[Quantity, frozenset[Quantity | Assumption]] = field(default_factory=dict)
    """Numbers that are positive where one of these is assumed, or is a quantity of the claim's relations."""
    existing: tuple[Existing, ...] = ()
    """Quantities that a run may lack."""
    given: tuple[VectorQuantity, ...] = ()
    """Vectors that the start of a round determines."""


def existing(name: str, *quantities: Quantity, by: Assumption) -> Existing:
    """Quantities that exist where an assumption holds."""
    return Existing(name, frozenset(quantities), frozenset({by}))


def quantities_of_runs() -> Iterator[RunQuantity]:
    """Return the numbers of a run in the vocabulary."""
    every = (getattr(quantities, name) for name in quantities.__all__)
    return (one for one in every if isinstance(one, RunQuantity))


def defined_with(used: Collection[Quantity]) -> frozenset[Quantity]:
    """Return the quantities whose terms use one of these: they exist on the same runs."""
    return frozenset(
        one for one in quantities_of_runs() if one.term is not None and any(of in used for _, of in one.term.where)
    )
