"""Runs that show without a search that a planted error is one: far points, put together from what a bound means.

A lost division by the number of clients shows with many of them, rounds in place of iterations with many local steps, a
wrong exponent of the step size with tiny or large steps, a lost term where what the others are made of is taken away.
So every stored run of the paper, and a few plain problems, are taken as they are and with such counts and sizes.  The
exact check of the run is the proof that a mutant is false; nothing here looks at what the search does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from flint import fmpq
from planted import Mutant

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find, is_an_id
from fedtheory.runfile import parse_run, read_toml
from verify.check import check
from verify.falsify.local_search import apply_scaling, move_to_edge
from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    change,
    count_clients,
    count_steps,
    evaluate_run,
    get,
    make_working_table,
    scale,
    with_clients,
)
from verify.falsify.scalings import find_scaling
from verify.instances import FAMILIES, families_for
from verify.slack import run_files

_CLEAR = 1.001
"""Ratio in floats from which a run is checked in rationals."""
_LARGEST = 2**15
"""Local steps of all clients in all rounds, at most."""
_LONGEST = 600
"""Local steps in all rounds, at most, so that the exact check takes no seconds."""
_COUNTS = tuple(product((1, 64), (1, 64), (1, 8), (fmpq(1), fmpq(1, 16))))
"""Factors of the number of clients, of local steps, of rounds, and of the step size."""
_UNITS = tuple(product(("unit of values", "unit of length"), (fmpq(2) ** 8, fmpq(1, 2**8))))
"""Units in which runs are rewritten: a term with a wrong exponent of a measure changes, and nothing else."""
WIDER = "a wider condition"
OWN_SYMBOLS = ("a lost term", "a wrong exponent", "a lost number of clients")
"""Kinds of mutants that mention nothing else than their claims."""
_MEMBERS = 4
"""Members of the claim's families."""


def _plain(hessians: Sequence[int], pulls: Sequence[int], start: int, noise: int) -> Table:
    problem = {
        "kind": "quadratic",
        "hessians": [[[fmpq(entry, 8)]] for entry in hessians],
        "linear": [[fmpq(pull)] for pull in pulls],
        "start": [fmpq(start)],
    }
    if noise:
        problem["noise"] = [fmpq(noise)] * len(hessians)
    algorithm = {"name": "fedavg", STEP_SIZE.partition(".")[2]: fmpq(1, 4), "local_steps": 2, "rounds": 2}
    return {"problem": problem, "algorithm": algorithm}


_PLAIN = (
    _plain([8], [0], 1, 0),
    _plain([8, 8], [0, 0], 0, 1),
    _plain([8, 8], [1, -1], 0, 0),
    _plain([8, 1], [1, -1], 0, 0),
    _plain([8, 0], [0, 0], 1, 0),
    _plain([8, 1], [1, -1], 2, 1),
)
"""Distance alone, noise alone, linear terms alone, with other curvatures, one client that is flat, and all causes."""


def plain_problems() -> tuple[Table, ...]:
    """Problems in which one cause is alone, and one with all of them."""
    return _PLAIN


def bases(claim: Claim) -> list[Table]:
    """The runs that are stored for a claim first, then some of its families, then the plain problems."""
    files = run_files(find(claim.id)) if is_an_id(claim.id) else {}
    stored = [parse_run(read_toml(file), RATIONAL) for file in dict.fromkeys(files.values())]
    families = [FAMILIES[name] for name in families_for(claim) if not FAMILIES[name].in_floats]
    everyone = [member for family in families for member in family.instances]
    some = [member.run() for member in everyone[:: max(len(everyone) // _MEMBERS, 1)]]
    return [*map(make_working_table, [*stored, *some]), *_PLAIN]


def far_points(base: Table) -> Iterator[Table]:
    """The run in other units, and with other counts and steps, as far as an exact check is quick."""
    for name, factor in _UNITS:
        scaling = find_scaling(base, name)
        other = None if scaling is None else apply_scaling(base, scaling, factor)
        if other is not None:
            yield other
    for more, steps, rounds, size in _COUNTS:
        table = _with_counts(with_clients(base, list(range(count_clients(base))) * more), steps, rounds)
        if count_steps(table) <= _LONGEST and count_steps(table) * count_clients(table) <= _LARGEST:
            yield scale(table, {STEP_SIZE: size})


def _with_counts(table: Table, steps: int, rounds: int) -> Table:
    local, all_rounds = get(table, "algorithm.local_steps") or 1, get(table, "algorithm.rounds") or 1
    more = [n * steps for n in local] if isinstance(local, list) else local * steps
    return change(table, {"algorithm.rounds": rounds * all_rounds, "algorithm.local_steps": more})


def witnessed(given: Sequence[Mutant]) -> Iterator[tuple[Mutant, Table]]:
    """Those of the mutants of a claim that fail on a far point, each with the first one on which it does."""
    known = bases(given[0].claim) if given else []
    points = [point for base in known for point in far_points(base)]
    for group in _groups(mutant for mutant in given if mutant.kind != WIDER):
        yield from _first_violations(group, points)
    for mutant in given:
        if mutant.kind == WIDER:
            at_edges = (move_to_edge(mutant.claim, base) for base in known)
            yield from _first_violations([mutant], (table for table in at_edges if table is not None))


def _groups(given: Iterable[Mutant]) -> Iterator[list[Mutant]]:
    """Mutants whose relations are compared on a run at once: those in its own symbols, and those of a kind."""
    alike: dict[str, list[Mutant]] = {}
    for mutant in given:
        alike.setdefault("" if mutant.kind in OWN_SYMBOLS else mutant.kind, []).append(mutant)
    yield from alike.values()


def _first_violations(group: list[Mutant], points: Iterable[Table]) -> Iterator[tuple[Mutant, Table]]:
    left = list(group)
    for table in points:
        for mutant in _suspects(left, table):
            if is_violated(mutant.claim, table):
                left.remove(mutant)
                yield mutant, table
        if not left:
            return


def _suspects(group: Sequence[Mutant], table: Table) -> list[Mutant]:
    """Those that floats see violated: all are compared at once."""
    first, *others = [mutant.claim for mutant in group]
    found = evaluate_run(replace(first, also=[*first.also, *(claim.relations[0] for claim in others)]), table, FLOAT)
    if found is None or not found.applicable:
        return []
    if len(group) == 1:
        return list(group) if found.holds is False else []
    pairs = zip(group, found.comparisons, strict=True)
    return [mutant for mutant, comparison in pairs if (comparison.ratio or 0) > _CLEAR]


def is_violated(claim: Claim, table: Table) -> bool:
    """Return whether a claim fails on a run, exactly."""
    try:
        return check(claim, parse_run(table, RATIONAL)).holds is False
    except (FedtheoryError, ArithmeticError, LookupError, ValueError):
        return False
