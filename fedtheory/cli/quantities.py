"""`fedtheory quantities`: list the quantities of the claim language."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, escape, print_json, print_lines, print_table

if TYPE_CHECKING:
    from fedtheory.language.vocabulary import VocabularyEntry

NAME = "quantities"

Word = Annotated[str, typer.Argument(metavar="[WORD]", help="Part of a name, a symbol, a formula or a chapter.")]

PLACES = {"run": "the whole run", "round": "each round", "step": "each local step", "points": "any point"}
"""Places at which a quantity has its values."""


def run(word: Word = "", as_json: Json = False) -> None:
    """List the quantities that symbols of a claim can stand for: name, symbol, formula, and assumption."""
    from fedtheory.cli.search_words import select_matching
    from fedtheory.language.vocabulary import vocabulary

    expected = "no quantity has {} in its name, symbol, formula or chapter"
    entries = select_matching(word, vocabulary(), _list_texts, expected, NAME)
    if as_json:
        print_json([_encode(entry) for entry in entries])
    else:
        _print_table(entries)


def _list_texts(entry: VocabularyEntry) -> tuple[str, ...]:
    """Return the texts of a quantity that a search word is compared with."""
    from fedtheory.cli.unicode_math import unicode_math

    quantity = entry.quantity
    return quantity.name, quantity.latex, unicode_math(quantity.latex), quantity.meaning, entry.chapter


def _encode(entry: VocabularyEntry) -> dict[str, Any]:
    quantity = entry.quantity
    return {
        "name": quantity.name,
        "symbol": quantity.latex,
        "formula": quantity.meaning,
        "chapter": entry.chapter,
        "defined_in": entry.module.__name__,
        "assumption": entry.assumption,
        "place": quantity.place,
    }


def _print_table(entries: list[VocabularyEntry]) -> None:
    """Print one table for each chapter."""
    for module, chapter in groupby(entries, key=lambda entry: entry.module):
        about = (module.__doc__ or "").partition("\n")[0]
        rows = [_format_row(entry) for entry in chapter]
        columns = ["name", "symbol and formula", "under / for"]
        print_table(f"{module.__name__}\n{about}", columns, rows, whole=("name",))
        print_lines("")
    print_lines(
        "under / for: the assumption under which a constant is finite, or where else a quantity has its values",
        f"{len(entries)} found; in Python: from fedtheory import quantities as q, then q.NAME",
    )


def _format_row(entry: VocabularyEntry) -> list[str]:
    from fedtheory.cli.unicode_math import unicode_math

    quantity = entry.quantity
    formula = f"[bold]{escape(unicode_math(quantity.latex))}[/bold]\n{escape(quantity.meaning)}"
    return [quantity.name, formula, escape(entry.assumption or PLACES[quantity.place])]
