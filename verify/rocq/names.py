"""Names in Rocq: one for each claim, and one for each quantity of a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import all_claims
from fedtheory.proofs.numbers import SymbolTable, symbols_of
from verify.rocq.library_parts import collect_words
from verify.rocq.refusals import NotExported


def name_of(claim_id: str) -> str:
    """Return the unique Rocq name of a claim.

    Punctuation becomes underscores. If an earlier claim has this name, punctuation is encoded by character codes.
    """
    plain = _drop_punctuation(claim_id)
    is_plain = not plain[:1].isdigit() and "__" not in plain
    return (
        plain if is_plain and _find_owners(tuple(all_claims())).get(plain, claim_id) == claim_id else _escape(claim_id)
    )


def _drop_punctuation(claim_id: str) -> str:
    """Return an id with underscores in place of punctuation."""
    return "".join(c if _is_plain(c) else "_" for c in claim_id)


def _escape(claim_id: str) -> str:
    """Return an injective name; its double underscore distinguishes it from plain names."""
    return "claim__" + "".join(c if _is_plain(c) else f"_{ord(c):x}_" for c in claim_id)


def _is_plain(character: str) -> bool:
    """Return whether a character may occur in names of Rocq."""
    return character.isascii() and character.isalnum()


@cache
def _find_owners(claim_ids: tuple[str, ...]) -> Mapping[str, str]:
    """Return the first claim of each plain name."""
    return {_drop_punctuation(one): one for one in reversed(claim_ids)}


_BOUND = frozenset(["A", "O", "R", "S", "e", "f", "i", "k", "n", "s"]) | {
    *("begun", "ended", "steps", "mixing", "weights", "is_drawn", "server_step_size", "step_size_of"),
}
"""Names in the text of a definition that do not come from the algorithm."""


def require_new_words(names: Iterable[str]) -> None:
    """Raise `NotExported` for a name in an algorithm that is no identifier, or that is already used.

    Such a name could end a definition and begin an axiom, or give another meaning to a word of a theorem.
    """
    for name in names:
        is_word = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
        if not is_word or name in _BOUND or (len(name) > 1 and name in collect_words()):
            expected = "expected letters, digits and _, which are no word of the library: rename it in the definition"
            raise NotExported(f"{name!r} is no name for Rocq; {expected}")


def list_sides(claim: Claim) -> sp.Tuple:
    """Return the sides of all relations of a claim."""
    return sp.Tuple(*(side for relation in claim.relations for side in relation.sides))


def name_quantities(symbols: SymbolTable, names: Mapping[sp.Symbol, str]) -> dict[Quantity, str]:
    """Return the names of the quantities of a claim, from those of its symbols."""
    return {quantity: name for symbol, name in names.items() if (quantity := symbols.quantity(symbol)) is not None}


def translate(expression: Expr, theirs: SymbolTable, ours: SymbolTable) -> Expr:
    """Return an expression of another claim in the symbols that a claim has for the same quantities."""
    whole = sp.sympify(expression)
    return whole.xreplace({one: ours(of) for one in whole.free_symbols if (of := theirs.quantity(one)) is not None})


def require_own_names(claim: Claim, names: Mapping[Quantity, str]) -> None:
    """Raise `NotExported` if a quantity of a claim has no name, or two have the same, which Rocq would identify."""
    symbols = symbols_of(claim)
    used = sp.Tuple(*list_sides(claim), *claim.conditions).free_symbols - {*claim.for_all}
    owners: dict[str, Quantity] = {}
    for symbol in sorted(used, key=str):
        quantity = symbols.quantity(symbol)
        if quantity is None:
            raise NotExported(f"{symbol} stands for nothing")
        if quantity not in names:
            raise NotExported(f"the quantity {quantity.name} has no name in its theorem")
        other = owners.setdefault(names[quantity], quantity)
        if other is not quantity:
            raise NotExported(f"{other.name} and {quantity.name} would both be {names[quantity]!r} in its theorem")
