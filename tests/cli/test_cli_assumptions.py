"""`fedtheory assumptions` lists what claims can assume, each name once, in its chapter."""

from __future__ import annotations

import re
from pathlib import Path

from fedtheory.cli.unicode_math import unicode_prose
from fedtheory.language import assumptions as a
from fedtheory.language.registry import all_claims
from fedtheory.language.vocabulary import list_assumptions


def test_every_assumption_is_listed_once_where_it_is_defined() -> None:
    """An assumption has its Python name, and is listed only in the chapter that defines it."""
    names = [entry.name for entry in list_assumptions()]
    assert sorted(names) == sorted(a.__all__)
    assert all(getattr(a, entry.name) is entry.assumption for entry in list_assumptions())
    # The names are read from the source text of the chapters, without importing them.
    written = {
        (path.stem, name)
        for path in Path(a.__file__).parent.glob("*.py")
        for name in re.findall(
            r"^(\w+) = (?:Assumption|Setting|Boundedness|OfAlgorithm)\(", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert {(entry.module.__name__.rpartition(".")[2], entry.name) for entry in list_assumptions()} >= written
    assert ("participation", "uniform_sampling") in written


def test_shared_assumptions_are_listed() -> None:
    """The list has all assumptions that several claims share by name; parametrised families are created on demand."""
    listed = {entry.assumption.name for entry in list_assumptions()}
    used = {one.name for claim in all_claims().values() for one in claim.assumptions}
    assert len(used & listed) > 40


def test_a_word_finds_names_statements_and_chapters(command) -> None:
    """A word that occurs only in a statement finds the assumption."""
    found = command("assumptions", "replacement", "--json").document
    assert [entry["name"] for entry in found] == ["uniform_sampling", "multinomial_sampling"]
    assert {entry["chapter"] for entry in command("assumptions", "clocks", "--json").document} == {"clocks"}


def test_statements_print_without_latex() -> None:
    """Statements for people contain no LaTeX."""
    for entry in list_assumptions():
        words = unicode_prose(entry.assumption.statement)
        assert "\\" not in words
        assert "$" not in words


def test_an_unknown_word_gets_the_nearest_name(command) -> None:
    """An unknown word gives one line with the nearest name, and exit code 2."""
    answer = command("assumptions", "full_gradient_")
    assert answer.code == 2
    assert "full_gradients" in answer.err
