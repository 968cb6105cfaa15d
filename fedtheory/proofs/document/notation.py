"""Expressions of certificates as text: a closed notation that is parsed, never evaluated.

Whole numbers, symbols, ``+ - * / **``, brackets, and the heads of the language by
names below; an ordering is two expressions with ``<=``, ``<``, ``>=`` or ``>``
between them, an equation two with ``==``.  A symbol is written as the name of its quantity in the
claim, as ``each_NAME`` if it is under the claim's quantifier, as ``GROUP.NAME`` if
it belongs to a proof technique, or by its declared name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import InequalityRef
from fedtheory.kernel import expressions as ex
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import NODE, spend
from fedtheory.plain_names import require_plain

HEADS: Mapping[str, type] = {
    "inner": ex.Inner,
    "gradient": ex.Gradient,
    "value": ex.Value,
    "mean": ex.Average,
    "sum_of_clients": ex.ClientSum,
    "expected": ex.Expectation,
    "sum_of_steps": ex.LocalSum,
    "sum_of_past_steps": ex.PastSum,
    "mean_of_drawn": ex.Selected,
}
ORDERINGS: Mapping[type, tuple[str, type]] = {
    ast.LtE: ("<=", sp.Le),
    ast.Lt: ("<", sp.Lt),
    ast.GtE: (">=", sp.Ge),
    ast.Gt: (">", sp.Gt),
    ast.Eq: ("==", sp.Eq),
}
_LONGEST = 20_000
"""Largest number of characters of one expression."""


@dataclass(frozen=True)
class Scope:
    """The symbols that may be written, by their names."""

    symbols: Mapping[str, sp.Symbol]
    own: frozenset[str] = frozenset()
    """Names of the symbols that the certificate declares."""

    def name_of(self, symbol: sp.Symbol) -> str:
        """Return the name of a symbol; raise `InputError` if it has none."""
        name = self._names.get(symbol) if isinstance(symbol, sp.Symbol) else None
        if name is None:
            raise InputError("certificate", f"the symbol {symbol} has no name in the claim or its certificate")
        return name

    @cached_property
    def _names(self) -> dict[sp.Symbol, str]:
        """Return the first name of each symbol."""
        return {symbol: name for name, symbol in reversed([*self.symbols.items()])}


def read(text: object, scope: Scope, where: str) -> Expr:
    """Return the expression of a text; raise `InputError`, with the place, for text outside the notation."""
    return _read(text, where, _Reader(scope, where).number)


def read_ordering(text: object, scope: Scope, where: str) -> Expr:
    """Return the ordering of two expressions that a text denotes."""
    return _read(text, where, _Reader(scope, where).ordering)


def _read(text: object, where: str, reader: Callable[[ast.AST], Expr]) -> Expr:
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise InputError(where, f"expected an expression as text of at most {_LONGEST} characters, got {text!r:.80}")
    # Python normalises full-width characters in names.
    require_plain(where, text)
    is_short = len(text) <= _SHORT
    try:
        body = _kept_tree(text) if is_short else _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(where, f"expected an expression, got {text!r:.80}") from None
    try:
        _require_small(body, _count_nodes(text) if is_short else _measure_size(body), where)
        return reader(body)
    except RecursionError:
        raise InputError(where, "expected an expression that is less deeply nested") from None


_SHORT = 2000
"""Largest number of characters of a text whose syntax tree is cached: certificates repeat expressions."""
_HIGHEST_DEGREE = 200
_MOST_DIVISIONS = 4


def _parse(text: str) -> ast.expr:
    """Return the parsed text of an expression."""
    return ast.parse(text.strip(), mode="eval").body


_kept_tree = lru_cache(maxsize=2**10)(_parse)


def _require_small(node: ast.expr, size: tuple[int, int], where: str) -> None:
    """Raise `InputError` for nested powers and quotients that would take too long to expand."""
    degree, divisions = size
    if degree > _HIGHEST_DEGREE or divisions > _MOST_DIVISIONS:
        most = f"a degree of at most {_HIGHEST_DEGREE}, and quotients below quotients {_MOST_DIVISIONS} deep"
        raise InputError(where, f"expected {most}, got {ast.unparse(node)[:80]!r}")


@lru_cache(maxsize=2**10)
def _count_nodes(text: str) -> tuple[int, int]:
    """Return the number of nodes of a text's syntax tree, and its depth."""
    return _measure_size(_kept_tree(text))


