"""The exception for claims that are not exported."""

from __future__ import annotations

from fedtheory.errors import FedtheoryError


class NotExported(FedtheoryError):
    """Raised for a claim or certificate with a part that the export does not support; the message names it."""


NO_RESTARTS = "the library has rounds that start from the server's model, but no loop with restarts"
