"""The symbols and numbers of a claim: their quantities, and the signs and bounds that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations
from math import gcd

import sympy as sp

from fedtheory.kernel import Numbers, Rejected, is_ordering, is_positive, slack
from fedtheory.kernel.admitted import list_denominator_factors
from fedtheory.kernel.expressions import Average, ClientSum, Expr, Selected, parts_of
from fedtheory.kernel.quotients import linear, quotient
from fedtheory.kernel.work import cache_with_work
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import import_parts
from fedtheory.language.quantities import Quantity, RunQuantity
from fedtheory.language.signs import Signs, derive_signs, is_defined_with, iterate_run_quantities
from fedtheory.proofs.existence import select_existing_symbols

SMOOTH = (a.convex_and_smooth, a.smooth)
_OWN = Signs(
    counts=(q.clients, q.participants, q.local_steps, q.rounds, q.iterations),
    positive=(
        q.local_step_size,
        q.server_step_size,
        q.effective_step_size,
        q.smoothness,
        q.communication_probability,
    ),
    nonnegative=(
        q.initial_gap,
        q.strong_convexity,
        q.smallest_curvature,
        q.objective_smoothness,
        q.comparator_suboptimality,
        q.noise_smoothness,
        q.sampling_variance,
        q.momentum,
        q.proximal_weight,
        q.average_local_gradient_sq,
    ),
    positive_of_clients=(q.client_local_steps, q.client_step_size),
    nonnegative_of_clients=(
        q.client_smoothness,
        q.client_strong_convexity,
        q.mean_square_smoothness,
        q.relative_noise,
        q.absolute_noise,
        q.importance,
    ),
    gaps=(q.final_suboptimality,),
    flat=(q.smoothness, q.objective_smoothness),
    divided_by=(q.final_suboptimality, q.initial_gap, q.average_local_gradient_sq, q.smoothness, q.proximal_weight),
)
_TABLES = (_OWN, *(part.SIGNS for part in import_parts("signs")))
_SIGNS = (*_TABLES, derive_signs(_TABLES))


@cache
def _list_signed(kind: str) -> tuple[Quantity, ...]:
    """Return the quantities with one kind of sign, of the vocabulary, of papers, and by their terms."""
    return tuple(quantity for signs in _SIGNS for quantity in getattr(signs, kind))


_COUNTS, _AT_LEAST_ONE = _list_signed("counts"), _list_signed("at_least_one")
OF_CLIENTS = frozenset((*_list_signed("positive_of_clients"), *_list_signed("nonnegative_of_clients")))
"""Numbers of which each client has its own, all non-negative."""
_ROOTS = tuple(one for one in iterate_run_quantities() if one.root and one.place == "run" and one not in OF_CLIENTS)
"""Numbers that are square roots by their definitions."""
NUMBERS = (*_COUNTS, *_list_signed("positive"), *_AT_LEAST_ONE, *_list_signed("nonnegative"), *_ROOTS)
"""Non-negative numbers that are the same for all clients and all rounds."""
OF_AN_UPDATE = _list_signed("of_an_update")
"""Non-negative numbers that are the same for all clients and local steps of an update."""
_GAPS = _list_signed("gaps")
_CONSTANTS = frozenset(NUMBERS)
"""The numbers of a run as a set: a search in the sequence would compare definitions."""
_OF_ALL = frozenset((*NUMBERS, *OF_AN_UPDATE, *_GAPS))
"""Numbers that all clients share, of a run or of an update."""
_COUNTED = frozenset((*_COUNTS, q.client_local_steps))
"""Numbers that are at least one."""
_DIVIDED_BY = frozenset(_list_signed("divided_by"))
"""Numbers that are non-zero if a claim divides by them."""
POSITIVE = frozenset((*_COUNTS, *_list_signed("positive"), *_AT_LEAST_ONE, *_list_signed("positive_of_clients")))
"""Numbers that are positive, except for the curvatures of affine objectives."""
NONNEGATIVE = frozenset(
    (*_list_signed("nonnegative"), *_ROOTS, *OF_AN_UPDATE, *_GAPS, *_list_signed("nonnegative_of_clients"))
)
"""Non-negative numbers that may be zero."""
CURVED = (
    q.smoothness,
    q.smallest_curvature,
    q.objective_smoothness,
    q.strong_convexity,
    q.client_strong_convexity,
    q.client_smoothness,
)
"""Constants that are positive if every client's objective is strongly convex."""


def _list_averages() -> Iterator[tuple[RunQuantity, Quantity]]:
    """Yield the numbers whose term is the client average of another number, with that number."""
    for one in iterate_run_quantities():
        if one.term is not None and not one.term.over and not one.root and len(one.term.where) == 1:
            ((symbol, of),) = one.term.where
            if one.term.expression == Average(symbol):
                yield one, of


