"""Exhibits of the paper: clients that take turns, and the experiments of Section 5."""

from fedtheory.language.assumptions import turns_of_clients, turns_of_pairs
from fedtheory.language.exhibits import Exhibit
from fedtheory.sources.fraboni2022.exhibits.section_5 import SECTION_5
from fedtheory.sources.fraboni2022.exhibits.turns import cycles, distances

EXHIBITS = (
    Exhibit(lambda claim: turns_of_pairs in claim.assumptions, distances),
    Exhibit(lambda claim: turns_of_clients in claim.assumptions, cycles),
    *SECTION_5,
)
