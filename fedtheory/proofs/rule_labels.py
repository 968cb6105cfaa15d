"""Labels of rules for reports: consequences of a proved claim, and measures of the drift."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.proofs.at_optimum import AtOptimum
from fedtheory.proofs.averages import OverClients, OverSteps, OverUpdates
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.intervals import AtEnd, AtFirstStart, AtNextStart, Derived, Summed, Telescoped
from fedtheory.proofs.restarts import LOOP_PAIR
from fedtheory.proofs.windows import OverWindow, OverWindows

DERIVED: Mapping[type[Derived], str] = {
    Derived: "a proved claim",
    AtOptimum: "a proved claim, for a round that starts from the optimum",
    OverClients: "a proved claim, averaged over the clients with their shares",
    OverSteps: "a proved claim, averaged over the local steps",
    OverUpdates: "a proved claim, averaged over the updates",
    Telescoped: "a proved claim, summed over the steps of a round",
    AtEnd: "a proved claim, at the last step of a round",
    Summed: "a proved claim, summed over all rounds",
    AtNextStart: "a proved claim, for the next round or the end of the run",
    AtFirstStart: "a proved claim, for the first round",
    OverWindow: "a proved claim at every local step, for any two updates of a window",
    OverWindows: "a proved claim, summed over the clients and the windows",
}
"""What is made of a proved claim."""
_MEASURED: Mapping[Measure, tuple[str, str, str]] = {
    PAIR: (
        "the squared distance of two clients",
        r"\mathbb E\|x_i-x_j\|^2",
        r"\mathbb E\|x_i'-x_j'\|^2",
    ),
    LOOP_PAIR: (
        "the squared distance of two clients",
        r"\mathbb E\|x_i-x_j\|^2",
        r"\mathbb E\|x_i'-x_j'\|^2",
    ),
    SPREAD: (
        "the mean squared distance from the average",
        r"\frac1M\sum_i\mathbb E\|x_i-\bar x\|^2",
        r"\frac1M\sum_i\mathbb E\|x_i'-\bar x'\|^2",
    ),
    DISPLACEMENT: (
        "the mean squared distance from the model $y$ of the round's start",
        r"\frac1M\sum_i\mathbb E\|x_i-y\|^2",
        r"\frac1M\sum_i\mathbb E\|x_i'-y\|^2",
    ),
}


def in_words(measure: Measure) -> str:
    """Describe a measure."""
    return _MEASURED[measure][0]


def in_latex(measure: Measure) -> tuple[str, str]:
    """A measure before and after a local step."""
    return _MEASURED[measure][1:]
