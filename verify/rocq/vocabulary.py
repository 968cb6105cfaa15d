"""Names in the library for the symbols of a claim, and their definitions.

Each entry repeats a definition of `library/Step.v`; Rocq checks that both agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Self

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import PointQuantity, Quantity
from fedtheory.proofs.comparators import noise_at_y
from fedtheory.proofs.numbers import SymbolTable, symbols_of
from verify.rocq.names import list_sides, name_quantities
from verify.rocq.places import AT_STEP, Place
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Mean, Multiple, Named, Sum, Term
from verify.rocq.theorem import Binder


@dataclass(frozen=True)
class Constant:
    """A constant of a client's objective: its symbol, its name, and the hypotheses on it."""

    symbol: sp.Symbol
    name: str
    proof: str
    positive: str = ""


@dataclass
class Vocabulary:
    """The symbols of one claim, as terms of Rocq."""

    claim: Claim
    quiet: bool = False
    """Whether there is no noise."""
    place: Place = AT_STEP
    """The step that the claim concerns."""
    symbols: SymbolTable = field(init=False)
    vectors: dict[sp.Symbol, Term] = field(init=False)
    objectives: dict[sp.Symbol, str] = field(init=False)
    numbers: dict[sp.Symbol, str] = field(init=False)
    points: dict[sp.Symbol, str] = field(default_factory=dict)
    """Vectors over which a theorem quantifies, in the order of the claim's symbols."""
    more: list[Binder] = field(default_factory=list)
    """Variables and hypotheses in addition to those of every claim."""
    scalars: dict[sp.Symbol, Term] = field(default_factory=dict)
    """Numbers of each client, and their averages, in which statements are linear."""
    parameters: dict[Assumption, Sequence[Binder]] = field(default_factory=dict)
    """Parameters of assumptions, where they differ from the usual ones."""
    constants: dict[str, Constant] = field(default_factory=dict)
    """Constants of the clients' objectives, by kind, where they differ from the common ones."""
    stationary: str = ""
    """The points at which the clients' own gradients vanish."""
    opaque: bool = False
    """Whether gradients of F are not expanded as averages."""

    @property
    def is_random(self) -> bool:
        """Return whether noise is random; along a fixed path it is a vector without further properties."""
        return self.claim.place == "step" and not self.quiet

    @property
    def least(self) -> list[tuple[sp.Symbol, sp.Expr]]:
        """Return lower bounds of the symbols of counts."""
        tau, index = self.symbols(q.local_steps), self.symbols(q.local_step_index)
        steps = [(tau, index + 1), (index, sp.S.Zero)] if self.has_steps else []
        return [*steps, (self.symbols(q.clients), sp.S.One)]

    @property
    def known(self) -> Sequence[str]:
        """Return tactics that state known facts, for the start of every proof."""
        return ()

    def list_binders(self, _symbols: set[sp.Symbol]) -> list[Binder] | None:
        """Return the variables and hypotheses of a theorem with the given symbols; None for those of all clients."""
        return None

    def find_slack(self, _name: str) -> tuple[Expr, str] | None:
        """Return the slack of an assumption at client i, and a tactic; None for assumptions at a common step."""
        return None

    @property
    def has_steps(self) -> bool:
        """Return whether the claim mentions the step index k or the number tau of steps."""
        return self.symbols.has(q.local_step_index) and self.symbols.has(q.local_steps)

    @property
    def is_of_points(self) -> bool:
        """Return whether the claim concerns arbitrary points, independent of the algorithm."""
        used = list_sides(self.claim).free_symbols
        return self.claim.place == "points" and used & self.vectors.keys() <= self.points.keys()

    @property
    def reference_point(self) -> str:
        """Return the reference point at which the noise of a step has its bound."""
        return choose_reference_point(self.claim, self.symbols)

    def __post_init__(self) -> None:
        """Read the claim's symbols."""
        self.symbols = symbol = symbols_of(self.claim)
        self.objectives = {symbol(q.objective): self.place.mean, symbol(q.client_objective): self.place.own}
        self.numbers = self._numbers()
        self.vectors = self._vectors(symbol, Atom(f"local_iterate {self.place.step} i", own=True))

    def _numbers(self) -> dict[sp.Symbol, str]:
        """Return the names of the quantities and quantified symbols of the claim."""
        step, clients = self.place.step, self.place.clients
        names = {quantity: name.format(step=step, clients=clients) for quantity, name in NUMBERS.items()}
        known = {self.symbols(quantity): name for quantity, name in names.items()}
        each = {each: f"each_{n}" for n, each in enumerate(self.claim.for_all, start=1)}
        return known | each

    @property
    def quantity_names(self) -> dict[Quantity, str]:
        """Return the names of the claim's quantities."""
        vectors = {each: self.place.text(term) for each, term in self.vectors.items()}
        return name_quantities(self.symbols, {**vectors, **self.objectives, **self.numbers})

    def at_place(self, place: Place) -> Self:
        """Return a copy for hypotheses about another step."""
        found = copy(self)
        found.place = place
        return found

    def gather(self) -> None:
        """Set all clients to the server's model."""
        self.vectors = self._vectors(self.symbols, Atom(f"server_model {self.place.step}"))

    def _vectors(self, symbol: SymbolTable, local: Term) -> dict[sp.Symbol, Term]:
        """Return the terms of the vectors at a local step."""
        place, step = self.place, self.place.step
        noise = Atom(f"gradient_noise {step} i", own=True, noisy=self.is_random, zero=self.quiet)
        slope = place.gradient(place.own, local)
        sample = Named(f"stochastic_gradient {step} i", Sum(slope, noise))
        moved = Named(f"next_iterate {step} i", Sum(local, Multiple(f"step_size {step}", sample), "-"))
        found: dict[sp.Symbol, Term] = {
            symbol(q.local_iterate): local,
            symbol(q.gradient_noise): noise,
            symbol(q.stochastic_gradient): sample,
            symbol(q.gradient_deviation): Sum(slope, sample, "-"),
            symbol(q.average_iterate): Named(f"average {step}", Mean(local)),
            symbol(q.server_model): Atom(f"server_model {step}"),
            symbol(q.optimum): Atom("x_star"),
            symbol(q.comparator): Atom("y"),
            noise_at_y: Atom("noise_there i", own=True, noisy=self.is_random, zero=self.quiet),
        }
        if a.same_local_work in self.claim.assumptions:
            found[symbol(q.next_local_iterate)] = moved
            found[symbol(q.next_average_iterate)] = Named(f"next_average {step}", Mean(moved))
            model = Atom(place.centralised)
            found[symbol(q.centralised_model)] = model
            downhill = Multiple(f"step_size {step}", place.gradient(place.mean, model))
            found[symbol(q.next_centralised_model)] = Sum(model, downhill, "-")
        used = {**self.claim.where, **self.claim.notation}
        points = [each for each, quantity in used.items() if isinstance(quantity, PointQuantity)]
        self.points = {each: f"point_{number}" for number, each in enumerate(points, start=1)}
        return found | {each: Atom(name) for each, name in self.points.items()}

    def vector(self, each: sp.Symbol) -> Term:
        """Return the vector of a symbol."""
        if each not in self.vectors:
            quantity = self.symbols.quantity(each)
            raise NotExported(f"the library has no vector for {quantity.name if quantity else each}")
        return self.vectors[each]

    def value(self, objective: sp.Symbol, point: Term) -> Term:
        """Return the value of an objective at a point."""
        return self.place.value(self._find_objective(objective), point, opaque=self.opaque)

    def gradient(self, objective: sp.Symbol, point: Term) -> Term:
        """Return the gradient of an objective at a point; it is zero where the clients' own gradients vanish."""
        found = self.place.gradient(self._find_objective(objective), point, opaque=self.opaque)
        is_zero = isinstance(found, Atom) and found.text == f"grad ({self.place.own}) ({self.stationary})"
        return replace(found, zero=True) if isinstance(found, Atom) and is_zero else found

    def _find_objective(self, symbol: sp.Symbol) -> str:
        """Return the name of an objective; raises `NotExported` for an unknown one."""
        if symbol not in self.objectives:
            raise NotExported(f"the library has no objective {symbol}")
        return self.objectives[symbol]


