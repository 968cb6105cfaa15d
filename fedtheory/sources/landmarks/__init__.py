"""Landmarks: one statement for each algorithm that is given as a definition, with explicit constants.

They are stated in our own words, after the papers that are named; none is a
paper's text.
"""

from fedtheory.language.source import Source
from fedtheory.sources.landmarks.statements import CLAIMS

SOURCE = Source(
    key="landmarks",
    title="Landmarks: one statement for each algorithm",
    authors="stated here, after the papers that are named",
    year=2026,
    claims=CLAIMS,
    main="scaffnew.contraction",
    reading=7,
)
