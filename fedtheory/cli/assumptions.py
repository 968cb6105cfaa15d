"""`fedtheory assumptions`: the assumptions that a claim can make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, escape, print_json, print_lines, print_table

if TYPE_CHECKING:
    from fedtheory.language.vocabulary import Assumed

NAME = "assumptions"

Word = Annotated[str, typer.Argument(metavar="[WORD]", help="Part of a name, a statement or a chapter.")]


def run(word: Word = "", as_json: Json = False) -> None:
    """List the assumptions that a claim can make: name in Python, and statement."""
    from fedtheory.cli.search_words import select_matching
    from fedtheory.language.vocabulary import list_assumptions

    expected = "no assumption has {} in its name, statement or chapter"
    entries = select_matching(word, list_assumptions(), _list_texts, expected, NAME)
    if as_json:
        print_json([_encode(entry) for entry in entries])
    else:
        _print_table(entries)


def _find_module(entry: Assumed) -> str:
    """Return the name of the module that defines the assumption."""
    return entry.module.__name__.rpartition(".")[2]


def _list_texts(entry: Assumed) -> tuple[str, ...]:
    """Return the texts that a search word is compared with."""
    return entry.name, entry.assumption.name, entry.assumption.statement, _find_module(entry)


def _encode(entry: Assumed) -> dict[str, Any]:
    return {
        "name": entry.name,
        "called": entry.assumption.name,
        "statement": entry.assumption.statement,
        "chapter": _find_module(entry),
        "defined_in": entry.module.__name__,
    }


def _print_table(entries: list[Assumed]) -> None:
    from fedtheory.cli.unicode_math import unicode_prose

    rows = [[entry.name, escape(unicode_prose(entry.assumption.statement))] for entry in entries]
    print_table("assumptions", ["name", "statement"], rows, whole=("name",))
    print_lines(
        "",
        "a constant of an assumption, such as quantities.noise_deviation, brings its assumption with it",
        f"{len(entries)} found; in Python: from fedtheory import assumptions as a, then a.NAME",
    )
