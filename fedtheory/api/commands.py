"""The commands, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fedtheory import find_floors_first
from fedtheory.api.cards import BY_CLASS
from fedtheory.api.inputs import convert_to_claim, convert_to_exact_run, convert_to_run
from fedtheory.process import run_in_one_thread
from fedtheory.shown import PICTURES

if TYPE_CHECKING:
    from fedtheory.api.inputs import ClaimLike, RunLike
    from fedtheory.api.results import Verdicts
    from fedtheory.api.simulation import Simulation
    from fedtheory.planner import Plan
    from fedtheory.proofs import Proof
    from verify.check import Check
    from verify.falsify import Finding

find_floors_first()
PICTURES.update(BY_CLASS)


@run_in_one_thread
def simulate(run: RunLike, *, arithmetic: str | None = None, schedules: int = 100, seed: int = 0) -> Simulation:
    """Compute expectations of a run exactly, over all noise and all sampling of clients, without sampling error.

    `run` is a `Run`, the name of a run file, or its content as a dictionary; `arithmetic` is "float" or "rational",
    by default that of the run.  If client times are random, `schedules` of them are sampled with `seed`.
    Raises `InputError` if `run` is invalid, and `NotApplicable` if it has too many outcomes to enumerate.

    >>> import fedtheory as ft
    >>> problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    >>> found = ft.simulate({"problem": problem, "algorithm": {"local_step_size": "1/2", "rounds": 2}})
    >>> found.distance_sq.tolist()
    [1.0, 0.25, 0.0625]
    """
    from fedtheory.api.simulation import simulate_run

    return simulate_run(convert_to_run(run, arithmetic), schedules, seed)


@run_in_one_thread
def check(claim: ClaimLike, run: RunLike, *, arithmetic: str | None = None) -> Check:
    """Check a claim on a run: its conditions with their slack, both sides, each term, and whether it holds.

    `claim` is a `Claim`, an id, or ``"file.py:NAME"``; `run` is as for `simulate`.  Checks that floats cannot decide
    are repeated in rationals if the run is short enough.

    >>> import fedtheory as ft
    >>> problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    >>> run = {"problem": problem, "algorithm": {"local_step_size": "1/4", "local_steps": 2, "rounds": 3}}
    >>> ft.check("renard2022:thm-2.1", run)
    <Check renard2022:thm-2.1: holds>
    """
    from verify.check.escalation import check_and_escalate

    return check_and_escalate(
        convert_to_claim(claim), convert_to_run(run, arithmetic), lambda: convert_to_exact_run(run)
    )


@run_in_one_thread
def verify(*claims: ClaimLike, jobs: int = 1, search: float = 10) -> Verdicts:
    """Check claims on families of exact instances, and return the verdict of each.

    A target is an id, a pattern, a source, a folder or ``"file.py"``, as on the command line, or a
    `Claim`, which is checked in this process.  If a user-defined claim passes, a search for a violation follows, for
    `search` seconds.  Raises `InputError` without claims.
    """
    from fedtheory.api.inputs import list_targets
    from fedtheory.api.progress import progress
    from fedtheory.api.results import Verdicts
    from verify.verdict import verify as verified

    with progress("instances") as tell:
        return Verdicts(verified(list_targets(claims), jobs=jobs, search=search, in_full=True, on_progress=tell))


@run_in_one_thread
def falsify(claim: ClaimLike, *, budget: float = 20, seed: int = 0) -> Finding:
    """Search for a violation of a claim for `budget` seconds.

    A refutation is exact, and its run is made as simple as possible.
    `claim` is a `Claim`, an id, or ``"file.py:NAME"``; another `seed` searches in another order.  The result has
    the `verdict` ("refuted", "not refuted" or "not applicable" with its `reason`), the `run` as a table, and `found`,
    the check of the claim on that run.  Raises `InputError` if the claim has no relation that could be violated.

    >>> import fedtheory as ft
    >>> found = ft.falsify("renard2022:property-2.4", budget=8)
    >>> found.verdict, str(found.found.worst.lhs), str(found.found.worst.rhs)
    ('refuted', '1', '0')
    """
    from fedtheory.api.progress import progress
    from verify.exclusions import explain_finding
    from verify.falsify import falsify as falsified

    with progress("seconds of search") as tell:
        return explain_finding(falsified(convert_to_claim(claim), budget, seed, tell))


def prove(claim: ClaimLike, certificate: str | None = None) -> Proof:
    """Check the certificate of a claim with the kernel: the recorded one, or that in a JSON file.

    >>> import fedtheory as ft
    >>> ft.prove("liu2022:thm-1")
    <Proof liu2022:thm-1: proved>
    """
    from fedtheory.proofs import check_certificate
    from fedtheory.proofs import prove as proved
    from fedtheory.proofs.document import read_document

    if certificate is None:
        return proved(convert_to_claim(claim))
    return check_certificate(convert_to_claim(claim), read_document(certificate))


@run_in_one_thread
def plan(
    run: RunLike | Mapping[str, float],
    *,
    target: float | None = None,
    claims: Sequence[ClaimLike] | None = None,
    error: str = "final",
    margin: float = 0.1,
) -> Plan:
    """Recommend step sizes and rounds that reach a target, for a run or for constants alone, with the dominating terms.

    `run` is as for `simulate`, or a table of numbers by symbols, such as ``{"L": 1, "M": 10, "tau": 5, "T": 100}``.
    `target` is the accuracy that is reached and kept; `claims` are the bounds to use, by default all true ones; `error`
    selects the exact error, that of the last iterate ("final"), or the average over the path ("average").
    `margin` is the relative distance of the step sizes from the edge of divergence.

    >>> import fedtheory as ft
    >>> numbers = {"L": 1, "M": 10, "tau": 5, "T": 100, "D": 2, "sigma": 1, "zeta": 0.5}
    >>> found = ft.plan(numbers, claims=["renard2022:thm-2.1"])
    >>> round(found.recommended.optimum.step_size, 4)
    0.0246
    """
    from fedtheory import planner
    from fedtheory.api.progress import progress
    from fedtheory.arithmetic import FLOAT

    chosen = None if claims is None else [convert_to_claim(claim) for claim in claims]
    if isinstance(run, Mapping) and "problem" not in run:
        return planner.plan_numbers({name: FLOAT.number(value, name) for name, value in run.items()}, target, chosen)
    with progress("planning") as tell:
        return planner.plan(convert_to_run(run, "float"), target, chosen, error=error, margin=margin, on_progress=tell)
