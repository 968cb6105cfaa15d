"""The vector of ones, and distances from the optimum after the local steps of a round."""

from __future__ import annotations

from fedtheory.engine.frames import Frame, Vector
from fedtheory.language.quantities.measuring.axes import place_on_rounds, require_common_steps
from fedtheory.language.quantities.measuring.reductions import LAST_STEP
from fedtheory.language.quantities.measuring.symbols import NEXT_ITERATE, OPTIMUM, define_by, square
from fedtheory.language.quantities.quantity import VectorQuantity, per_round


def _build_ones(frame: Frame) -> Vector:
    """Return the vector of ones."""
    nothing = frame.arithmetic.zeros(1, frame.dimension)
    return frame.constant(nothing + 1)


unit_vector = VectorQuantity(
    "unit_vector", r"\mathbf 1", "the vector of ones, the number 1 in one dimension", _build_ones
)


next_server_distance_sq = per_round(
    "next_server_distance_sq",
    r"\mathbb E\|\bar x^{(t,\tau)}-x^*\|^2",
    "for each round t: E|xbar^{t,tau} - x*|^2, at the end of its local steps",
    lambda run: place_on_rounds(require_common_steps(run, run.trajectory.local_distance_sq)[:, -1]),
    term=define_by(square(NEXT_ITERATE - OPTIMUM), LAST_STEP),
)
