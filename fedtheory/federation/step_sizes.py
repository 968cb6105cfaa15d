"""Step sizes that change during the run: formulas in the round n and the local step k."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from fedtheory.arithmetic import Arithmetic, Number
from fedtheory.errors import InputError

_KEY = "algorithm.local_step_size"
_LONGEST, _LARGEST_EXPONENT = 200, 1000
"""Limits on the characters of a formula, and on the size of its exponents."""
_MOST_BITS = 10**5
"""Limit on the bits of a base times its exponent: a power of powers would exhaust the memory."""
_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: operator.mod,
}
_EXACT: dict[str, Callable[..., Any]] = {"min": min, "max": max}
"""Functions that have rational values at rational arguments."""
_ROUNDED: dict[str, Callable[[Any], float]] = {"sqrt": math.sqrt, "cos": math.cos, "exp": math.exp}
_ALLOWED = "numbers, n, k, pi, + - * / // % **, brackets, min, max, sqrt, cos and exp"


@dataclass(frozen=True)
class StepSchedule:
    """A formula such as ``1/(10 + 2*n)`` in the round n and the local step k; raises `InputError` for anything else.

    Examples: warm-up ``min(n + 1, 10)/100``, halving every 30 rounds ``(1/10)*(1/2)**(n // 30)``, and a cosine
    ``(1 + cos(pi*n/100))/20``.  Values of `sqrt`, `cos` and `exp` are floats.
    """

    formula: str

    def __post_init__(self) -> None:
        _ = self.first

    @cached_property
    def first(self) -> Fraction | float:
        """The step size at round 0 and local step 0."""
        return self.evaluate_exactly(0, 0)

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.formula) > _LONGEST:
            raise InputError(_KEY, f"expected a formula of at most {_LONGEST} characters, got {len(self.formula)}")
        try:
            return ast.parse(self.formula.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise self._report_formula(self.formula) from None

    @cached_property
    def changes_with_rounds(self) -> bool:
        """Whether the round n occurs in the formula."""
        return any(isinstance(node, ast.Name) and node.id == "n" for node in ast.walk(self._tree))

    def evaluate_exactly(self, n: int, k: int) -> Fraction | float:
        """Return the step size at round n and local step k: a fraction, or a float if it is irrational."""
        try:
            value = self._evaluate(self._tree, {"n": Fraction(n), "k": Fraction(k), "pi": math.pi})
        except (ZeroDivisionError, OverflowError, ValueError):
            raise InputError(_KEY, f"{self.formula} has no value at n = {n}, k = {k}") from None
        if isinstance(value, complex) or value <= 0:
            raise InputError(_KEY, f"expected positive numbers, got {value} from {self.formula} at n = {n}, k = {k}")
        return value if isinstance(value, Fraction) else float(value)

    def relative(self, n: int, k: int, arithmetic: Arithmetic) -> Number:
        """Return the step size at round n and local step k, divided by the first one."""
        return _divide_by_first(self, n, k, arithmetic)

    def _evaluate(self, node: ast.expr, symbols: dict[str, Any]) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return Fraction(repr(node.value))
        if isinstance(node, ast.Name) and node.id in symbols:
            return symbols[node.id]
        if isinstance(node, ast.Call):
            return self._call_function(node, [self._evaluate(argument, symbols) for argument in node.args])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self._evaluate(node.operand, symbols)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            return self._apply_operation(node, self._evaluate(node.left, symbols), self._evaluate(node.right, symbols))
        raise self._report_formula(ast.unparse(node))

    def _apply_operation(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        if isinstance(node.op, ast.Pow) and abs(right) <= _LARGEST_EXPONENT:
            bits = max(left.numerator.bit_length(), left.denominator.bit_length()) if isinstance(left, Fraction) else 0
            if bits * abs(right) > _MOST_BITS:
                raise InputError(_KEY, f"expected powers of at most {_MOST_BITS} bits in {self.formula!r}")
            return left**right
        if type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](left, right)
        raise self._report_formula(ast.unparse(node))

    def _call_function(self, node: ast.Call, arguments: list[Any]) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) and not node.keywords else ""
        if name in _EXACT and len(arguments) > 1:
            return _EXACT[name](*arguments)
        if name in _ROUNDED and len(arguments) == 1:
            return _ROUNDED[name](arguments[0])
        raise self._report_formula(ast.unparse(node))

    def _report_formula(self, given: str) -> InputError:
        return InputError(_KEY, f"expected {_ALLOWED}, got {given!r}")


@lru_cache(maxsize=2**14)
def _divide_by_first(schedule: StepSchedule, n: int, k: int, arithmetic: Arithmetic) -> Number:
    """Return `StepSchedule.relative`, which every client, symbol and outcome of a round uses."""
    first, value = schedule.first, schedule.evaluate_exactly(n, k)
    if arithmetic.is_rigorous and not (isinstance(first, Fraction) and isinstance(value, Fraction)):
        raise InputError(
            _KEY, f"{schedule.formula} has irrational values: expected rational ones with exact arithmetic, or floats"
        )
    return arithmetic.number(value / first, _KEY)
