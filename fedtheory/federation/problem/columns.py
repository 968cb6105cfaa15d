"""Roles of columns by their names: target, client, features."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches

from fedtheory.errors import InputError

KEY = "problem.data"
_MOST_NAMES = 12
_OF_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")
"""Names that pandas gives to columns of row numbers."""


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that a user names; None if the file's order or names decide."""

    target: str | None = None
    client: str | None = None
    features: tuple[str, ...] | None = None
    has_classes: bool = False
    """Whether the target has labels, which may be text."""
    dropped: tuple[str, ...] = ()
    """Columns that are left out of the features."""

    @property
    def has_roles(self) -> bool:
        """Whether the target or the client is named; else the last two columns have these roles."""
        return self.target is not None or self.client is not None

    @property
    def is_made(self) -> bool:
        """Whether anything is named."""
        return (self.target, self.client, self.features, self.dropped) != (None, None, None, ())


@dataclass(frozen=True)
class Roles:
    """Roles of a file's columns."""

    target: str
    client: str | None
    """The client column; None if the file has none."""
    features: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """The names of a table's columns."""

    source: str
    """The name of the file, for messages."""
    names: tuple[str, ...]

    def roles(self, choice: ColumnChoice) -> Roles:
        """Assign a role to each column.

        If neither target nor client is named, the last two columns have these roles.  Otherwise columns called ``y``
        and ``client`` have the roles that are not named, and all others are features.
        """
        target, client = self._choose_target_and_client(choice)
        if target == client:
            raise InputError("problem.client", f"expected another column than the target, got {client!r} for both")
        return Roles(target, client, self._choose_features(choice, target, client))

    def require_distinct(self) -> None:
        """Raise `InputError` if two columns have one name."""
        for name, count in Counter(self.names).items():
            if count > 1:
                raise self._report(f"expected different names for the columns, got {name!r} twice")

    def _choose_target_and_client(self, choice: ColumnChoice) -> tuple[str, str | None]:
        if choice.target is None and choice.client is None:
            return self._choose_last_two()
        target = self._require_column("target", choice.target, "y")
        if choice.client is None and "client" not in self.names:
            return target, None
        return target, self._require_column("client", choice.client, "client")

    def _choose_last_two(self) -> tuple[str, str]:
        """Return the names of the last two columns, which are the target and the client by default."""
        names = self.names
        if len(names) < 3:
            raise self._report(f"expected at least three columns (inputs, y, client), got {len(names)}")
        if names[-1] == "y" or ({"y", "client"} <= set(names) and names[-2:] != ("y", "client")):
            raise self._report(
                f"expected y and client as the last two columns, in this order, got {names[-2]!r} and {names[-1]!r}: "
                f"name {self._advise_roles()}"
            )
        return names[-2], names[-1]

    def _advise_roles(self) -> str:
        if "client" in self.names:
            return "target and client by target = 'y' and client = 'client'"
        return "the client's column by client, or without one target = 'y' and the number of clients"

    def _require_column(self, key: str, name: str | None, default: str) -> str:
        """Return a column of the file; an `InputError` lists the existing columns."""
        wanted = default if name is None else name
        if wanted in self.names:
            return wanted
        if sum(map(bool, self.names)) < 2:
            first = f"got {self.names[0]!r}" if self.names else "got an empty file"
            raise self._report(
                f"expected a first line with the names of the columns, separated by commas, semicolons or tabs, {first}"
            )
        if name is None:
            raise InputError(f"problem.{key}", f"is missing; expected one of {self._list_names()}")
        near = get_close_matches(wanted, self.names, n=1)
        hint = f"is {near[0]!r} meant?" if near else f"it has {self._list_names()}"
        raise InputError(f"problem.{key}", f"{self.source} has no column {wanted!r}; {hint}")

    def _list_names(self) -> str:
        """List the names of the columns, at most the first few."""
        names = self.names
        return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))

    def _choose_features(self, choice: ColumnChoice, target: str, client: str | None) -> tuple[str, ...]:
        """Return the features: those named, or all columns but target, client and dropped ones."""
        named, dropped = choice.features, {self._require_column("drop", name, "") for name in choice.dropped}
        if named is not None and dropped:
            raise InputError("problem.drop", "expected either features, the columns to use, or drop, got both")
        if taken := sorted(dropped & {target, client}):
            raise InputError("problem.drop", f"expected columns beside target and client, got {taken[0]!r}")
        others = tuple(name for name in self.names if name not in (target, client) and name not in dropped)
        chosen = others if named is None else tuple(self._require_column("features", name, "") for name in named)
        if not chosen:
            raise InputError(
                "problem.features", f"{self.source}: expected at least one column beside target and client"
            )
        for name, count in Counter(chosen).items():
            if count > 1 or name not in others:
                used = "twice" if count > 1 else "as target or client, too"
                raise InputError("problem.features", f"expected each column once, got {name!r} {used}")
        return chosen

    def _report(self, message: str) -> InputError:
        return InputError(KEY, f"{self.source}: {message}")


def may_number_rows(name: str) -> bool:
    """Return whether a column has no name, or one that pandas gives to row numbers."""
    return _OF_INDEX.fullmatch(name) is not None
