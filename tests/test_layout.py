"""The picture of the tree in the README: every module has a place in it, and imports go down only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PICTURE = re.search(r"## Where things are\n\n```\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
FLOORS = ("report", "verify", "fedtheory")
FRONT_DOOR = {"cli", "__main__", "__init__"}
"""What stands above all floors, or loads names of all of them on first use."""


def _lines() -> list[list[str]]:
    """The names on each line below fedtheory/, from the top; what is said of them stands behind a wide gap."""
    assert PICTURE is not None
    _, below = PICTURE.group(1).split("└─ fedtheory/")
    names = [re.split(r" {3,}", line.strip())[0] for line in below.splitlines()[1:]]
    return [[name.rstrip("/") for name in line.split()] for line in names]


def _modules() -> set[str]:
    here = ROOT / "fedtheory"
    found = {path.stem for path in here.glob("*.py")} | {path.parent.name for path in here.glob("*/__init__.py")}
    return found - FRONT_DOOR


def _imports(path: Path) -> Iterator[str]:
    """What a file imports when it runs, at the top or inside functions; not what it names for type hints alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hints = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unseen = {inner for node in hints for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_module_has_one_place() -> None:
    """Nothing is missing from the picture, and nothing stands in it twice."""
    named = [name for line in _lines() for name in line]
    assert sorted(named) == sorted(_modules())


@pytest.mark.parametrize("module", sorted(_modules()))
def test_imports_go_down(module: str) -> None:
    """To the same line or to one below."""
    depth = {name: number for number, line in enumerate(_lines()) for name in line}
    here = ROOT / "fedtheory" / module
    for path in [here.with_suffix(".py")] if here.with_suffix(".py").exists() else here.rglob("*.py"):
        for name in _imports(path):
            floor, _, rest = name.partition(".")
            wanted = rest.split(".")[0]
            if floor == "fedtheory" and wanted in depth:
                assert depth[wanted] >= depth[module], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("number", range(len(FLOORS)), ids=FLOORS)
def test_floors_do_not_look_up(number: int) -> None:
    """The report knows verify, and verify the theory; only the command line knows all of them."""
    above = set(FLOORS[:number])
    for path in (ROOT / FLOORS[number]).rglob("*.py"):
        if path.relative_to(ROOT).parts[1] != "cli":
            assert not {name.partition(".")[0] for name in _imports(path)} & above, path.relative_to(ROOT)