_AVERAGED = tuple(_list_averages())
"""Numbers that are client averages by their definitions, with the averaged numbers."""


@cache
def _create_dummy(_name: str, latex: str) -> sp.Dummy:
    """Return a real symbol that is printed as the LaTeX."""
    return sp.Dummy(latex, real=True)


class SymbolTable:
    """The symbol of each quantity in a claim, which must be unique; a new symbol if the claim has none."""

    def __init__(self, where: Mapping[sp.Symbol, Quantity]) -> None:
        self.known: dict[str, sp.Symbol] = {}
        self._quantities: dict[str, Quantity] = {}
        for symbol, quantity in where.items():
            if self._quantities.setdefault(quantity.name, quantity) is not quantity:
                raise Rejected(f"two different quantities have the name {quantity.name}")
            if self.known.setdefault(quantity.name, symbol) != symbol:
                raise Rejected(f"{self.known[quantity.name]} and {symbol} both stand for {quantity.name}")
        self._stands_for = dict(where)

    @property
    def known_symbols(self) -> set[sp.Symbol]:
        """The symbols with a quantity."""
        return set(self.known.values())

    def __call__(self, quantity: Quantity) -> sp.Symbol:
        if self._quantities.get(quantity.name, quantity) is not quantity:
            raise Rejected(f"another quantity of the claim has the name {quantity.name}")
        return self.known.get(quantity.name) or _create_dummy(quantity.name, quantity.latex)

    def quantity(self, symbol: sp.Symbol) -> Quantity | None:
        """Return the quantity of a symbol; None for one without."""
        return self._stands_for.get(symbol)

    def has(self, quantity: Quantity) -> bool:
        """Return whether the claim has a symbol for a quantity."""
        return quantity.name in self.known

    def at_most(self, *pairs: tuple[Quantity, Quantity]) -> tuple[Expr, ...]:
        """Return known orderings such as p_i <= p_max, L_i <= L, m <= M, for pairs of which the claim has both."""
        return tuple(self(one) <= self(other) for one, other in pairs if self.has(one) and self.has(other))


@lru_cache(maxsize=2**10)
def symbols_of(claim: Claim) -> SymbolTable:
    """Return the symbols of a claim, including those of quantities that are its sides."""
    both = (claim.where.keys() | claim.notation.keys()) & claim.for_all.keys()
    if both:
        raise Rejected(f"{', '.join(map(str, both))} is a quantity and a quantified symbol")
    return SymbolTable({**claim.where, **claim.notation})


@cache_with_work(2**10)
def numbers_of(claim: Claim) -> Numbers:
    """Return the numbers of a claim: of the setting, of the clients, and under a quantifier.

    Affine objectives are smooth with every positive constant.  If they are
    the only reason for a constant to be zero, a statement about them is the
    limit of those for small constants, unless it is strict or a condition
    fails for all of these.
    """
    known = _collect_numbers(claim, _FLAT)
    is_smooth = any(assumption in claim.assumptions for assumption in SMOOTH)
    is_strict = any(relation.operator in ("<", ">") for relation in claim.relations)
    if not is_smooth or is_strict or not _is_a_limit(claim, known):
        return known
    return _collect_numbers(claim, ())


_FLAT = _list_signed("flat")
"""Constants that are zero if all objectives are affine."""


def _is_a_limit(claim: Claim, numbers: Numbers) -> bool:
    """Return whether every condition that holds if these constants are zero also holds if they are small.

    A condition on a quantity whose term contains one of them need not.
    """
    hidden = {symbol for symbol, quantity in claim.notation.items() if is_defined_with(quantity, _FLAT)}
    if any(condition.free_symbols & hidden for condition in claim.conditions):
        return False
    flat = [symbol for symbol, quantity in claim.notation.items() if quantity in _FLAT]
    # The objective may be affine although the clients' objectives are not.
    some = chain.from_iterable(combinations(flat, count) for count in range(1, len(flat) + 1))
    return all(_holds_nearby(condition, frozenset(zero), numbers) for zero in some for condition in claim.conditions)


def _holds_nearby(condition: Expr, zero: frozenset[sp.Symbol], numbers: Numbers) -> bool:
    """Return whether a condition that holds if some symbols are zero also holds if they are small."""
    if not condition.free_symbols & zero:
        return True
    if not is_ordering(condition):
        return False
    at_zero = dict.fromkeys(zero, sp.S.Zero)
    return bool(list_denominator_factors(condition.args) & zero) or is_positive(
        slack(condition).xreplace(at_zero), numbers
    )


