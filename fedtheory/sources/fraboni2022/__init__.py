"""Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi: federated optimisation with asynchronous clients (2022).

Aggregation with stale models and unequal reporting. The statements are imported on first use, since any claim may use
the paper's quantities alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.sources.fraboni2022.source import SOURCE

__all__ = ["SOURCE"]


def __getattr__(name: str) -> Any:
    if name != "SOURCE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fedtheory.sources.fraboni2022.source import SOURCE

    return SOURCE
