"""T. Renard, *Notes on Federated Optimization*, 26 May 2022: FedAvg on convex functions.

One module for each part of the notes, in the order of the pages; inside a module, claims have the order of the notes,
and each correction follows the claim it corrects. The statements are imported on first use, since any claim may use the
notes' quantities alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.renard2022.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.renard2022.source import SOURCE

    return SOURCE
