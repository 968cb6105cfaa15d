"""Converts the arguments of the API's functions: runs and claims, given as objects, names or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.language.claim import Claim

    RunLike = Run | str | PathLike[str] | Mapping[str, Any]
    """A run, the name of a run file, or the content of one."""
    ClaimLike = Claim | str
    """A claim, its id, or ``file.py:NAME``."""


def convert_to_run(given: RunLike, arithmetic: str | None) -> Run:
    """Return the run in the named arithmetic; by default a `Run` keeps its own, others are read in floats."""
    from fedtheory.arithmetic import FLOAT, select_arithmetic
    from fedtheory.engine.run import Run
    from fedtheory.runfile import parse_run, read_or_list, read_run

    wanted = None if arithmetic is None else select_arithmetic(arithmetic)
    if isinstance(given, Run):
        if wanted is None or given.arithmetic is wanted:
            return given
        return given.as_floats() if wanted is FLOAT else convert_to_exact_run(given)
    if isinstance(given, Mapping):
        return read_or_list(dict(given), lambda tables: parse_run(tables, wanted or FLOAT))
    return read_run(_require_file_name(given), wanted or FLOAT)


def convert_to_exact_run(given: RunLike) -> Run:
    """Return the run in rationals; a float is read as the decimal number that Python prints for it."""
    from fedtheory.arithmetic import FLOAT, RATIONAL
    from fedtheory.engine.run import Run
    from fedtheory.runfile import parse_run, read_run, run_table

    if isinstance(given, Run):
        return given if given.arithmetic is not FLOAT else parse_run(run_table(given), RATIONAL)
    if isinstance(given, Mapping):
        return parse_run(dict(given), RATIONAL)
    return read_run(_require_file_name(given), RATIONAL)


def _require_file_name(given: str | PathLike[str]) -> str:
    """Return the name of a run file; raise `InputError` if the argument is neither a run nor a name."""
    from fedtheory.errors import InputError
    from fedtheory.federation.problem import Problem

    if isinstance(given, Problem):
        way_out = "ft.run_on(problem, local_step_size=0.1, local_steps=5, rounds=100) is one"
        raise InputError("run", f"expected a run, got a problem without an algorithm: {way_out}")
    try:
        return fspath(given)
    except TypeError:
        what = f"a {type(given).__name__}"
        way_out = "ft.problem_from makes a problem of data, and ft.run_on a run of a problem"
        raise InputError(
            "run", f"expected a run, the name of a run file or its content, got {what}: {way_out}"
        ) from None


def convert_to_claim(given: ClaimLike) -> Claim:
    """Return the claim; raise `InputError` if the name is unknown, or the claim is not well formed."""
    from fedtheory.language.targets import resolve

    return resolve(given)


def list_targets(given: Sequence[ClaimLike]) -> list[ClaimLike]:
    """Return targets of one claim each; raise `InputError` if there are none."""
    from fedtheory.errors import InputError
    from fedtheory.language.targets import expand

    if not given:
        raise InputError("claims", "expected at least one claim, id, pattern, source or file")
    return [target for one in given for target in (expand([one]) if isinstance(one, str) else [one])]
