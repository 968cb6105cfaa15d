"""Decide claims without instances: by a stored counterexample, by a proof, or because they are definitions.

A decided claim is then checked on a sample of its families only. The sample shows how tight the bound is, and detects
encoding errors: a wrong definition fails on nearly all runs. All other claims are checked on full families.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, get_args

from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.language.targets import Target, resolve
from fedtheory.proofs import prove
from fedtheory.runfile import read_toml
from verify.check import check
from verify.counterexamples import find_counterexample
from verify.evaluated_instances import Outcome, is_evidence
from verify.instances import Given
from verify.processes import run_in_order
from verify.slack import WHOLE, run_files
from verify.slack.stored_runs import RunTable
from verify.witness import Witness, read_exact_run

POINTERS = ("definition", "algorithm", "assumption", "experiment")
"""Kinds of claims that define something; their verdict is "definition" while their identity holds."""
Deciding = Literal["proved", "refuted", "definition"]
DECIDED: tuple[Deciding, ...] = get_args(Deciding)
"""Verdicts that do not depend on the number of instances."""
_MOST = 128
"""Number of claims per task. Smaller tasks prove shared lemmas twice, larger ones leave processes idle."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Outcome of a claim on a stored run."""

    outcome: Outcome
    witness: Witness


@dataclass(frozen=True, eq=False)
class Decision:
    """Evidence that decides a claim; all fields are None where there is none."""

    verdict: Deciding | None = None
    stored: Stored | None = None
    """Outcome on the stored counterexample; for a proved bound, on the stored run with the largest attained ratio."""


def import_checks(*, all_papers: bool) -> None:
    """Import the modules that check claims, and the claims of all papers if `all_papers` is set."""
    if all_papers:
        all_claims()


def decide_claims(targets: Sequence[Target], jobs: int) -> Iterator[tuple[Target, Decision]]:
    """Decide claims in parallel; claims of one paper are decided together, since their proofs use each other."""
    of_papers: dict[str, list[Target]] = {}
    for target in targets:
        of_papers.setdefault(resolve(target).source, []).append(target)
    tasks = [
        (of_one[first : first + _MOST],) for of_one in of_papers.values() for first in range(0, len(of_one), _MOST)
    ]
    tasks.sort(key=lambda task: len(task[0]), reverse=True)
    return itertools.chain.from_iterable(run_in_order(_decide_on, tasks, jobs))


def _decide_on(targets: Sequence[Target]) -> list[tuple[Target, Decision]]:
    return [(target, decide_claim(target)) for target in targets]


def decide_claim(target: Target) -> Decision:
    """Decide a claim in exact arithmetic; stored evidence is checked again."""
    claim = resolve(target)
    stored = _check_on(target, find_counterexample(claim))
    if stored is not None and stored.outcome.holds is False:
        return Decision("refuted", stored)
    if claim.kind in POINTERS:
        return Decision("definition")
    if claim.rate is not None or prove(claim).verdict != "proved":
        return Decision()
    return Decision("proved", _check_on(target, _find_tightest(claim)))


def _find_tightest(claim: Claim) -> RunTable | None:
    file = run_files(claim).get(WHOLE)
    return None if file is None else read_toml(file)


def _check_on(target: Target, table: RunTable | None) -> Stored | None:
    """Check a claim on a run; None where it does not apply."""
    if table is None:
        return None
    begin = perf_counter()
    run, instance = read_exact_run(table), Given("stored", 0, table)
    found = check(resolve(target), run)
    if not is_evidence(found):
        return None
    return Stored(
        Outcome.from_check(target, (instance, run), found, perf_counter() - begin), Witness.from_run(run, found)
    )
