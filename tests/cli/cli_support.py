"""Helpers for tests of the command line: run files as text, and the result of a command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

Changes = Mapping[str, str | None]
"""Raw TOML values by dotted key; None removes the key."""

QUADRATIC: dict[str, str] = {
    "problem.kind": '"quadratic"',
    "problem.hessians": '[[["2","0"],["0","1"]], [["2","0"],["0","1"]]]',
    "problem.linear": '[["1","0"], ["-1","0"]]',
    "problem.constants": '["0", "0"]',
    "problem.weights": '["1/2", "1/2"]',
    "problem.start": '["3", "-2"]',
    "problem.noise": '"1"',
    "algorithm.name": '"fedavg"',
    "algorithm.local_step_size": '"1/20"',
    "algorithm.local_steps": "5",
    "algorithm.server_step_size": "1",
    "algorithm.rounds": "8",
    "algorithm.participation": '{ kind = "full" }',
    "algorithm.clock": '{ policy = "sync" }',
    "algorithm.aggregation": '"importance"',
}
"""The run file of the documentation, with fewer rounds."""

_ALGORITHM: dict[str, str] = {
    "algorithm.name": '"fedavg"',
    "algorithm.local_step_size": '"1/100"',
    "algorithm.local_steps": "3",
    "algorithm.rounds": "4",
}

DIGITS: dict[str, str] = {
    "problem.kind": '"least-squares"',
    "problem.data": '"digits:3-8"',
    "problem.clients": "10",
    "problem.split": '"iid"',
    "problem.seed": "0",
    "problem.start": '"zeros"',
    **_ALGORITHM,
}
"""Least squares on a data set that scikit-learn ships."""

ROWS: dict[str, str] = {
    "problem.kind": '"least-squares"',
    "problem.data": '"good.npz"',
    "problem.start": '"zeros"',
    **_ALGORITHM,
}
"""Least squares on the user's own file, with a client column."""

CLIENT_OF_ROW = (0,) * 6 + (1,) * 4 + (2,) * 2
"""Three clients with 6, 4 and 2 rows in the data files of the tests."""


def run_text(base: Mapping[str, str], changes: Changes | None = None) -> str:
    """Return the text of a run file: `base` with some keys replaced, added or removed."""
    merged = {key: value for key, value in {**base, **(changes or {})}.items() if value is not None}
    lines = [f"{key} = {value}" for key, value in merged.items() if "." not in key]
    for table in dict.fromkeys(key.partition(".")[0] for key in merged if "." in key):
        inside = [(key.partition(".")[2], value) for key, value in merged.items() if key.startswith(f"{table}.")]
        lines += [f"[{table}]", *(f"{key} = {value}" for key, value in inside)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Parse standard output as one JSON document without NaN or infinity."""
        return read_json(self.out)

    def complaint(self) -> str:
        """Return the one line on standard error for a wrong input, and assert that there is nothing else."""
        assert self.code == 2, (self.code, self.err)
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


Command = Callable[..., Outcome]
"""Function that runs `fedtheory ARGUMENTS...`."""


def read_json(text: str) -> Any:
    """Parse one strict JSON document."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def numbers(value: Any) -> Iterator[Any]:
    """Yield all leaves of nested lists."""
    if isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    else:
        yield value


def shape(value: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, which must be rectangular."""
    if not isinstance(value, list):
        return ()
    inner = {shape(entry) for entry in value}
    assert len(inner) == 1
    return (len(value), *inner.pop())


def results(document: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the leaves of every list of a document."""
    found = {f"server.{name}": document["server"][name] for name in document["server"]}
    found |= {f"local.{name}": document["local"][name] for name in document["local"] or ()}
    found |= {"optimum": document["optimum"], "optimal_value": document["optimal_value"], "times": document["times"]}
    return {name: list(numbers(values)) for name, values in found.items()}
