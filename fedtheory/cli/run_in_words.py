"""Describes a run in a few lines for a terminal: equal clients once, long lists abbreviated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

_MOST_GROUPS, _MOST_ENTRIES = 4, 8
_LONGEST = 12
"""Length in characters of a fraction that is printed exactly."""
_KEY_NAMES = {
    "noise": "noise variance",
    "local_step_size": "step size",
    "local_steps": "local steps",
    "server_step_size": "server step size",
}
_SELF_EXPLANATORY = ("policy", "kind")
"""Keys that are not printed, because their values are clear without them."""
_PER_CLIENT = ("noise", "weights", "times", "aggregation", "local_steps", "local_step_size")
_DEFAULTS = {"server_step_size": ("1", 1), "name": ("fedavg",)}
"""Default values, which are not printed."""


def describe_run(table: Mapping[str, Any]) -> list[str]:
    """Describe the clients, their common data, and the algorithm, in one line each."""
    problem, algorithm = table["problem"], table["algorithm"]
    hidden = (*_OF_CLIENTS, "kind", "constants", "count", *(["weights"] if _are_equal_in_types(problem) else []))
    common = {key: value for key, value in problem.items() if key not in hidden}
    # Settings that have their default values are not printed.
    own = {key: value for key, value in algorithm.items() if value not in _DEFAULTS.get(key, ())}
    return [*_describe_clients(problem), _describe_settings(common), _describe_settings(own)]


def _describe_clients(problem: Mapping[str, Any]) -> Iterator[str]:
    """Describe the clients' objectives; clients with equal objectives share a line."""
    per_client = {key: value for key, value in problem.items() if key in _OF_CLIENTS}
    groups: dict[str, list[range]] = {}
    first = 1
    for entry, count in enumerate(_list_counts(problem)):
        known = groups.setdefault(_describe_objective(problem["kind"], per_client, entry), [])
        known.append(range(first, first + count))
        first += count
    for objective, clients in list(groups.items())[:_MOST_GROUPS]:
        yield f"{_name_clients(clients)}: {objective}"
    if len(groups) > _MOST_GROUPS:
        left = sum(len(clients) for of_group in list(groups.values())[_MOST_GROUPS:] for clients in of_group)
        yield f"and {left} more clients, each with its own objective"


def _list_counts(problem: Mapping[str, Any]) -> list[int]:
    """List the number of clients of each entry, which is one without the key `count`."""
    entries = max((len(problem[key]) for key in _OF_CLIENTS if key in problem), default=0)
    given = problem.get("count", 1)
    return list(given) if isinstance(given, list) else [given] * entries


def _are_equal_in_types(problem: Mapping[str, Any]) -> bool:
    """Return whether types have weights in proportion to their counts, as without the key `weights`."""
    counts, weights = _list_counts(problem), problem.get("weights")
    if "count" not in problem or not isinstance(weights, list) or len(weights) != len(counts):
        return False
    return len({Fraction(str(weight)) / count for weight, count in zip(weights, counts, strict=True)}) == 1


_OF_CLIENTS = ("hessians", "linear", "inputs", "outputs", "terms")


def _describe_objective(kind: str, per_client: Mapping[str, Sequence[Any]], client: int) -> str:
    """Describe the objective of one client."""
    own = {key: values[client] for key, values in per_client.items()}
    if kind != "quadratic":
        rows = len(next(iter(own.values())))
        written = ", ".join(f"{key} {_shorten_list(value)}" for key, value in own.items())
        return f"{kind}, {written}" if rows <= _MOST_GROUPS else f"{kind} of {rows} rows or terms"
    hessian, linear = own["hessians"], own["linear"]
    if len(linear) == 1:
        return f"curvature {_format_number(hessian[0][0])}, linear term {_format_number(linear[0])}"
    return f"Hessian {_format_matrix(hessian)}, linear term {_shorten_list(linear)}"


def _name_clients(ranges: Sequence[range]) -> str:
    """Name one client, a range of clients, or a list of them."""
    first, last, number = ranges[0][0], ranges[-1][-1], sum(map(len, ranges))
    if number == 1:
        return f"client {first}"
    if last - first + 1 == number:
        return f"clients {first} to {last}"
    if all(len(clients) == 1 for clients in ranges):
        return f"clients {_shorten_list([clients[0] for clients in ranges])}"
    return f"{number} clients"


def _format_matrix(rows: Sequence[Sequence[Any]]) -> str:
    """Format a matrix; a diagonal matrix by its diagonal."""
    diagonal = [row[place] for place, row in enumerate(rows)]
    is_diagonal = all(str(x) == "0" for i, row in enumerate(rows) for j, x in enumerate(row) if i != j)
    return f"diag{_shorten_list(diagonal)}" if is_diagonal else f"[{', '.join(map(_shorten_list, rows))}]"


def _describe_settings(settings: Mapping[str, Any]) -> str:
    """Describe settings, each by its name and value."""
    return ", ".join(f"{_KEY_NAMES.get(key, key)} {_describe_setting(key, value)}" for key, value in settings.items())


def _describe_setting(key: str, value: Any) -> str:
    """Describe the value of one setting."""
    if isinstance(value, Mapping):
        return ", ".join(
            _describe_setting(name, entry) if name in _SELF_EXPLANATORY else _describe_settings({name: entry})
            for name, entry in value.items()
        )
    entries = [_shorten_list(entry) for entry in value] if key in _PER_CLIENT and isinstance(value, list) else []
    if len(entries) > 1 and len(set(entries)) == 1:
        return f"{entries[0]} for each"
    return _shorten_list(value)


def _shorten_list(value: Any) -> str:
    """Write a value; abbreviate a long list."""
    if isinstance(value, Mapping):
        return _describe_settings(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return _format_number(value)
    entries = [_shorten_list(entry) for entry in value]
    more = f", ... {len(entries)} in all" if len(entries) > _MOST_ENTRIES else ""
    return entries[0] if len(entries) == 1 else f"({', '.join(entries[:_MOST_ENTRIES])}{more})"


def _format_number(value: Any) -> str:
    """Return a number of a run file: exact if short; words unchanged."""
    text = str(value)
    try:
        return text if isinstance(value, bool) or len(text) <= _LONGEST else f"{float(Fraction(text)):.6g}"
    except ValueError:
        return text
