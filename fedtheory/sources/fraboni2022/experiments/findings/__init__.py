"""What the paper says its figures show, and whether the digits show it too.

Nothing is decided here beforehand: each finding is read off the results.
"""

from fedtheory.sources.fraboni2022.experiments.findings.figure_2 import findings_2
from fedtheory.sources.fraboni2022.experiments.findings.figure_3 import findings_3
from fedtheory.sources.fraboni2022.experiments.findings.figures_4_to_7 import findings_4, findings_5_to_7

__all__ = ["findings_2", "findings_3", "findings_4", "findings_5_to_7"]
