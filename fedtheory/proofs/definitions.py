"""Translates the definition of an algorithm into vectors of the kernel: its local step and the end of its round.

Linear combinations are translated coefficient by coefficient.
Sums over clients are averages if all participate with their client weights; a sum
of zero vectors is zero for all participants, and mixing with neighbours
does not change vectors that are equal for all clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import sympy as sp

from fedtheory.federation.definition import (
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Mixed,
    Parameter,
    eta,
    eta_g,
    eta_sum,
    importance,
    mean_tau,
    optimum,
    start,
    tau,
)
from fedtheory.kernel import Context, Form, Numbers, Rejected, remainder, vector
from fedtheory.kernel import expressions as kernel
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.kernel.indices import differs
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import select_algorithm_assumptions
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.numbers import NONNEGATIVE, POSITIVE, SymbolTable, symbols_of
from fedtheory.proofs.proof import follows
from fedtheory.runfile.definitions import find_definition

Vectors = Mapping[Expr, Expr]
"""Vectors of a definition in the kernel's symbols."""

PARAMETERS: Mapping[str, Quantity] = {
    "probability": q.communication_probability,
    "momentum": q.momentum,
    "proximal": q.proximal_weight,
}
"""Quantities of the algorithms' parameters, by their keys in run files."""

_symbol = SymbolTable({})
OPTIMUM, OBJECTIVE, CLIENT_OBJECTIVE = (_symbol(one) for one in (q.optimum, q.objective, q.client_objective))
NOISE = _symbol(q.gradient_noise)
START, HEARD = (sp.Dummy(latex, real=True) for latex in ("x^0", r"\sum_jW_{ij}v_j"))
"""Symbols of the initial model, and of a client's average over its neighbours."""
MIXING, ALIKE = "mixing", "bounded dissimilarity at the point of the gradient"


@cache
def state(of: sp.Symbol) -> sp.Dummy:
    """Return the symbol of a vector of a definition at the start of a round."""
    return sp.Dummy(of.name, real=True)


def definition(name: str) -> FederatedAlgorithm:
    """Return the definition of that name in run files; ``file.py:NAME`` is relative to the present folder."""
    found = find_definition(name, "algorithm", Path.cwd())
    if type(found) is not FederatedAlgorithm:
        raise Rejected(f"expected a FederatedAlgorithm, got a {type(found).__name__}")
    return found


def names_of(claim: Claim) -> set[str]:
    """Return the names of the definitions that a claim is about."""
    return {name for one in select_algorithm_assumptions(claim.assumptions) for name in one.names}


def definition_of(claim: Claim) -> FederatedAlgorithm:
    """Return the definition of the one algorithm that a claim is about.

    Raises `Rejected` if there is none, or several.
    """
    named = names_of(claim)
    if len(named) != 1:
        raise Rejected("the claim concerns no algorithm, or several: expected one that has a definition")
    return definition(*named)


@cache
def _create_symbol(_name: str, latex: str) -> sp.Dummy:
    """Return a symbol for a quantity that a claim does not name."""
    return sp.Dummy(latex, real=True)


