"""Landmarks: one statement for each algorithm that is given as a definition, with explicit constants.

They are stated in our own words, after the papers that are named; none is a
paper's text.
"""

from fedtheory.language.source import Source
from fedtheory.sources.landmarks.statements import CLAIMS

UNPROVED = {
    "the limit of a run is in none of the theories": """
        fedavg.settles.one-step scaffold.settles scaffnew.settles fedavgm.settles fedavgm.stationary
        scaffnew.stationary
    """,
    "Lyapunov functions are known for rounds of a single local step": "scaffold.contraction",
    "a recursion with a step size of each round has no certificate": "fedavg.decreasing-steps",
    "that all clients have one Hessian is more than bounded differences of gradients say": "dsgd.one-hessian",
    "the variance of what compression leaves out is in none of the theories": "compressed.price",
}
"""Why claims that are supported are not proved."""

_TITLE = "Landmarks: one statement for each algorithm"
_AUTHORS = "stated here, after the papers that are named"
SOURCE = Source("landmarks", _TITLE, _AUTHORS, 2026, CLAIMS, unproved=UNPROVED, main="scaffnew.contraction", reading=7)
