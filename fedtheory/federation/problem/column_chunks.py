"""Reads rows of a table with named columns in chunks: numbers become arrays, and text is stored for one chunk only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError
from fedtheory.federation.problem.cells import Cells, ClassColumn, LabelColumn, NumberColumn, TargetColumn
from fedtheory.federation.problem.clients import Clients
from fedtheory.federation.problem.columns import KEY, ColumnChoice, Header, Roles, may_number_rows
from fedtheory.federation.problem.suspects import describe_many_clients, describe_suspects


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table."""

    rows: Sequence[object]
    """Name of each row for messages: its line number, or its label."""
    columns: Sequence[Cells]
    """The requested columns, in that order."""


class NamedColumns(Protocol):
    """A file or a data frame with named columns."""

    @property
    def header(self) -> Header:
        """The names of the columns."""

    @property
    def decimal(self) -> str:
        """The decimal sign."""

    def chunks(self, names: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows of these columns; raise `InputError` if the source has no such rows."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table, by the roles of its columns."""

    roles: Roles
    features: Array
    """(n, d)."""
    outputs: Array
    """(n,)."""
    clients: Clients | None
    notes: tuple[str, ...]
    """Notes on omitted parts."""
    classes: tuple[str, ...] = ()
    """The names of text labels; outputs are their indices."""


def read_rows(source: NamedColumns, choice: ColumnChoice) -> Rows:
    """Read all rows of a source; an `InputError` names the row and the column of the first invalid cell."""
    source.header.require_distinct()
    roles = source.header.roles(choice)
    target = (ClassColumn if choice.has_classes else TargetColumn)(roles.target, source.decimal)
    numbers = [*(NumberColumn(name, source.decimal) for name in roles.features), target]
    labels = None if roles.client is None else LabelColumn(roles.client)
    names = [*(column.name for column in numbers), *([] if roles.client is None else [roles.client])]
    parts = []
    for chunk in source.chunks(names):
        part = np.empty((len(chunk.rows), len(numbers)))
        for place, column in enumerate(numbers):
            part[:, place] = column.numbers(chunk.columns[place], chunk.rows)
        if labels is not None:
            labels.add(chunk.columns[-1], chunk.rows)
        parts.append(part)
    columns = [*numbers[:-1], *([] if labels is None else [labels]), numbers[-1]]
    _require_fine(source.header.source, columns, choice, roles)
    features, outputs = _join(parts, len(roles.features))
    outputs, classes = target.labels(outputs) if isinstance(target, ClassColumn) else (outputs, ())
    kept = [place for place, name in enumerate(roles.features) if not _is_index(name, features[:, place], choice)]
    names = [roles.features[place] for place in kept]
    inputs = features if len(kept) == len(roles.features) else features[:, kept]
    clients = None if labels is None else labels.clients
    notes = (
        *(
            f"column {name!r} counts the rows: it is left out of the features (name it in features to keep it)"
            for place, name in enumerate(roles.features)
            if place not in kept
        ),
        *describe_suspects(names, inputs),
        *(() if choice.has_roles else describe_many_clients(roles.client or "", clients)),
    )
    return Rows(Roles(roles.target, roles.client, tuple(names)), inputs, outputs, clients, notes, classes)


def _join(parts: list[Array], features: int) -> tuple[Array, Array]:
    """Return features (n, d) and outputs (n,); each part is freed after it has been copied."""
    count = sum(map(len, parts))
    inputs, outputs = np.empty((count, features)), np.empty(count)
    stop = count
    while parts:
        part = parts.pop()
        inputs[stop - len(part) : stop], outputs[stop - len(part) : stop] = part[:, :-1], part[:, -1]
        stop -= len(part)
    return inputs, outputs


def _require_fine(source: str, columns: Sequence[NumberColumn], choice: ColumnChoice, roles: Roles) -> None:
    """Raise `InputError` with the first invalid cell of each column."""
    troubles = [trouble for column in columns if (trouble := column.trouble) is not None]
    if troubles:
        more = f" and {len(troubles) - _MOST_TROUBLES} more columns" if len(troubles) > _MOST_TROUBLES else ""
        if not choice.has_roles:
            more += f"; {roles.target!r} is read as target and {roles.client!r} as client, the last two columns: "
            more += "name others as target and client"
        raise InputError(KEY, f"{source}: {'; '.join(troubles[:_MOST_TROUBLES])}{more}")


_MOST_TROUBLES = 5
"""Number of columns whose first invalid cell is reported."""


def _is_index(name: str, values: Array, choice: ColumnChoice) -> bool:
    """Return whether a column that was not chosen has distinct whole numbers, and no name or one that pandas gives."""
    if choice.features is not None or not may_number_rows(name):
        return False
    is_whole = bool((values >= 0).all() and (values == np.floor(values)).all())
    return is_whole and len(np.unique(values)) == len(values)
