"""Builds lemmas for clients that agree at every local step: gradient descent and SGD, of one client or with one step.

Each local step is then a step of gradient descent on F with noise, and bounds on a run follow from three inequalities:

    X' <= q X + b,      F' - F* <= a (X - X') + c,      |grad F|^2 <= a (F - F') + c,

where X is the expected squared distance from the optimum, and a prime marks the value after the step.  The claimed
bound gives their constants.  If F' <= F + b holds as well, the average error bounds the error of the last iterate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expectation, Expr, Gradient, Value, norm_sq, parts_of
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.claim_context import are_together, count_steps
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.last_errors import LastOfContracting, LastOfFalling, count_iterations
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import ROUNDS, SymbolTable, power_of, symbols_of
from fedtheory.proofs.proof import check_assumed
from fedtheory.search.certificate_terms import certify_step
from fedtheory.search.workspace import LemmaGoal, Workspace, le

BOUNDED = (q.final_distance_sq, q.average_suboptimality, q.average_local_gradient_sq, q.final_suboptimality)
"""Quantities that these lemmas bound."""
_NEEDED = tuple(
    quantity.name
    for quantity in (
        *(q.average_suboptimality, q.average_iterate, q.next_average_iterate, q.optimum),
        *(q.objective, q.client_objective, q.gradient_noise),
    )
)
"""Names of the quantities in the steps of these lemmas."""


def list_needed_together(claim: Claim) -> Sequence[str]:
    """Return the names of the quantities that the steps of these lemmas use, for a claim."""
    counted = [] if q.iterations in claim.notation.values() else [q.iterations.name]
    return [*_NEEDED, *counted, *([] if a.one_client in claim.assumptions else [q.clients.name])]


def has_power_of_rounds(claim: Claim) -> bool:
    """Return whether a claim has a power of the number of rounds, so that its certificate counts local steps."""
    rounds = symbols_of(claim)(q.rounds)
    return any(power.exp.has(rounds) for relation in claim.relations for power in relation.atoms(sp.Pow))


def is_together(claim: Claim) -> bool:
    """Return whether a claim bounds such a quantity of a run whose clients agree at every local step."""
    (smaller, _) = claim.relations[0].ordered
    is_bounded = claim.notation.get(smaller) in BOUNDED
    return is_bounded and are_together(claim) and check_assumed(claim, ROUNDS, "").holds


def find_steps_together(workspace: Workspace) -> Iterator[str]:
    """Yield the ids of lemmas on a run, each from a step with the constants of the claimed bound."""
    claim = workspace.claim
    smaller, larger = claim.relations[0].ordered
    quantity = claim.notation[smaller]
    if quantity is q.final_distance_sq:
        found = _bound_last_distance(workspace) if any(_find_factors(claim)) else _bound_growth(workspace)
    elif quantity is q.average_local_gradient_sq:
        found = _bound_mean_gradient(workspace, larger)
    else:
        found = _bound_mean_error(workspace, larger if quantity is q.average_suboptimality else None)
    yield from (name for name in found if name is not None)


def find_last_errors(workspace: Workspace) -> Iterator[LastOfFalling | LastOfContracting]:
    """Yield bounds on the error of the last iterate: by powers of a factor, and by the average error."""
    claim = workspace.claim
    symbol = symbols_of(claim)
    objective, best = symbol(q.objective), symbol(q.optimum)
    before, after = (Value(objective, symbol(one)) for one in (q.average_iterate, q.next_average_iterate))
    least = Value(objective, best)
    for number, (factor, offset) in enumerate(_find_factors(claim), start=1):
        larger = factor * Expectation(before - least)
        name = _prove_step(workspace, f"errors-{number}", after - least, larger, offset)
        if name is not None:
            yield LastOfContracting(name)
    added = symbol(q.smoothness) * symbol(q.local_step_size) ** 2 * _average_variance(claim) / 2
    name = _prove_step(workspace, "falling", after, Expectation(before), added)
    if name is not None:
        yield LastOfFalling(name)


def _find_factors(claim: Claim) -> Iterator[tuple[Expr, Expr]]:
    """Yield the factors q of powers q^K in the bound of a claim, each with b = (1 - q) times the rest of the bound."""
    bound = claim.relations[0].ordered[1]
    count = count_steps(claim)
    powers = [one for one in parts_of(bound, sp.Pow) if (one.exp / count).is_Integer]
    for power in sorted(powers, key=str):
        factor, rest = power.base ** (power.exp / count), bound.xreplace({power: sp.S.Zero})
        if not rest.has(*powers):
            yield factor, sp.expand(sp.cancel(rest * (1 - factor)))


def _bound_last_distance(workspace: Workspace) -> Iterator[str | None]:
    """Yield ids of lemmas on the last distance, one for each factor with a power in the claimed bound.

    The constant of each step is that of the claimed bound, or the smallest possible one.
    """
    claim = workspace.claim
    symbol, count = symbols_of(claim), count_steps(claim)
    before, after = _square_distances(symbol)
    least = symbol(q.local_step_size) ** 2 * _average_variance(claim)
    pairs = ((factor, offset) for factor, stated in _find_factors(claim) for offset in dict.fromkeys((stated, least)))
    for number, (factor, offset) in enumerate(pairs, start=1):
        step = _prove_step(workspace, f"contracting-{number}", after, factor * Expectation(before), offset)
        if step is None:
            continue
        power = power_of(factor, count) * symbol(q.initial_distance) ** 2
        whole = le(symbol(q.final_distance_sq), power + offset / (1 - factor))
        statement = LemmaGoal(
            f"last-distance-{number}", "run", whole, [*claim.conditions, _require_base(claim, factor)]
        )
        contraction = Contraction(
            claim=workspace.claim_of(statement).id,
            step=step,
            factor=factor,
            potential=sp.S.Zero,
            offset=offset,
            weight=sp.S.One,
        )
        yield workspace.add(statement, contraction)


def _require_base(claim: Claim, factor: Expr) -> Expr:
    """Return the condition that the base of a factor, such as 1 - eta mu, is non-negative: eta <= 1/mu.

    It does not follow from conditions that bound the step size by the smoothness only.
    """
    size = symbols_of(claim)(q.local_step_size)
    rate = sp.cancel((1 - factor.as_base_exp()[0]) / size)
    if rate == 0 or rate.has(size):
        return sp.Ge(factor.as_base_exp()[0], 0, evaluate=False)
    return sp.Le(size, 1 / rate, evaluate=False)


def _bound_growth(workspace: Workspace) -> Iterator[str | None]:
    """Yield the id of a lemma on the last distance, by the noise that each step adds."""
    symbol = symbols_of(workspace.claim)
    count, added = count_iterations(symbol), symbol(q.local_step_size) ** 2 * _average_variance(workspace.claim)
    before, after = _square_distances(symbol)
    step = _prove_step(workspace, "nearer", after, Expectation(before), added)
    yield _average_over_steps(workspace, "mean-nearer", le(-added, symbol(q.total_progress) / count), step)


def _bound_mean_error(workspace: Workspace, bound: Expr | None) -> Iterator[str | None]:
    """Yield ids of lemmas on the average error, by the progress towards the optimum.

    The constants are those of the claimed bound, and then the smallest possible ones.
    """
    claim = workspace.claim
    symbol, count = symbols_of(claim), count_iterations(symbols_of(claim))
    size = symbol(q.local_step_size)
    constants = [(1 / (2 * size), size * _average_variance(claim))]
    if bound is not None:
        constants.insert(0, _split_bound(bound, symbol(q.initial_distance) ** 2, count))
    before, after = _square_distances(symbol)
    objective, best = symbol(q.objective), symbol(q.optimum)
    error = Value(objective, symbol(q.next_average_iterate)) - Value(objective, best)
    for number, (factor, added) in enumerate(dict.fromkeys(constants), start=1):
        step = _prove_step(workspace, f"progress-{number}", error, factor * Expectation(before - after), added)
        right = factor * symbol(q.total_progress) / count + added
        yield _average_over_steps(workspace, f"mean-error-{number}", le(symbol(q.average_suboptimality), right), step)


def _bound_mean_gradient(workspace: Workspace, bound: Expr) -> Iterator[str | None]:
    """Yield the id of a lemma on the average squared gradient, by the decrease of the objective."""
    symbol = symbols_of(workspace.claim)
    count = count_iterations(symbol)
    factor, added = _split_bound(bound, symbol(q.initial_gap), count)
    objective = symbol(q.objective)
    before, after = (symbol(one) for one in (q.average_iterate, q.next_average_iterate))
    decrease = Expectation(Value(objective, before) - Value(objective, after))
    step = _prove_step(workspace, "descent", norm_sq(Gradient(objective, before)), factor * decrease, added)
    right = factor * symbol(q.total_descent) / count + added
    yield _average_over_steps(workspace, "mean-gradient", le(symbol(q.average_local_gradient_sq), right), step)


def _average_over_steps(workspace: Workspace, name: str, whole: Relation, step: str | None) -> str | None:
    """Add a lemma on an average over all local steps, by a lemma on each of them, and return its id."""
    if step is None:
        return None
    statement = LemmaGoal(name, "run", whole)
    certificate = MeanCertificate(claim=workspace.claim_of(statement).id, step=step, span="run")
    return workspace.add(statement, certificate)


def _split_bound(bound: Expr, start: Expr, count: Expr) -> tuple[Expr, Expr]:
    """Return the coefficient of the initial error in a bound, times the number of steps, and the rest of the bound."""
    factor = sp.expand(bound).coeff(start)
    rest = sp.expand(bound) - sp.expand(factor * start)
    return sp.cancel(factor * count), sp.factor_terms(rest)


def _square_distances(symbol: SymbolTable) -> tuple[Expr, Expr]:
    """Return the squared distances to the optimum before and after a step."""
    before, after, best = (symbol(one) for one in (q.average_iterate, q.next_average_iterate, q.optimum))
    return norm_sq(before - best), norm_sq(after - best)


def _average_variance(claim: Claim) -> Expr:
    """Return the variance of the clients' average gradient, in the symbols of a claim."""
    symbol = symbols_of(claim)
    if a.unbiased_bounded_variance not in claim.assumptions or not symbol.has(q.noise_deviation):
        return sp.S.Zero
    return symbol(q.noise_deviation) ** 2 / (symbol(q.clients) if symbol.has(q.clients) else 1)


def _prove_step(workspace: Workspace, name: str, left: Expr, right: Expr, added: Expr) -> str | None:
    """Add the lemma E left <= right + added at one local step, and return its id; None if it is not proved."""
    statement = LemmaGoal(name, "step", le(Expectation(left), right + added))
    claim = workspace.claim_of(statement)
    certificate = certify_step(claim, statement.relation)
    return None if certificate is None else workspace.add(statement, certificate)
