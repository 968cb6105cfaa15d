"""Exhibits of the chapter: stationary errors, over the step size and in the plane."""

from fedtheory.language.exhibits import Exhibit
from fedtheory.sources.vlaski2023.exhibits.limits import draw_limits, has_limits
from fedtheory.sources.vlaski2023.exhibits.steady_state import draw_steady_state, has_steady_state

EXHIBITS = (Exhibit(has_steady_state, draw_steady_state), Exhibit(has_limits, draw_limits))
