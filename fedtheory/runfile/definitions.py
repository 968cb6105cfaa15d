"""Algorithms that are definitions, by name or from a user's file, with the keys that they add to `[algorithm]`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fedtheory.arithmetic import RATIONAL, Array, Number
from fedtheory.errors import InputError
from fedtheory.federation import SETTINGS, Algorithm, Full
from fedtheory.federation.algorithms import definition, names
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.problem import Problem
from fedtheory.runfile.loading import load_file
from fedtheory.runfile.table import Table

if TYPE_CHECKING:
    from fedtheory.federation.definition import FederatedAlgorithm, Parameter
    from fedtheory.federation.definition.run import Defined


def read_defined(table: Table, name: str, has_schedule: bool, problem: Problem, folder: Path) -> Defined | None:
    """The definition of a name with its own keys; None where the three policies say everything."""
    if name in SETTINGS and not (name == "fedavg" and has_schedule):
        if has_schedule:
            raise InputError(table.path("local_step_size"), f"expected numbers with {name}: formulas go with fedavg")
        return None
    found = definition_named(name, table.path("name"), folder)
    if isinstance(problem, LossProblem):
        raise InputError(
            table.path("name"), f"expected a setting of fedavg for losses that are not quadratic, got {name!r}"
        )
    return _with_numbers(table, found, problem)


def is_own(name: str) -> bool:
    """Whether an algorithm is called by a file of the user's and its name there."""
    return name.rpartition(":")[0].endswith(".py")


def definition_named(name: str, key: str, folder: Path = Path()) -> FederatedAlgorithm:
    """The definition of that name, or of ``file.py:NAME`` from a folder; `InputError` names the key."""
    file, _, attribute = name.rpartition(":")
    if is_own(name):
        return _from_file(folder / file, attribute)
    if name not in names():
        known = ", ".join(sorted({*SETTINGS, *names()}))
        raise InputError(key, f"expected one of {known}, or file.py:NAME, got {name!r}")
    return definition(name)


def _from_file(path: Path, attribute: str) -> FederatedAlgorithm:
    from fedtheory.federation.definition import FederatedAlgorithm

    module = load_file(path)
    found = getattr(module, attribute, None)
    if not isinstance(found, FederatedAlgorithm):
        known = [name for name, value in vars(module).items() if isinstance(value, FederatedAlgorithm)]
        expected = ", ".join(sorted(known)) or "and the file defines none"
        raise InputError(attribute, f"expected the name of a FederatedAlgorithm: {expected}", str(path))
    return found


def _with_numbers(table: Table, found: FederatedAlgorithm, problem: Problem) -> Defined:
    from fedtheory.federation.definition import Mixed
    from fedtheory.federation.definition.run import Defined

    values = {parameter.letter: _value(table, parameter) for parameter in found.parameters}
    run = Defined(found, values, _mixing(table, problem) if found.uses(Mixed) else None)
    _require_coordinates(table, run, problem)
    _require_chances(table, run)
    return run


def _value(table: Table, parameter: Parameter) -> Number:
    """The number of a parameter, in the table's arithmetic."""
    key = table.path(parameter.key)
    if parameter.is_flag:
        return table.arithmetic.number(int(table.flag(parameter.key, bool(parameter.default))), key)
    given = table.take(parameter.key) if parameter.default is None else table.take(parameter.key, parameter.default)
    exactly = RATIONAL.number(given, key)
    from sympy import Rational

    if not parameter.allowed.contains(Rational(int(exactly.p), int(exactly.q))):
        raise InputError(key, f"expected a number in {_words(parameter)}, got {given!r}")
    return table.arithmetic.number(given, key)


def _words(parameter: Parameter) -> str:
    """The numbers that are allowed, as people write them."""
    from sympy import Interval, oo

    allowed = parameter.allowed
    if not isinstance(allowed, Interval):
        return f"{allowed.inf}, {allowed.inf + 1}, ..." if allowed.sup == oo else str(allowed)
    left, right = "(" if allowed.left_open else "[", ")" if allowed.right_open else "]"
    return f"{left}{allowed.start}, {'infinity' if allowed.end == oo else allowed.end}{right}"


