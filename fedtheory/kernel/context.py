"""Context of a proof: its symbols, their meaning, and the facts about them."""

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
    """Symbols of a proof, and the facts about them."""

    numbers: Numbers = field(default_factory=Numbers)
    vectors: frozenset[Symbol] = frozenset()
    """Vectors that all clients share."""
    client_vectors: frozenset[Symbol] = frozenset()
    """Vectors that each client has one of."""
    step_vectors: frozenset[Symbol] = frozenset()
    """Step-dependent vectors among these: they differ from local step to local step."""
    noise: frozenset[Symbol] = frozenset()
    """The vectors that are fresh zero-mean noise, independent of the past."""
    common_random_numbers: frozenset[frozenset[Symbol]] = frozenset()
    """Noises of the same draw: they are not independent of each other."""
    random: frozenset[Symbol] = frozenset()
    """Vectors that depend on the noise of earlier steps of the round."""
    depends_on_current_noise: frozenset[Symbol] = frozenset()
    """Vectors that depend on the noise of the present step: nothing is known of them besides it."""
    clients: Symbol | None = None
    """M, needed where participants are drawn, or means with unequal shares compared."""
    share: Expr | None = None
    """The weight of a client in means over clients, needed where noises are averaged: 1/M, or a number of each."""
    of_a_round: bool = False
    """Whether statements are about a round given its start: vectors have means, and the weights of those that are
    drawn sum to one."""
    participants: Symbol | None = None
    """Number of clients sampled for the round, uniformly and without replacement."""
    step_number: Symbol | None = None
    """The number of the present local step."""
    local_steps: Expr | None = None
    """Number of terms in a sum over the local steps of a client."""
    objectives: frozenset[Symbol] = frozenset()
    """Objectives that all clients share."""
    client_objectives: frozenset[Symbol] = frozenset()
    """Objectives that each client has one of."""
    means: Mapping[Symbol, Symbol] = field(default_factory=dict)
    """Objectives that are means over clients: F is the mean of F_i."""
    convex: frozenset[Symbol] = frozenset()
    """Objectives that are convex."""
    strongly_convex: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Objectives that are strongly convex, and the constants."""
    smooth: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Objectives with Lipschitz gradients, and the constants."""
    lipschitz: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Objectives that are Lipschitz themselves, and the constants, which hold where a run can be."""
    visited: frozenset[Symbol] = frozenset()
    """Vectors that lie where a run can be."""
    minimisers: Mapping[Symbol, Symbol] = field(default_factory=dict)
    """Objectives with a minimiser, where the gradient vanishes."""
    weighted_minimisers: frozenset[Expr] = frozenset()
    """Numbers times clients' gradients at a point, the means of which vanish: it minimises a weighted mean."""
    definitions: Mapping[Symbol, Expr] = field(default_factory=dict)
    """Vectors that stand for an expression in others."""
    assumed: Mapping[str, Expr] = field(default_factory=dict)
    """Scalars that an assumption says are not negative, by its name."""

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
            raise Rejected("what differs from local step to local step has to be a vector")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self._known == other._known

    def __hash__(self) -> int:
        return hash(self._known)

    @cached_property
    def _known(self) -> Hashable:
        """The content of all fields: two contexts are equal where it is."""
        return self.numbers.key, *(_fixed(getattr(self, one.name)) for one in fields(self) if one.name != "numbers")

    @property
    def number_of_steps(self) -> Expr:
        """Return the number of local steps; raises `Rejected` if it is not known."""
        if self.local_steps is None:
            raise Rejected("the context does not state the number of local steps")
        return self.local_steps

    def require_objective(self, symbol: Expr) -> None:
        """Raise `Rejected` if something else stands in an objective's place."""
        if symbol not in self.objectives | self.client_objectives:
            raise Rejected(f"{symbol} is not an objective of the context")


def _fixed(known: Hashable | Mapping[Hashable, Hashable]) -> Hashable:
    """Return a field of a context as a value that can be compared."""
    if isinstance(known, Mapping):
        return frozenset(known.items())
    return frozenset(known) if isinstance(known, Set) else known
