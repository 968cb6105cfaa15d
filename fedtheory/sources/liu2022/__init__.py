"""J. Liu, ECE 8101 *Nonconvex Optimization for Machine Learning*, Lecture Note 3-1, Spring 2022: federated learning.

One module for each part of the slides, in the order of the pages; inside a module, claims have the order of the slides,
and each correction follows the claim it corrects. The statements are imported on first use, since any claim may use the
slides' quantities alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.liu2022.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.liu2022.source import SOURCE

    return SOURCE
