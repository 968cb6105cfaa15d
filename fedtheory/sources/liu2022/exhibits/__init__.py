"""Measured linear speed-up over the number of clients, and the load of one aggregation over that of workers."""

from fedtheory.language.exhibits import Exhibit
from fedtheory.sources.liu2022.exhibits.communication import show_loads
from fedtheory.sources.liu2022.exhibits.corollary_2 import (
    CLIENTS,
    ITERATIONS,
    fit_slope,
    gives_iterations,
    measure_speed_ups,
    show_speed_up,
)
from fedtheory.sources.liu2022.exhibits.corollary_4 import concerns_corollary_4, show_corollary_4
from fedtheory.sources.liu2022.exhibits.two_sided import concerns_two_sided_steps, show_two_sided

__all__ = ["CLIENTS", "EXHIBITS", "ITERATIONS", "fit_slope", "measure_speed_ups"]

EXHIBITS = (
    Exhibit(lambda claim: claim.kind == "cost", show_loads),
    Exhibit(gives_iterations, show_speed_up),
    Exhibit(concerns_corollary_4, show_corollary_4),
    Exhibit(concerns_two_sided_steps, show_two_sided),
)
