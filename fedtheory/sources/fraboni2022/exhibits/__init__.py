"""Exhibits of the paper: clients that take turns, and the experiments of Section 5."""

from fedtheory.language.assumptions import turns_of_clients, turns_of_pairs
from fedtheory.language.exhibits import Exhibit
from fedtheory.sources.fraboni2022.exhibits.section_5 import SECTION_5
from fedtheory.sources.fraboni2022.exhibits.turns import draw_cycles, draw_distances

EXHIBITS = (
    Exhibit(lambda claim: turns_of_pairs in claim.assumptions, draw_distances),
    Exhibit(lambda claim: turns_of_clients in claim.assumptions, draw_cycles),
    *SECTION_5,
)
