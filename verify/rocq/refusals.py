"""The exception for claims that are not exported."""

from __future__ import annotations

from fedtheory.errors import FedtheoryError


class NotExported(FedtheoryError):
    """Raised for a claim or certificate that the export does not support; the message says why, and names the part."""

    def __init__(self, reason: str, part: object = None) -> None:
        super().__init__(reason if part is None else f"{reason}: {part}")
        self.reason = reason


NO_RESTARTS = "the library has rounds that start from the server's model, but no loop with restarts"
