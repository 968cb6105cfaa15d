"""The value of a parameter of a run's algorithm as a quantity, for claims about user-defined algorithms."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.quantities.algorithms import measure_parameter
from fedtheory.language.quantities.quantity import RunQuantity, constant
from fedtheory.language.vocabulary import vocabulary


@dataclass(frozen=True)
class _OfAlgorithm:
    """Measures the parameter of a key."""

    key: str

    def __call__(self, run: Run) -> Number:
        return measure_parameter(run, self.key)


def parameter(key: str) -> RunQuantity:
    """Return the quantity of an algorithm's parameter, by its key in run files: ``parameter("decay")``.

    Raises `InputError` for a key that is no name, and for the name of another quantity.
    """
    if not (isinstance(key, str) and key.isidentifier()):
        raise InputError("parameter", f"expected the key of a parameter in run files, such as decay, got {key!r}")
    if any(entry.quantity.name == key for entry in vocabulary()):
        raise InputError("parameter", f"{key} is a quantity of fedtheory: expected quantities.{key}, or another key")
    written = key.replace("_", r"\_")
    return constant(
        key, rf"\mathrm{{{written}}}", f"parameter {key} of the algorithm", _OfAlgorithm(key), primitive="setting"
    )
