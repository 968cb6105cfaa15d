"""Read answers from the code without executing it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from verify.grade.code_repair import is_python, replace_surrogates

_TYPED = re.compile(
    r"^[ \t]*(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?=(?!=)[ \t]*(\S[^\n]*(?:\n[ \t]+[^\s#][^\n]*)*)", re.MULTILINE
)
"""A name and its right side, with the indented lines that continue it."""
_COMMENT = re.compile(r"\s#[^\n]*")
_PREFIX = re.compile(r"^[rRbBfFuU]{1,2}(?=[\"'])")


def read_literals(units: Sequence[str]) -> dict[str, str]:
    """Return the names whose values are literal texts or numbers, as text; the last assignment counts."""
    trees = list(_parse_units(units))
    literals = [pair for tree in trees for statement in tree.body for pair in _list_literals(statement)]
    bound = Counter(name for tree in trees for name in _list_bindings(tree))
    written = Counter(name for name, _ in literals)
    return {name: text for name, text in literals if bound[name] == written[name]}


def read_unquoted_formulas(unit: str) -> dict[str, str]:
    """Return the right sides of assignments as typed, by name: formulas in symbols without a value.

    A unit that is not valid Python is read line by line.
    """
    if not is_python(unit):
        return {found[1]: _remove_quotes(found[2]) for found in _TYPED.finditer(unit)}
    statements = [
        statement for tree in _parse_units([unit]) for statement in tree.body if isinstance(statement, ast.Assign)
    ]
    return {
        target.id: ast.get_source_segment(unit, statement.value) or ""
        for statement in statements
        for target in statement.targets
        if isinstance(target, ast.Name) and not isinstance(statement.value, ast.Constant)
    }


def _remove_quotes(typed: str) -> str:
    """Return an invalid right side without its comment and without quotes, one of which may be missing."""
    text = _COMMENT.sub("", typed).strip().rstrip(";").strip()
    return _PREFIX.sub("", text).strip("\"'")


def list_bound_names(units: Sequence[str]) -> set[str]:
    """Return all names to which the code assigns a value."""
    return {name for tree in _parse_units(units) for name in _list_bindings(tree)}


def _parse_units(units: Sequence[str]) -> Iterator[ast.Module]:
    """Yield the syntax trees of those units that are valid Python."""
    for unit in units:
        try:
            yield ast.parse(unit)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _list_literals(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    if not isinstance(statement, ast.Assign):
        return
    typed = statement.value
    if isinstance(typed, ast.Tuple | ast.List | ast.Set) and len(typed.elts) == 1:
        typed = typed.elts[0]
    if isinstance(typed, ast.Constant):
        value = typed.value
        for target in statement.targets:
            if isinstance(target, ast.Name) and type(value) in (str, int, float):
                yield target.id, replace_surrogates(str(value))


def _list_bindings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
