"""Composes any number of identical rounds by doubling.

A round is ``S -> R S R' + C``; n of them are ``S -> P S P' + Q`` with P = R^n,
and the sum of the moments before them is U.  Then m + n rounds have

    P_m P_n,      P_m Q_n P_m' + Q_m,      U_m + P_m U_n P_m' + n Q_m,

so that 10^6 rounds and their average cost some forty matrix products.  Runs of a batch have a leading axis.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.arithmetic import Array, product


@dataclass(frozen=True)
class ManyRounds:
    """n identical rounds from one start."""

    rounds: int
    power: Array
    """P, (..., d+1, d+1)."""
    added: Array
    """Q, (..., d+1, d+1): the second moment added by the noise of all rounds."""
    total: Array
    """U = S_0 + ... + S_{n-1}, (..., d+1, d+1)."""

    def __add__(self, later: ManyRounds) -> ManyRounds:
        """Return these rounds followed by `later` ones."""

        return ManyRounds(
            rounds=self.rounds + later.rounds,
            power=product(self.power, later.power),
            added=self._propagate(later.added) + self.added,
            total=self.total + self._propagate(later.total) + later.rounds * self.added,
        )

    def _propagate(self, moment: Array) -> Array:
        """Apply all rounds to a second moment, without their noise."""
        return product(product(self.power, moment), self.power.swapaxes(-1, -2))

    def apply(self, start: Array) -> Array:
        """Return the second moment (..., d+1, d+1) of the server's model after all rounds."""
        moment: Array = self._propagate(start) + self.added
        return moment


def compose_rounds(round_map: Array, noise: Array, start: Array, rounds: int) -> ManyRounds:
    """Compose `rounds` rounds (at least one) with mean map R and noise C from the moment S_0, all (..., d+1, d+1)."""
    doubled = ManyRounds(1, round_map, noise, start)
    found = None
    while rounds:
        rounds, is_odd = divmod(rounds, 2)
        if is_odd:
            found = doubled if found is None else found + doubled
        if rounds:
            doubled = doubled + doubled
    if found is None:
        raise ValueError("expected at least one round")
    return found
