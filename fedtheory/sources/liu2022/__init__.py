"""J. Liu, ECE 8101 *Nonconvex Optimization for Machine Learning*, Lecture Note 3-1, Spring 2022: federated learning.

One module for each part of the slides, in the order of the pages; inside a
module, claims stand in the order in which they are printed, each repair right
behind the claim that it corrects.
The statements load on first use, since any claim may use the slides' quantities.
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
