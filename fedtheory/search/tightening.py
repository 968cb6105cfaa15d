"""Searches for the smallest constants of a bound with which a proof is found, one term after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import find_simplest_between
from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.proof_search import EFFORT, find_proof

_HALVINGS = 5
"""Number of constants that are tried for each term, between the largest unproved and the smallest proved one."""


@dataclass(frozen=True)
class TightenedTerm:
    """A term of a bound, with its constant as stated and the smallest one that was proved."""

    term: Expr
    """The term without its constant."""
    stated: sp.Rational
    proved: sp.Rational


@dataclass(frozen=True)
class Tightened:
    """A proved bound with smaller constants: each is the smallest that was found with the previous ones."""

    found: Found
    """Proof of the tightened claim."""
    terms: tuple[TightenedTerm, ...]
    work: int
    """Units of work of all searches."""


def tighten(
    claim: Claim, effort: int = EFFORT, on_progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Tightened | NotFound:
    """Lower the constants of an upper bound as long as a search proves the claim.

    Other searches, or another order of the terms, may reach smaller constants.  `effort` limits the work of each
    search.  `on_progress` receives the number of completed terms and that of all terms.  Raises `InputError` unless
    the claim is an upper bound.
    """
    if claim.rhs is None or len(claim.relations) != 1 or claim.relations[0].operator not in ("<=", "<"):
        raise InputError(claim.id, "expected one upper bound, lhs <= rhs: only its numbers can be lowered")
    parts = [part.as_coeff_Mul() for part in sp.Add.make_args(claim.relations[0].right)]
    search = _Search(claim, effort, [number for number, _ in parts], [rest for _, rest in parts])
    found = search.prove(search.numbers)
    if found is None:
        return search.failed
    done = []
    for place, (stated, rest) in enumerate(parts):
        on_progress(place, len(parts))
        if stated.is_Rational and stated > 0:
            found = search.lower(place, found)
            done.append(TightenedTerm(rest, stated, search.numbers[place]))
    on_progress(len(parts), len(parts))
    return Tightened(found, tuple(done), search.work)


class _Search:
    """A search for proofs of a claim with other constants, and the smallest proved constants so far."""

    def __init__(self, claim: Claim, effort: int, numbers: list[sp.Rational], rests: list[Expr]) -> None:
        self._claim, self._effort, self._rests = claim, effort, rests
        self.numbers, self.work = numbers, 0
        self.failed = NotFound("nothing has been searched")

    def prove(self, numbers: list[sp.Rational]) -> Found | None:
        """Search for a proof of the claim with these constants."""
        right = sp.Add(*(number * rest for number, rest in zip(numbers, self._rests, strict=True)))
        found = find_proof(replace(self._claim, rhs=right), self._effort)
        self.work += found.work
        if isinstance(found, Found):
            return found
        self.failed = found
        return None

    def lower(self, place: int, best: Found) -> Found:
        """Lower one constant as long as proofs are found; return the proof with the smallest."""
        low = sp.S.Zero
        without_term = self._try_constant(place, low)
        if without_term is not None:
            return without_term
        for _ in range(_HALVINGS):
            quarter = (self.numbers[place] - low) / 4
            middle = _choose_between(low + quarter, self.numbers[place] - quarter)
            found = self._try_constant(place, middle)
            if found is None:
                low = middle
            else:
                best = found
        return best

    def _try_constant(self, place: int, number: sp.Rational) -> Found | None:
        """Search with another constant for one term, and keep the constant if a proof is found."""
        numbers = [*self.numbers[:place], number, *self.numbers[place + 1 :]]
        found = self.prove(numbers)
        if found is not None:
            self.numbers = numbers
        return found


def _choose_between(low: sp.Rational, high: sp.Rational) -> sp.Rational:
    """Return the simplest rational in an interval."""
    found = find_simplest_between(*(fmpq(int(end.p), int(end.q)) for end in (low, high)))
    return sp.Rational(int(found.p), int(found.q))
