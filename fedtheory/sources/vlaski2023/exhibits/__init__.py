"""Exhibits of the chapter: stationary errors, over the step size and in the plane."""

from fedtheory.language.exhibits import Exhibit
from fedtheory.sources.vlaski2023.exhibits.limits import has_limits, limits
from fedtheory.sources.vlaski2023.exhibits.steady_state import has_steady_state, steady_state

EXHIBITS = (Exhibit(has_steady_state, steady_state), Exhibit(has_limits, limits))
