"""Known errors among the planted ones, and their evidence: `planted_errors.json` has each, with a violating run.

An entry names the claim, the kind of error and its number among those, and says whether the rest is true, false, or
of unknown truth.  `how` is one of

"run"       false: a run violates it, given as a table in which equal neighbours are written once
"proved"    true: it follows from the proof of its claim, or from proved claims
"argument"  true: by a short argument on paper that is given as `why`
"unknown"   neither: a search of the default length found no run, or none was made

The file is the list: an error stays as long as it can be planted, also where claims are added or get other verdicts,
which would change the choice.  `python tests/verify/label_errors.py` writes it again, and fills it up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from planted_errors import PlantedError, errors_in

from fedtheory.language.registry import find

FILE = Path(__file__).with_name("planted_errors.json")
TIMES = "times"
"""The key that counts repetitions of a value in a list."""


@dataclass(frozen=True)
class KnownError:
    """A planted error with its known truth and evidence."""

    id: str
    origin: str
    how: Literal["run", "proved", "argument", "unknown"]
    run: dict[str, Any] | None
    is_quick: bool
    """Whether it belongs to the sample of `make test-long`."""
    why: str | None = None
    """The argument for its truth, if no proof is checked."""

    @property
    def truth(self) -> Literal["true", "false", "unknown"]:
        """Return whether the claim with the error is true."""
        return "false" if self.how == "run" else "unknown" if self.how == "unknown" else "true"

    @property
    def error(self) -> PlantedError:
        """Plant the error again and return it."""
        return next(error for error in _errors_in(self.origin) if error.claim.id == self.id)


@cache
def _errors_in(origin: str) -> tuple[PlantedError, ...]:
    return tuple(errors_in(find(origin)))


@cache
def known_errors() -> tuple[KnownError, ...]:
    """Return all known errors in the order of the file."""
    entries = json.loads(FILE.read_text())
    return tuple(KnownError(**{**entry, "run": unfold(entry["run"])}) for entry in entries)


def write(known: Iterable[KnownError]) -> None:
    """Write the file, with one entry per line."""
    entries = [json.dumps(_entry(each)) for each in known]
    FILE.write_text("[\n" + ",\n".join(entries) + "\n]\n")


def _entry(known: KnownError) -> dict[str, Any]:
    entry = {**vars(known), "run": fold(known.run)}
    return entry if known.why else {key: value for key, value in entry.items() if key != "why"}


def fold(value: Any) -> Any:
    """Return a table in which equal neighbours of a list are written once."""
    if isinstance(value, Mapping):
        return {key: fold(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    folded: list[Any] = []
    for each in map(fold, value):
        if folded and folded[-1][0] == each:
            folded[-1][1] += 1
        else:
            folded.append([each, 1])
    return [each if times == 1 else {"value": each, TIMES: times} for each, times in folded]


def unfold(value: Any) -> Any:
    """Return the table before `fold`."""
    if isinstance(value, Mapping):
        return {key: unfold(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    unfolded: list[Any] = []
    for each in value:
        is_repeated = isinstance(each, Mapping) and TIMES in each
        unfolded += [unfold(each["value"])] * each[TIMES] if is_repeated else [unfold(each)]
    return unfolded
