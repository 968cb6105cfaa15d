"""Who reports when, and which model they started from: policies, client times, schedules."""

from fedtheory.clock.clock import Clock, synchronous
from fedtheory.clock.hardware import spread_times
from fedtheory.clock.policy import Asynchronous, FedBuff, FedFix, Policy, Synchronous, Ties
from fedtheory.clock.schedule import Schedule, Update

__all__ = [
    "Asynchronous",
    "Clock",
    "FedBuff",
    "FedFix",
    "Policy",
    "Schedule",
    "Synchronous",
    "Ties",
    "Update",
    "spread_times",
    "synchronous",
]
