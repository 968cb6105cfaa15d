"""Algorithms as data: the language of definitions, and their checks."""

from fedtheory.federation.definition.algorithm import FederatedAlgorithm, Local, Parameter
from fedtheory.federation.definition.language import (
    Compressed,
    Gradient,
    Mixed,
    Participants,
    Weighted,
    eta,
    eta_g,
    eta_sum,
    importance,
    mean_tau,
    optimum,
    start,
    tau,
)
from fedtheory.kernel.expressions import Average

__all__ = [
    "Average",
    "Compressed",
    "FederatedAlgorithm",
    "Gradient",
    "Local",
    "Mixed",
    "Parameter",
    "Participants",
    "Weighted",
    "eta",
    "eta_g",
    "eta_sum",
    "importance",
    "mean_tau",
    "optimum",
    "start",
    "tau",
]
