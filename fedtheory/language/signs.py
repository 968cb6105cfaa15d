"""Facts about quantities that hold on every run: signs of numbers, and quantities that are defined together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language import quantities
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity, RunQuantity, VectorQuantity
from fedtheory.language.quantities.measuring.terms import is_in_numbers
from fedtheory.language.quantities.quantity import Term


@dataclass(frozen=True)
class Existing:
    """Quantities that are defined on the same runs, and the assumptions that imply this."""

    name: str
    quantities: frozenset[Quantity]
    by: frozenset[Assumption]


@dataclass(frozen=True, kw_only=True)
class Signs:
    """Quantities by the signs of their values, and other properties; proofs use no other numbers."""

    counts: tuple[Quantity, ...] = ()
    """Whole numbers of at least one, the same for all clients and all rounds."""
    positive: tuple[Quantity, ...] = ()
    """Other positive numbers that are the same for all clients and all rounds."""
    nonnegative: tuple[Quantity, ...] = ()
    """Numbers that are the same for all clients and all rounds, and may be zero."""
    of_an_update: tuple[Quantity, ...] = ()
    """Non-negative numbers that are the same for all clients and local steps of an update."""
    positive_of_clients: tuple[Quantity, ...] = ()
    """Positive numbers of which each client has its own."""
    nonnegative_of_clients: tuple[Quantity, ...] = ()
    """Non-negative numbers of which each client has its own."""
    at_least_one: tuple[Quantity, ...] = ()
    """Numbers of at least one that need not be whole."""
    gaps: tuple[Quantity, ...] = ()
    """Gaps of objective values to the minimum, which claims bound: non-negative, the same for all clients."""
    times: tuple[Quantity, ...] = ()
    """Numbers of at least one if the clients' times are whole."""
    flat: tuple[Quantity, ...] = ()
    """Constants of smoothness, which are zero if all objectives are affine."""
    divided_by: tuple[Quantity, ...] = ()
    """Numbers that may be zero; a claim that divides by one of them does not apply to such runs."""
    positive_with: Mapping[Quantity, frozenset[Quantity | Assumption]] = field(default_factory=dict)
    """Numbers that are positive if one of these is assumed, or occurs in the claim's relations."""
    existing: tuple[Existing, ...] = ()
    """Quantities that are undefined on some runs."""
    given: tuple[VectorQuantity, ...] = ()
    """Vectors that the start of a round determines."""


def list_existing(name: str, *quantities: Quantity, by: Assumption) -> Existing:
    """Return quantities that are defined if an assumption holds."""
    return Existing(name, frozenset(quantities), frozenset({by}))


def iterate_run_quantities() -> Iterator[RunQuantity]:
    """Yield the numbers of a run in the vocabulary."""
    every = (getattr(quantities, name) for name in quantities.__all__)
    return (one for one in every if isinstance(one, RunQuantity))


def list_defined_with(used: Collection[Quantity]) -> frozenset[Quantity]:
    """Return the quantities whose terms use one of these, so that they are defined on the same runs."""
    return frozenset(one for one in iterate_run_quantities() if is_defined_with(one, used))


def is_defined_with(quantity: Quantity, used: Collection[Quantity]) -> bool:
    """Return whether the term of a quantity uses one of these, directly or through other terms."""
    term = quantity.term if isinstance(quantity, RunQuantity) else None
    return term is not None and any(of in used or is_defined_with(of, used) for _, of in term.where)


def derive_signs(tables: Sequence[Signs]) -> Signs:
    """Return the signs of quantities without an entry in a table, whose terms are expressions in known signs."""
    positive, nonnegative, of_clients = (set[Quantity]() for _ in range(3))
    for signs in tables:
        positive.update((*signs.counts, *signs.positive, *signs.at_least_one, *signs.positive_of_clients))
        nonnegative.update((*signs.nonnegative, *signs.of_an_update, *signs.nonnegative_of_clients))
        of_clients.update((*signs.positive_of_clients, *signs.nonnegative_of_clients))
    listed, found = positive | nonnegative, dict[str, list[Quantity]]()
    for one in sorted(iterate_run_quantities(), key=_compute_depth):
        if one in listed or one.term is None or one.root or not is_in_numbers(one.term) or _is_of_each_type(one):
            continue
        sign = None if one.per_step else _find_sign(one.term, positive, nonnegative)
        if sign is None:
            continue
        (positive if sign == "positive" else nonnegative).add(one)
        if _is_of_each_client(one.term, of_clients):
            of_clients.add(one)
            found.setdefault(f"{sign}_of_clients", []).append(one)
        else:
            found.setdefault("of_an_update" if one.per_round else sign, []).append(one)
    return Signs(
        positive=tuple(found.get("positive", ())),
        nonnegative=tuple(found.get("nonnegative", ())),
        of_an_update=tuple(found.get("of_an_update", ())),
        positive_of_clients=tuple(found.get("positive_of_clients", ())),
        nonnegative_of_clients=tuple(found.get("nonnegative_of_clients", ())),
    )


def _is_of_each_client(term: Term, of_clients: Collection[Quantity]) -> bool:
    """Return whether each client has its own number: not if a sum or extreme over clients is taken."""
    if any(over.index == "clients" for over in term.over):
        return False
    outside = term.expression.replace(lambda part: isinstance(part, Average | ClientSum), lambda _sum: sp.S.One)
    return any(of in of_clients for symbol, of in term.where if symbol in outside.free_symbols)


def _is_of_each_type(quantity: RunQuantity) -> bool:
    """Return whether a number has one value per type of clients, and not per client."""
    over = () if quantity.term is None else quantity.term.over
    return quantity.of_types and all(one.index != "clients" for one in over)


def _compute_depth(quantity: RunQuantity) -> int:
    """Return the depth of a quantity's term, so that signs are computed in the order of dependence."""
    within = () if quantity.term is None else (of for _, of in quantity.term.where)
    return 1 + max((_compute_depth(of) for of in within if isinstance(of, RunQuantity)), default=0)


def _find_sign(term: Term, positive: Collection[Quantity], nonnegative: Collection[Quantity]) -> str | None:
    """Return the sign of a number that is a function of numbers with known signs.

    An average, a sum, an extreme or an entry of several numbers of one sign has that sign, if there is at least one.
    """
    if any(
        over.weights is not None or over.by == "before" or over.begin or over.index == "windows" for over in term.over
    ):
        return None
    known = {symbol: 1 if of in positive else 0 for symbol, of in term.where if of in positive or of in nonnegative}
    sign = _compute_sign(term.expression, known)
    return None if sign is None else ("nonnegative", "positive")[sign]


def _compute_sign(expression: Expr, known: Mapping[sp.Symbol, int]) -> int | None:
    """Return 1 for a positive expression, 0 for a non-negative one, None if neither is known."""
    if expression.is_Symbol or expression.is_Rational or isinstance(expression, sp.Abs):
        positive = expression.is_Rational and expression > 0
        return known.get(
            expression, 1 if positive else 0 if expression == 0 or isinstance(expression, sp.Abs) else None
        )
    signs = [_compute_sign(part, known) for part in expression.args[: 1 if expression.is_Pow else None]]
    every = [sign for sign in signs if sign is not None]
    if isinstance(expression, sp.Max):
        return max(every, default=None)
    if len(every) < len(signs) or not every:
        return None
    if expression.is_Pow and not (expression.exp.is_Integer and (expression.exp > 0 or every[0])):
        return None
    if expression.is_Add:
        return max(every)
    keeps = expression.is_Pow or expression.is_Mul or isinstance(expression, sp.Min | Average | ClientSum)
    return min(every) if keeps else None
