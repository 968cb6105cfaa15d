"""Sites: the places of a run at which a claim speaks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.frames import Frame, Index, frames_at, probes
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.notion import PointNotion


@dataclass(frozen=True, eq=False)
class Site:
    """Where an expression is evaluated."""

    run: Run
    frame: Frame | None
    index: Index
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]

    def place(self, value: Number | Array) -> Array:
        """A measured quantity as an array over (rounds, steps, clients), cut to the frame's step."""
        if not isinstance(value, np.ndarray):
            filled: Array = np.empty((1, 1, 1), dtype=self.run.arithmetic.dtype)
            filled[0, 0, 0] = value
            return filled
        for axis, name in enumerate(("round", "step")):
            if name in self.index and value.shape[axis] > 1:
                value = value.take([int(self.index[name])], axis=axis)
        return value

    @property
    def axes(self) -> tuple[str, str, str]:
        """Axes of every scalar, each of full length or one."""
        return Frame.axes if self.frame is None else self.frame.axes

    @property
    def step(self) -> Frame:
        """The frame; statements about a whole run have none, and `require_meaning` keeps vectors out of them."""
        assert self.frame is not None
        return self.frame


def whole_run(run: Run) -> Site:
    """The site of statements about a run as a whole."""
    return Site(run, None, {}, {}, {})


@cache
def _points_of(claim: Claim) -> tuple[sp.Symbol, ...]:
    return tuple(symbol for symbol, notion in claim.notation.items() if isinstance(notion, PointNotion))


def sites(claim: Claim, run: Run) -> Iterator[Site]:
    """All places of a run at which a claim speaks."""
    points = _points_of(claim)
    candidates = list(probes(run).items()) if points else []
    placed = list(itertools.product(candidates, repeat=len(points)))
    chosen = list(itertools.product(*claim.for_all.values()))
    frames: Iterable[Any] = [None] if claim.place == "run" else frames_at(claim.place, run)
    for frame in frames:
        for at, values in itertools.product(placed, chosen):
            labels = {symbol.name: name for symbol, (name, _) in zip(points, at, strict=True)}
            tried = {symbol.name: str(value) for symbol, value in zip(claim.for_all, values, strict=True)}
            yield Site(
                run,
                frame,
                (frame.index if frame else {}) | labels | tried,
                {symbol: point for symbol, (_, point) in zip(points, at, strict=True)},
                {s: run.arithmetic.number(str(v), s.name) for s, v in zip(claim.for_all, values, strict=True)},
            )
