"""Lyapunov functions with unknown coefficients, for algorithms that are given as definitions.

The functions are squared distances of the algorithm's vectors from their fixed points, or from the client average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import sympy as sp

from fedtheory.federation import definition
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Average, Expr, Gradient, norm_sq
from fedtheory.kernel.indices import differs
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.definitions import Round, list_parameter_bounds, noisy_rounds_of
from fedtheory.proofs.numbers import SymbolTable, symbols_of

_MOST_FACTORS = 4
"""Limit on the factors that are tried."""


@dataclass(frozen=True)
class Template:
    """A function V = V_0 + sum_j c_j V_j with unknown c_j, and the numbers of its certificate."""

    known: Expr
    """V_0."""
    parts: Sequence[Expr]
    """The functions V_j."""
    factor: Expr
    """The factor q of a round."""
    level: Expr
    """The upper bound on V at the start."""
    offset: Expr
    """The increase b of a round."""


@dataclass(frozen=True)
class RoundOfClaim:
    """A claim in plain symbols, and a round of its algorithm."""

    claim: Claim

    @cached_property
    def outcomes(self) -> Sequence[Round]:
        """The rounds for all outcomes of the coins."""
        return list(noisy_rounds_of(self.claim))

    @property
    def round(self) -> Round:
        """A round; all outcomes of the coins have the same vectors and context."""
        return self.outcomes[0]

    @cached_property
    def known(self) -> Claim:
        """The claim with the conditions that hold for any parameters of the algorithm."""
        curvatures = symbols_of(self.claim).at_most((q.strong_convexity, q.smoothness))
        conditions = (*self.claim.conditions, *curvatures, *list_parameter_bounds(self.claim))
        return replace(self.claim, conditions=conditions)

    @property
    def is_about_consensus(self) -> bool:
        """Whether the claim bounds the distance of the clients' models from each other."""
        return bool(self.claim.relations[0].ordered[0] == symbols_of(self.claim)(q.final_consensus_distance_sq))

    @property
    def measured(self) -> Expr:
        """The bounded quantity, in the vectors at the start of a round."""
        model = self.round.algorithm.model
        if not self.is_about_consensus:
            best = symbols_of(self.claim)(q.optimum)
            return norm_sq(self.round.expression(sp.Symbol("model"), model, self.round.states) - best)
        if not isinstance(model, definition.Average):
            raise Rejected("only models of clients have a distance from each other")
        return _spread(self.round.states[model.args[0]])

    def move(self, value: Expr) -> Expr:
        """Return the expectation over coins of a function after a round; noise remains."""
        ends = ((each, each.end(each.after_steps())) for each in self.outcomes)
        return sp.Add(
            *(each.chance * value.xreplace({each.states[of]: at for of, at in end.items()}) for each, end in ends)
        )

    def begin(self, value: Expr) -> Expr:
        """Return a function at the initial vectors."""
        return value.xreplace({self.round.states[of]: at for of, at in self.round.start().items()})

    def list_evaluations(self) -> list[Expr]:
        """Return the gradients of the clients and of F at the points of local steps, and at their client average."""
        symbol = symbols_of(self.claim)
        objective, client_objective = symbol(q.objective), symbol(q.client_objective)
        begun = {**self.round.states, **self.round.local_start(self.round.states)}
        calls = {
            call for step in self.round.algorithm.steps for call in sp.sympify(step.step).atoms(definition.Gradient)
        }
        points = [self.round.expression(call, call.args[0], begun) for call in sorted(calls, key=str)]
        averages = [Average(point) for point in points if differs(point, self.round.context)]
        return [Gradient(f, at) for at in points for f in (client_objective, objective)] + [
            Gradient(objective, at) for at in averages
        ]


def list_templates(round_of: RoundOfClaim) -> Iterator[Template]:
    """Yield functions with unknown coefficients, for the factors of a claim."""
    for factor, level, offset in _list_numbers(round_of.claim):
        for known, parts in _list_functions(round_of, level):
            yield Template(known, parts, factor, level, offset)


