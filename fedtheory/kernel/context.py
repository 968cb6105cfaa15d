"""The context of a proof: its symbols, their meaning, and the assumptions about them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import combinations

from fedtheory.kernel.expressions import Expr, Symbol
from fedtheory.kernel.numbers import Numbers
from fedtheory.kernel.quotients import Rejected


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """Symbols of a proof, and the assumptions about them."""

    numbers: Numbers = field(default_factory=Numbers)
    vectors: frozenset[Symbol] = frozenset()
    """Vectors that do not depend on the client."""
    client_vectors: frozenset[Symbol] = frozenset()
    """Vectors of which each client has its own."""
    step_vectors: frozenset[Symbol] = frozenset()
    """The vectors among these that depend on the local step."""
    noise: frozenset[Symbol] = frozenset()
    """Vectors that are noise of the present step, with zero mean given the past."""
    common_random_numbers: frozenset[frozenset[Symbol]] = frozenset()
    """Groups of noises from one draw, which are not independent of each other."""
    random: frozenset[Symbol] = frozenset()
    """Vectors that depend on the noise of earlier steps of the round."""
    depends_on_current_noise: frozenset[Symbol] = frozenset()
    """Vectors that depend on the noise of the present step: their inner product with it is left unevaluated."""
    clients: Symbol | None = None
    """Number of clients M, needed if participants are sampled or averages with different weights are compared."""
    share: Expr | None = None
    """Weight of a client in averages over clients, needed if noises are averaged: 1/M, or a number per client."""
    of_a_round: bool = False
    """Whether statements are conditional on the start of a round: vectors have expectations, and the weights of the
    participants sum to one."""
    participants: Symbol | None = None
    """Number of clients sampled for the round, uniformly and without replacement."""
    step_number: Symbol | None = None
    """Index of the present local step."""
    local_steps: Expr | None = None
    """Number of terms in a sum over the local steps of a client."""
    objectives: frozenset[Symbol] = frozenset()
    """Objectives that do not depend on the client."""
    client_objectives: frozenset[Symbol] = frozenset()
    """Objectives of which each client has its own."""
    means: Mapping[Symbol, Symbol] = field(default_factory=dict)
    """Objectives that are averages over clients: F is the average of F_i."""
    convex: frozenset[Symbol] = frozenset()
    """Convex objectives."""
    strongly_convex: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Strongly convex objectives, with their constants."""
    smooth: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Objectives with Lipschitz gradients, with the constants."""
    lipschitz: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Lipschitz objectives, with the constants, which hold in the region that the iterates can reach."""
    visited: frozenset[Symbol] = frozenset()
    """Vectors in the region that the iterates can reach."""
    minimisers: Mapping[Symbol, Symbol] = field(default_factory=dict)
    """Minimisers of objectives, where the gradient vanishes."""
    weighted_minimisers: frozenset[Expr] = frozenset()
    """Weighted clients' gradients at a point.

    Their average vanishes, because the point minimises a weighted average.
    """
    definitions: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Vectors that are defined by an expression in other vectors."""
    assumed: Mapping[str, Expr] = field(default_factory=dict)
    """Scalars that are non-negative by an assumption, by its name."""

    def __post_init__(self) -> None:
        roles = {
            "a number": self.numbers.symbols,
            "a client's number": self.numbers.of_clients,
            "a vector": self.vectors,
            "a client's vector": self.client_vectors,
            "an objective": self.objectives,
            "a client's objective": self.client_objectives,
            "a defined vector": frozenset(self.definitions),
        }
        for (role, symbols), (other, others) in combinations(roles.items(), 2):
            for symbol in sorted(symbols & others, key=str):
                raise Rejected(f"{symbol} is {role} and {other} at once")
        if not self.noise | self.random | self.depends_on_current_noise <= self.vectors | self.client_vectors:
            raise Rejected("a random value has to be a vector")
        if not self.step_vectors <= self.vectors | self.client_vectors:
            raise Rejected("only vectors differ between local steps")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self._known == other._known

    def __hash__(self) -> int:
        return hash(self._known)

    @cached_property
    def _known(self) -> Hashable:
        """Return the content of all fields: contexts with equal content are equal."""
        return self.numbers.key, *(_freeze(getattr(self, one.name)) for one in fields(self) if one.name != "numbers")

    @property
    def number_of_steps(self) -> Expr:
        """Return the number of local steps; raise `Rejected` if it is unknown."""
        if self.local_steps is None:
            raise Rejected(
                "there is no number of local steps to sum over (summed=True); a mean over clients is averaged=True"
            )
        return self.local_steps

    def require_objective(self, symbol: Expr) -> None:
        """Raise `Rejected` if a symbol is used as an objective and is none."""
        if symbol not in self.objectives | self.client_objectives:
            raise Rejected(f"{symbol} is not an objective of the context")


def _freeze(known: Hashable | Mapping[Hashable, Hashable]) -> Hashable:
    """Return a field of a context as a hashable value."""
    if isinstance(known, Mapping):
        return frozenset(known.items())
    return frozenset(known) if isinstance(known, Set) else known
