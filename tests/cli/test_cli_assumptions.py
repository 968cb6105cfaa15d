"""`fedtheory assumptions`: what claims can assume, each name once, in its chapter."""

from __future__ import annotations

import re
from pathlib import Path

from fedtheory.cli.unicode_math import unicode_prose
from fedtheory.language import assumptions as a
from fedtheory.language.registry import all_claims
from fedtheory.language.vocabulary import assumed


def test_every_assumption_is_listed_once_where_it_is_defined() -> None:
    """Its name is the one in Python; a chapter that only uses an assumption does not list it."""
    names = [entry.name for entry in assumed()]
    assert sorted(names) == sorted(a.__all__)
    assert all(getattr(a, entry.name) is entry.assumption for entry in assumed())
    # As the text of the chapters has them, read without importing it.
    written = {
        (path.stem, name)
        for path in Path(a.__file__).parent.glob("*.py")
        for name in re.findall(
            r"^(\w+) = (?:Assumption|Setting|Boundedness|OfAlgorithm)\(", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert {(entry.module.__name__.rpartition(".")[2], entry.name) for entry in assumed()} >= written
    assert ("participation", "uniform_sampling") in written


def test_what_claims_assume_is_listed() -> None:
    """Assumptions with a name that several claims share are in the list; families of them are made where needed."""
    listed = {entry.assumption.name for entry in assumed()}
    used = {one.name for claim in all_claims().values() for one in claim.assumptions}
    assert len(used & listed) > 40


def test_a_word_finds_names_statements_and_chapters(command) -> None:
    """A word of the statement that is in no name finds it."""
    found = command("assumptions", "replacement", "--json").document
    assert [entry["name"] for entry in found] == ["uniform_sampling", "multinomial_sampling"]
    assert {entry["chapter"] for entry in command("assumptions", "clocks", "--json").document} == {"clocks"}


def test_statements_print_without_latex() -> None:
    """Nothing of LaTeX is left for people."""
    for entry in assumed():
        words = unicode_prose(entry.assumption.statement)
        assert "\\" not in words
        assert "$" not in words


def test_an_unknown_word_gets_the_nearest_name(command) -> None:
    """One line, and exit code 2."""
    answer = command("assumptions", "full_gradient_")
    assert answer.code == 2
    assert "full_gradients" in answer.err
