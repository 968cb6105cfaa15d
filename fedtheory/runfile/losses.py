"""Reads problems of scalar losses from a run file: for each client a list of terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Number
from fedtheory.errors import InputError
from fedtheory.federation.losses import LossFamily, Terms, build_separable
from fedtheory.runfile.common_keys import read_noise, read_start
from fedtheory.runfile.counts import ProblemInTypes, merge_weights, read_counts
from fedtheory.runfile.table import TomlTable

_LARGEST_COORDINATE = 99_999
"""A term with a larger coordinate would have models of as many numbers that nothing changes."""


@dataclass(frozen=True)
class _Term:
    """``weight * phi(x[coordinate] - centre)``."""

    owner: int
    coordinate: int
    weight: Number
    centre: Number
    width: Number


def read_losses(table: TomlTable, kind: LossFamily) -> ProblemInTypes:
    """Return the problem of a table of one of these kinds; in rationals, only Huber losses stay rational."""
    given, key = table.take("terms"), table.path("terms")
    if not isinstance(given, list) or not given:
        raise InputError(key, "expected a list of terms for each client")
    read = [term for client, terms in enumerate(given) for term in _read_client(table, kind, client, terms)]
    dimension = 1 + max(term.coordinate for term in read)
    start = table.take("start", "zeros")
    if isinstance(start, list) and len(start) > dimension:
        dimension = len(start)
    array = table.arithmetic.array
    terms = Terms(
        kind,
        np.array([term.owner for term in read]),
        np.array([term.coordinate for term in read]),
        array([term.weight for term in read]),
        array([term.centre for term in read]),
        array([term.width for term in read]),
    )
    counts, weights = read_counts(table, len(given)), table.optional_array("weights", 1)
    problem = build_separable(
        terms,
        read_start(TomlTable({"start": start}, table.key, table.arithmetic), dimension),
        clients=len(given),
        weights=merge_weights(weights, counts, table.arithmetic),
        noise=read_noise(table, len(given)),
    )
    return ProblemInTypes(problem, counts, weights)


def _read_client(table: TomlTable, kind: LossFamily, client: int, terms: object) -> list[_Term]:
    key = table.path(f"terms[{client}]")
    if not isinstance(terms, list) or not terms:
        raise InputError(key, f"expected a list of terms with at least one entry, got {terms!r}")
    return [_read_term(TomlTable(term, f"{key}[{n}]", table.arithmetic), kind, client) for n, term in enumerate(terms)]


def _read_term(term: TomlTable, kind: LossFamily, client: int) -> _Term:
    """Read a term of a client's loss."""
    width = _require_positive(term, "width", term.number("width"))
    weight = _require_positive(term, "weight", term.number("weight", 1))
    coordinate = term.integer("coordinate", 0, least=0)
    if coordinate > _LARGEST_COORDINATE:
        expected = f"expected a coordinate of at most {_LARGEST_COORDINATE}"
        raise InputError(term.path("coordinate"), f"{expected}, got {coordinate}: number the coordinates from 0 on")
    reflected = kind.can_reflect and term.flag("reflected", False)
    read = _Term(
        client,
        coordinate,
        weight,
        term.number("centre", 0),
        -width if reflected else width,
    )
    term.finish()
    return read


def _require_positive(term: TomlTable, name: str, number: Number) -> Number:
    """Return the number; raise InputError if it is not positive."""
    if number <= 0:
        raise InputError(term.path(name), f"expected a positive number, got {number}")
    return number
