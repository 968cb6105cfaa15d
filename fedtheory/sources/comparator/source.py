"""The bounds for any comparator as a source."""

from fedtheory.language.source import Source
from fedtheory.sources.comparator.statements import CLAIMS

_TITLE = "FedAvg against any comparator"
_AUTHORS = "fedtheory, after A. Khaled, K. Mishchenko and P. Richtarik (2020)"
SOURCE = Source("comparator", _TITLE, _AUTHORS, 2026, CLAIMS, main="average-error", reading=6)
