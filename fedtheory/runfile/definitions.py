"""Algorithms given by a definition, built in or in a user's file, with the keys that they add to `[algorithm]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fedtheory.arithmetic import Number
from fedtheory.errors import InputError
from fedtheory.federation import SETTINGS
from fedtheory.federation.algorithms import definition, names
from fedtheory.runfile.loading import load_file
from fedtheory.runfile.table import TomlTable

if TYPE_CHECKING:
    from fedtheory.federation.definition import FederatedAlgorithm, Parameter
    from fedtheory.federation.definition.run import Defined


def read_defined(table: TomlTable, name: str, has_schedule: bool, folder: Path) -> Defined | None:
    """Return the definition of a name with its own keys.

    Returns None if participation, clock and step sizes define the algorithm.
    """
    if name in SETTINGS and not (name == "fedavg" and has_schedule):
        if has_schedule:
            raise InputError(
                table.path("local_step_size"), f"expected a number with {name}: only fedavg accepts formulas"
            )
        return None
    found = find_definition(name, table.path("name"), folder)
    return _insert_numbers(table, found)


def is_user_defined(name: str) -> bool:
    """Return whether an algorithm is named as ``file.py:NAME``."""
    return name.rpartition(":")[0].endswith(".py")


def find_definition(name: str, key: str, folder: Path = Path()) -> FederatedAlgorithm:
    """Return the definition of that name, or of ``file.py:NAME`` in a folder; an `InputError` names the key."""
    file, _, attribute = name.rpartition(":")
    if is_user_defined(name):
        return _load_definition(folder / file, attribute)
    if name not in names():
        known = ", ".join(sorted({*SETTINGS, *names()}))
        raise InputError(key, f"expected one of {known}, or file.py:NAME, got {name!r}")
    return definition(name)


def _load_definition(path: Path, attribute: str) -> FederatedAlgorithm:
    """Return the definition with this name in a Python file."""
    from fedtheory.federation.definition import FederatedAlgorithm

    module = load_file(path)
    found = getattr(module, attribute, None)
    if not isinstance(found, FederatedAlgorithm):
        known = [name for name, value in vars(module).items() if isinstance(value, FederatedAlgorithm)]
        expected = ", ".join(sorted(known)) or "and the file defines none"
        raise InputError(attribute, f"expected the name of a FederatedAlgorithm: {expected}", str(path))
    return found


def _insert_numbers(table: TomlTable, found: FederatedAlgorithm) -> Defined:
    """Return the definition with the numbers that the table gives to its parameters."""
    from fedtheory.federation.definition import Mixed
    from fedtheory.federation.definition.run import Defined

    values = {parameter.letter: _read_value(table, parameter) for parameter in found.parameters}
    return Defined(found, values, table.array("mixing", 2) if found.uses(Mixed) else None)


def _read_value(table: TomlTable, parameter: Parameter) -> Number:
    """Return the value of a parameter, in the table's arithmetic."""
    key = table.path(parameter.key)
    if parameter.is_flag:
        return table.arithmetic.number(int(table.flag(parameter.key, bool(parameter.default))), key)
    given = table.take(parameter.key) if parameter.default is None else table.take(parameter.key, parameter.default)
    return table.arithmetic.number(given, key)
