"""Pickles the parts of a plan: claims and errors are replaced by names, because their functions cannot be pickled."""

from __future__ import annotations

import io
import pickle
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find, is_of_the_package, is_registered
from fedtheory.planner.coverage import ERRORS

_BY_NAME = {error.name: error for error in ERRORS}


class _Packer(pickle.Pickler):
    def persistent_id(self, found: object) -> tuple[str, str] | None:
        if isinstance(found, Claim):
            if not _is_in_package(found):
                raise pickle.PicklingError(
                    f"other processes cannot load {found.id}, which is in no paper of the package"
                )
            return "claim", found.id
        return ("error", found.name) if isinstance(found, RunQuantity) else None


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, named: tuple[str, str]) -> Claim | RunQuantity:
        kind, name = named
        return find(name) if kind == "claim" else _BY_NAME[name]


def _is_in_package(claim: Claim) -> bool:
    """Return whether a claim is one of the package, which every process can load by its id."""
    return is_of_the_package(claim.source) and is_registered(claim)


def pack(found: object) -> bytes:
    """Return an object as bytes; raise `PicklingError` for claims that another process may not know."""
    into = io.BytesIO()
    _Packer(into, pickle.HIGHEST_PROTOCOL).dump(found)
    return into.getvalue()


def unpack(data: bytes) -> Any:
    """Restore an object from bytes, with the claims and errors of this process."""
    return _Unpacker(io.BytesIO(data)).load()
