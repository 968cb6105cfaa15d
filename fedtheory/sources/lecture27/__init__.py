"""Course 6960/5960, Lecture 27, *Introduction to Federated Learning*: distributed gradient descent under a budget.

Handwritten notes that follow S. Wang et al., "Adaptive Federated Learning in
Resource Constrained Edge Computing Systems", IEEE JSAC 2019.  One module for
each part, in the order of the pages.

The statements are imported on first use, since other claims may use the paper's instances alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.lecture27.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.lecture27.source import SOURCE

    return SOURCE