def _list_numbers(claim: Claim) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Yield a factor, the coefficient of its power in the larger side of a claim, and the increase of a round."""
    rounds = symbols_of(claim)(q.rounds)
    _, larger = claim.relations[0].ordered
    summands = sp.Add.make_args(sp.expand_mul(larger))
    powers = [power for power in sorted(larger.atoms(sp.Pow), key=sp.default_sort_key) if power.exp.has(rounds)]
    factors = dict.fromkeys(
        power.base**exponent for power in powers if not (exponent := sp.cancel(power.exp / rounds)).has(rounds)
    )
    rest = [each for each in summands if not each.has(rounds)]
    level = sp.Add(*(_remove_powers(each, rounds) for each in summands if each.has(rounds)))
    for factor in list(factors)[:_MOST_FACTORS] if powers else _list_factors_of_communication(claim):
        yield factor, level, sp.Add(*(sp.factor((1 - factor) * each) for each in rest))


def _remove_powers(summand: Expr, rounds: Expr) -> Expr:
    """Return a summand without the powers whose exponents count rounds."""
    return sp.Mul(*(factor for factor in sp.Mul.make_args(summand) if not factor.has(rounds)))


def _list_factors_of_communication(claim: Claim) -> list[Expr]:
    """Return factors by which communication may contract the consensus error of a round with gradients."""
    symbol, found = symbols_of(claim), []
    if symbol.has(q.mixing_contraction):
        rho = symbol(q.mixing_contraction)
        found += [rho**2, (1 + rho**2) / 2, rho]
    if symbol.has(q.communication_probability):
        p = symbol(q.communication_probability)
        found += [1 - p, 1 - p / 2]
    return found


def _list_functions(round_of: RoundOfClaim, level: Expr) -> Iterator[tuple[Expr, Sequence[Expr]]]:
    """Yield V_0 and further parts of functions: the distance from the optimum has the factor of the claim, or one."""
    symbol = symbols_of(round_of.claim)
    if round_of.is_about_consensus:
        yield round_of.measured, ()
        return
    distances = [*_list_server_distances(round_of), *_list_client_distances(round_of)]
    scales = dict.fromkeys(each for each in (_find_multiple(level, q.initial_distance, symbol), sp.S.One) if each != 0)
    controlled = _find_multiple(level, q.optimum_gradient, symbol)
    for scale, (distance, parts) in product(scales, distances):
        # Control variates that start at zero have the squared gradients at the optimum as their distance.
        others = [scale * part for part in parts if not part.has(Gradient)]
        started = [controlled * part for part in parts if part.has(Gradient)] if controlled != 0 else [sp.S.Zero]
        yield from ((scale * distance + part, others) for part in started)


def _find_multiple(level: Expr, quantity: q.RunQuantity, symbol: SymbolTable) -> Expr:
    """Return the coefficient of a squared quantity in a bound on a function at the start; zero if it is not named."""
    return sp.factor(sp.expand(level).coeff(symbol(quantity) ** 2)) if symbol.has(quantity) else sp.S.Zero


def _list_server_distances(round_of: RoundOfClaim) -> Iterator[tuple[Expr, Sequence[Expr]]]:
    """Yield the distance of a combination of the server's vectors that a round moves along gradients only.

    With momentum it is x + beta/(1 - beta) v.  The other vectors, or their distances from the model, are parts.
    """
    one, best = round_of.round, symbols_of(round_of.claim)(q.optimum)
    server, at = list(one.algorithm.server), one.states
    if one.algorithm.model not in server:
        return
    model = server.index(one.algorithm.model)
    is_model = [one.algorithm.server[of] == definition.start for of in server]
    for vector in (_find_server_matrix(one).T - sp.eye(len(server))).nullspace():
        pivot = vector[model] or next(entry for entry in vector if entry != 0)
        numbers = [sp.cancel(entry / pivot) for entry in vector]
        moved = sp.Add(*(number * at[of] for number, of in zip(numbers, server, strict=True)))
        total = sp.cancel(sp.Add(*(number for number, is_one in zip(numbers, is_model, strict=True) if is_one)))
        denominator = sp.lcm([sp.denom(sp.together(number)) for number in numbers])
        others = [
            at[of] - at[server[model]] if is_one else at[of]
            for of, is_one in zip(server, is_model, strict=True)
            if of != server[model]
        ]
        if total != 0:
            yield norm_sq(moved / total - best), [norm_sq(other / denominator) for other in others]


def _find_server_matrix(one: Round) -> sp.Matrix:
    """Return the matrix of a round on the server's vectors if all gradients vanish."""
    ends = one.end(one.after_steps())
    forms = [one.form(ends[of]) for of in one.algorithm.server]
    columns = [one.states[of] for of in one.algorithm.server]
    return sp.Matrix([[form[at].expression if at in form else 0 for at in columns] for form in forms])


def _list_client_distances(round_of: RoundOfClaim) -> Iterator[tuple[Expr, Sequence[Expr]]]:
    """Yield the distances of the clients' models and of their average; the clients' other vectors are parts.

    Without a stated fixed point, a vector may be at zero, or at the client's gradient at the optimum with either sign.
    """
    one, symbol = round_of.round, symbols_of(round_of.claim)
    best, model, at = symbol(q.optimum), one.algorithm.model, one.states
    if not isinstance(model, definition.Average) or model.args[0] not in one.algorithm.client:
        return
    own = model.args[0]
    stated = one.evaluate_at_optimum() if one.algorithm.at_optimum else {}
    slope = Gradient(symbol(q.client_objective), best)
    unstated = (slope, -slope, sp.S.Zero)
    parts = [
        Average(norm_sq(at[of] - fixed))
        for of in one.algorithm.client
        if of != own
        for fixed in ([stated[of]] if of in stated else unstated)
    ]
    yield Average(norm_sq(at[own] - best)), parts
    yield norm_sq(Average(at[own]) - best), [*parts, _spread(at[own])]


def _spread(of: Expr) -> Expr:
    """Return the average squared distance of the clients' vectors from their average."""
    return Average(norm_sq(of - Average(of)))
