"""Parse answers in Python notation from the syntax tree, by a whitelist, without evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

import sympy as sp

from fedtheory.kernel.expressions import Expr
from verify.grade.answer_limits import Guarded, NoExpression, Unreadable

_OPERATIONS: dict[type[ast.operator], Callable[[Guarded, Expr, Expr], Expr]] = {
    ast.Add: lambda _build, left, right: left + right,
    ast.Sub: lambda _build, left, right: left - right,
    ast.Mult: lambda _build, left, right: left * right,
    ast.Div: lambda build, left, right: build.quotient(left, right),
    ast.Pow: lambda build, left, right: build.power(left, right),
}
_PAIR = 2
_OF_TWO: dict[str, Callable[[Guarded, Expr, Expr], Expr]] = {
    "Rational": _OPERATIONS[ast.Div],
    "Fraction": _OPERATIONS[ast.Div],
    "pow": _OPERATIONS[ast.Pow],
    "Pow": _OPERATIONS[ast.Pow],
    "power": _OPERATIONS[ast.Pow],
    "root": lambda build, left, right: build.power(left, build.quotient(build.number("1"), right)),
}
_OF_MANY: dict[str, Callable[[Guarded, Expr, Expr], Expr]] = {
    "Add": _OPERATIONS[ast.Add],
    "Mul": _OPERATIONS[ast.Mult],
}
_NUMBERS = {"S", "Integer", "Float", "Rational", "Fraction", "sympify", "Decimal", "float", "int"}
_SYMBOLS = {"S", "Symbol", "symbols", "sympify", "var"}
"""Functions of SymPy that return the number or the symbol of their argument."""
_SYNONYMS = {
    "max": "Max",
    "min": "Min",
    "ceiling": "ceil",
    "ln": "log",
    "Abs": "abs",
    "maximum": "Max",
    "minimum": "Min",
    "Sqrt": "sqrt",
    "absolute": "abs",
}


def read_python(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return the expression of a text such as ``4*tau*eta**2``; raises `Unreadable` for anything else."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise NoExpression(_describe_error(text.strip(), error)) from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("this is not an expression in Python's notation") from None
    return _PythonReader(text.strip(), names).read(tree.body)


_QUOTED = 30
_UNFINISHED = "+-*/(["


def _describe_error(text: str, error: SyntaxError) -> str:
    """Describe the text that is not Python, with its first wrong character."""
    line = text.splitlines()[min(error.lineno or 1, len(text.splitlines())) - 1]
    at = len(line) if text[-1] in _UNFINISHED else min(max((error.offset or 1) - 1, 0), len(line))
    behind = f"at `{line[at : at + _QUOTED]}`" if line[at:].strip() else f"at the end, behind `{line[-_QUOTED:]}`"
    return f"this is not an expression in Python's notation {behind}, character {at + 1}: {error.msg}"


class _PythonReader:
    def __init__(self, text: str, names: Mapping[str, Expr]) -> None:
        self._text, self._build = text, Guarded(names)

    def read(self, node: ast.AST) -> Expr:
        """Convert one node; nodes without a method are refused."""
        self._build.enter()
        found = self._READERS.get(type(node), _PythonReader._refuse)(self, node)
        self._build.leave()
        return found

    def _refuse(self, node: ast.AST) -> Expr:
        what = ast.get_source_segment(self._text, node) or type(node).__name__
        raise Unreadable(f"an answer has numbers, symbols, + - * / ** and functions only, not {what[:40]}")

    def _read_number(self, node: Any) -> Expr:
        if type(node.value) not in (int, float):
            self._refuse(node)
        return self._build.number(ast.get_source_segment(self._text, node) or "")

    def _read_name(self, node: Any) -> Expr:
        return self._build.name(node.id)

    def _read_sign(self, node: Any) -> Expr:
        if not isinstance(node.op, ast.USub | ast.UAdd):
            self._refuse(node)
        operand = self.read(node.operand)
        return -operand if isinstance(node.op, ast.USub) else operand

    def _read_binary(self, node: Any) -> Expr:
        operation = _OPERATIONS.get(type(node.op))
        if operation is None:
            self._refuse(node)
            raise AssertionError
        return operation(self._build, self.read(node.left), self.read(node.right))

    def _read_call(self, node: Any) -> Expr:
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        if function in _SYMBOLS | _NUMBERS and not self._build.has(function) and len(node.args) == 1:
            return self._call_by_name(function, node.args[0])
        if node.keywords or isinstance(node.func, ast.Attribute):
            self._refuse(node)
        if function in _OF_TWO and len(node.args) == _PAIR:
            return _OF_TWO[function](self._build, *map(self.read, node.args))
        if function == "cbrt" and len(node.args) == 1:
            return self._build.power(self.read(node.args[0]), sp.Rational(1, 3))
        if function in _OF_MANY and node.args:
            return reduce(partial(_OF_MANY[function], self._build), map(self.read, node.args))
        if (not function or self._build.has(function)) and len(node.args) == 1:
            # A product without its sign has another precedence here than on paper.
            raise NoExpression(f"expected * before the bracket in {ast.get_source_segment(self._text, node)}")
        function = _SYNONYMS.get(function, function)
        return self._build.apply(function, [self.read(argument) for argument in node.args])

    def _call_by_name(self, function: str, argument: ast.expr) -> Expr:
        """Return the symbol or number in a SymPy call, also for a string argument."""
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            return self.read(argument)
        text = argument.value.strip()
        if text.isidentifier() and function in _SYMBOLS:
            return self._build.name(text)
        numerator, _, denominator = text.partition("/")
        return self._build.quotient(
            self._build.number(numerator.strip()), self._build.number(denominator.strip() or "1")
        )

    _READERS: Mapping[type[ast.AST], Callable[[_PythonReader, Any], Expr]] = {
        ast.Constant: _read_number,
        ast.Name: _read_name,
        ast.UnaryOp: _read_sign,
        ast.BinOp: _read_binary,
        ast.Call: _read_call,
    }
