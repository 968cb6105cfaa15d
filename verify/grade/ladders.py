"""Ladders of runs: few causes act, and counts of clients, local steps and rounds grow while steps get smaller.

A term that lost a factor such as 1/M shows where it stands alone, and far up such a ladder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from flint import fmpq

from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.premises import failures_among, premises
from verify.check.applicability import check_conditions
from verify.falsify.knobs import list_knobs
from verify.falsify.local import move_to_edge, without
from verify.falsify.mixed import mixed
from verify.falsify.starts import setting
from verify.falsify.tables import STEP_SIZE, Table, changed, clients, find_most_steps, get, read, scaled, with_clients

Rung = tuple[int, int, int, int]
"""A factor of the clients, counts of local steps and rounds, and a divisor of the largest step size."""

_CAUSES = ("noise", "start", "spread", "residuals")
"""Aspects that make up a left side, by the names of the knobs: each acts alone, and with each other."""
_RUNGS: tuple[Rung, ...] = (
    (1, 1, 1, 1),
    (1, 4, 8, 1),
    (8, 4, 8, 1),
    (32, 1, 128, 1),
    (32, 1, 512, 16),
    (8, 32, 32, 16),
    (1, 32, 8, 1),
    (1, 256, 8, 1),
    (1, 32, 32, 32),
    (1, 256, 32, 256),
    (1, 256, 32, 2_048),
    (1, 1, 128, 1),
    (1, 1, 512, 16),
    (1, 4, 512, 256),
)
_OF_ONE_CAUSE: tuple[Rung, ...] = ((1, 1, 2_048, 16), (8, 1, 4_096, 256))
"""For runs with one cause: a lost factor of the clients or rounds may show there for the first time."""
_OF_SPREAD: tuple[Rung, ...] = ((1, 32_768, 1, 8_192),)
"""For runs in which clients differ and nothing else acts: so may a lost factor of the local steps."""
_INSIDE = fmpq(15, 16)
"""Part of the largest step size that is used: floats cannot tell whether a condition holds that is an equation."""
_MOST_ROUNDS = 512
"""Rounds of algorithms that are computed round by round; those of federated averaging are doubled."""
_MOMENTA = (fmpq(0), fmpq(9, 10), fmpq(31, 32))
_SERVER_STEPS = (None, fmpq(64))


def list_ladder_runs(claim: Claim) -> Iterator[Table]:
    """List runs on all rungs, as tables; a claim may not apply to some of them."""
    shapes = mixed(claim, setting(claim))
    for base in (table for shape in shapes for table in _with_settings(claim, shape)):
        for causes, corner in _corners(base):
            edge = scaled(move_to_edge(claim, corner) or corner, {STEP_SIZE: _INSIDE})
            rungs = _RUNGS + (_OF_ONE_CAUSE if len(causes) == 1 else ()) + (_OF_SPREAD if causes == ("spread",) else ())
            for rung in dict.fromkeys(_list_rungs(base, rungs)):
                yield _evaluate_rung(edge, *rung)


def is_allowed(claim: Claim, table: Table) -> bool:
    """Return whether the assumptions and conditions hold in exact arithmetic, for which nothing is simulated."""
    run = read(table)
    try:
        return run is not None and not failures_among(premises(claim), run) and check_conditions(claim, run)
    except (FedtheoryError, LookupError):
        # A quantity may ask for what a run does not have, such as a second client.
        return False


def _with_settings(claim: Claim, table: Table) -> Iterator[Table]:
    """The run with several momenta, where it has one, and with larger server steps, where the claim allows them."""
    for step in _SERVER_STEPS:
        chosen = table if step is None else changed(table, {"algorithm.server_step_size": step})
        if step is not None and not is_allowed(claim, scaled(chosen, {STEP_SIZE: 1 / step})):
            continue
        has_momentum = get(table, "algorithm.momentum") is not None
        for momentum in _MOMENTA if has_momentum else ():
            yield changed(chosen, {"algorithm.momentum": momentum})
        if not has_momentum:
            yield chosen


def _corners(table: Table) -> Iterator[tuple[tuple[str, ...], Table]]:
    """One, two, or all causes of a run, and the rest of it with these."""
    present = [knob.name for knob in list_knobs(table) if knob.name in _CAUSES]
    for count in sorted({1, 2, len(present)} & set(range(len(present) + 1))):
        for kept in combinations(present, count):
            yield kept, without(table, [name for name in present if name not in kept])


def _list_rungs(base: Table, rungs: Sequence[Rung]) -> Iterator[Rung]:
    """The rungs; with one local step where the conditions allow no other count, as the base shows."""
    doubles = get(base, "algorithm.name") == "fedavg" and get(base, "algorithm.clock") is None
    for more_clients, steps, rounds, divisor in rungs:
        if doubles or rounds <= _MOST_ROUNDS:
            yield more_clients, steps if find_most_steps(base) > 1 else 1, rounds, divisor


def _evaluate_rung(table: Table, more_clients: int, local_steps: int, rounds: int, divisor: int) -> Table:
    table = with_clients(table, list(range(clients(table))) * more_clients)
    has_own_steps = isinstance(get(table, "algorithm.local_steps"), list)
    counts = {"algorithm.rounds": rounds} | ({} if has_own_steps else {"algorithm.local_steps": local_steps})
    return scaled(changed(table, counts), {STEP_SIZE: fmpq(1, divisor)})
