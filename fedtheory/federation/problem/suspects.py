"""Notes on columns of a file that may have been given the wrong role."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.federation.problem.clients import Clients

_FEWEST_ROWS = 8
"""Number of rows from which a coincidence is unlikely."""
_MANY_ROWS = 50
"""Number of rows from which measured whole numbers usually repeat."""
_DEPENDENT = 1e-9
"""Relative distance from the span of other columns below which a column is a combination of them."""
_MOST_NAMED = 4
"""Limit on the columns that a note on a combination names."""


def describe_suspects(names: Sequence[str], features: Array) -> tuple[str, ...]:
    """Report features (n, d) that repeat another one, or that number or identify the rows."""
    if len(features) < _FEWEST_ROWS:
        return ()
    known: dict[bytes, str] = {}
    found = []
    for name, values in zip(names, features.T, strict=True):
        first = known.setdefault((values + 0).tobytes(), name)
        if first != name and np.ptp(values) > 0:
            found.append(f"column {name!r} repeats column {first!r}: leave one of them out by drop")
        elif (np.diff(values) == 1).all():
            found.append(f"column {name!r} rises by one from row to row: if it counts the rows, leave it out by drop")
        elif _may_identify_rows(values):
            found.append(
                f"column {name!r} has a different whole number in each row: if it names the rows, leave it out by drop"
            )
    return tuple(found)


def describe_combinations(names: Sequence[str], features: Array, *, intercept: bool) -> list[str]:
    """Report features (n, d) that are linear combinations of earlier ones, and of a constant if `intercept`.

    Constant and repeated features have notes of their own.  Nothing is reported for fewer rows than features.
    """
    if len(features) <= features.shape[1] + 1:
        return []
    centred = features - features.mean(axis=0) if intercept else features
    sizes = np.linalg.norm(centred, axis=0)
    varies = sizes > _DEPENDENT * np.linalg.norm(features, axis=0)
    places = np.flatnonzero(varies)
    unit = centred[:, places] / sizes[places]
    # A diagonal entry of the triangular factor is a column's distance from the span of those before it.
    is_new = np.abs(np.diagonal(np.linalg.qr(unit, mode="r"))) > _DEPENDENT
    found = []
    for column in np.flatnonzero(~is_new):
        earlier = np.flatnonzero(is_new[:column])
        factors = np.linalg.lstsq(unit[:, earlier], unit[:, column])[0]
        parts = [names[places[n]] for n in earlier[np.abs(factors) > _DEPENDENT]]
        if len(parts) > 1:
            shown = ", ".join(map(repr, parts[:_MOST_NAMED])) + ", ..." * (len(parts) > _MOST_NAMED)
            found.append(f"column {names[places[column]]!r} is a combination of {shown}: leave one of them out by drop")
    return found


def _may_identify_rows(values: Array) -> bool:
    """Return whether a feature (n,) of many rows has a different positive whole number in each."""
    is_whole = len(values) >= _MANY_ROWS and (values >= 1).all() and (values == np.floor(values)).all()
    return bool(is_whole and len(np.unique(values)) == len(values))


def describe_many_clients(name: str, clients: Clients | None) -> tuple[str, ...]:
    """Report that the last column, used as client, has a different value in most rows."""
    if clients is None or len(clients.codes) < _FEWEST_ROWS or 2 * len(clients.labels) <= len(clients.codes):
        return ()
    return (
        f"column {name!r}, the last one, is read as client and has {len(clients.labels)} different values "
        f"in {len(clients.codes)} rows: if it is none, name target and client, "
        "or name the target and give the number of clients to split the rows over",
    )