@dataclass(frozen=True, eq=False)
class Round:
    """A round of the algorithm of a claim, for one outcome of its coins."""

    claim: Claim
    algorithm: FederatedAlgorithm
    context: Context
    numbers: Mapping[Expr, Expr]
    """The symbols of the algorithm's numbers."""
    coins: Mapping[Expr, Expr]
    noise: Expr = sp.S.Zero
    """Noise of a client's gradient; zero for a round in expectation, also over the compression."""

    @property
    def chance(self) -> Expr:
        """The probability of the outcome."""
        chances = self.algorithm.coins
        return sp.Mul(*(self.number(chances[coin] if side else 1 - chances[coin]) for coin, side in self.coins.items()))

    def number(self, scale: Expr) -> Expr:
        """Return a coefficient of the definition, in the symbols of the claim."""
        return sp.sympify(scale).xreplace({**self.numbers, **self.coins})

    def expression(self, of: Expr, expression: Expr, vectors: Vectors) -> Expr:
        """Return a linear combination, with the vectors replaced by `vectors`."""
        parts = self.algorithm.parts(of, expression)
        return sp.Add(*(self.number(scale) * self._translate_part(of, part, vectors) for part, scale in parts.items()))

    def _translate_part(self, of: Expr, part: Expr, vectors: Vectors) -> Expr:
        """Translate a part of the definition: a vector, a gradient or a compressed vector, at the given vectors."""
        if part in vectors:
            return vectors[part]
        inside = self.expression(of, part.args[0], vectors)
        if isinstance(part, Gradient):
            return kernel.Gradient(symbols_of(self.claim)(q.client_objective), inside) + self.noise
        if isinstance(part, Compressed) and self.noise != 0:
            raise Rejected(f"{part} is random: the compression error is known in expectation only")
        return inside if isinstance(part, Compressed) else self._average_over_clients(part, inside)

    def _average_over_clients(self, part: Expr, inside: Expr) -> Expr:
        """Return the average over clients of a vector; a vector that all clients share is its own average."""
        form = self.form(inside)
        if not form or isinstance(part, Average):
            return Average(inside) if form else sp.S.Zero
        if isinstance(part, Mixed):
            is_shared = not any(
                differs(basis, self.context) or self.context.numbers.differs(c.expression) for basis, c in form.items()
            )
            # Bounds on the received mixture follow from the sent vectors.
            if not is_shared and self.context.assumed.get(MIXING) != self._bound_mixing(inside):
                raise Rejected(f"the mixture of {inside} over neighbours depends on the graph")
            return inside if is_shared else HEARD
        for needed in (a.full_participation, a.importance_weights):
            if needed not in self.claim.assumptions:
                raise Rejected(f"{part} is an average over all clients only under the assumption {needed.name}")
        return Average(inside)

    def _bound_mixing(self, inside: Expr) -> Expr:
        """Return rho^2 mean|v_i - vbar|^2 - mean|w_i - wbar|^2 for w = W v, with equal weights."""
        rho = symbols_of(self.claim)(q.mixing_contraction)
        return rho**2 * _measure_spread(inside) - _measure_spread(HEARD)

    def add_gossip_identity(self) -> Round:
        """The round with the inequality of gossip, if neighbours exchange one vector and all weights are equal."""
        nodes = {node for _, end in self.algorithm.expressions() for node in sp.sympify(end).atoms(Mixed)}
        symbol = symbols_of(self.claim)
        if len(nodes) != 1 or a.uniform_shares not in self.claim.assumptions or not symbol.has(q.mixing_contraction):
            return self
        (node,) = nodes
        slack = self._bound_mixing(self.expression(node, node.args[0], self.after_steps()))
        return replace(self, context=replace(self.context, assumed={**self.context.assumed, MIXING: slack}))

    def form(self, of: Expr) -> Form:
        """Return the normal form of a vector, after cancellation."""
        return remainder(vector(of, self.context), self.context.numbers)

    @property
    def states(self) -> Vectors:
        """The symbols of the vectors of the server and of the clients at the start of a round."""
        return {of: state(of) for of in (*self.algorithm.server, *self.algorithm.client)}

    def after_steps(self) -> Vectors:
        """Return the vectors at the start of a round, and the local vectors after a single local step."""
        begun = {**self.states, **self.local_start(self.states)}
        return {**self.states, **self.local_step(begun)}

    def local_start(self, vectors: Vectors) -> dict[Expr, Expr]:
        """Return the local vectors at the start of the local steps."""
        return {one.vector: self.expression(one.vector, one.start, vectors) for one in self.algorithm.steps}

    def local_step(self, vectors: Vectors) -> dict[Expr, Expr]:
        """Return the local vectors after a local step."""
        return {one.vector: self.expression(one.vector, one.step, vectors) for one in self.algorithm.steps}

    def end(self, vectors: Vectors) -> dict[Expr, Expr]:
        """Return the vectors of the server and of the participants after a round."""
        ends = {**self.algorithm.server_update, **self.algorithm.client_update}
        return {of: self.expression(of, expression, vectors) for of, expression in ends.items()}

    def start(self) -> dict[Expr, Expr]:
        """Return the initial vectors of the server and of the clients, in terms of x^0."""
        starts, at = {**self.algorithm.server, **self.algorithm.client}, {start: START}
        return {of: self.expression(of, expression, at) for of, expression in starts.items()}

    def evaluate_at_optimum(self) -> dict[Expr, Expr]:
        """Return the vectors of the server and of the clients at the optimum."""
        if not self.algorithm.at_optimum:
            raise Rejected(f"{self.algorithm.name} does not state its vectors at the optimum (`at_optimum`)")
        mean, at = replace(self, noise=sp.S.Zero), {optimum: symbols_of(self.claim)(q.optimum)}
        return {of: mean.expression(of, expression, at) for of, expression in self.algorithm.at_optimum.items()}

    def with_another_step_size(self) -> Round:
        """Return a later local step of the same round, if step sizes may change from step to step."""
        if a.same_step_size in self.claim.assumptions:
            return self
        later = _create_symbol(self.algorithm.name, f"{eta.name}^k")
        numbers = replace(self.context.numbers, of_clients=self.context.numbers.of_clients | {later})
        return replace(self, context=replace(self.context, numbers=numbers), numbers={**self.numbers, eta: later})

    def is_single(self) -> bool:
        """Return whether rounds have one local step: by the definition, or by the claim's conditions."""
        symbol = symbols_of(self.claim)
        single: Expr = symbol(q.local_steps) <= 1
        return self.algorithm.steps_are_rounds or (symbol.has(q.local_steps) and follows(single, self.claim))