def _collect_numbers(claim: Claim, flat: Sequence[Quantity]) -> Numbers:
    """Return the numbers of a claim with their signs."""
    known = select_existing_symbols(claim)
    named = {symbol: quantity for symbol, quantity in known.items() if quantity in _OF_ALL}
    own = {symbol: quantity for symbol, quantity in known.items() if quantity in OF_CLIENTS}
    # The index of a local step is the same for all clients, at each of the steps that a claim is about.
    index = {s for s, quantity in {**claim.where, **claim.notation}.items() if quantity is q.local_step_index}
    counts = {symbol: 1 for symbol, quantity in (named | own).items() if quantity in _COUNTED}
    varied = {symbol: values for symbol, values in claim.for_all.items() if symbol.is_integer and symbol.is_positive}
    counts |= {symbol: int(min(map(sp.sympify, values))) for symbol, values in varied.items()}
    if a.whole_times in claim.assumptions:
        counts |= {symbol: 1 for symbol, quantity in named.items() if quantity in _list_signed("times")}
    if a.several_clients in claim.assumptions:
        counts |= {symbol: 2 for symbol, quantity in named.items() if quantity is q.clients}
    counts |= {symbol: 1 for symbol, quantity in named.items() if quantity in _AT_LEAST_ONE}
    curved = CURVED if a.strongly_convex_clients in claim.assumptions else ()
    limits = frozenset(_FLAT).difference(flat)
    fixed = _find_fixed_step_sizes(claim, named)
    # A step size is positive, so that neither the numerator nor the denominator of its value is zero.
    of_steps = [*fixed.values(), *(1 / number for number in fixed.values())]
    written = [*sides_of(claim), *of_steps]
    nonzero = divisors(of_steps)
    vanishing = NONNEGATIVE.union(flat).difference(curved, limits)
    return Numbers(
        symbols=frozenset(named) | frozenset(claim.for_all) | index,
        of_clients=frozenset(own),
        at_least=counts,
        maybe_zero=frozenset(index.union(s for s, quantity in (named | own).items() if quantity in vanishing)),
        integer=frozenset(index).union(symbol for symbol in counts if named.get(symbol) not in _AT_LEAST_ONE),
        divisors=frozenset(
            symbol
            for symbol, quantity in (named | own).items()
            if quantity in curved
            or (
                symbol in named
                and (quantity in limits or symbol in nonzero or _is_divided_by(claim, symbol, quantity, written))
            )
        ),
        nonzero=list_denominator_factors(written),
        definitions=_find_averaged_numbers(symbols_of(claim)) | fixed,
    )


def sides_of(claim: Claim) -> list[Expr]:
    """Return both sides of all relations of a claim, and of its conditions."""
    conditions = [side for condition in claim.conditions for side in getattr(condition, "args", ())]
    return [side for relation in claim.relations for side in relation.sides] + conditions


def _is_divided_by(claim: Claim, symbol: sp.Symbol, quantity: Quantity, written: Sequence[Expr]) -> bool:
    """Return whether a claim, or the number that it fixes, divides by a number, so that it is not zero."""
    reasons = frozenset().union(*(signs.positive_with.get(quantity, ()) for signs in _SIGNS))
    used = (claim.where.get(symbol) for relation in claim.relations for symbol in relation.free_symbols)
    if reasons and any(one in reasons for one in (*claim.assumptions, *used)):
        return True
    return quantity in _DIVIDED_BY and symbol in divisors(written)


def divisors(expressions: Sequence[Expr]) -> set[sp.Symbol]:
    """Return the symbols that expressions divide by."""
    powers = set().union(*(parts_of(sp.sympify(expression), sp.Pow) for expression in expressions))
    return {power.base for power in powers if power.base.is_Symbol and power.exp.is_negative}


def _find_averaged_numbers(symbol: SymbolTable) -> dict[sp.Symbol, Expr]:
    """Return the numbers that are client averages by their definitions."""
    return {symbol(mean): Average(symbol(of)) for mean, of in _AVERAGED if symbol.has(mean) and symbol.has(of)}


