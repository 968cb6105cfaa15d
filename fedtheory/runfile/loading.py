"""Executes a user's Python file or folder: output goes to standard error, an error becomes one line.

Both run with all the rights of the user: name only files that you trust.
`refusing_code` refuses both before they are opened, whether a user, a run file or
a sweep names them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from inspect import signature
from pathlib import Path
from types import ModuleType

from fedtheory.errors import CodeError, FedtheoryError, InputError, NotApplicable

_UNEXPECTED = re.compile(r"(?:\w+\.)*?(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument")
_REFUSED = "FEDTHEORY_NO_CODE"
"""Environment variable by which worker processes also refuse to execute code."""


@contextlib.contextmanager
def refusing_code() -> Iterator[None]:
    """Refuse by `InputError` to execute any named Python file or folder, in this process and its children."""
    before = os.environ.get(_REFUSED)
    os.environ[_REFUSED] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_REFUSED]
        else:
            os.environ[_REFUSED] = before


def _require_code_allowed(path: Path) -> None:
    if os.environ.get(_REFUSED):
        expected = "is Python, and --no-code refuses to execute it; expected names of objects of the package, or"
        raise InputError("", f"{expected} this command without --no-code", str(path))


def load_file(path: Path) -> ModuleType:
    """Return the module of a Python file, which is executed again if its content has changed.

    An `InputError` names the file, the line and the mistake.
    """
    _require_code_allowed(path)
    if not path.is_file():
        raise InputError("", "no such file", str(path))
    return _load(path, path.read_bytes())


@cache
def _load(path: Path, _content: bytes) -> ModuleType:
    """Run a Python file and return its module; the content is the key of the cache."""
    return _execute(path, f"_user_file_{path.stem}", None)


def load_folder(folder: Path) -> ModuleType:
    """Return the package of a folder, which need not be on the import path; imports inside it are relative."""
    _require_code_allowed(folder)
    return _load_folder(folder)


@cache
def _load_folder(folder: Path) -> ModuleType:
    """Run the package in a folder and return its module."""
    from hashlib import sha256

    name = f"_user_paper_{sha256(str(folder).encode()).hexdigest()[:12]}"
    try:
        return _execute(folder / "__init__.py", name, [str(folder)])
    except FedtheoryError:
        for module in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
            del sys.modules[module]
        raise


def _execute(file: Path, name: str, search: list[str] | None) -> ModuleType:
    """Run a Python file as a module of this name."""
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise InputError("", "expected a Python file", str(file))
    module = importlib.util.module_from_spec(spec)
    if search is not None:
        sys.modules[name] = module
    beside = contextlib.nullcontext() if search is not None else _search_folder(file.absolute().parent)
    quietly = contextlib.redirect_stdout(sys.stderr)
    with join_lines(file if search is None else file.parent), quietly, _avoid_bytecode(), beside:
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _search_folder(folder: Path) -> Iterator[None]:
    """Let a file import the modules next to it, and forget them afterwards.

    Other folders have modules of the same names.
    """
    known = set(sys.modules)
    # Installed modules go first: a file called random.py next to a claim would break the imports of SymPy.
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in sys.modules.keys() - known:
            origin = getattr(sys.modules[name], "__file__", None)
            if origin is not None and Path(origin).is_relative_to(folder):
                del sys.modules[name]


@contextlib.contextmanager
def _avoid_bytecode() -> Iterator[None]:
    """Write no bytecode: Python would use it for a file that changes again within the same second."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


@contextlib.contextmanager
def join_lines(home: Path) -> Iterator[None]:
    """Turn any error in the code of a file or folder into an `InputError` that names file and line."""
    try:
        yield
    except InputError as error:
        raise error.in_file(str(home)) from None
    except NotApplicable:
        raise
    except (Exception, SystemExit) as error:
        file, line = _locate_error(error, home)
        place = f"{file}, line {line}" if line else str(file)
        raise CodeError("", f"cannot be executed: {type(error).__name__}: {_describe_error(error)}", place) from error


def report_mistakes(function: Callable[..., object]) -> contextlib.AbstractContextManager[None]:
    """Turn errors in a user's function into an `InputError` with file and line; errors of fedtheory pass through."""
    code = getattr(function, "__code__", None)
    is_own = str(function.__module__).partition(".")[0] == __name__.partition(".")[0]
    return contextlib.nullcontext() if code is None or is_own else join_lines(Path(code.co_filename))


def _find_names(name: str, of: object) -> list[str]:
    """Return names of an object that contain an unknown name, else the closest name."""
    if type(of).__module__ == "builtins" and not isinstance(of, ModuleType):
        return []
    longer = [known for known in dir(of) if len(name) >= _SHORTEST and name in known and not known.startswith("_")]
    return longer[:_MOST_NAMES] or get_close_matches(name, dir(of), n=1)


_MOST_NAMES, _SHORTEST = 3, 4


def _describe_error(error: BaseException) -> str:
    """Return the text of an error; for an unknown name, with the closest known one."""
    if isinstance(error, AttributeError) and error.name is not None:
        near = " or ".join(map(repr, _find_names(error.name, error.obj)))
        return f"{error}{f'; is {near} meant?' if near else ''}"
    if isinstance(error, TypeError) and (unexpected := _UNEXPECTED.match(str(error))):
        return f"{error}{_list_arguments(error, unexpected[1])}"
    if isinstance(error, TypeError) and "truth value of Relational" in str(error):
        return f"{error}; write a chain such as 0 < eta <= 1/L as two conditions: [0 < eta, eta <= 1/L]"
    hint = next((hint for pattern, hint in _HINTS if pattern.search(str(error))), "")
    return error.msg if isinstance(error, SyntaxError) else f"{error}{hint}"


_HINTS = (
    (
        re.compile(r"not supported between instances of .*'RunQuantity'"),
        "; write lhs=..., relation='<=' and rhs=..., or quantities.NAME.symbol in a condition",
    ),
    (
        re.compile(r"unsupported operand type.*'RunQuantity'"),
        "; in an expression write its symbol, such as quantities.max_drift.symbol, or a symbol of `where`",
    ),
    (
        re.compile(r"^Claim\.__init__\(\) takes 1 positional"),
        "; write Claim(id='mine:bound', lhs=..., rhs=..., where=...)",
    ),
    (
        re.compile(r"^(?:No module named 'fedtheory\.|cannot import name '\w+' from 'fedtheory')"),
        "; public names are imported as in `from fedtheory import Claim, assumptions, quantities`",
    ),
)
"""Hints for frequent errors in claim files, by their text."""


def _list_arguments(error: BaseException, name: str) -> str:
    """Return the parameters of a class or function, looked up by name where the error was raised.

    The text is empty if none is found.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    space = {**frames[-1].f_globals, **frames[-1].f_locals} if frames else {}
    modules = [value for value in space.values() if isinstance(value, ModuleType)]
    called = next((found for one in modules if callable(found := getattr(one, name, None))), space.get(name))
    if not callable(called):
        return ""
    return f"; expected some of {', '.join(signature(called).parameters)}"


def _locate_error(error: BaseException, home: Path) -> tuple[str | Path, int | None]:
    """Return the last executed line that belongs to the user's own code."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    # Python names a file by its absolute path, whichever path the user gave.
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(home.absolute())]
    if not own:
        return home, None
    return home if home.is_file() else own[-1].filename, own[-1].lineno
