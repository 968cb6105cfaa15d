"""Sentences of the paper on its figures, and whether they hold on the digits.

Each finding is read off the results; none is decided beforehand.
"""

from fedtheory.sources.fraboni2022.experiments.findings.figure_2 import findings_2
from fedtheory.sources.fraboni2022.experiments.findings.figure_2_over_splits import findings_2_over_splits
from fedtheory.sources.fraboni2022.experiments.findings.figure_3 import findings_3
from fedtheory.sources.fraboni2022.experiments.findings.figure_3_over_splits import findings_3_over_splits
from fedtheory.sources.fraboni2022.experiments.findings.figure_4_over_splits import (
    findings_4_over_splits,
    findings_5_to_7_over_splits,
)
from fedtheory.sources.fraboni2022.experiments.findings.figures_4_to_7 import findings_4, findings_5_to_7

__all__ = [
    "findings_2",
    "findings_2_over_splits",
    "findings_3",
    "findings_3_over_splits",
    "findings_4",
    "findings_4_over_splits",
    "findings_5_to_7",
    "findings_5_to_7_over_splits",
]
