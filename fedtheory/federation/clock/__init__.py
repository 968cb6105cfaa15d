"""Clocks: policies, client times and schedules, which determine reports and the models that they started from."""

from fedtheory.federation.clock.clock import Clock, synchronous
from fedtheory.federation.clock.cyclic import Cyclic
from fedtheory.federation.clock.policy import Asynchronous, FedBuff, FedFix, Policy, Synchronous, Ties
from fedtheory.federation.clock.schedule import Schedule, Update
from fedtheory.federation.clock.staleness import StalenessWeight, read_staleness

__all__ = [
    "Asynchronous",
    "Clock",
    "Cyclic",
    "FedBuff",
    "FedFix",
    "Policy",
    "Schedule",
    "StalenessWeight",
    "Synchronous",
    "Ties",
    "Update",
    "read_staleness",
    "synchronous",
]
