"""What a function of this chapter can be given: runs and claims, as objects, names or tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.language.claim import Claim

    RunLike = Run | str | PathLike[str] | Mapping[str, Any]
    """A run, the name of a run file, or the content of one."""
    ClaimLike = Claim | str
    """A claim, its id, or ``file.py:NAME``."""


def run_of(given: RunLike, arithmetic: str | None) -> Run:
    """The run, in the named arithmetic; without a name in its own, and in floats where it is read."""
    from fedtheory.arithmetic import FLOAT, named
    from fedtheory.engine.run import Run
    from fedtheory.runfile import parse_run, read_run

    wanted = None if arithmetic is None else named(arithmetic)
    if isinstance(given, Run):
        if wanted is None or given.arithmetic is wanted:
            return given
        return given.as_floats() if wanted is FLOAT else exact_run_of(given)
    if isinstance(given, Mapping):
        return parse_run(dict(given), wanted or FLOAT)
    return read_run(fspath(given), wanted or FLOAT)


def exact_run_of(given: RunLike) -> Run:
    """The run in rationals; a float is read as the decimal that prints it."""
    from fedtheory.arithmetic import FLOAT, RATIONAL
    from fedtheory.engine.run import Run
    from fedtheory.runfile import parse_run, read_run, run_table

    if isinstance(given, Run):
        return given if given.arithmetic is not FLOAT else parse_run(run_table(given), RATIONAL)
    if isinstance(given, Mapping):
        return parse_run(dict(given), RATIONAL)
    return read_run(fspath(given), RATIONAL)


def claim_of(given: ClaimLike) -> Claim:
    """The claim; `InputError` where a name has none, or the claim is not well formed."""
    from fedtheory.language.targets import resolve

    return resolve(given)


def targets_of(given: Sequence[ClaimLike]) -> list[ClaimLike]:
    """Targets of one claim each; `InputError` where there are none."""
    from fedtheory.errors import InputError

    if not given:
        raise InputError("claims", "expected at least one claim, id, pattern, source or file")
    return list(_expanded(given))


def _expanded(given: Sequence[ClaimLike]) -> Iterator[ClaimLike]:
    from fedtheory.language.targets import expand

    for one in given:
        if isinstance(one, str):
            yield from expand([one])
        else:
            yield one
