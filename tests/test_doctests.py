"""The examples in public docstrings are correct."""

from __future__ import annotations

import doctest
import importlib

import pytest
from modules import modules

WITH_EXAMPLES = sorted(name for name, path in modules().items() if "    >>> " in path.read_text(encoding="utf-8"))


def test_the_commands_have_examples() -> None:
    """Public commands have examples, so that the next test is not vacuous."""
    assert {"fedtheory.api.commands", "fedtheory.api.problems"} <= set(WITH_EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    """Every line after >>> is run, and its output is compared."""
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
