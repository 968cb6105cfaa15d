"""Landmarks as a source: statements, and reasons why some are not proved."""

from fedtheory.language.source import Source
from fedtheory.sources.landmarks.statements import CLAIMS

UNPROVED = {
    "no context contains the limit of a run": """
        fedavg.settles.one-step scaffold.settles scaffnew.settles fedavgm.settles fedavgm.stationary
        scaffnew.stationary
    """,
    "certificates with Lyapunov functions cover rounds of a single local step only": "scaffold.contraction",
    "no kind of certificate covers a recursion whose step size depends on the round": "fedavg.decreasing-steps",
    "no fact states that all clients have the same Hessian, only that differences of gradients are bounded": (
        "dsgd.one-hessian"
    ),
    "no context contains the variance of the compression error": "compressed.price",
}
"""Reasons why claims that are supported are not proved."""

_TITLE = "Landmarks: one statement for each algorithm"
_AUTHORS = "fedtheory, after published results"
SOURCE = Source("landmarks", _TITLE, _AUTHORS, 2026, CLAIMS, unproved=UNPROVED, main="scaffnew.contraction", reading=7)
