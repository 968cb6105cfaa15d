"""The modules of the project and what they import, read from their text: for tests of layout and trust."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOORS = ("report", "verify", "fedtheory")


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name."""
    found = {}
    for path in (path for floor in FLOORS for path in (ROOT / floor).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(name: str, *, hints: bool = False) -> frozenset[str]:
    """Return the project modules that a module imports, at the top or inside functions; with or without type hints."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    guarded = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    unseen = set() if hints else {inner for node in guarded for inner in ast.walk(node)}
    return frozenset(found for node in ast.walk(tree) if node not in unseen for found in _name_it(node)) - {name}


def _name_it(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules() else node.module
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def reached(start: str, *, not_through: frozenset[str] = frozenset()) -> set[str]:
    """Return a module and all of its direct and indirect imports, except through some modules."""
    found, todo = {start}, [start]
    while todo:
        new = (imports(todo.pop()) & modules().keys()) - found - not_through
        found |= new
        todo += sorted(new)
    return found
