"""The vocabulary as a list: every quantity with the chapter in which it is defined."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from fedtheory.language import quantities
from fedtheory.language.quantities import Notion, QuantityFamily


@dataclass(frozen=True)
class Entry:
    """A notion, and the module that defines it."""

    notion: Notion | QuantityFamily
    module: ModuleType

    @property
    def chapter(self) -> str:
        """The name of the chapter."""
        return self.module.__name__.rpartition(".")[2]

    @property
    def assumption(self) -> str | None:
        """The name of the assumption of which it is the constant."""
        known = getattr(self.notion, "assumption", None)
        return None if known is None else str(known.name)


@cache
def vocabulary() -> tuple[Entry, ...]:
    """Every notion, chapter by chapter, in the order of the definitions."""
    names = [found.name for found in pkgutil.iter_modules(quantities.__path__, f"{quantities.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    return tuple(
        Entry(entry, module)
        for module in modules
        for entry in vars(module).values()
        if isinstance(entry, Notion | QuantityFamily)
    )