def _measure_spread(of: Expr) -> Expr:
    """Return mean|v_i - vbar|^2."""
    return Average(norm_sq(of - Average(of)))


def rounds_of(claim: Claim) -> Iterator[Round]:
    """Yield a round of the algorithm of a claim in expectation, for each outcome of its coins."""
    algorithm = definition_of(claim)
    context, numbers = _add_numbers(claim, algorithm, build_context(claim))
    for sides in product((1, 0), repeat=len(algorithm.coins)):
        coins = dict(zip(algorithm.coins, map(sp.Integer, sides), strict=True))
        yield Round(claim, algorithm, context, numbers, coins)


def noisy_rounds_of(claim: Claim) -> Iterator[Round]:
    """Yield the rounds of the algorithm of a claim with noise, from symbols for the vectors at their start."""
    known, at_step, first = symbols_of(claim), build_context(replace(claim, place="step")), None
    for one in rounds_of(claim):
        own = frozenset(map(state, one.algorithm.client)) | {HEARD}
        context = replace(
            at_step,
            numbers=one.context.numbers,
            vectors=at_step.vectors | {START} | frozenset(map(state, one.algorithm.server)),
            client_vectors=at_step.client_vectors | own,
            depends_on_current_noise=frozenset({HEARD}),
            share=one.numbers[importance] if at_step.share is None else at_step.share,
        )
        noisy = replace(one, context=context, noise=known(q.gradient_noise))
        # The received vector has one symbol, because it is the same for all outcomes of the coins.
        first = first or _add_gradient_identities(noisy).add_gossip_identity()
        yield replace(noisy, context=first.context)


