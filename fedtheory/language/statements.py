"""Builders of a paper's claims with a common notation, by verdict and kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, get_args

import sympy as sp

from fedtheory.language.claim import Claim, Kind, Verdict
from fedtheory.language.quantities.quantity import Quantity

_DEFINING = ("algorithm", "assumption", "definition")
"""Kinds of claims that define something: their verdict is "definition" unless another one is recorded."""


class _Kinds:
    """Builds claims that share some fields, by their kinds: ``bound("thm-1", "Title", "(3)")(lhs=..., rhs=...)``."""

    def __init__(self, source: str, **shared: Any) -> None:
        self._source, self._shared = source, shared

    def __getattr__(self, kind: str) -> Callable[..., partial[Claim]]:
        if kind not in get_args(Kind):
            raise AttributeError(f"expected a kind of claim ({', '.join(get_args(Kind))}), got {kind!r}")
        defines = {"verdict": "definition"} if kind in _DEFINING else {}
        fields = {"kind": kind, **defines, **self._shared}

        def headed(name: str, title: str = "", locator: str = "") -> partial[Claim]:
            return partial(Claim, **{"id": f"{self._source}:{name}", "title": title, "locator": locator, **fields})

        return headed


class Notation(dict[sp.Symbol, Quantity]):
    """The symbols of a paper, with the quantity that each stands for: the `where` of its claims."""

    def add(self, quantity: Quantity, latex: str | None = None, **signs: bool) -> sp.Symbol:
        """Return a new symbol for a quantity, such as ``add(q.clients, "M", positive=True)``.

        Without `latex` the symbol is typeset like the quantity.
        """
        symbol = sp.Symbol(quantity.latex if latex is None else latex, **signs)
        self[symbol] = quantity
        return symbol

    def without(self, symbols: Iterable[sp.Symbol]) -> Notation:
        """Return the notation without some symbols, which a claim then quantifies by `for_all`."""
        removed = frozenset(symbols)
        return Notation({symbol: quantity for symbol, quantity in self.items() if symbol not in removed})


class Statements(_Kinds):
    """Builds the claims of one source in one notation: with ``claim = Statements("my2026", where)``,
    ``claim.proved.bound("thm-1", "Title", "Theorem 1, (3)")(lhs=..., rhs=...)``.

    The recorded verdict and the kind come first, then the name in the
    source, title and place, and finally the statement.  Other shared fields,
    such as ``for_all``, are given once, too.
    """

    def __init__(self, source: str, where: Mapping[sp.Symbol, Quantity], **shared: Any) -> None:
        super().__init__(source, where=where, **shared)

        def recorded(verdict: Verdict) -> _Kinds:
            return _Kinds(source, where=where, verdict=verdict, **shared)

        self.where = where
        self.proved, self.supported = recorded("proved"), recorded("supported")
        self.asymptotic, self.refuted = recorded("asymptotic"), recorded("refuted")
