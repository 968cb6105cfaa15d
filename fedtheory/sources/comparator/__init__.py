"""Bounds for any comparator: FedAvg compared with an arbitrary point, with noise and dissimilarity at that point.

The results are by this project. The idea to need noise and dissimilarity only at one point is from A. Khaled, K.
Mishchenko and P. Richtarik, *Tighter Theory for Local SGD on Identical and Heterogeneous Data* (2020), who use the
optimum.

The statements load on first use: other claims may use the paper's instances alone.
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
