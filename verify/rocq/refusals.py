"""Why a claim is not exported."""

from __future__ import annotations

from fedtheory.errors import FedtheoryError


class NotExported(FedtheoryError):
    """A claim or its certificate has something that the export does not know; the message says what."""
