"""Problems, oracles, losses, and the update rule with its policies: local work, aggregation, clock.

Uses `arithmetic`, and the `kernel`'s expressions.
"""

from fedtheory.federation.clock import Cyclic
from fedtheory.federation.normalised import Normalised
from fedtheory.federation.participation import Bernoulli, Fixed, Full, Multinomial, Participation, Uniform
from fedtheory.federation.policies import Aggregation, LocalWork
from fedtheory.federation.rule import Algorithm
from fedtheory.federation.settings import SETTINGS, distributed_gd, fedavg

__all__ = [
    "SETTINGS",
    "Aggregation",
    "Algorithm",
    "Bernoulli",
    "Cyclic",
    "Fixed",
    "Full",
    "LocalWork",
    "Multinomial",
    "Normalised",
    "Participation",
    "Uniform",
    "distributed_gd",
    "fedavg",
]