def _measure_size(node: ast.AST) -> tuple[int, int]:
    """Bound the degree of an expression in its symbols and heads, and the depth of its quotients."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        degree, divisions = _measure_size(node.left)
        numbers = [part.value for part in ast.walk(node.right) if isinstance(part, ast.Constant)]
        is_below = any(isinstance(part, ast.USub) for part in ast.walk(node.right))
        return degree * max(1, sum(one for one in numbers if type(one) is int)), divisions + is_below
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        (left, numerator), (right, denominator) = _measure_size(node.left), _measure_size(node.right)
        return left + right, max(numerator, denominator + isinstance(node.op, ast.Div))
    parts = [_measure_size(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    own = int(isinstance(node, ast.Name | ast.Attribute))
    return max([own, *(degree for degree, _ in parts)]), max([0, *(divisions for _, divisions in parts)])


@dataclass(frozen=True)
class _Reader:
    """Converts the syntax tree of a text; unknown nodes raise `InputError`."""

    scope: Scope
    where: str

    def ordering(self, node: ast.AST) -> Expr:
        """Return the ordering or equation of two expressions."""
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in ORDERINGS:
            raise InputError(self.where, f"expected an ordering of two expressions, got {ast.unparse(node)[:80]!r}")
        _, relation = ORDERINGS[type(node.ops[0])]
        return relation(self.number(node.left), self.number(node.comparators[0]), evaluate=False)

    def number(self, node: ast.AST) -> Expr:
        """Return an expression that is no ordering."""
        spend(NODE)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            if node.value.bit_length() > _MOST_BITS:
                raise InputError(self.where, f"expected numbers of at most {_MOST_BITS} bits")
            return sp.Integer(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._find_symbol(ast.unparse(node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.number(node.operand)
        if isinstance(node, ast.BinOp):
            return self._read_operation(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._read_call(node.func.id, node.args)
        raise InputError(self.where, f"{ast.unparse(node)[:80]!r} is not in the notation of certificates")

    def _read_operation(self, node: ast.BinOp) -> Expr:
        """Read a binary operation."""
        if isinstance(node.op, ast.Mult):
            # SymPy distributes a number over a sum of two, so that products are built at once.
            return sp.Mul(*map(self.number, _list_factors(node)))
        if isinstance(node.op, ast.Add | ast.Sub):
            return sp.Add(*(sign * self.number(term) for sign, term in _list_addends(node)))
        if type(node.op) not in _OPERATIONS:
            raise InputError(self.where, f"{ast.unparse(node)[:80]!r} is not in the notation of certificates")
        return _OPERATIONS[type(node.op)](self.number(node.left), self.number(node.right))

    def _find_symbol(self, name: str) -> sp.Symbol:
        """Return the symbol of this name; raise InputError if it is unknown."""
        if name not in self.scope.symbols:
            raise InputError(self.where, f"{name!r} is not a symbol of the claim or its certificate")
        return self.scope.symbols[name]

    def _read_call(self, name: str, arguments: list[ast.expr]) -> Expr:
        """Read a call such as inner(x, y)."""
        head: Any = HEADS.get(name)
        if head is None or len(arguments) not in head.nargs:
            raise InputError(self.where, f"{name!r} with {len(arguments)} arguments is not in the notation")
        return head(*(self.number(argument) for argument in arguments))


def _list_factors(node: ast.expr) -> list[ast.expr]:
    """Return the factors of a product that is written without brackets."""
    found = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _list_addends(node: ast.expr) -> list[tuple[int, ast.expr]]:
    """Return the terms of a sum that is written without brackets, each with its sign, from the left."""
    found: list[tuple[int, ast.expr]] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        found.append((1 if isinstance(node.op, ast.Add) else -1, node.right))
        node = node.left
    return [(1, node), *reversed(found)]


def _raise_power(base: Expr, exponent: Expr) -> Expr:
    """Return a power; raise InputError if its numbers are too long."""
    if exponent.is_Rational and abs(exponent.p) > _LARGEST_POWER:
        raise InputError("certificate", f"expected exponents of at most {_LARGEST_POWER}, got {exponent}")
    digits = max(base.p.bit_length(), base.q.bit_length()) if base.is_Rational else 0
    if exponent.is_Rational and digits * abs(exponent.p) > _MOST_BITS:
        raise InputError("certificate", f"expected numbers of at most {_MOST_BITS} bits")
    return base**exponent


_LARGEST_POWER = 1000
_MOST_BITS = 4000


def _divide(numerator: Expr, denominator: Expr) -> Expr:
    """Return a quotient; raise InputError for a zero divisor."""
    if denominator == 0:
        raise InputError("certificate", f"{numerator} is divided by zero")
    return numerator / denominator


_OPERATIONS: Mapping[type, Callable[[Expr, Expr], Expr]] = {
    ast.Div: _divide,
    ast.Pow: _raise_power,
}


_NAMES = {head: name for name, head in HEADS.items()}
_SIGNS_OF = {relation: sign for sign, relation in ORDERINGS.values()}


def _require_formula(expression: Any) -> None:
    """Raise `InputError` for anything but a SymPy expression or an integer."""
    expected = "expected a SymPy expression"
    if isinstance(expression, InequalityRef):
        kind = expression.kind
        raise InputError("certificate", f"{expected}, got {kind}(...): write Term(coefficient, {kind}(...))")
    if isinstance(expression, str):
        raise InputError("certificate", f"{expected}, got the text {expression!r:.80}: write it without quotes")
    if not isinstance(expression, sp.Basic | int):
        raise InputError("certificate", f"{expected}, got {expression!r:.80}")


def write_expression(expression: Expr, scope: Scope) -> str:
    """Return an expression, or an ordering of two, as text."""
    _require_formula(expression)
    expression = sp.sympify(expression)
    if type(expression) in _SIGNS_OF:
        left, right = (write_expression(side, scope) for side in expression.args)
        return f"{left} {_SIGNS_OF[type(expression)]} {right}"
    if isinstance(expression, sp.Symbol):
        return scope.name_of(expression)
    if isinstance(expression, sp.Rational | sp.Mul) or _divides(expression):
        return _write_product(expression, scope)
    parts = [write_expression(part, scope) for part in expression.args]
    if isinstance(expression, sp.Add):
        return _write_sum(parts)
    if isinstance(expression, sp.Pow):
        return "**".join(_enclose(part) for part in parts)
    if type(expression) in _NAMES:
        return f"{_NAMES[type(expression)]}({', '.join(parts)})"
    raise InputError("certificate", f"{expression} has no notation in certificates")


def _write_sum(terms: list[str]) -> str:
    """Write positive terms before negative ones, in an order that does not depend on SymPy's."""
    ordered = sorted(terms, key=lambda term: (term.startswith("-"), term))
    return " ".join([ordered[0], *(f"- {term[1:]}" if term.startswith("-") else f"+ {term}" for term in ordered[1:])])


