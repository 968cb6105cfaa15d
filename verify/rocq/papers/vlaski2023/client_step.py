"""Symbols and hypotheses of claims about one client's local step in a round, with constants of this client.

Each entry repeats a definition of `library/Own.v`; Rocq checks that both agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Inner, LocalSum, PastSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from verify.rocq.names import list_sides
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Multiple, Named, Sum
from verify.rocq.theorem import Binder, declare_index
from verify.rocq.vocabulary import Constant, Vocabulary

NUMBERS: Mapping[Quantity, str] = {
    q.clients: "M {step}",
    q.effective_step_size: "step_size {step}",
    q.client_local_steps: "E i",
    q.client_step_size: "step_size {step} / E i",
    q.client_strong_convexity: "nu i",
    q.client_smoothness: "delta i",
    q.mean_square_smoothness: "delta_of_samples i",
    q.relative_noise: "beta i",
    q.absolute_noise: "sigma i",
}
_NEEDED = (a.uniform_sampling, a.unit_server_step, a.uniform_shares, a.normalised_steps)
_SUMS = (Average, LocalSum, PastSum, Selected)
_NOISE = sp.Dummy("m_i", real=True)
OPTIMUM, SAMPLE = "optimum i", "noise_there i"


class OwnVocabulary(Vocabulary):
    """The symbols of a claim about client i, as terms of Rocq."""

    folded: str = ""
    """A tactic that writes the client's model as in the statement."""

    def __post_init__(self) -> None:
        """Read the claim's symbols; raises `NotExported` for sums and samples."""
        if list_sides(self.claim).has(*_SUMS) or any(one not in self.claim.assumptions for one in _NEEDED):
            raise NotExported("claims about a client's step are exported without sums over steps and without sampling")
        super().__post_init__()
        step = self.place.step
        self.numbers = {self.symbols(quantity): name.format(step=step) for quantity, name in NUMBERS.items()}
        symbol = self.symbols
        iterate = self.vectors[symbol(q.local_iterate)]
        sample = self.vectors[symbol(q.stochastic_gradient)]
        noise = Atom(SAMPLE, own=True, noisy=self.is_random)
        slope = self.place.gradient(self.place.own, self.vectors[symbol(q.server_model)])
        self.vectors |= {
            _NOISE: noise,
            symbol(q.client_optimum): Atom(OPTIMUM, own=True),
            symbol(q.next_local_iterate): Named(
                f"own_next_iterate {step} E i", Sum(iterate, Multiple(f"step_size {step} / E i", sample), "-")
            ),
            symbol(q.gradient_at_server_model): Named(
                f"gradient_at_server_model {step} noise_there i", Sum(slope, noise)
            ),
        }
        self.stationary = OPTIMUM
        self.constants = {
            "smooth": Constant(symbol(q.client_smoothness), "(delta i)", "(own_smooth_S i Hi)", "(delta_positive i)"),
            "strongly_convex": Constant(symbol(q.client_strong_convexity), "(nu i)", "(own_strongly_convex_S i Hi)"),
        }

    @property
    def is_random(self) -> bool:
        """Return whether the claim is in expectation; otherwise it holds for every outcome."""
        return self.claim.place == "round" and list_sides(self.claim).has(Expectation)

    @property
    def least(self) -> list[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        return [(self.symbols(q.client_local_steps), sp.S.One), (self.symbols(q.clients), sp.S.One)]

    @property
    def known(self) -> list[str]:
        """Return tactics that state the known facts on the numbers of client i."""
        parameters = ["pose proof (E_large i) as E_known."]
        if a.strongly_convex_clients in self.claim.assumptions:
            parameters.append("pose proof (nu_positive i) as nu_known. pose proof (delta_positive i) as delta_known.")
        return parameters

    def find_slack(self, name: str) -> tuple[Expr, str]:
        """Return the slack of an assumption at client i, and a tactic; raises `NotExported` for an unknown one."""
        return slack_of(self, name)

    def list_binders(self, symbols: set[sp.Symbol]) -> list[Binder]:
        """Return the variables and hypotheses of a theorem in which the given symbols occur."""
        return [*self.binders(symbols)]

    def binders(self, symbols: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the variables and hypotheses of a theorem in which the given symbols occur."""
        symbol, each = self.symbols, "forall i, "
        place, step, space = self.place, self.place.step, self.place.space
        yield from place.variables
        yield Binder("step_size_positive", f"0 < step_size {step}")
        yield Binder("uniform_shares_S", f"uniform_shares {step}")
        if self.is_random:
            yield Binder("past", f"{space} -> Prop")
            yield Binder("unbiased_S", f"unbiased {step} past")
        if a.several_clients in self.claim.assumptions:
            yield Binder("several_clients_S", f"2 <= M {step}")
        yield Binder("E", "nat -> R")
        yield Binder("E_large", f"{each}1 <= E i")
        if symbol(q.client_optimum) in symbols:
            yield Binder("optimum", f"nat -> {space}")
            yield Binder("client_minimisers_S", f"{each}grad ({place.own}) (optimum i) = zero")
            if self.is_random:
                yield Binder("past_optimum", f"{each}past (optimum i)")
        if symbol(q.gradient_at_server_model) in symbols:
            yield Binder("noise_there", f"nat -> {space}")
            if self.is_random:
                yield Binder("drawn_there_S", f"drawn_at {step} past noise_there")
        yield from self._constants(symbols)
        yield from declare_index("i", f"number {place.clients}")

    def _constants(self, symbols: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the constants of each client, with the hypotheses that define them."""
        symbol, each, step = self.symbols, "forall i, ", self.place.step
        if a.strongly_convex_clients in self.claim.assumptions:
            for name, goal in (("nu", f"own_strongly_convex {step} nu"), ("delta", f"own_smooth {step} delta")):
                yield Binder(name, "nat -> R")
                yield Binder(f"{name}_positive", f"{each}0 < {name} i")
                yield Binder(f"{goal.split()[0]}_S", goal)
        if symbol(q.absolute_noise) in symbols:
            for name in ("beta", "sigma"):
                yield Binder(name, "nat -> R")
                yield Binder(f"{name}_nonnegative", f"{each}0 <= {name} i")
            at_server = symbol(q.gradient_at_server_model) in symbols
            points, place = ("optimum noise_there", "server") if at_server else ("optimum", "iterates")
            yield Binder("own_variance_S", f"variance_at_{place} {step} {points} beta sigma")
        if symbol(q.mean_square_smoothness) in symbols:
            yield Binder("delta_of_samples", "nat -> R")
            yield Binder("mean_square_smooth_S", f"mean_square_smooth {step} noise_there delta_of_samples")


def slack_of(vocabulary: OwnVocabulary, name: str) -> tuple[Expr, str]:
    """Return the slack of an assumption at client i, and a tactic; raises `NotExported` for an unknown one."""
    symbol = vocabulary.symbols
    own, local, server = (symbol(n) for n in (q.client_optimum, q.local_iterate, q.server_model))
    beta, sigma, there = symbol(q.relative_noise), symbol(q.absolute_noise), symbol(q.gradient_at_server_model)
    if name == "variance at a local iterate":
        noise = symbol(q.gradient_noise)
        return beta**2 * _square(own - local) + sigma**2 - _square(
            noise
        ), f"pose proof (own_variance_S i Hi) as known; {vocabulary.folded}lra"
    if name == "variance at the server's model":
        return beta**2 * _square(own - server) + sigma**2 - _square(
            _NOISE
        ), "pose proof (own_variance_S i Hi) as known; lra"
    if name == "mean-square smoothness":
        changed = symbol(q.stochastic_gradient) - there
        bound = symbol(q.mean_square_smoothness) ** 2 * _square(local - server)
        return bound - _square(changed), "pose proof (mean_square_smooth_S i Hi) as known; lra"
    raise NotExported(f"the library has no bound {name!r} on a local step")


def _square(vector: Expr) -> Expr:
    """Return the squared norm."""
    return Inner(vector, vector)
