"""Bounds for any comparator: FedAvg against the point that suits a run best, noise and dissimilarity asked for there.

The results are our own.  That noise and dissimilarity are needed at one point
only is after A. Khaled, K. Mishchenko and P. Richtarik, *Tighter Theory for
Local SGD on Identical and Heterogeneous Data* (2020), who have the optimum.

The statements load on first use: other claims are tried on the paper's instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.comparator.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.comparator.source import SOURCE

    return SOURCE
