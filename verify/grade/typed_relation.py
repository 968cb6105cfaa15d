"""Read and write relations in names of quantities, such as ``max_drift <= 4*local_steps*local_step_size**2``.

A relation is data: it is parsed by the whitelist of answers, and never executed.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Operator
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.vocabulary import vocabulary
from verify.grade.answer_limits import FUNCTIONS, Unreadable
from verify.grade.answer_text import read_answer

_OPERATOR = re.compile(r"<=|>=|==|<|>")
_NAME = re.compile(r"[A-Za-z_]\w*")


def read_relation(text: str) -> Claim:
    """Return the claim of a typed relation; raises `InputError` if it cannot be parsed."""
    signs = _OPERATOR.findall(text)
    if len(signs) != 1:
        raise InputError("CLAIM", f"expected one of <=, >=, ==, < and > between two sides, got {text!r}")
    names = _list_quantities()
    left, right = (_read_side(side, names) for side in _OPERATOR.split(text))
    where = {symbol: names[symbol.name] for side in (left, right) for symbol in side.free_symbols}
    operator: Operator = signs[0]
    return Claim(id="typed", title=text, lhs=left, relation=operator, rhs=right, where=where)


def write_relation(claim: Claim) -> str | None:
    """Write the relation of a claim in names of quantities; None if it has none, or uses vectors, points or steps."""
    if claim.place != "run" or len(claim.relations) != 1:
        return None
    relation = claim.relations[0]
    quantities = {symbol: claim.notation.get(symbol) for symbol in relation.free_symbols}
    names = {
        symbol: sp.Symbol(quantity.name) for symbol, quantity in quantities.items() if isinstance(quantity, RunQuantity)
    }
    written = f"{_write_side(relation.left, names)} {relation.operator} {_write_side(relation.right, names)}"
    known = _list_quantities()
    is_read_back = len(names) == len(quantities) and all(
        word in known or word in FUNCTIONS for word in _NAME.findall(written)
    )
    return written if is_read_back else None


def _build_symbol(quantity: RunQuantity) -> sp.Symbol:
    """Return a symbol with the quantity's name, which is unique; the typeset symbol may not be."""
    return sp.Symbol(quantity.name, real=True)


def _write_side(side: Expr, names: dict[sp.Symbol, sp.Symbol]) -> str:
    text = str(sp.sympify(side).xreplace(names))
    return text.replace("Abs(", "abs(").replace("ceiling(", "ceil(")


def _list_quantities() -> dict[str, RunQuantity]:
    return {entry.quantity.name: entry.quantity for entry in vocabulary() if isinstance(entry.quantity, RunQuantity)}


def _read_side(text: str, names: dict[str, RunQuantity]) -> Expr:
    used = set(_NAME.findall(text))
    unknown = sorted(word for word in used if word not in names and word not in FUNCTIONS and word not in _CONSTANTS)
    if unknown:
        close = get_close_matches(unknown[0], names, n=3)
        hint = f"; is it {' or '.join(close)}?" if close else ""
        raise InputError("CLAIM", f"{unknown[0]} is not a quantity{hint} (`fedtheory quantities WORD` searches)")
    try:
        return read_answer(text, {name: _build_symbol(names[name]) for name in used if name in names})
    except Unreadable as reason:
        raise InputError("CLAIM", f"cannot read {text.strip()[:60]!r}: {reason}") from None


_CONSTANTS = {"e", "pi"}
