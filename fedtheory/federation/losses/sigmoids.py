"""Derivatives of smooth losses in one coordinate, ``h_r(x) = k_r + sum_t C_rt tanh((x - b_t)/s_t)``, in enclosures.

Suprema over the whole line and zeros are verified: branch and bound covers the line,
signs of derivatives decide monotone or concave pieces, and interval Newton
narrows the others to the working precision.  All data are rational.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from flint import arb, fmpq

from fedtheory.arithmetic import Array, Number, round_to_simplest
from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS, Enclosure, convert_to_ball, largest, precise_enclosures
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation.losses.covering import Jet, enclose_largest, enclose_zero

_MOST_DOUBLINGS = 14
_PRECISIONS = (1, 4, 16)
"""Multiples of the usual precision at which a zero is searched.

Derivatives between distant centres can be very small.
"""


@dataclass(frozen=True, eq=False)
class Sigmoids:
    """R functions of one coordinate; n terms, at least one."""

    offsets: Array
    """k, (R,)."""
    amplitudes: Array
    """C, (R, n)."""
    centres: Array
    """b, (n,)."""
    scales: Array
    """s, (n,), positive."""

    def supremum(self, shares: Array) -> Number:
        """Return ``sup_x sum_r shares_r h_r(x)^2`` for shares (R,) of any sign.

        The result is rational if it is the value of a limit.
        """
        with precise_enclosures():
            return self._enclose_supremum([convert_to_ball(share) for share in shares])

    def find_steepest(self, row: int) -> Number:
        """Return ``sup_x h_r'(x)`` for non-negative amplitudes; rational if all terms have the same centre."""
        with precise_enclosures():
            amplitudes = self.amplitudes[row] / self.scales
            used = [t for t in range(len(amplitudes)) if amplitudes[t] != 0]
            first, last = (choose(self.centres[used], default=fmpq(0)) for choose in (min, max))
            if first == last:
                return amplitudes.sum()

            # Outside of the centres all curvatures decrease.
            def jet(x: arb) -> Jet:
                found = Jet(arb(0), arb(0), arb(0))
                for t in used:
                    height, curvature, scale = self._evaluate_term(t, x)
                    found += Jet(
                        curvature,
                        -2 * height * curvature / scale,
                        curvature * (6 * height * height - 2) / (scale * scale),
                    ).scale(arb(amplitudes[t]))
                return found

            return Enclosure(enclose_largest(jet, arb(first).lower(), arb(last).upper()))

    def zero(self) -> Number:
        """Return the zero of the only function, whose amplitudes are positive; raise `InputError` if it has none.

        The zero is rational if terms cancel exactly at a simple number.
        """
        reach = self.amplitudes[0].sum()
        if not -reach < self.offsets[0] < reach:
            raise InputError("", "the objective has no minimiser")
        for more in _PRECISIONS:
            with suppress(Unresolved), precise_enclosures(more * ENCLOSURE_BITS):
                found = enclose_zero(self._enclose_derivative, *self._bracket_zero())
                simple = fmpq(0) if found.contains(arb(0)) else round_to_simplest(float(found.mid()))
                return simple if found.contains(arb(simple)) and self._vanishes(simple) else Enclosure(found)
        raise Unresolved("the objective is too flat for its minimiser to be enclosed")

    def _evaluate_term(self, term: int, x: arb) -> tuple[arb, arb, fmpq]:
        """Return tanh, 1 - tanh^2 and the scale of a term."""
        height = ((x - self.centres[term]) / self.scales[term]).tanh()
        return height, 1 - height * height, self.scales[term]

    def _enclose_jets(self, x: arb) -> list[Jet]:
        """Return each h_r at a point or over an interval."""
        jets = [Jet(arb(offset), arb(0), arb(0)) for offset in self.offsets]
        for t in range(len(self.centres)):
            height, curvature, scale = self._evaluate_term(t, x)
            term = Jet(height, curvature / scale, -2 * height * curvature / (scale * scale))
            jets = [jet + term.scale(arb(row[t])) for jet, row in zip(jets, self.amplitudes, strict=True)]
        return jets

    def _enclose_derivative(self, x: arb) -> Jet:
        """Enclose the derivative and its own derivatives at a point."""
        return self._enclose_jets(x)[0]

    def _enclose_supremum(self, shares: list[Number]) -> Number:
        """Return the supremum over the line of the sum of squared slopes with these weights, or its enclosure."""

        def jet(x: arb) -> Jet:
            squares = [
                each.square().scale(arb(share)) for each, share in zip(self._enclose_jets(x), shares, strict=True)
            ]
            return sum(squares[1:], squares[0])

        limits = largest([self._enclose_limit(shares), self._reflect()._enclose_limit(shares)])
        is_monotone = len({bool(amplitude > 0) for amplitude in self.amplitudes[0] if amplitude != 0}) <= 1
        if len(shares) == 1 and is_monotone and shares[0] >= 0:
            return limits
        floor = convert_to_ball(limits)
        right, beyond_right = self._bound_tail(shares, arb(floor))
        left, beyond_left = self._reflect()._bound_tail(shares, arb(floor))
        inside = enclose_largest(jet, (-left).lower(), right.upper(), arb(floor))
        found = inside.max(beyond_right).max(beyond_left)
        return limits if not isinstance(limits, Enclosure) and found <= limits else Enclosure(found.max(arb(floor)))

    def _enclose_limit(self, shares: list[Number]) -> Number:
        """Return the limit of the sum of squares as x tends to infinity."""
        limits = self.offsets + self.amplitudes.sum(axis=1)
        return sum(share * limit * limit for share, limit in zip(shares, limits, strict=True))

    def _reflect(self) -> Sigmoids:
        """Return the functions of -x."""
        return replace(self, amplitudes=-self.amplitudes, centres=-self.centres)

    def _bound_tail(self, shares: list[Number], floor: arb) -> tuple[arb, arb]:
        """Return a point, and an enclosure of the largest value beyond it or of `floor`, at least the limit."""
        reach = max(self.scales)
        for doubling in range(_MOST_DOUBLINGS):
            point = arb(max(self.centres) + reach * 2**doubling / 2).upper()
            values, tilt = self._enclose_tail(shares, point)
            if values <= floor or tilt > 0 or tilt < 0:
                # The tail is monotone or below the floor: its largest value is the limit or the value at the point.
                break
        else:
            return point, values
        return point, floor

    def _enclose_tail(self, shares: list[Number], point: arb) -> tuple[arb, arb]:
        """Return enclosures over all x beyond a point of the sum of squares and of its scaled derivative.

        With ``q_t = exp(-2 (x - b_t)/s_t)`` the curvature of a term is ``4 q_t/(1 + q_t)^2``.  Times
        ``exp(2 (x - point)/s)`` with the largest scale s, its numerator is constant for terms
        of that scale, and decreases for the others.
        """
        slowest = max(self.scales)
        heights, tilts = [], []
        for centre, scale in zip(self.centres, self.scales, strict=True):
            decay = (-2 * (point - centre) / scale).exp()
            least = 1 / (1 + 2 * decay + decay * decay) if scale == slowest else arb(0)
            heights.append(((point - centre) / scale).tanh().union(arb(1)))
            tilts.append(4 * decay * least.union(arb(1)) / scale)
        values = tilt = arb(0)
        for offset, row, share in zip(self.offsets, self.amplitudes, shares, strict=True):
            height = offset + sum((arb(c) * h for c, h in zip(row, heights, strict=True)), arb(0))
            slope = sum((arb(c) * t for c, t in zip(row, tilts, strict=True)), arb(0))
            values, tilt = values + share * height * height, tilt + 2 * share * height * slope
        return values, tilt

    def _bracket_zero(self) -> tuple[arb, arb]:
        """Return points on both sides of the zero."""
        reach = max(self.scales)
        low, high = arb(min(self.centres)).lower(), arb(max(self.centres)).upper()
        for _ in range(_MOST_DOUBLINGS):
            is_below, is_above = self._enclose_derivative(low).value < 0, self._enclose_derivative(high).value > 0
            if is_below and is_above:
                return low, high
            low, high = low if is_below else (low - reach).lower(), high if is_above else (high + reach).upper()
            reach = 2 * reach
        raise Unresolved("the minimiser is too far away to be enclosed")

    def _vanishes(self, point: fmpq) -> bool:
        """Return whether the only function vanishes at a rational point, where equal arguments of tanh cancel."""
        sums: dict[fmpq, fmpq] = {}
        for amplitude, centre, scale in zip(self.amplitudes[0], self.centres, self.scales, strict=True):
            argument = (point - centre) / scale
            sign = int(argument > 0) - int(argument < 0)
            sums[abs(argument)] = sums.get(abs(argument), fmpq(0)) + sign * amplitude
        return self.offsets[0] == 0 and not any(sums.values())