def list_known_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Return the known orderings of numbers by their quantities.

    For example p_i <= p_max, m <= M, k + 1 <= tau; the smallest curvature of an objective is at most the largest, and
    the average dissimilarity at most the largest.
    """
    symbol = symbols_of(claim)
    drawn = symbol.at_most((q.importance, q.largest_importance), (q.client_smoothness, q.smoothness), *_CURVATURES)
    drawn += symbol.at_most((q.mean_dissimilarity, q.gradient_dissimilarity))
    if a.uniform_sampling in claim.assumptions:
        drawn += symbol.at_most((q.participants, q.clients))
    # In an average over clients, a step may exist for some of them only, unless all take equally many.
    used = claim.notation.values()
    of_each = q.local_steps in used or not any(relation.atoms(*MEANS) for relation in claim.relations)
    # On the whole run and at points, every index of a step is valid for every client.
    of_each = of_each and (claim.place in _AT_STEPS or not symbol.has(q.client_local_steps))
    is_numbered = q.local_step_index in used
    return (*drawn, *bound_step_index(claim)) if is_numbered and of_each else drawn


def _find_fixed_step_sizes(claim: Claim, named: Mapping[sp.Symbol, Quantity]) -> dict[sp.Symbol, Expr]:
    """Find step sizes that a condition equates with a number of the run, such as 1/L, and replace them by it.

    Every run of the claim satisfies the condition, so that both sides are defined there.
    """
    constants = {symbol for symbol, quantity in named.items() if quantity in _CONSTANTS}
    found: dict[sp.Symbol, Expr] = {}
    for condition in claim.conditions:
        sides = condition.args if isinstance(condition, sp.Eq) else ()
        for size in (*sides, *sorted(condition.free_symbols, key=str)) if sides else ():
            number = _solve_equation(condition, size, named) if named.get(size) in _STEP_SIZES else None
            if number is not None and number.free_symbols <= constants - {size}:
                found.setdefault(size, number)
                constants.discard(size)
    return found


def _solve_equation(condition: sp.Eq, size: sp.Symbol, named: Mapping[sp.Symbol, Quantity]) -> Expr | None:
    """Return the number that an equation requires a symbol to be, such as 1/(4 L) for 4 L eta = 1.

    If neither side is the symbol, the equation is `factor * size = rest`.  A `rest` that is never zero makes the factor
    non-zero, so that it may be a denominator.
    """
    try:
        for one, other in (condition.args, condition.args[::-1]):
            if one == size and quotient(other):
                return other
        difference = quotient(condition.lhs - condition.rhs)
        factors, rest = linear(difference.written(difference.numerator), (size,))
    except Rejected:
        return None
    is_solvable = factors[size] != 0 and _is_product_of_counts(rest, named)
    return quotient(-rest / factors[size]).expression if is_solvable else None


def _is_product_of_counts(number: Expr, named: Mapping[sp.Symbol, Quantity]) -> bool:
    """Return whether a number is a non-zero rational times powers of numbers that are at least one."""
    bases = (factor.as_base_exp()[0] for factor in sp.Mul.make_args(number))
    return number != 0 and all(base.is_Rational or named.get(base) in _COUNTED for base in bases)


_STEP_SIZES = (q.local_step_size, q.server_step_size)
"""Numbers that an author chooses in a bound, often by an equation with other constants of the run."""

_CURVATURES = (
    (q.strong_convexity, q.smoothness),
    (q.client_strong_convexity, q.client_smoothness),
    (q.smallest_curvature, q.objective_smoothness),
)
"""Constants of strong convexity and of smoothness of the same objectives."""
_AT_STEPS = ("step", "path", "round")


def power_of(factor: Expr, count: Expr) -> Expr:
    """Return a power whose exponent is a whole number; a power of a square is simplified."""
    base, exponent = sp.sympify(factor).as_base_exp()
    if base.is_Mul:
        base, exponent = _find_root(base)
    power: Expr = base ** (exponent * count) if exponent.is_Integer else factor**count
    return power


def _find_root(product: Expr) -> tuple[Expr, Expr]:
    """Write a product of powers as one power: SymPy writes the square of a quotient as a quotient of squares."""
    parts = [part.as_base_exp() for part in product.args]
    if not all(exponent.is_Integer for _, exponent in parts):
        return product, sp.S.One
    common = sp.Integer(gcd(*(int(exponent) for _, exponent in parts)))
    return sp.Mul(*(base ** (exponent / common) for base, exponent in parts)), common


ROUNDS = (a.same_local_work, a.unit_server_step, a.full_participation)
"""Assumptions under which a round ends at the average of its clients, after local steps of the update rule."""
SAMPLED_ROUNDS = (a.same_local_work, a.unit_server_step, a.averaged_participants)
"""Assumptions under which a round ends at the average in expectation, with a variance from sampling and drift."""
MEANS = (Average, Selected, ClientSum)


def bound_step_index(claim: Claim) -> tuple[Expr, ...]:
    """Return the bounds on the index of the present local step."""
    symbol = symbols_of(claim)
    steps = symbol(q.client_local_steps) if symbol.has(q.client_local_steps) else symbol(q.local_steps)
    return (symbol(q.local_step_index) + 1 <= steps,)
