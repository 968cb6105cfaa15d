"""Digests of the inputs of a result: code, a paper's files, and the statement of a claim.

The digest of a claim depends on its content, not on its position in a file. An edit of one claim leaves the digests of
all other claims unchanged.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import sympy as sp

import fedtheory
import verify
from fedtheory.language.assumptions import OfAlgorithm
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import list_vocabulary_files
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find_paper
from fedtheory.language.targets import resolve

_SOURCES = Path(fedtheory.__path__[0]) / "sources"
STATEMENTS, CERTIFICATES = "statements", "certificates"
"""The subfolders of a paper that mention its claims one by one."""
_LIBRARIES = (
    "numpy",
    "python-flint",
    "scipy",
    "sympy",
    "scikit-learn",
    "matplotlib",
    "jinja2",
    "latex2mathml",
    "pepit",
    "clarabel",
    "scs",
)


@cache
def digest_code(*folders: Path) -> str:
    """Return a digest of the core, the checkers, the libraries and further `folders`, without papers' claims."""
    roots = (Path(fedtheory.__path__[0]), Path(verify.__path__[0]), *folders)
    own = [file for part in list_vocabulary_files() for file in ([part] if part.is_file() else _list_files(part))]
    files = [file for root in roots for file in _list_files(root, _SOURCES)] + own
    return _digest(_digest_files(sorted(files)), _format_versions())


def _format_versions() -> str:
    def of(library: str) -> str:
        try:
            return version(library)
        except PackageNotFoundError:
            return "missing"

    return repr([sys.version_info[:3], *((library, of(library)) for library in _LIBRARIES)])


def digest_paper(key: str, *without: str) -> str:
    """Return a digest of a paper's folder without some subfolders; that of no files for an unknown key."""
    paper = find_paper(key)
    return "" if paper is None else _digest_folder(paper.folder, without)


@cache
def _digest_folder(folder: Path, without: Sequence[str]) -> str:
    def part(file: Path) -> str:
        return file.relative_to(folder).parts[0].removesuffix(".py")

    return _digest_files(sorted(file for file in _list_files(folder) if part(file) not in without))


@cache
def digest_target(target: str) -> str:
    """Return a digest of a target: its claim's content, and for user-defined claims and algorithms their files."""
    claim = resolve(target)
    algorithms = (name for one in claim.assumptions if isinstance(one, OfAlgorithm) for name in one.names)
    homes = dict.fromkeys(Path(name.rpartition(":")[0]) for name in (target, *algorithms))
    return _digest(
        digest_claim(claim), _digest_files(home for home in homes if home.suffix == ".py" and home.is_file())
    )


def digest_trials(target: str) -> tuple[str, ...]:
    """Return the digests of all inputs of a claim's outcomes on instances."""
    return digest_code(), digest_paper(resolve(target).source, STATEMENTS, CERTIFICATES), digest_target(target)


def digest_verdict(target: str) -> tuple[str, ...]:
    """Return the digests of all inputs of a verdict; a proof may use other claims of the same paper."""
    return *digest_trials(target), digest_paper(resolve(target).source)


@cache
def digest_claim(claim: Claim) -> str:
    """Return a digest of a claim's content."""
    return _Claims().digest(claim)


def _list_files(root: Path, without: Path | None = None) -> Iterator[Path]:
    """Yield the files below a folder, except the subfolders `without` and compiled Python files."""
    for home, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__" and Path(home, name) != without]
        yield from (Path(home, name) for name in names)


def _digest_files(files: Iterable[Path]) -> str:
    return _digest(*(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _digest_module(module: ModuleType) -> str:
    """Return a digest of a module's file, or of its name if it has no file."""
    file = getattr(module, "__file__", None)
    return module.__name__ if file is None else _digest_files([Path(file)])


class _Content:
    """Digest nested data and the functions in it; a repeated object is represented by its first position."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[str, Any]] = {}

    def digest(self, thing: Any) -> str:
        if isinstance(thing, sp.Basic):
            return _digest_expression(thing)
        if isinstance(thing, str | int | float | bytes | type(None)):
            return repr(thing)
        if id(thing) not in self._met:
            self._met[id(thing)] = (f"#{len(self._met)}", thing)
            self._met[id(thing)] = (_digest(type(thing).__qualname__, *self._parts(thing)), thing)
        return self._met[id(thing)][0]

    def _parts(self, thing: Any) -> Iterator[str]:
        match thing:
            case FunctionType():
                yield from self._digest_function(thing)
            case partial():
                yield from map(self.digest, (thing.func, thing.args, thing.keywords))
            case ModuleType():
                yield from (thing.__name__, "" if _is_code(thing.__name__) else _digest_module(thing))
            case type():
                home = sys.modules.get(thing.__module__)
                yield from (thing.__module__, thing.__qualname__, "" if home is None else self.digest(home))
            case Mapping():
                yield from (f"{self.digest(key)}: {self.digest(value)}" for key, value in thing.items())
            case list() | tuple():
                yield from map(self.digest, thing)
            case set() | frozenset():
                yield from sorted(map(self.digest, thing))
            case _:
                named = [f.name for f in fields(thing)] if is_dataclass(thing) else sorted(vars(thing))
                yield from (f"{name}={self.digest(getattr(thing, name))}" for name in named)

    def _digest_function(self, thing: FunctionType) -> Iterator[str]:
        """Yield a function's name and closure; for a function of a paper or of a user, also its code."""
        yield f"{thing.__module__}:{thing.__qualname__}"
        yield from (self.digest(cell.cell_contents) for cell in thing.__closure__ or ())
        yield self.digest(thing.__defaults__)
        if not _is_code(thing.__module__):
            yield from self._digest_code(thing.__code__, thing.__globals__)

    def _digest_code(self, code: CodeType, known: Mapping[str, Any]) -> Iterator[str]:
        yield code.co_code.hex()
        yield from (self.digest(known[name]) for name in code.co_names if name in known)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from self._digest_code(constant, known)
            else:
                yield repr(constant)


@cache
def _is_code(module: str) -> bool:
    """Return whether a module is neither part of a paper nor user-defined, so that the digest of the code covers it."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return True
    path = Path(file)
    roots = (Path(fedtheory.__path__[0]), Path(verify.__path__[0]), *_find_libraries())
    of_a_paper = _SOURCES in path.parents and not any(part in (path, *path.parents) for part in list_vocabulary_files())
    return not of_a_paper and any(root in path.parents for root in roots)


@cache
def _find_libraries() -> tuple[Path, ...]:
    import sysconfig

    return tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


class _Claims(_Content):
    """Compute the content of claims; the digest of each quantity is computed once for all claims."""

    def digest(self, thing: Any) -> str:
        return _digest_quantity(thing) if isinstance(thing, RunQuantity) else super().digest(thing)


@cache
def _digest_quantity(quantity: RunQuantity) -> str:
    # Quantities may refer to each other; inside a quantity, the others are identified by their position.
    return _Content().digest(quantity)


@cache
def _digest_expression(expression: sp.Basic) -> str:
    if isinstance(expression, sp.Symbol):
        # SymPy identifies equal symbols, so the implied assumptions of a symbol may come from either of them.
        return _digest(expression.name, repr(sorted(expression.assumptions0.items())))
    if not expression.args:
        return str(sp.srepr(expression))
    return _digest(type(expression).__name__, *map(_digest_expression, expression.args))
