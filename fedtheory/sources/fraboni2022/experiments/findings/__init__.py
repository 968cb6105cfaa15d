"""Test each sentence of the paper about its figures on the results for the digits."""

from fedtheory.sources.fraboni2022.experiments.findings.figure_2 import list_findings_2
from fedtheory.sources.fraboni2022.experiments.findings.figure_2_over_splits import compare_splits_of_figure_2
from fedtheory.sources.fraboni2022.experiments.findings.figure_3 import list_findings_3
from fedtheory.sources.fraboni2022.experiments.findings.figure_3_over_splits import compare_splits_of_figure_3
from fedtheory.sources.fraboni2022.experiments.findings.figure_4_over_splits import (
    compare_splits_of_figure_4,
    compare_splits_of_figures_5_to_7,
)
from fedtheory.sources.fraboni2022.experiments.findings.figures_4_to_7 import list_findings_4, list_findings_5_to_7

__all__ = [
    "compare_splits_of_figure_2",
    "compare_splits_of_figure_3",
    "compare_splits_of_figure_4",
    "compare_splits_of_figures_5_to_7",
    "list_findings_2",
    "list_findings_3",
    "list_findings_4",
    "list_findings_5_to_7",
]
