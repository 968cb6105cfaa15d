"""Reads runs of client types: one client of each type is simulated if the server treats equal clients equally."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.client_types import InTypes
from fedtheory.federation.losses import LossProblem
from fedtheory.federation.oracles import ExactOracle
from fedtheory.runfile.algorithms import read_algorithm
from fedtheory.runfile.counts import ProblemInTypes
from fedtheory.runfile.table import TomlTable

_OF_CLIENTS = ("local_step_size", "local_steps", "aggregation")
"""Keys that may list a number for each client."""


def read_algorithm_in_types(table: TomlTable, types: ProblemInTypes, folder: Path = Path()) -> Algorithm | None:
    """Return the algorithm of an `[algorithm]` table for client types; None if every client must be simulated."""
    if set(types.counts) == {1} or not types.is_alike or not _treats_clients_alike(table):
        return None
    try:
        law = partial(InTypes, counts=types.counts, is_uniform=types.is_uniform)
        algorithm = read_algorithm(table, types.problem, folder, law)
    except NotApplicable:
        return None
    return algorithm if _follows_types(types, algorithm) else None


def _treats_clients_alike(table: TomlTable) -> bool:
    """Return whether rounds wait for all participants, and no key lists values of single clients."""
    kind: Any = table.peek("participation") or {}
    is_synchronous = table.peek("clock") is None and isinstance(kind, dict) and kind.get("kind") != "cyclic"
    has_lists = any(isinstance(table.peek(key), list) for key in _OF_CLIENTS) or table.peek("mixing") is not None
    return is_synchronous and not has_lists and table.peek("aggregation") in (None, "importance")


def _follows_types(types: ProblemInTypes, algorithm: Algorithm) -> bool:
    """Return whether one client of each type suffices: always if moments close, else if nothing is random."""
    problem = types.problem
    if not isinstance(problem, LossProblem):
        return True
    is_fixed = algorithm.aggregation.moments(problem.weights).is_fixed
    return is_fixed and isinstance(problem.oracle, ExactOracle)
