"""Clocks: policies, client times and schedules, which determine reports and the models that they started from."""

from fedtheory.federation.clock.clock import Clock as Clock
from fedtheory.federation.clock.clock import synchronous as synchronous
from fedtheory.federation.clock.cyclic import Cyclic as Cyclic
from fedtheory.federation.clock.policy import Asynchronous as Asynchronous
from fedtheory.federation.clock.policy import FedBuff as FedBuff
from fedtheory.federation.clock.policy import FedFix as FedFix
from fedtheory.federation.clock.policy import Policy as Policy
from fedtheory.federation.clock.policy import Synchronous as Synchronous
from fedtheory.federation.clock.policy import Ties as Ties
from fedtheory.federation.clock.schedule import Schedule as Schedule
from fedtheory.federation.clock.schedule import Update as Update
from fedtheory.federation.clock.staleness import StalenessWeight as StalenessWeight
from fedtheory.federation.clock.staleness import read_staleness as read_staleness