def _write_product(expression: Expr, scope: Scope) -> str:
    """Write a number, or a product with its numeric factor first, over its denominator."""
    number, rest = expression.as_coeff_Mul()
    if not number.is_Rational:
        raise InputError("certificate", f"{number} is not an exact number")
    factors = [factor for factor in sp.Mul.make_args(rest) if factor != 1]
    lower = [factor for factor in factors if _divides(factor)]
    numerator = sorted(_write_factor(factor, scope) for factor in factors if factor not in lower)
    denominator = sorted(_write_factor(1 / factor, scope) for factor in lower)
    numerator = [str(abs(number.p)), *numerator] if abs(number.p) != 1 or not numerator else numerator
    denominator = [str(number.q), *denominator] if number.q != 1 else denominator
    sign = "-" if number.p < 0 else ""
    divided = f"/({'*'.join(denominator)})" if len(denominator) > 1 else "".join(f"/{factor}" for factor in denominator)
    return f"{sign}{'*'.join(numerator)}{divided}"


def _divides(factor: Expr) -> bool:
    """Return whether the factor is a power with a negative exponent."""
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative)


def _write_factor(factor: Expr, scope: Scope) -> str:
    """Write a factor of a product; a sum in parentheses."""
    text = write_expression(factor, scope)
    return f"({text})" if isinstance(factor, sp.Add) else text


def _enclose(text: str) -> str:
    return text if text.isdigit() or text.replace(".", "_").isidentifier() else f"({text})"