def _require_chances(table: Table, run: Defined) -> None:
    """Raise `InputError` where the probability of a coin is none, or zero."""
    from fedtheory.federation.definition.linear import number_of

    for coin, chance in run.algorithm.coins.items():
        value = number_of(chance, run.values, table.arithmetic, f"algorithm {run.algorithm.name}")
        if not 0 < value <= 1:
            expected = f"expected a probability in (0, 1] for {coin}, got {value}"
            raise InputError(table.path("name"), f"{expected} with {run.algorithm.name}")


def _require_coordinates(table: Table, run: Defined, problem: Problem) -> None:
    """Raise `InputError` where a client would send more coordinates than there are."""
    from fedtheory.federation.definition import Compressed

    for _, expression in run.algorithm.expressions():
        for node in getattr(expression, "atoms", lambda _kind: set())(Compressed):
            kept = run.values.get(node.args[1], node.args[1])
            if kept > problem.dimension or kept < 1 or kept != int(kept):
                key = next((p.key for p in run.algorithm.parameters if p.letter == node.args[1]), "name")
                expected = f"expected a whole number of coordinates from 1 to {problem.dimension}"
                raise InputError(table.path(key), f"{expected}, got {kept}")


def _mixing(table: Table, problem: Problem) -> Array:
    """W, (M, M), doubly stochastic."""
    mixing, key = table.array("mixing", 2), table.path("mixing")
    clients = problem.clients
    if mixing.shape != (clients, clients):
        raise InputError(key, f"expected {clients} x {clients} numbers, got {' x '.join(map(str, mixing.shape))}")
    if (mixing < 0).any():
        raise InputError(key, f"expected numbers that are not negative, got {mixing.min()}")
    for axis, what in ((1, "row"), (0, "column")):
        sums = mixing.sum(axis=axis)
        for number, total in enumerate(sums):
            if abs(total - 1) > (0 if mixing.dtype == object else 1e-9):
                raise InputError(key, f"expected a doubly stochastic matrix; {what} {number} sums to {total}")
    return mixing


def with_definition(algorithm: Algorithm, name: str, defined: Defined) -> Algorithm:
    """The algorithm with its definition; `InputError` where its keys do not go with it."""
    found = defined.algorithm
    _require_clock(algorithm, name, found)
    _require_use(algorithm, found)
    return replace(algorithm, name=name, defined=defined)


def _require_clock(algorithm: Algorithm, name: str, found: FederatedAlgorithm) -> None:
    """Raise `InputError` for a clock under which the moments of the definition are not known."""
    from fedtheory.federation.definition.held import require_clock

    if algorithm.clock.is_random:
        raise InputError("algorithm.clock", f"expected update times that are not random with {name}")
    if algorithm.clock.is_synchronous:
        return
    require_clock(found)
    if algorithm.work.schedule is not None:
        expected = "expected numbers with this clock: local work can begin and end in different rounds"
        raise InputError("algorithm.local_step_size", expected)


def _require_use(algorithm: Algorithm, found: FederatedAlgorithm) -> None:
    """Raise `InputError` for a key that the definition has no use for."""
    from fedtheory.federation.definition import Participants, Weighted, eta_g

    letters = {letter for _, value in found.expressions() for letter in getattr(value, "free_symbols", ())}
    server_step = algorithm.aggregation.server_step_size
    if eta_g not in letters and server_step != 1:
        raise InputError("algorithm.server_step_size", f"expected none with {found.name}, got {server_step}")
    if not found.uses(Weighted) and algorithm.aggregation.chosen is not None:
        raise InputError(
            "algorithm.aggregation", f'expected "importance" with {found.name}, whose server weighs nobody'
        )
    is_full = isinstance(algorithm.aggregation.participation, Full)
    if not is_full and not (found.uses(Weighted) or found.uses(Participants)):
        raise InputError("algorithm.participation", f"expected full participation with {found.name}")
