"""Vocabulary of Lyapunov functions of algorithms given by definitions, at a step of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.definitions import ALIKE, PARAMETERS, START, state
from fedtheory.proofs.lyapunov import OPTIMUM_GRADIENTS, START_DISTANCE
from verify.rocq.algorithms import Algorithm, Notation
from verify.rocq.links import Links
from verify.rocq.numbers import SignProofs, number, split_fraction
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.terms import Atom, Term
from verify.rocq.vocabulary import Vocabulary

_ABOUT_STEPS = (
    a.convex_and_smooth,
    a.strongly_convex_clients,
    a.unbiased_bounded_variance,
    a.bounded_dissimilarity,
    a.uniform_shares,
)
"""Assumptions about each step; the others belong to the definition of the algorithm."""
_NOISE = Atom("gradient_noise S i", own=True, noisy=True)
MIXING_NAME = "rho_mixing"
CALLED: Mapping[Quantity, str] = {
    q.rounds: "T A",
    q.clients: "M_of A",
    q.local_step_size: "size_of A",
    q.mixing_contraction: MIXING_NAME,
}
"""Names of a run's numbers."""


class LyapunovSymbols:
    """The symbols of a claim about a step; in proofs, symbols below one are written as ratios."""

    def __init__(self, claim: Claim, known: Algorithm, *, in_proof: bool, at_step: bool = True) -> None:
        self.known = known
        kept = [one for one in claim.assumptions if one in _ABOUT_STEPS]
        self.step = replace(claim, place="step", assumptions=kept)
        self.vocabulary = vocabulary = Vocabulary(self.step)
        self.symbols = symbol = vocabulary.symbols
        named = {quantity: key for key, quantity in PARAMETERS.items()}
        own = {symbol(quantity): key for quantity, key in named.items()} | {symbol(q.mixing_contraction): MIXING_NAME}
        own |= {symbol(q.optimum_gradient): "G_star", symbol(q.initial_distance): "D"}
        vocabulary.numbers |= own
        if not at_step:
            vocabulary.numbers |= {symbol(quantity): text for quantity, text in CALLED.items()}
            vocabulary.numbers[symbol(q.initial_distance)] = "initial_distance A x_star"
        conditions = [one for one in claim.conditions if symbol(q.local_steps) not in one.free_symbols]
        self.places = find_below_one(conditions)
        self.ratios = {one: sp.Symbol(f"u_{own[one]}", nonnegative=True) for one in self.places}
        self.goal = {own[one]: f"{u} / (1 + {u})" for one, u in self.ratios.items()} if in_proof else {}
        self.ratio_names = {own[one]: str(u) for one, u in self.ratios.items()}
        if in_proof:
            vocabulary.numbers |= {one: f"({self.goal[own[one]]})" for one in self.places}
        vocabulary.numbers |= {u: str(u) for u in self.ratios.values()}
        vocabulary.vectors |= {state(one): Atom(str(one)) for one in known.definition.server}
        vocabulary.vectors |= {state(one): Atom(f"{one} i", own=True) for one in known.definition.client}
        vocabulary.vectors[START] = Atom("start_model")
        least: list[tuple[sp.Symbol, Expr]] = [(symbol(q.clients), sp.S.One)]
        if a.strongly_convex_clients in claim.assumptions:
            least.append((symbol(q.smoothness), symbol(q.strong_convexity)))
        self.signs = RatioSigns(vocabulary.numbers, tuple(conditions), least, self.ratios)
        self.links = Links(Reader(vocabulary, self._list_facts()), self.signs)
        numbers = known.numbers("step_size S", "share (step_clients S) i")
        numbers |= {one: f"({self.goal[text]})" for one, text in numbers.items() if text in self.goal}
        self.place = Notation(numbers, "", _NOISE, at_step=True)

    def _list_facts(self) -> dict[str, KnownSlack]:
        """Return the facts in addition to those of each assumption."""
        symbol = self.symbols
        best, own, mean = symbol(q.optimum), symbol(q.client_objective), symbol(q.objective)
        slope = Gradient(own, best)
        found = {
            START_DISTANCE: KnownSlack(symbol(q.initial_distance) ** 2 - norm_sq(START - best), "exact start_known"),
            OPTIMUM_GRADIENTS: KnownSlack(
                symbol(q.optimum_gradient) ** 2 - Average(norm_sq(slope)), "exact optimum_gradient_known"
            ),
        }
        if len(self.known.definition.client) == 1:
            (one,) = self.known.definition.client
            deviation = Gradient(own, state(one)) - Gradient(mean, state(one))
            applied = f"dissimilarity S zeta i ({one} i) bounded_dissimilarity_S Hi"
            slack = symbol(q.gradient_dissimilarity) ** 2 - norm_sq(deviation)
            found[ALIKE] = KnownSlack(slack, f"pose proof ({applied}) as known; lra")
        return found

    def move_states(self, of: Expr, vectors: Mapping[Expr, Term]) -> Term:
        """Return a function of the states with other vectors inserted."""
        kept = {state(one): self.vocabulary.vectors[state(one)] for one in vectors}
        self.vocabulary.vectors |= {state(one): term for one, term in vectors.items()}
        found = self.links.side(of)
        self.vocabulary.vectors |= kept
        return found

    def ratio_tactics(self) -> list[str]:
        """Return tactics that write symbols below one as ratios."""
        return [
            f"destruct (as_ratio {one} {one}_nonnegative condition{place}) as [{u} [{u}_nonnegative ->]]."
            for (one, u), place in zip(self.ratio_names.items(), self.places.values(), strict=True)
        ]


def find_below_one(conditions: Sequence[Expr]) -> dict[sp.Symbol, int]:
    """Return the symbols that conditions bound by one, with the indices of these conditions."""
    found = {}
    for place, one in enumerate(conditions, start=1):
        if isinstance(one, sp.Lt | sp.Gt) and one.gts == 1 and one.lts.is_Symbol:
            found[one.lts] = place
    return found


@dataclass(frozen=True)
class RatioSigns(SignProofs):
    """Facts for proofs of signs in which such symbols are written as ratios."""

    ratios: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    """For each of these symbols the symbol u, which has the name of the ratio."""

    def substitute_ratios(self, value: Expr) -> Expr:
        """Write symbols below one in a number as ratios."""
        return sp.sympify(value).xreplace({symbol: u / (1 + u) for symbol, u in self.ratios.items()})

    def nonnegative(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is not negative."""
        conditions = [type(one)(*map(self.substitute_ratios, one.args), evaluate=False) for one in self.conditions]
        return SignProofs(self.names, tuple(conditions), self.least).nonnegative(self.substitute_ratios(value))

    def positive(self, value: Expr) -> str:
        """Return a tactic for the goal that a number is positive."""
        above, below = (number(part, self.names) for part in split_fraction(self.substitute_ratios(value)))
        replaced = f"replace gap with (({above}) / ({below})) by by_field"
        return f"match goal with |- 0 < ?gap => {replaced} end; apply Rdiv_lt_0_compat; positive"

    def _find_gap(self, condition: Expr) -> Expr:
        """Return the slack of a condition in ratios."""
        return self.substitute_ratios(super()._find_gap(condition))
