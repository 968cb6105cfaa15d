"""Weights of stale reports: ``s(t) = (1 + t)^(-a)`` for a report of staleness t (FedBuff, Nguyen et al. 2022)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, Array, Number, arithmetic_of, plain_float
from fedtheory.arithmetic.reading import is_number
from fedtheory.arithmetic.root_sums import find_exact_root
from fedtheory.errors import InputError, Unresolved

_KEY = "algorithm.clock.staleness"
_LARGEST = 100
"""Limit on the numerators and denominators of exponents."""
_POWER = re.compile(r"\(1\+[st]\)(?:\^|\*\*)\(?-(?P<exponent>[\d./]+)\)?")
_FRACTION = re.compile(r"1/\(1\+[st]\)(?:(?:\^|\*\*)\(?(?P<exponent>[\d./]+)\)?)?")
_ROOT = re.compile(r"1/sqrt\(1\+[st]\)")


@dataclass(frozen=True)
class StalenessWeight:
    """The factor ``(1 + t)^(-a)`` of a report of staleness t."""

    exponent: fmpq
    """The exponent a, not negative; 1/2 as published."""

    def __post_init__(self) -> None:
        if not 0 <= self.exponent <= _LARGEST or self.exponent.q > _LARGEST:
            expected = f"expected an exponent from 0 to {_LARGEST} with a denominator of at most {_LARGEST}"
            raise InputError(_KEY, f"{expected}, got {self.exponent}")

    def factors(self, staleness: tuple[int, ...], like: Array) -> Array:
        """Return s of each client, (M,), in the arithmetic of `like`."""
        arithmetic = arithmetic_of(like)
        known = {age: self._factor(age, arithmetic) for age in set(staleness)}
        return arithmetic.array([known[age] for age in staleness])

    def _factor(self, age: int, arithmetic: Arithmetic) -> Number:
        if arithmetic is FLOAT:
            return float(1 + age) ** -plain_float(self.exponent)
        if arithmetic is not RATIONAL:
            raise Unresolved(
                "the run is too long for rationals, and weights by staleness have no enclosures: use fewer rounds"
            )
        root = find_exact_root(fmpq(1 + age), int(self.exponent.q))
        if root is None:
            raise Unresolved(
                f"the weight {age + 1}^(-{self.exponent}) of a report is not rational: use --arithmetic float"
            )
        return 1 / root ** int(self.exponent.p)

    def __str__(self) -> str:
        return f"(1+s)^(-{self.exponent})"


def read_staleness(text: str) -> StalenessWeight:
    """Parse a weight as a formula in the staleness s: 1/sqrt(1+s), 1/(1+s), 1/(1+s)^a or (1+s)^(-a)."""
    plain = text.replace(" ", "")
    if _ROOT.fullmatch(plain):
        return StalenessWeight(fmpq(1, 2))
    found = _FRACTION.fullmatch(plain) or _POWER.fullmatch(plain)
    exponent = None if found is None else found["exponent"] or "1"
    if exponent is None or not is_number(exponent):
        raise InputError(_KEY, f'expected "1/sqrt(1+s)" or "(1+s)^(-a)" with a number a, got {text!r}')
    return StalenessWeight(RATIONAL.number(exponent, _KEY))
