"""Labels of measures of the drift in reports."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.proofs.distances import DISPLACEMENT, SPREAD, Measure

_TWO_CLIENTS = ("the squared distance of two clients", r"\mathbb E\|x_i-x_j\|^2", r"\mathbb E\|x_i'-x_j'\|^2")
_MEASURED: Mapping[Measure, tuple[str, str, str]] = {
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


def describe_measure(measure: Measure) -> str:
    """Describe a measure in words."""
    return _MEASURED.get(measure, _TWO_CLIENTS)[0]


def typeset_measure(measure: Measure) -> tuple[str, str]:
    """Return the LaTeX of a measure before and after a local step."""
    return _MEASURED.get(measure, _TWO_CLIENTS)[1:]
