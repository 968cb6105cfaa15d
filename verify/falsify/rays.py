"""Rays: one large change after another in the same direction, from runs in which most of a bound's terms vanish.

A bound is a sum, and a term that is wrong shows where the others are small: at
the optimum from the start, with clients that are alike, without noise, after
long horizons, with many clients, tiny steps.  How wrong it is grows along the
way, so a search that looks nearby sees nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from verify.falsify.hunt import FAR, NEAR, Hunt, Place
from verify.falsify.knobs import knob_named
from verify.falsify.local import Climb, turned, without
from verify.falsify.score import NOTHING
from verify.falsify.structure import other_shapes
from verify.falsify.tables import STEP_SIZE, Table, changed, clients, scaled, with_clients

Change = Callable[[Table], Table | None]

_LEFT_OUT = (
    ("start", "spread", "residuals"),
    ("start", "noise"),
    ("noise", "spread", "residuals"),
    ("spread", "residuals"),
    ("start",),
    ("noise",),
    (),
)
"""What vanishes, by the names of the knobs: first all but one of noise, dissimilarity and distance."""
_LOOKS, _GAIN = 80, 0.03
"""Of one start at most, and the least rise of the score that is worth a step: limits are approached for ever."""
_LONGEST = 3.0
"""Seconds for all of them."""
_FEW_CLIENTS, _MOST_CLIENTS = 8, 1024
"""With more than a few clients a local search has too much to turn."""


def along_rays(hunt: Hunt, start: Place) -> None:
    """Follow all rays from a run; small runs that they lead to are kept as results of local searches."""
    hunt.reach, until = FAR, hunt.seconds + _LONGEST
    for left_out in _LEFT_OUT:
        table = without(start.table, left_out)
        for steps in (changed(table, {"algorithm.local_steps": 1}), table):
            reached = hunt.look(steps) if hunt.seconds < until else NOTHING
            if reached > NOTHING:
                climb = Climb(hunt.claim, hunt.look, Place(steps, reached), _LOOKS, other_shapes, gain=_GAIN)
                end = _followed(climb, lambda: hunt.seconds < until)
                if clients(end.table) <= _FEW_CLIENTS:
                    hunt.keep(end)
    hunt.reach = NEAR


def _followed(climb: Climb, in_time: Callable[[], bool]) -> Place:
    """Where the rays lead: each is followed for as long as the score rises."""
    climb.to_the_edge()
    before = NOTHING
    while climb.left > 0 and climb.at.score > before:
        before = climb.at.score
        for change in _CHANGES:
            while climb.left > 0 and in_time() and climb.tries(change(climb.at.table)):
                pass
    return climb.at


def _twice_the_clients(table: Table) -> Table | None:
    everyone = list(range(clients(table)))
    return with_clients(table, everyone * 2) if 2 * len(everyone) <= _MOST_CLIENTS else None


def _longer(factor: int, shorter_steps: fmpq) -> Change:
    """More rounds, with smaller steps."""
    return lambda table: scaled(
        changed(table, {"algorithm.rounds": factor * table["algorithm"]["rounds"]}), {STEP_SIZE: shorter_steps}
    )


def _knob(name: str, factor: fmpq) -> Change:
    def change(table: Table) -> Table | None:
        knob = knob_named(table, name)
        return None if knob is None else turned(table, knob, factor)

    return change


_CHANGES: tuple[Change, ...] = (
    _twice_the_clients,
    _longer(4, fmpq(1)),
    _longer(4, fmpq(1, 2)),
    _longer(4, fmpq(1, 4)),
    _knob("local step size", fmpq(1, 4)),
    _knob("local step size", fmpq(2)),
    _knob("local steps", fmpq(2)),
    _knob("noise", fmpq(16)),
    _knob("noise", fmpq(1, 16)),
    _knob("start", fmpq(4)),
    _knob("start", fmpq(1, 4)),
    _knob("spread", fmpq(4)),
    _knob("spread", fmpq(1, 4)),
)