_OF_COMPARATOR = (
    q.comparator,
    q.comparator_noise,
    q.comparator_dissimilarity,
    q.comparator_distance,
    q.comparator_suboptimality,
    q.total_comparator_progress,
    q.final_comparator_distance_sq,
)


def choose_reference_point(claim: Claim, symbol: SymbolTable) -> str:
    """Return the reference point at which the noise of a step has its bound: the comparator, if the claim has one."""
    return "y" if list_sides(claim).free_symbols & {symbol(quantity) for quantity in _OF_COMPARATOR} else "x_star"


@dataclass(frozen=True)
class ReferencePoint:
    """Bounds on noise and dissimilarity at the reference point: quantities, with their names."""

    point: Quantity
    noise: Quantity
    dissimilarity: Quantity
    noise_name: str
    dissimilarity_name: str


AT: Mapping[str, ReferencePoint] = {
    "y": ReferencePoint(q.comparator, q.comparator_noise, q.comparator_dissimilarity, "sigma_there", "zeta_there"),
    "x_star": ReferencePoint(q.optimum, q.noise_at_optimum, q.dissimilarity_at_optimum, "sigma_star", "zeta_star"),
}
"""Noise and dissimilarity at a point, by the name of the point."""
OF_POINTS = {at.noise: at.noise_name for at in AT.values()} | {
    at.dissimilarity: at.dissimilarity_name for at in AT.values()
}


def find_bounds_at_point(symbol: SymbolTable, point: str, used: Set[sp.Symbol]) -> tuple[bool, bool]:
    """Return whether bounds on noise and dissimilarity at a point are used; refuse those at another."""
    noise, dissimilarity = (symbol(one) in used for one in (AT[point].noise, AT[point].dissimilarity))
    for other in (AT[name] for name in AT if name != point):
        for quantity in (other.noise, other.dissimilarity):
            if symbol(quantity) in used:
                raise NotExported(f"expected bounds at the {AT[point].point.name} of the claim, got {quantity.name}")
    return noise, dissimilarity


NUMBERS: Mapping[Quantity, str] = {
    q.clients: "M {step}",
    q.local_step_size: "step_size {step}",
    q.smoothness: "L",
    q.noise_deviation: "sigma",
    q.gradient_dissimilarity: "zeta",
    q.mean_dissimilarity: "zeta_mean",
    q.second_moment: "G",
    q.lipschitz: "rho",
    q.importance: "share {clients} i",
    q.largest_importance: "p_max",
    q.strong_convexity: "mu",
    q.noise_smoothness: "ell",
    **OF_POINTS,
    q.sampling_variance: "rho_of_draws",
    q.proximal_weight: "mu_prox",
    q.local_steps: "tau",
    q.local_step_index: "k",
}
