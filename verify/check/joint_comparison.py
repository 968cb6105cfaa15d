"""Evaluate both sides of a relation at the places of many runs, run by run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.language.evaluation import SiteOfRuns
from verify.check.decision import HOLDS, decide_by_values
from verify.check.links import CompiledRelation
from verify.check.sides import Values, evaluate_at, find_existing_entries

Rows = tuple[int, ...]
"""Indices of runs."""
Decided = tuple[Values, Array]
"""Both sides of a relation on several runs and its decision, each of shape (runs, entries)."""

_NONE = HOLDS + 1
"""Padding for missing entries of a run; it never counts as a violation."""


def compare_by_run(link: CompiledRelation, sites: Sequence[SiteOfRuns], runs: int) -> Decided:
    """Return both sides of a link and its decision, run by run; runs with fewer entries are padded."""
    parts = [_index_entries(link, site) for site in sites]
    owner, *sides = map(np.concatenate, zip(*parts, strict=True))
    order, counts = np.argsort(owner, kind="stable"), np.bincount(owner, minlength=runs)
    number = np.arange(counts.max())
    first, last = (np.cumsum(counts) - counts)[:, None], counts[:, None] - 1
    at = order[first + np.minimum(number, last)]
    values = Values(link, *sides)
    return values.select_entries(at), np.where(number <= last, decide_by_values(values)[at], _NONE)


def _index_entries(link: CompiledRelation, site: SiteOfRuns) -> tuple[Array, ...]:
    """Return, for each entry of the arrays at a site, the index of its run and both sides."""
    lead = site.owners.reshape(-1, *[1] * (len(site.axes) - 1))
    each = np.broadcast_arrays(lead, *evaluate_at(link, site))
    existing = find_existing_entries(site, each[0])
    return tuple(array.ravel() if existing is None else array.ravel()[existing] for array in each)
