"""User-defined step-size schedules: an assumption of claims, and the runs that satisfy it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from fedtheory.arithmetic.enclosures import convert_inexact
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.assumptions import OfAlgorithm
from fedtheory.language.assumptions.algorithms import expect_common_schedule, find_other_size
from fedtheory.language.evaluation import Compiled, compile_expression
from fedtheory.language.evaluation.site import whole_run
from fedtheory.language.quantities.local_work import local_step_index
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.typesetting import latex

_INDICES = {
    "n": RunQuantity(
        "round",
        "n",
        "number of the round, from 0 on",
        lambda run: run.arithmetic.array(list(range(run.algorithm.rounds)))[:, None, None],
    ),
    "k": RunQuantity("local_step", "k", "number of the local step, from 0 on", local_step_index.measure),
}


@dataclass(frozen=True)
class StepSizes(OfAlgorithm):
    """FedAvg whose local step k of round n has a stated size; see `step_sizes`."""

    size: Expr = sp.S.One
    where: tuple[tuple[sp.Symbol, RunQuantity], ...] = ()
    """The quantities of the symbols in the size, except n and k."""

    def formula_on(self, run: Run) -> str | None:
        """Return the step sizes on a problem as run files state them; None if they are irrational.

        `run` has that problem and the same numbers of rounds and local steps, at any step size.
        """
        numbers = {}
        for symbol, quantity in self.where:
            value = compile_expression(symbol, {symbol: quantity})(whole_run(run)).ravel()
            if len(value) != 1 or not hasattr(value[0], "p"):
                return None
            numbers[symbol] = sp.Rational(int(value[0].p), int(value[0].q))
        try:
            size = sp.nsimplify(self.size.xreplace(numbers), rational=True)
        except ValueError:
            # SymPy cannot compare the result of a division by zero.
            return None
        return None if size.has(sp.zoo, sp.nan, sp.oo) else str(size)


@dataclass(frozen=True)
class _Requirement:
    """Raises `NotApplicable` unless a run is FedAvg with the stated step sizes."""

    size: Expr
    where: tuple[tuple[sp.Symbol, RunQuantity], ...]

    @cached_property
    def compiled(self) -> Compiled:
        """The compiled sizes; raises `ValueError` for expressions outside the language."""
        known = dict(self.where)
        indices = {symbol: _INDICES[symbol.name] for symbol in self.size.free_symbols if symbol not in known}
        return compile_expression(self.size, {**known, **indices})

    def __call__(self, run: Run) -> None:
        expect_common_schedule(run)
        shape = (run.algorithm.rounds, max(run.algorithm.work.steps), 1)
        stated = convert_inexact(self.compiled(whole_run(run)) + run.arithmetic.zeros(*shape))
        other = find_other_size(run, lambda n, k: stated[n, k, 0])
        if other is not None:
            raise NotApplicable(f"local step {other[1]} of round {other[0]} is not one of size {self.size}")


def step_sizes(size: Expr, where: Mapping[sp.Symbol, RunQuantity]) -> StepSizes:
    """Return the assumption that the algorithm is FedAvg with step sizes given by a formula.

    `size` is an expression in n (round, from 0), k (local step, from 0) and symbols of `where`, for example
    ``step_sizes(2 / (mu * (8 * L / mu + tau * n + k)), where)``.  Raises `InputError` for other symbols.
    """
    size = sp.sympify(size)
    used = sorted(size.free_symbols, key=str)
    given = tuple((symbol, where[symbol]) for symbol in used if symbol in where)
    for symbol in used:
        if symbol not in where and symbol.name not in _INDICES:
            raise InputError("step_sizes", f"expected n, k and symbols of `where` in {size}, got {symbol}")
    for symbol, quantity in given:
        if not isinstance(quantity, RunQuantity) or quantity.place != "run":
            raise InputError("step_sizes", f"expected a quantity with one value for the whole run for {symbol}")
    statement = rf"the algorithm is fedavg, with a local step $k$ of round $n$ of size ${latex(size)}$"
    return StepSizes(f"step sizes {size}", statement, _Requirement(size, given), ("fedavg",), (), size, given)
