"""Parts of papers that extend the vocabulary or the proofs, discovered in the papers' folders.

A part is a module or a folder of modules of a paper of the package.  Importing
one does not import the paper's statements, which are loaded on demand.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import fedtheory

GROUP = "fedtheory.sources"
"""The package that has a folder for each paper, and the group of entry points of other distributions."""
FOLDER = Path(fedtheory.__path__[0]) / "sources"
VOCABULARY = ("quantities", "assumptions", "signs", "setting", "context", "instances")
"""Parts that other claims may use as well: vocabulary, default settings, inequalities of proofs, and runs."""


@cache
def list_paper_folders() -> tuple[str, ...]:
    """List the papers of the package; a folder is named by its paper's key."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)])))


def import_parts(name: str) -> list[ModuleType]:
    """Import the part of that name of each paper that has one."""
    return [importlib.import_module(f"{GROUP}.{key}.{name}") for key in _list_papers_with(name)]


def import_modules(name: str) -> list[ModuleType]:
    """Import the modules in the folder of that name of each paper that has one."""
    return [importlib.import_module(module) for module in list_module_names(name)]


def list_module_names(name: str) -> list[str]:
    """List the modules in the folder of that name of each paper that has one, without importing any."""
    folders = {key: str(FOLDER / key / name) for key in _list_papers_with(name)}
    return [f"{GROUP}.{key}.{name}.{module.name}" for key in folders for module in pkgutil.iter_modules([folders[key]])]


def read_paper_texts(folder: str, suffix: str) -> dict[str, str]:
    """Read the files with a suffix in that folder of each paper; return their texts by their unique names."""
    paths = [path for key in list_paper_folders() for path in sorted((FOLDER / key / folder).glob(f"*{suffix}"))]
    return merge_named((path.name.removesuffix(suffix), path.read_text(encoding="utf-8")) for path in paths)


def merge_named(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Merge texts by their names; raise `ValueError` if two have the same name."""
    found: dict[str, str] = {}
    for name, text in pairs:
        if name in found:
            raise ValueError(f"two files are called {name}: rename one of them")
        found[name] = text
    return found


def import_package_modules(package: ModuleType) -> list[ModuleType]:
    """Import the modules of a package."""
    found = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return [importlib.import_module(module.name) for module in found]


def _list_papers_with(name: str) -> list[str]:
    """Return the papers that have a part of that name."""
    return [key for key in list_paper_folders() if name in _list_parts(key)]


@cache
def _list_parts(key: str) -> frozenset[str]:
    """Return the names of the modules of a paper."""
    return frozenset(module.name for module in pkgutil.iter_modules([str(FOLDER / key)]))


def list_vocabulary_files() -> Iterator[Path]:
    """Yield the folders and files of those parts of all papers."""
    for key in list_paper_folders():
        for name in sorted(_list_parts(key).intersection(VOCABULARY)):
            file = FOLDER / key / f"{name}.py"
            yield file if file.is_file() else FOLDER / key / name
