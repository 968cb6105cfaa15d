"""Each kind of error in submitted code is described in words."""

from __future__ import annotations

import ast

import pytest

from verify.grade.sandbox_child import _describe_failure, _describe_outcome

ERRORS = {
    "memory": (MemoryError(), "the code needs more memory than a submission may use"),
    "recursion": (RecursionError("deep"), "the code calls itself without end: does the recursion stop?"),
    "file": (
        FileNotFoundError("no data.csv"),
        "the code uses files, processes or the network, which submissions may not use (no data.csv)",
    ),
    "any other": (ValueError("x" * 999), "ValueError: " + "x" * 999),
    "an exit": (SystemExit(3), "SystemExit: 3"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_in_words(name: str) -> None:
    error, words = ERRORS[name]
    assert words.startswith(_describe_outcome(error))
    assert len(_describe_outcome(error)) >= min(len(words), 100)


@pytest.mark.parametrize(("text", "place"), [("a b", ""), ("def f():\n    a b", " at `a b`")])
def test_a_syntax_error_names_its_line_inside_a_block(text: str, place: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        ast.parse(text)
    assert _describe_outcome(caught.value) == f"SyntaxError{place}: invalid syntax"


def test_empty_cells_are_no_error() -> None:
    def raises(error: type[BaseException]) -> str:
        def action() -> None:
            raise error("words")

        return _describe_failure(action)

    assert _describe_failure(lambda: 1) == ""
    assert raises(NotImplementedError) == ""
    assert raises(KeyboardInterrupt) == "KeyboardInterrupt: words"
