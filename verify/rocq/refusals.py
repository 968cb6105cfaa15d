"""Why a claim is not exported."""

from __future__ import annotations

from fedtheory.errors import FedtheoryError


class NotExported(FedtheoryError):
    """A claim or its certificate has something that the export does not know; the message says what."""


NO_RESTARTS = "the library knows rounds that start from the server's model, and no loop with restarts"
