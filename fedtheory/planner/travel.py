"""What travels between the processes of a plan: claims and errors go by name, as their functions do not travel."""

from __future__ import annotations

import io
import pickle
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import all_claims, find
from fedtheory.planner.coverage import ERRORS

_BY_NAME = {error.name: error for error in ERRORS}


class _Packer(pickle.Pickler):
    def persistent_id(self, found: object) -> tuple[str, str] | None:
        if isinstance(found, Claim):
            if all_claims().get(found.id) is not found:
                raise pickle.PicklingError(f"{found.id} is of no paper, and known to this process alone")
            return "claim", found.id
        return ("error", found.name) if isinstance(found, Quantity) else None


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, named: tuple[str, str]) -> Claim | Quantity:
        kind, name = named
        return find(name) if kind == "claim" else _BY_NAME[name]


def packed(found: object) -> bytes:
    """An object as bytes; `PicklingError` for claims that only this process knows."""
    into = io.BytesIO()
    _Packer(into, pickle.HIGHEST_PROTOCOL).dump(found)
    return into.getvalue()


def unpacked(data: bytes) -> Any:
    """The object again, its claims and errors those of this process."""
    return _Unpacker(io.BytesIO(data)).load()
