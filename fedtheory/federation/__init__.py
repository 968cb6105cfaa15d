"""Problems, oracles, losses, and the update rule with its policies: local work, aggregation, clock.

Uses `arithmetic`, and the `kernel`'s expressions.
"""

from fedtheory.federation.clock import Cyclic as Cyclic
from fedtheory.federation.normalised_weights import Normalised as Normalised
from fedtheory.federation.participation import Bernoulli as Bernoulli
from fedtheory.federation.participation import Fixed as Fixed
from fedtheory.federation.participation import Full as Full
from fedtheory.federation.participation import Multinomial as Multinomial
from fedtheory.federation.participation import Participation as Participation
from fedtheory.federation.participation import Uniform as Uniform
from fedtheory.federation.policies import Aggregation as Aggregation
from fedtheory.federation.policies import LocalWork as LocalWork
from fedtheory.federation.settings import SETTINGS as SETTINGS
from fedtheory.federation.settings import distributed_gd as distributed_gd
from fedtheory.federation.settings import fedavg as fedavg
from fedtheory.federation.update_rule import Algorithm as Algorithm