def _add_gradient_identities(one: Round) -> Round:
    """Return a round with the bound on dissimilarity at the points of its gradients."""
    symbol = symbols_of(one.claim)
    if a.bounded_dissimilarity not in one.claim.assumptions:
        return one
    calls = {call for step in one.algorithm.steps for call in sp.sympify(step.step).atoms(Gradient)}
    begun = {**one.states, **one.local_start(one.states)}
    if not calls:
        return one
    (call,) = calls
    at = one.expression(call, call.args[0], begun)
    deviation = kernel.Gradient(symbol(q.client_objective), at) - kernel.Gradient(symbol(q.objective), at)
    known = {**one.context.assumed, ALIKE: symbol(q.gradient_dissimilarity) ** 2 - norm_sq(deviation)}
    return replace(one, context=replace(one.context, assumed=known))


def _add_numbers(claim: Claim, algorithm: FederatedAlgorithm, context: Context) -> tuple[Context, Mapping[Expr, Expr]]:
    """Return a context with the numbers of an algorithm, and their symbols."""
    shared, own = _name_numbers(claim, algorithm)
    numbers: Numbers = replace(
        context.numbers,
        symbols=context.numbers.symbols | frozenset(one for one in shared.values() if one.is_Symbol),
        of_clients=context.numbers.of_clients | frozenset(own.values()),
    )
    return replace(context, numbers=numbers), {**own, **shared}


def _name_numbers(claim: Claim, algorithm: FederatedAlgorithm) -> tuple[dict[Expr, Expr], dict[Expr, Expr]]:
    """Return the symbols of numbers that all clients share, and of numbers of which each client has its own."""
    symbol = symbols_of(claim)

    def find_or_create_symbol(of: Expr, quantity: Quantity | None) -> Expr:
        """Return the claim's symbol for a quantity, or a new one if the claim has none."""
        return (
            symbol(quantity)
            if quantity is not None and symbol.has(quantity)
            else _create_symbol(algorithm.name, of.name)
        )

    given = {
        key: sp.Integer(number)
        for one in select_algorithm_assumptions(claim.assumptions)
        for key, number in one.numbers
    }
    shared = {
        one.letter: given.get(one.key, find_or_create_symbol(one.letter, _find_quantity(one)))
        for one in algorithm.parameters
    }
    is_one = a.server_step_of_one in claim.assumptions
    shared |= {
        eta_g: sp.S.One if is_one else find_or_create_symbol(eta_g, q.server_step_size),
        mean_tau: _create_symbol(algorithm.name, mean_tau.name),
    }
    own = {eta: q.client_step_size, tau: q.client_local_steps, importance: q.importance, eta_sum: None}
    if a.same_step_size in claim.assumptions:
        del own[eta]
        shared[eta] = find_or_create_symbol(eta, q.local_step_size)
    return shared, {of: find_or_create_symbol(of, quantity) for of, quantity in own.items()}


def list_parameter_bounds(claim: Claim) -> tuple[Expr, ...]:
    """Return the upper bounds of a definition's parameters."""
    symbol, algorithm = symbols_of(claim), definition_of(claim)
    named = ((_find_quantity(one), one) for one in algorithm.parameters)
    return tuple(
        symbol(quantity) <= _list_values(one).sup
        for quantity, one in named
        if quantity is not None and symbol.has(quantity)
    )


def _find_quantity(parameter: Parameter) -> Quantity | None:
    """Return the quantity of a parameter; raise `Rejected` if their signs may differ."""
    quantity = PARAMETERS.get(parameter.key)
    known = {POSITIVE: sp.Interval.open(0, sp.oo), NONNEGATIVE: sp.Interval(0, sp.oo)}
    for quantities, allowed in known.items():
        if quantity in quantities and _list_values(parameter).is_subset(allowed) is not True:
            raise Rejected(f"{parameter.key} can be any of {_list_values(parameter)}: expected numbers of {allowed}")
    return quantity


def _list_values(parameter: Parameter) -> sp.Set:
    """Return the numbers that runs can give a parameter."""
    return sp.FiniteSet(0, 1) if parameter.is_flag else parameter.allowed
