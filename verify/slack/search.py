"""Search runs with large attained ratios of a bound, and keep the best ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from flint import fmpq

from fedtheory.arithmetic import plain_float
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.targets import Target
from fedtheory.runfile import run_table
from verify.evaluated_instances import Outcome, try_claims
from verify.falsify import falsify
from verify.falsify.run_tables import measure_hand_work
from verify.instances import FAMILIES, PARTS
from verify.slack import compute_share, select_proved_bounds, select_proved_claims
from verify.slack.bound_parts import WHOLE, Part, bound_of, list_parts
from verify.slack.stored_runs import RunTable, keep_parts, load_runs, store_run

Found = tuple[fmpq, RunTable]
_NOTHING = float("-inf")
"""Ratio of an instance without a ratio."""
_NEARLY = 0.01
"""Fraction of a ratio within which another ratio counts as equal."""
_DIGITS = 3
"""Number of digits to which attained ratios are compared; among equal ones below 1, the smaller run is kept."""


def regenerate(
    claims: Sequence[Claim],
    seconds: float,
    also: Sequence[RunTable] = (),
    on_found: Callable[[Part, fmpq | None], None] = lambda _part, _share: None,
) -> None:
    """Write the run with the largest attained ratio of each part of each bound; each search takes `seconds`.

    Candidates are the stored runs of the paper, the tightest of all instances of the claim, the results of the search,
    and the runs of `also`. For a proved claim that is no bound, the tightest instance is stored, unless an instance as
    tight is in the sample on which such claims are tried.
    """
    bounds = {claim.id for claim in select_proved_bounds(claims)}
    for claim, outcomes in _evaluate_all_instances(claims):
        tightest = max(outcomes, key=_compute_ratio, default=None)
        candidates = [*also] if tightest is None else [*also, run_table(tightest.instance.run())]
        if claim.id in bounds:
            for part in list_parts(claim):
                on_found(part, _renew(part, [*candidates, *load_runs(claim), *_search(part, seconds)]))
        else:
            whole, in_sample = (
                bound_of(claim),
                max(map(_compute_ratio, filter(_is_sampled, outcomes)), default=_NOTHING),
            )
            is_missing = tightest is not None and _compute_ratio(tightest) * (1 - _NEARLY) > in_sample
            on_found(whole, _renew(whole, candidates if is_missing else []))


def _evaluate_all_instances(claims: Sequence[Claim]) -> Iterator[tuple[Claim, list[Outcome]]]:
    """Yield each claim with its outcomes on the instances to which it applies."""
    outcomes: dict[Target, list[Outcome]] = {claim.id: [] for claim in claims}
    for outcome in (outcome for part in PARTS for outcome in try_claims(list(outcomes), part, jobs=-1)):
        if outcome.applicable:
            outcomes[outcome.target].append(outcome)
    return ((claim, outcomes[claim.id]) for claim in claims)


def _compute_ratio(outcome: Outcome) -> float:
    return _NOTHING if outcome.ratio is None else outcome.ratio


def _is_sampled(outcome: Outcome) -> bool:
    return outcome.instance in FAMILIES[outcome.instance.family].part(PARTS[0])


def _renew(part: Part, candidates: Sequence[RunTable]) -> fmpq | None:
    best = max(_search_part(part, candidates), key=_make_rank, default=None)
    store_run(part.bound, part.name, None if best is None else best[1])
    return None if best is None else best[0]


def _make_rank(found: Found) -> tuple[bool, float, int]:
    share, table = found
    return bool(share == 1), round(plain_float(share), _DIGITS), -measure_hand_work(table)


def _search(part: Part, seconds: float) -> Iterator[RunTable]:
    """Search for a violation of the claim that bounds this part."""
    run = falsify(part.claim, seconds).run if seconds > 0 else None
    if run is not None:
        yield run


def _search_part(part: Part, tables: Iterable[RunTable]) -> Iterator[Found]:
    for table in tables:
        with suppress(FedtheoryError, ArithmeticError, LookupError):
            share = compute_share(part, table)
            if share is not None:
                yield share, table


def remove_stale() -> None:
    """Remove the runs of claims that are no longer proved, and of parts that no longer exist."""
    kept = {(claim, part.name) for claim in select_proved_bounds() for part in list_parts(claim)}
    keep_parts({*kept, *((claim, WHOLE) for claim in select_proved_claims())})
