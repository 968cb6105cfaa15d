"""Axes of a quantity's values: rounds, steps, clients."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable


def place_on_clients(values: Any) -> Any:
    """Return numbers of clients (M,) on the client axis; a single number is unchanged."""
    return values[None, None, :] if np.ndim(values) else values


def place_on_rounds(values: Array) -> Array:
    """Return numbers of rounds (N,) on the axis of rounds."""
    return values[:, None, None]


def place_on_rounds_and_clients(values: Array) -> Array:
    """Return numbers (N, M), one per round and client, with the axes of rounds, steps and clients."""
    return values[:, None, :]


def require_common_steps(run: Run, values: Array) -> Array:
    """Return an array over local steps, after checking that all clients take equally many."""
    if run.algorithm.work.common_steps is None:
        raise NotApplicable("the clients take different numbers of local steps: there is no averaged iterate")
    return values
