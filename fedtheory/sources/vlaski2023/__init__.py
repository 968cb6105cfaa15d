"""S. Vlaski and A. H. Sayed, chapter 5 "Federated Learning" of a draft textbook (2023): federated averaging.

L of K agents are sampled in each round, agent k takes E_k local steps of size mu_k = mu / E_k. One module for each part
of the chapter, in the order of the pages; each correction follows the claim it corrects.

The statements are imported on first use, since other claims may use the paper's instances alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.vlaski2023.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.vlaski2023.source import SOURCE

    return SOURCE
