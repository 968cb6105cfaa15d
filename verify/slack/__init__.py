"""Tightness of proved bounds: the largest ratio attained, and the smallest possible constant of each term.

The folder of the claim's paper has a run for the whole bound and for each term. For other proved claims it has the
tightest instance, unless that is in the sample on which they are tried. A stored run is no evidence by itself: it is
checked again before it is shown. The command ``python -m verify.slack`` searches for such runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import fmpq

from fedtheory.arithmetic import RATIONAL, plain_float
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.runfile import parse_run, read_toml
from verify import cache
from verify.check import check
from verify.digests import CERTIFICATES, STATEMENTS, digest_claim, digest_code, digest_paper
from verify.slack.bound_parts import WHOLE, Part, has_parts, list_parts
from verify.slack.stored_runs import RunTable, run_files

__all__ = [
    "WHOLE",
    "Part",
    "Share",
    "compute_share",
    "compute_shares",
    "has_runs",
    "list_parts",
    "run_files",
    "select_proved_bounds",
    "select_proved_claims",
]


@dataclass(frozen=True, eq=False)
class Share:
    """A part of a bound, and a run that attains a ratio to this part."""

    part: Part
    run: RunTable
    """The table of a run file."""
    value: fmpq
    """The exact ratio; with a smaller multiple of the part, the bound fails on this run."""

    @property
    def is_attained(self) -> bool:
        """Return whether the run attains the whole term."""
        return bool(self.value == 1)

    @property
    def constant(self) -> float:
        """Return the smallest constant that the part could have on this run."""
        return plain_float(self.value) * float(self.part.constant)


def select_proved_claims(claims: Iterable[Claim] | None = None) -> list[Claim]:
    """Select the proved claims from a list, by default from all claims."""
    chosen = all_claims().values() if claims is None else claims
    return [claim for claim in chosen if claim.verdict == "proved"]


def select_proved_bounds(claims: Iterable[Claim] | None = None) -> list[Claim]:
    """Select the proved upper bounds that are results, not steps of proofs, by default from all claims."""
    return [
        claim for claim in select_proved_claims(claims) if claim.kind in ("bound", "inequality") and has_parts(claim)
    ]


def has_runs(claims: Iterable[Claim]) -> bool:
    """Return whether a run is stored for one of the claims."""
    return any(WHOLE in run_files(claim) for claim in select_proved_bounds(claims))


def compute_shares(claim: Claim) -> list[Share]:
    """Return the known tightness of each part of a bound, with every stored run checked again.

    Raises `InputError` if a stored run gives no positive ratio for its part.
    """
    found, files = [], run_files(claim)
    for part in list_parts(claim):
        file = files.get(part.name)
        if file is None:
            continue
        table = read_toml(file)
        value = _find_share(part, table)
        if value is None:
            raise InputError(str(file), f"expected a run with a positive ratio for this part of {claim.id}")
        found.append(Share(part, table, value))
    return found


def _find_share(part: Part, table: RunTable) -> fmpq | None:
    """Return the attained ratio of a part on a stored run; cached for the pages of the claim and of all claims."""
    paper = digest_paper(part.bound.source, STATEMENTS, CERTIFICATES)
    key = "share", digest_code(), paper, digest_claim(part.bound), part.name, repr(table)
    known: fmpq | None = cache.find(*key)
    if known is not None:
        return known
    value = compute_share(part, table)
    if value is not None:
        cache.save(value, *key)
    return value


def compute_share(part: Part, table: RunTable) -> fmpq | None:
    """Return the attained ratio of a part on a run, in rationals; None where zero or not applicable."""
    found = check(part.claim, parse_run(table, RATIONAL))
    worst = found.worst
    if not found.applicable or worst is None or found.holds is not True or not isinstance(worst.ratio, fmpq):
        return None
    return worst.ratio if worst.ratio > 0 else None
