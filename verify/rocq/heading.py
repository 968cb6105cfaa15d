"""Write the comment at the start of a claim's file: the statement, and the names of its symbols."""

from __future__ import annotations

from collections.abc import Iterator

from verify.rocq.exported import Exported
from verify.rocq.theorem import escape_comment


def heading(known: Exported) -> str:
    """Return a comment for Rocq with the claim in its source's symbols, and the name of each."""
    claim = known.claim
    lines = [f"{claim.id}" + (f": {claim.title}" if claim.title else ""), "", "The statement, in the paper's letters:"]
    lines += [f"    {line}" for line in claim.links]
    legend = list(_legend(known))
    if legend:
        lines += ["", "where", *legend]
    body = "\n    ".join(line.rstrip() for line in lines)
    return f"(** {escape_comment(body)} *)"


def _legend(known: Exported) -> Iterator[str]:
    for symbol, quantity in known.claim.notation.items():
        name = known.theorem.called.get(quantity)
        if name is not None and str(symbol) != name:
            yield f"    {symbol}  is  {name}"
