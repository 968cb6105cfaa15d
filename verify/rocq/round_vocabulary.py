"""Vocabulary of claims about one round with client sampling; their names in `library/Round.v`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Inner, LocalSum, PastSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from verify.rocq.names import list_sides
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Mean, Term, is_own
from verify.rocq.theorem import Binder
from verify.rocq.vocabulary import Constant, Vocabulary

NUMBERS: Mapping[Quantity, str] = {
    q.clients: "M S",
    q.participants: "participants D",
    q.participates: "participates D s i",
    q.effective_step_size: "step_size S",
    q.local_step_size: "step_size S",
    q.client_local_steps: "E_of S i",
    q.client_step_size: "size_of_client S i",
    q.relative_noise: "beta i",
    q.absolute_noise: "sigma i",
    q.client_smoothness: "delta i",
    q.client_strong_convexity: "nu i",
    q.mean_square_smoothness: "bound i",
    q.client_optimum_distance: "apart i",
    q.objective_smoothness: "L_F",
    q.smallest_curvature: "nu_F",
}
VECTORS: Mapping[Quantity, str] = {
    q.server_model: "server_model S",
    q.local_iterate: "iterate S e i",
    q.stochastic_gradient: "sample S e i",
    q.gradient_at_server_model: "sample_at_start S e i",
    q.next_local_iterate: "iterate S (e + 1) i",
    q.local_result: "local_result S i",
    q.next_server_model: "next_server_model S D s",
    q.small_step_optimum: "w_bar",
    q.optimum: "x_star",
    q.client_optimum: "optimum i",
}
_SHARED = (q.server_model, q.next_server_model, q.small_step_optimum, q.optimum)
_ASSUMED = {
    a.uniform_shares: ("uniform_shares_S", "uniform_shares S"),
    a.normalised_steps: ("normalised_S", "normalised_steps S"),
    a.several_clients: ("several_clients_S", "2 <= M S"),
    a.two_sided_steps: ("common_steps_S", "common_steps S"),
    a.same_local_work: ("common_steps_S", "common_steps S"),
}
_OF_STEPS = tuple(quantity for quantity, name in VECTORS.items() if " e " in name or "(e + 1)" in name)
_HERE = (a.uniform_sampling, a.full_participation, a.unit_server_step, a.same_step_size)
_OF_OBJECTIVES = (a.strongly_convex_clients, a.smooth, a.unbiased_bounded_variance, a.bounded_second_moment)
"""Assumptions about objectives that equations between vectors do not need."""
_OF_CLIENTS = (
    *(quantity for quantity, name in NUMBERS.items() if name.endswith(" i")),
    *(q.client_objective, *(quantity for quantity in VECTORS if quantity not in _SHARED)),
)
"""Numbers, objectives and vectors of which each client has its own."""


_SIGNS = {
    q.relative_noise: ("beta", "<="),
    q.absolute_noise: ("sigma", "<="),
    q.client_smoothness: ("delta", "<"),
    q.client_optimum_distance: ("apart", "<="),
    q.mean_square_smoothness: ("bound", "<="),
}
"""Constants of each client, with their signs."""
_KNOWN = {
    q.client_optimum_distance: Binder("apart_S", "forall i, ‖optimum i - x_star‖² = apart i ^ 2"),
    q.absolute_noise: Binder("own_variance_S", "variance_at_start S optimum beta sigma"),
    q.mean_square_smoothness: Binder("mean_square_smooth_S", "mean_square_smooth_steps S bound"),
    q.client_smoothness: Binder("own_smooth_S", "own_smooth S delta"),
}
"""Hypotheses on these constants."""
_OF_DRAWS = (q.participants, q.participates, q.next_server_model)
DRAW, NOISE, EXPECTED, INDEPENDENT = "draw", "noise", "expected", "independent"
"""Kinds of hypotheses that a proof may require."""


_STEP_SIZES = {True: q.effective_step_size, False: q.local_step_size}
"""The name of a step size that the library does not use, by whether all clients take the same steps."""

START, CHANGE = sp.Symbol("start_of_drawn"), sp.Symbol("change_of_drawn")
"""Expectations over the sampled clients: their samples at the start of a round, and the change by its steps."""


class RoundVocabulary(Vocabulary):
    """The symbols of a claim about a round, as terms of Rocq."""

    def __post_init__(self) -> None:
        """Read the claim's symbols; raises `NotExported` for rounds outside of the library."""
        needed, known = (a.unit_server_step, a.uniform_shares), self.claim.assumptions
        who = (a.uniform_sampling, a.full_participation)
        if any(one not in known for one in needed) or all(one not in known for one in who):
            raise NotExported("the library has rounds with full or uniformly sampled participation, and equal weights")
        super().__post_init__()
        self.used: set[sp.Symbol] = set()
        """The symbols of the statement and its proof."""
        self.required: set[str] = set()
        """Other requirements of the proof: the draw D, noise with the past, expectations, and independence."""
        self.files: set[str] = set()
        """The files of the library that the proof needs besides those of every round."""
        unknown = _STEP_SIZES[any(one in known for one in (a.two_sided_steps, a.same_local_work))]
        self.numbers = {self.symbols(quantity): name for quantity, name in NUMBERS.items() if quantity != unknown} | {
            symbol: f"each_{n}" for n, symbol in enumerate(self.claim.for_all, start=1)
        }
        self.vectors |= {
            self.symbols(quantity): Atom(name, own=quantity not in _SHARED) for quantity, name in VECTORS.items()
        }
        self.vectors |= {one: Atom(f"{one} S D s") for one in (START, CHANGE)}
        bound = self.symbols(q.client_smoothness)
        self.constants = {"smooth": Constant(bound, "(delta i)", "(own_smooth_S i Hi)", "(delta_sign i)")}
        self.stationary = "optimum i"
        self.vectors[self.symbols(q.next_average_iterate)] = Mean(self.vectors[self.symbols(q.next_local_iterate)])

    def binders(self) -> Iterator[Binder]:
        """Yield the variables and hypotheses of a theorem whose statement and proof were written."""
        yield Binder("S", "round")
        yield Binder("step_size_positive", "0 < step_size S")
        for assumption in self.claim.assumptions:
            if assumption in _ASSUMED:
                yield Binder(*_ASSUMED[assumption])
            elif assumption == a.same_step_size:
                yield Binder("same_size_S", "same_size S")
                yield Binder("size_positive", "0 < size_of_client S O")
            elif assumption not in (*_HERE, *_OF_OBJECTIVES):
                raise NotExported(f"the assumption {assumption.name!r} has no definition in the library")
        for symbol in self.claim.for_all:
            yield Binder(self.numbers[symbol], "R")
            if symbol.is_positive:
                yield Binder(f"{self.numbers[symbol]}_positive", f"0 < {self.numbers[symbol]}")
        yield from self._declare_random()
        yield from self._declare_points()
        if self._uses(q.small_step_optimum):
            yield Binder("w_bar", "step_space S")
            yield Binder("small_step_optimum_S", "small_step_optimum S w_bar")

    def vector(self, each: sp.Symbol) -> Term:
        """Return the vector of a symbol, which is then used."""
        self.used.add(each)
        return super().vector(each)

    def _uses(self, *quantities: Quantity) -> bool:
        """Return whether the statement or its proof contains one of the quantities."""
        return any(self.symbols(quantity) in self.used for quantity in quantities)

    def _declare_random(self) -> Iterator[Binder]:
        """Yield the draw of participants, the past of the noise, and conditional expectations, as far as required."""
        if DRAW in self.required or self._uses(*_OF_DRAWS) or self.used & {START, CHANGE}:
            yield Binder("D", "draws (step_clients S)")
            yield Binder("uniform_D", "uniform_draws D")
        if self.required & {NOISE, EXPECTED}:
            yield Binder("past", "step_space S -> Prop")
            yield Binder("unbiased_S", "unbiased_round S past")
        if EXPECTED in self.required:
            yield Binder("expected", "step_space S -> step_space S")
            yield Binder("given", "conditional_mean S past expected")
        if self.required >= {EXPECTED, INDEPENDENT}:
            yield Binder("independent_S", "independent_results S expected")

    def _declare_points(self) -> Iterator[Binder]:
        """Yield minimisers, and hypotheses on objectives and noise around them."""
        each, has_past = "forall i, ", NOISE in self.required
        if self._uses(q.optimum, q.client_optimum_distance):
            yield Binder("x_star", "step_space S")
            yield Binder("minimiser_x_star", "minimiser S x_star")
            if has_past:
                yield Binder("past_x_star", "past x_star")
        if self._uses(q.client_optimum, q.client_optimum_distance, q.relative_noise, q.absolute_noise):
            yield Binder("optimum", "nat -> step_space S")
            yield Binder("client_minimisers_S", f"{each}grad (client_objective S i) (optimum i) = zero")
            if has_past:
                yield Binder("past_optimum", f"{each}past (optimum i)")
        yield from self._declare_constants()
        yield from (Binder(name, "step_space S") for each, name in self.points.items() if each in self.used)

    def _declare_constants(self) -> Iterator[Binder]:
        """Yield constants of each client and of F."""
        each = "forall i, "
        own = [quantity for quantity in _SIGNS if self._uses(quantity)]
        for name, sign in (_SIGNS[quantity] for quantity in own):
            yield Binder(name, "nat -> R")
            yield Binder(f"{name}_sign", f"{each}0 {sign} {name} i")
        yield from (_KNOWN[quantity] for quantity in _KNOWN if quantity in own)
        if self._uses(q.client_strong_convexity):
            yield Binder("nu", "nat -> R")
            yield Binder("nu_positive", f"{each}0 < nu i")
            yield Binder("own_strongly_convex_S", "own_strongly_convex S nu")
        for quantity, known in ((q.objective_smoothness, "smooth"), (q.smallest_curvature, "strongly_convex")):
            if self._uses(quantity):
                name = NUMBERS[quantity]
                yield Binder(name, "R")
                yield Binder(f"{name}_positive", f"0 < {name}")
                yield Binder(f"{known}_mean_S", f"{known} {name} (F S)")

    def is_own(self, expression: Expr) -> bool:
        """Return whether an expression depends on a client, outside of averages over clients."""
        return bool(
            _find_outside(expression, (Average, Selected)) & {self.symbols(quantity) for quantity in _OF_CLIENTS}
        )

    def is_of_step(self, expression: Expr) -> bool:
        """Return whether an expression depends on a local step, outside of sums over steps."""
        stepwise = {self.symbols(quantity) for quantity in (*_OF_STEPS, q.next_average_iterate)}
        return bool(sp.sympify(expression).has(PastSum) or _find_outside(expression, (LocalSum,)) & stepwise)

    def is_of_outcome(self, expression: Expr) -> bool:
        """Return whether an expression depends on the outcome of the sampling, outside of expectations."""
        random = {self.symbols(q.participates), self.symbols(q.next_server_model)}
        kept = sp.sympify(expression).replace(lambda part: isinstance(part, Expectation), lambda _: sp.S.Zero)
        return bool(kept.atoms(Selected) or kept.free_symbols & random)

    def is_of_each_participant(self, expression: Expr) -> bool:
        """Return whether an expression depends on a sampled client, outside of averages."""
        return self.symbols(q.participates) in _find_outside(expression, (Average, Selected))


