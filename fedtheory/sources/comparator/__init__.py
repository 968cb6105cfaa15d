"""Bounds for any comparator: FedAvg against the point that suits a run best, noise and dissimilarity asked for there.

The results are our own.  That noise and dissimilarity are needed at one point
only is after A. Khaled, K. Mishchenko and P. Richtarik, *Tighter Theory for
Local SGD on Identical and Heterogeneous Data* (2020), who have the optimum.
"""

from fedtheory.language.source import Source
from fedtheory.sources.comparator.statements import CLAIMS

_TITLE = "FedAvg against any comparator"
_AUTHORS = "fedtheory, after A. Khaled, K. Mishchenko and P. Richtarik (2020)"
SOURCE = Source("comparator", _TITLE, _AUTHORS, 2026, CLAIMS, main="average-error", reading=6)
