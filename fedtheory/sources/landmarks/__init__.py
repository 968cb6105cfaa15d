"""Landmarks: one statement for each algorithm that is given as a definition, with explicit constants.

They are stated in our own words, after the papers that are named; none is a
paper's text.
"""

from fedtheory.language.source import Source
from fedtheory.sources.landmarks.statements import CLAIMS

_TITLE = "Landmarks: one statement for each algorithm"
_AUTHORS = "stated here, after the papers that are named"
SOURCE = Source("landmarks", _TITLE, _AUTHORS, 2026, CLAIMS, main="scaffnew.contraction", reading=7)