def _find_outside(expression: Expr, operators: tuple[type, ...]) -> set[sp.Symbol]:
    """Return the symbols of an expression that occur outside of some operators, such as averages."""
    if isinstance(expression, operators):
        return set()
    if not expression.args:
        return set(expression.free_symbols)
    return set().union(*(_find_outside(argument, operators) for argument in expression.args))


class RoundReader(Reader):
    """Translate vectors with sums over local steps, averages over participants, and conditional expectations."""

    vocabulary: RoundVocabulary

    def number(self, expression: Expr) -> str:
        """Return a number as text; its symbols are then used."""
        self.vocabulary.used |= sp.sympify(expression).free_symbols
        return super().number(expression)

    def vector(self, expression: Expr) -> Term:
        """Return a vector."""
        match expression:
            case LocalSum():
                member = self.write_vector(expression.args[0])
                return Atom(f"local_sum S (fun e i => ({member})%vec) i", own=True)
            case Selected():
                self.vocabulary.required.add(DRAW)
                return Atom(f"selected S D {self._bind_per_client(expression)} s")
            case Expectation():
                return self._take_expectation(expression.args[0])
            case PastSum():
                of_step = self.vector(expression.args[0])
                return Atom(f"past_sum S (fun e => ({self.text(of_step)})%vec) e", own=is_own(of_step))
        return super().vector(expression)

    def _take_expectation(self, of: Expr) -> Term:
        """Return the expectation of a vector given the past."""
        if isinstance(of, Selected):
            self.vocabulary.required |= {DRAW, EXPECTED}
            return Atom(f"expected (mean_of_draws S D {self._bind_per_client(of)})")
        if of.has(Selected, self.vocabulary.symbols(q.next_server_model)):
            raise NotExported("the expectation of a sum with participants is not exported")
        self.vocabulary.required.add(EXPECTED)
        return Atom(f"expected ({self.write_vector(of)})", own=True)

    def _bind_per_client(self, mean: Expr) -> str:
        """Return the members of an average as a function of the client in Rocq."""
        return f"(fun i => ({self.write_vector(mean.args[0])})%vec)"

    def scalar(self, expression: Expr) -> Term:
        """Return a scalar; the mean of one that depends on the sampling is an expectation over its outcomes."""
        expression = self.with_names(sp.sympify(expression))
        if isinstance(expression, Expectation) and (self.is_drawn(expression) or not expression.has(Inner)):
            inside = self.write_scalar(expression.args[0])
            self.vocabulary.required.add(DRAW)
            return Atom(f"mean (outcomes D) (fun s => {inside})", kind="S")
        if isinstance(expression, LocalSum):
            inside = self.write_scalar(expression.args[0])
            return Atom(f"local_total S (fun e i => {inside}) i", kind="S", own=True)
        return super().scalar(expression)

    def is_drawn(self, expression: Expr) -> bool:
        """Return whether an expression depends on the sampled clients."""
        symbol = self.vocabulary.symbols
        return bool(expression.has(Selected, START, CHANGE, symbol(q.next_server_model), symbol(q.participates)))

    def with_names(self, expression: Expr) -> Expr:
        """Return an expression with one symbol in place of each average of the clients' numbers."""

        def of_numbers(part: Expr) -> bool:
            return (
                isinstance(part, Average)
                and part.free_symbols <= self.vocabulary.numbers.keys()
                and not part.has(Inner)
            )

        return expression.replace(of_numbers, self._find_name)

    def _find_name(self, mean: Expr) -> sp.Symbol:
        """Return the symbol of an average of the clients' numbers, a new one at its first use."""
        member = self.number(mean.args[0])
        name = f"mean (step_clients S) (fun i => {member})"
        found = next((symbol for symbol, known in self.vocabulary.numbers.items() if known == name), None)
        if found is None:
            found = sp.Dummy("mean", positive=True)
            self.vocabulary.numbers[found] = name
        return found


def is_of_round(claim: Claim) -> bool:
    """Return whether a claim mentions sums over steps, client sampling, or rounds with arbitrary step sizes."""
    sides = list_sides(claim)
    symbols = {symbol for symbol, quantity in claim.notation.items() if quantity == q.participates}
    has_sums = sides.has(Average, LocalSum, PastSum, Selected) or bool(sides.free_symbols & symbols)
    has_means = any(not one.has(Inner) for one in sides.atoms(Expectation))
    if claim.place == "points":
        return q.participants in claim.notation.values() and sides.has(Average)
    return claim.place == "round" and (has_sums or has_means or a.normalised_steps not in claim.assumptions)
