"""Bounds as numeric functions: the right side of a claim, with values of its symbols.

Values are floats: a plan is advice, not a certificate.  Formulas stay symbolic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

from fedtheory.arithmetic import NEAR_TIE, plain_float, plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.typesetting import latex
from fedtheory.planner import comparators
from fedtheory.planner.comparators import Comparators, ComparatorValues
from fedtheory.planner.coverage import find_bounded_error
from fedtheory.planner.model_comparators import get_comparators

STEP, SERVER_STEP, STEPS, ROUNDS, CLIENTS = (
    "local_step_size",
    "server_step_size",
    "local_steps",
    "rounds",
    "clients",
)
"""Numbers that a plan chooses, by the names of their quantities."""

COUNTS = (STEPS, ROUNDS, CLIENTS, "iterations", "participants")
"""Quantities that are positive whole numbers."""
WHOLE = frozenset((*COUNTS, "largest_staleness"))
"""Quantities that are whole numbers."""

_TIME = (STEP, STEPS, ROUNDS)
"""Numbers that determine the length of a run, on which its comparator depends."""
_PRODUCTS = {"iterations": (ROUNDS, STEPS), "effective_step_size": (STEP, STEPS)}
"""Quantities that are functions of others."""


Function = Callable[[list[float]], float]
"""An expression as a numeric function."""


@dataclass(frozen=True)
class Slack:
    """A condition at given numbers; `slack` is the difference of its sides, negative if it fails."""

    condition: Expr
    holds: bool
    slack: float


def compute_slack(condition: Expr, left: float, right: float) -> Slack:
    """Return a condition whose sides have these values.

    A non-strict condition holds up to the tolerance of near ties.
    """
    strict = condition.rel_op in ("<", ">")
    near = 0.0 if strict else NEAR_TIE * (abs(left) + abs(right))
    slack = left - right if condition.rel_op in (">=", ">") else right - left
    # An equation fails on either side.
    slack = -abs(slack) if condition.rel_op == "==" else slack
    return Slack(condition, bool(slack > 0 if strict else slack >= -near), slack)


@dataclass(frozen=True, eq=False)
class NumericBound:
    """An upper bound on an error, with a value for every symbol."""

    claim: Claim
    terms: tuple[Expr, ...]
    """Terms of the right side, divided by the factor of the error on the left side; client averages are symbols."""
    conditions: tuple[Expr, ...]
    """Conditions in which each symbol stands for a number."""
    names: Mapping[sp.Symbol, str]
    """Name of the number of each symbol."""
    values: Mapping[str, float]
    """Numbers by name; a step size or number of rounds that is still to be chosen is missing."""
    comparators: Comparators | None = None
    """Numbers of the comparator as functions of step size, local steps and rounds, if the bound has one."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the data alone: compiled functions cannot be pickled, and are compiled again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def expression(self) -> Expr:
        """The whole right side."""
        return sp.Add(*self.terms)

    def symbols(self, name: str) -> list[sp.Symbol]:
        """Return the symbols whose values depend on the named number."""
        return [symbol for symbol, other in self.names.items() if name in (other, *self._list_factors(other))]

    def _list_factors(self, name: str) -> tuple[str, ...]:
        """Return the names of the numbers on which a number depends."""
        if self.comparators is not None and name in comparators.NAMES:
            return _TIME
        return _PRODUCTS.get(name, ())

    def _complete(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Return all numbers, with changes and their consequences."""
        found = complete_products({**self.values, **changes}, frozenset(changes))
        if self.comparators is None or not found.keys() >= set(_TIME):
            return found
        return {**found, **self.comparators.numbers(math.prod(found[name] for name in _TIME)), **changes}

    def depends_on(self, expression: Expr, name: str) -> bool:
        """Return whether an expression depends on the named number."""
        return not get_free_symbols(expression).isdisjoint(self.symbols(name))

    def with_numbers(self, changes: Mapping[str, float]) -> NumericBound:
        """Return the bound with changed numbers, and their consequences."""
        return replace(self, values=self._complete(changes))

    def find_comparator(self, changes: Mapping[str, float] | None = None) -> ComparatorValues | None:
        """Return the comparator; None for a bound without one, or if the length of the run is open."""
        found = self._complete(changes or {})
        if self.comparators is None or not found.keys() >= set(_TIME):
            return None
        return self.comparators.compute_values(math.prod(found[name] for name in _TIME))

    def value(self, changes: Mapping[str, float] | None = None) -> float:
        """Return the value of the bound; infinite if it is undefined or negative."""
        value = self._compiled(self.expression)(self._list_arguments(changes))
        return value if value >= 0 else math.inf

    def along(self, name: str, expression: Expr | None = None) -> Callable[[float], float]:
        """Return the bound as a function of one number, faster than `value` in searches.

        If an expression in its symbols is given, return that function instead.
        """
        others = {other: factors for other, factors in _PRODUCTS.items() if name in factors}
        known, needed = self._complete({name: 1.0}), {factor for factors in others.values() for factor in factors}
        if self.comparators is not None or name in _PRODUCTS or not known.keys() >= needed:
            return lambda number: (
                self.value({name: number}) if expression is None else self.number(expression, {name: number})
            )
        # If a factor is one, the product is the other factor.
        start = self._sort_parameters(known)
        moving = [(place, start[place]) for place, other in enumerate(self.names.values()) if other in (name, *others)]
        function = self._compiled(self.expression if expression is None else expression)

        def value(number: float) -> float:
            for place, factor in moving:
                start[place] = number * factor
            found = function(start)
            return found if expression is not None or found >= 0 else math.inf

        return value

    def term_values(self, changes: Mapping[str, float] | None = None) -> list[float]:
        """Return the value of each term."""
        arguments = self._list_arguments(changes)
        return [self._compiled(term)(arguments) for term in self.terms]

    def number(self, expression: Expr, changes: Mapping[str, float] | None = None) -> float:
        """Return the value of an expression in the symbols of the bound; NaN if it is undefined."""
        return self._compiled(expression)(self._list_arguments(changes))

    def slack(self, condition: Expr, changes: Mapping[str, float] | None = None) -> Slack:
        """Return a condition at the numbers of the bound, or at changed ones."""
        return compute_slack(condition, self.number(condition.lhs, changes), self.number(condition.rhs, changes))

    def slacks(self, changes: Mapping[str, float] | None = None) -> list[Slack]:
        """Return all conditions at the numbers of the bound."""
        return [self.slack(condition, changes) for condition in self.conditions]

    def _list_arguments(self, changes: Mapping[str, float] | None) -> list[float]:
        """Return the values of the parameters in order, with some changed."""
        return self._sort_parameters(self._complete(changes)) if changes else self._own_arguments

    @cached_property
    def _own_arguments(self) -> list[float]:
        """Return values of the bound's parameters for the run."""
        return self._sort_parameters(self.values)

    def _sort_parameters(self, values: Mapping[str, float]) -> list[float]:
        """Return values in the order of the bound's parameters, NaN for missing ones."""
        return [values.get(name, math.nan) for name in self.names.values()]

    @cached_property
    def _compiled(self) -> Callable[[Expr], Function]:
        """Compiled expressions as functions of the numbers of the bound."""
        return get_compiler(tuple(self.names))


@cache
def get_free_symbols(expression: Expr) -> frozenset[sp.Symbol]:
    """Return the symbols of an expression, cached, because searches need them in every step."""
    return frozenset(expression.free_symbols)


@cache
def get_compiler(symbols: tuple[sp.Symbol, ...]) -> Callable[[Expr], Function]:
    """Return a function that compiles expressions in these symbols, each once.

    A separate cache for each tuple of symbols makes lookups in searches faster.
    """
    return cache(partial(compile_function, symbols))


def compile_function(symbols: tuple[sp.Symbol, ...], expression: Expr) -> Function:
    """Compile an expression to a function of the values of its symbols; NaN if it has no real value."""
    # SymPy's `lambdify` takes ten times as long for the same code.
    aliases = {symbol: sp.Symbol(f"x{n}") for n, symbol in enumerate(symbols)}
    code = PythonCodePrinter().doprint(expression.xreplace(aliases))
    function = eval(f"lambda {', '.join(map(str, aliases.values()))}: {code}", {"math": math})

    def evaluate(numbers: list[float]) -> float:
        try:
            value = function(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError):
            return math.nan
        return math.nan if isinstance(value, complex) else float(value)

    return evaluate


def complete_products(values: Mapping[str, float], given: frozenset[str] = frozenset()) -> dict[str, float]:
    """Return numbers with the products that follow from them, and factors that follow from products.

    A `given` product is kept; otherwise it is computed from its factors.
    """
    found = dict(values)
    for product, (first, second) in _PRODUCTS.items():
        if product in given or (product in found and first not in found):
            if product in found and second in found and first not in given:
                found[first] = found[product] / found[second]
        elif first in found and second in found:
            found[product] = found[first] * found[second]
    return found


def bound_of_run(claim: Claim, run: Run) -> NumericBound:
    """Return the bound of a claim with the numbers of a run; raise `NotApplicable` if one of them is undefined."""
    (terms, conditions), named = _divide_sides(claim), _choose_symbols_for_means(claim)
    values = {symbol.name: _measure_average(claim, node, run) for node, symbol in named.items()}
    terms, conditions = (tuple(part.xreplace(named) for part in parts) for parts in (terms, conditions))
    numbers = {
        symbol: number for symbol in _list_symbols(terms, conditions) if (number := _measure_on(claim, symbol, run))
    }
    scalars = {symbol: number[0] for symbol, number in numbers.items() if len(number) == 1}
    for symbol in _list_symbols(terms, ()):
        if symbol not in scalars and symbol not in named.values():
            raise NotApplicable(f"{claim.notation[symbol].name} has a value for each client, expected one number")
    names = {symbol: claim.notation[symbol].name for symbol in scalars} | {s: s.name for s in named.values()}
    values |= {names[symbol]: number for symbol, number in scalars.items()} | _collect_factors(run)
    known = tuple(condition for condition in conditions if condition.free_symbols <= names.keys())
    followed = get_comparators(run, asked) if (asked := comparators.NAMES & set(names.values())) else None
    return NumericBound(claim, terms, known, names, complete_products(values), followed)


def _collect_factors(run: Run) -> dict[str, float]:
    """Return the factors of products such as the number of iterations."""
    work = run.algorithm.work
    found: dict[str, float | None] = {ROUNDS: run.algorithm.rounds, STEPS: work.common_steps}
    found[STEP] = None if work.common_step_size is None else plain_float(work.common_step_size)
    return {name: float(value) for name, value in found.items() if value is not None}


def bound_of_numbers(claim: Claim, given: Mapping[str, float]) -> NumericBound:
    """Return the bound of a claim with given numbers, by symbol or by the name of a quantity.

    Raises `NotApplicable`, with their names, if numbers are missing.  The
    local step size and the rounds may be missing: a plan finds them.  If a
    claim counts iterations and no local steps, a round is one iteration.
    """
    terms, conditions = _divide_sides(claim)
    if _choose_symbols_for_means(claim):
        raise NotApplicable("a client average needs the values of each client")
    symbols = _list_symbols(terms, conditions)
    names = {symbol: claim.notation[symbol].name for symbol in symbols}
    aliases = {str(symbol): name for symbol, name in names.items()}
    # Names have priority over symbols, which sources use for different quantities.
    values = {aliases[key]: value for key, value in given.items() if key in aliases}
    values |= {key: value for key, value in given.items() if key not in aliases}
    if STEPS not in names.values():
        values = {STEPS: 1.0, **values}
    small = [name for name in COUNTS if values.get(name, 1) < 1]
    if small:
        raise NotApplicable(f"expected at least 1: {', '.join(small)}")
    broken = [name for name in sorted(WHOLE & values.keys()) if values[name] != math.floor(values[name])]
    if broken:
        raise NotApplicable(f"expected a whole number: {', '.join(broken)}")
    values = complete_products(values)
    missing = [_find_name(symbol, name) for symbol, name in names.items() if name not in values and name not in _CHOSEN]
    if missing:
        raise NotApplicable(f"{NOT_GIVEN}: {', '.join(missing)}")
    return NumericBound(claim, terms, conditions, names, values)


NOT_GIVEN = "not given"
_CHOSEN = (STEP, ROUNDS, *_PRODUCTS)


def _find_name(symbol: sp.Symbol, name: str) -> str:
    """Return a quantity's name, with the symbol of the claim if they differ."""
    return f"{symbol} ({name})" if symbol.name.isidentifier() else name


def _divide_sides(claim: Claim) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Return the terms of the right side divided by the factor of the error, and the conditions."""
    error, main = find_bounded_error(claim), claim.relations[0]
    assert error is not None
    symbol = next(s for s in main.left.free_symbols if claim.notation.get(s) == error)
    factor = main.left / symbol
    return tuple(term / factor for term in list_terms(main.right)), tuple(map(sp.sympify, claim.conditions))


def list_terms(right: Expr) -> tuple[Expr, ...]:
    """Return the terms of a sum; a product is expanded over its first factor that is a sum without negative terms."""
    if isinstance(right, sp.Mul):
        sums = (factor for factor in right.args if isinstance(factor, sp.Add))
        plain = next((s for s in sums if not any(term.could_extract_minus_sign() for term in s.args)), None)
        return (right,) if plain is None else tuple(right / plain * term for term in plain.args)
    return tuple(sp.Add.make_args(right))


def restore_means(claim: Claim, expression: Expr) -> Expr:
    """Return an expression of a bound with client averages in place of the symbols that stand for them."""
    found: Expr = expression.xreplace({symbol: mean for mean, symbol in _choose_symbols_for_means(claim).items()})
    return found


@cache
def _choose_symbols_for_means(claim: Claim) -> Mapping[Expr, sp.Symbol]:
    """Choose a symbol for each average or sum over clients in a claim, which is typeset like it."""
    terms, conditions = _divide_sides(claim)
    means: set[Expr] = set().union(*(part.atoms(Average, ClientSum) for part in (*terms, *conditions)))
    with claim.typesetting():
        return {mean: sp.Symbol(latex(mean), real=True) for mean in sorted(means, key=sp.default_sort_key)}


def _list_symbols(terms: tuple[Expr, ...], conditions: tuple[Expr, ...]) -> list[sp.Symbol]:
    """Return the symbols of terms and conditions, sorted by name."""
    found: set[sp.Symbol] = set().union(*(expression.free_symbols for expression in (*terms, *conditions)))
    return sorted(found, key=str)


def _measure_average(claim: Claim, node: Expr, run: Run) -> float:
    """Return the value of a client average on the run."""
    values = compile_expression(node, claim.notation)(whole_run(run))
    return float(plain_floats(values).ravel()[0])


def _measure_on(claim: Claim, symbol: sp.Symbol, run: Run) -> list[float]:
    """Return the numbers of a symbol on a run: one per client if the quantity has these; empty for a client average."""
    quantity = claim.notation.get(symbol)
    if not isinstance(quantity, RunQuantity):
        return []
    values: Any = quantity.on(run)
    flat = plain_floats(values).ravel() if isinstance(values, np.ndarray) else np.array([plain_float(values)])
    return [float(value) for value in (np.sqrt(flat) if quantity.root else flat)]
