"""Lists the vocabulary: every quantity and every assumption with the chapter that defines it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

from fedtheory.language import assumptions, quantities
from fedtheory.language.assumptions import Assumption
from fedtheory.language.paper_parts import import_modules, import_package_modules
from fedtheory.language.quantities import Quantity, QuantityFamily


@dataclass(frozen=True)
class VocabularyEntry:
    """A quantity, and the module that defines it."""

    quantity: Quantity | QuantityFamily
    module: ModuleType

    @property
    def chapter(self) -> str:
        """The name of the chapter."""
        return self.module.__name__.rpartition(".")[2]

    @property
    def assumption(self) -> str | None:
        """The name of the assumption of which the quantity is the constant."""
        known = getattr(self.quantity, "assumption", None)
        return None if known is None else str(known.name)


@dataclass(frozen=True)
class Assumed:
    """An assumption, its name in Python, and the module that defines it."""

    name: str
    assumption: Assumption
    module: ModuleType


@cache
def vocabulary() -> tuple[VocabularyEntry, ...]:
    """Return every quantity, chapter by chapter, in the order of the definitions."""
    return tuple(
        VocabularyEntry(entry, module)
        for module in _list_modules(quantities)
        for name, entry in vars(module).items()
        if isinstance(entry, Quantity | QuantityFamily) and not name.startswith("_")
    )


@cache
def list_assumptions() -> tuple[Assumed, ...]:
    """Return every assumption, chapter by chapter, in the order of the definitions."""
    return tuple(
        Assumed(name, entry, module)
        for module in _list_modules(assumptions)
        for name, entry in vars(module).items()
        if isinstance(entry, Assumption)
    )


def _list_modules(package: ModuleType) -> list[ModuleType]:
    """Return the chapters of a package and of the parts of that name of papers, in order of their names."""
    found = [*import_package_modules(package), *import_modules(package.__name__.rpartition(".")[2])]
    return sorted(found, key=lambda module: module.__name__.rpartition(".")[2])
