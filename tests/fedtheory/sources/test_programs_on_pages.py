"""The programs printed on the papers' pages import names that exist."""

from __future__ import annotations

import ast
import importlib
import re

import pytest
from modules import modules

_IMPORT = re.compile(r"^from (fedtheory\.[\w.]+) import ([\w, ]+)$", re.M)


def _find_programs() -> list[str]:
    """List the string constants of the exhibits that import names of the package."""
    exhibits = [name for name in modules() if re.match(r"fedtheory\.sources\.\w+\.exhibits", name)]
    trees = [ast.parse(modules()[name].read_text(encoding="utf-8")) for name in exhibits]
    constants = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return sorted(text for text in constants if isinstance(text, str) and _IMPORT.search(text))


def test_pages_have_programs() -> None:
    assert len(_find_programs()) == 4


@pytest.mark.parametrize("program", _find_programs())
def test_a_program_imports_what_exists(program: str) -> None:
    for module, names in _IMPORT.findall(program):
        home = importlib.import_module(module)
        assert not [name for name in names.split(", ") if not hasattr(home, name)]
