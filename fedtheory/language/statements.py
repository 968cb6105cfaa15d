"""How a paper writes its claims down: in one notation, each by its verdict and its kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import sympy as sp

from fedtheory.language.claim import Claim, Kind, Verdict
from fedtheory.language.quantities.notion import Notion

_DEFINING = ("algorithm", "assumption", "definition")
"""Claims of these kinds define: unless another verdict is recorded, theirs is "definition"."""


class _Kinds:
    """Makes claims that share some fields, by their kinds: ``bound(id=..., lhs=..., rhs=...)``."""

    def __init__(self, **shared: Any) -> None:
        self._shared = shared

    def __getattr__(self, kind: str) -> partial[Claim]:
        if kind not in get_args(Kind):
            raise AttributeError(f"expected a kind of claim ({', '.join(get_args(Kind))}), got {kind!r}")
        defines = {"verdict": "definition"} if kind in _DEFINING else {}
        return partial(Claim, **{"kind": kind, **defines, **self._shared})


class Statements(_Kinds):
    """Makes the claims of one notation: ``claim.proved.bound(id=...)``, where ``claim = Statements(where)``.

    The verdict is the recorded one.  What else the claims share, such as
    ``for_all``, is given once as well.
    """

    def __init__(self, where: Mapping[sp.Symbol, Notion], **shared: Any) -> None:
        super().__init__(where=where, **shared)

        def recorded(verdict: Verdict) -> _Kinds:
            return _Kinds(where=where, verdict=verdict, **shared)

        self.proved, self.supported = recorded("proved"), recorded("supported")
        self.asymptotic, self.refuted = recorded("asymptotic"), recorded("refuted")
