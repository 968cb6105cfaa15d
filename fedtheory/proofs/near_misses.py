"""Finds a small change with which a broken certificate is accepted, by trying common slips one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from fedtheory.kernel.messages import LEFT_OVER
from fedtheory.proofs.checker import MOST_WORK, check_certificate
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.repairs import find_repair

_MOST_TERMS = 24
_FACTORS = ("2", "1/2", "-1")
_PLACES = ("at", "around")

JsonTable = dict[str, Any]
Change = tuple[str, Callable[[JsonTable], None]]
"""A description of a change, and the function that applies it to a term."""


def list_near_misses(proof: Proof) -> tuple[str, ...]:
    """Return the changes, one or two, with which a broken certificate is accepted; empty if none are found.

    The kernel checks the certificate again for each change; common slips together take at most a quarter of the limit
    of a check, and so do the repairs of what a sum leaves over.
    """
    closest, shortest = None, len(_read_left_over(proof)) // 2
    for words, changed in _list_slips(proof):
        if changed.verdict == "proved":
            return (words,)
        if 0 < len(_read_left_over(changed)) < shortest:
            closest, shortest = (words, changed), len(_read_left_over(changed))
    repair = find_repair(proof)
    if repair is not None or closest is None:
        return () if repair is None else (repair,)
    second = find_repair(closest[1])
    return () if second is None else (closest[0], second)


def _read_left_over(proof: Proof) -> str:
    """Return the text of what a sum leaves over; empty if the first step that fails is another one."""
    return (proof.failing or "").partition(LEFT_OVER)[2]


def _list_slips(proof: Proof) -> Iterator[tuple[str, Proof]]:
    """Yield common slips in one term, each with the proof without it."""
    if proof.verdict != "broken" or proof.document is None:
        return
    document = proof.document
    count = sum(1 for _ in _list_terms(document))
    left = MOST_WORK // 4
    if count > _MOST_TERMS or proof.own_work > MOST_WORK // 100:
        return
    for place in range(count):
        for words, apply in _list_changes(_find_term(document, place)):
            changed = deepcopy(document)
            apply(_find_term(changed, place))
            again = check_certificate(proof.claim, changed)
            left -= again.own_work
            yield f"{words} in term {place + 1} ({_name_reason(_find_term(document, place))})", again
            if left < 0:
                return


def _list_terms(part: Any) -> Iterator[JsonTable]:
    """Yield the terms of a certificate, in the order in which they are written."""
    if isinstance(part, dict):
        if part.get("kind") == "term":
            yield part
        for value in part.values():
            yield from _list_terms(value)
    elif isinstance(part, list):
        for value in part:
            yield from _list_terms(value)


def _find_term(document: Any, place: int) -> JsonTable:
    """Return the term at this place of a document."""
    return next(term for number, term in enumerate(_list_terms(document)) if number == place)


def _list_changes(term: JsonTable) -> Iterator[Change]:
    """Yield changes of a term, each with its description."""
    averaged, reason = bool(term.get("averaged")), term.get("reason")
    yield f"averaged={not averaged}", partial(_set, {"averaged": not averaged})
    if isinstance(reason, dict) and all(place in reason for place in _PLACES):
        yield "the two points exchanged", _exchange
    for factor in _FACTORS:
        coefficient = f"{factor}*({term.get('coefficient')})"
        yield f"the coefficient times {factor}", partial(_set, {"coefficient": coefficient})


def _set(values: JsonTable, term: JsonTable) -> None:
    """Change these values of a term."""
    term.update(values)


def _exchange(term: JsonTable) -> None:
    """Exchange the two points of the term's reason."""
    at, around = _PLACES
    reason = term["reason"]
    term["reason"] = {**reason, at: reason[around], around: reason[at]}


def _name_reason(term: JsonTable) -> str:
    reason = term.get("reason")
    return str(reason.get("reason")) if isinstance(reason, dict) else "a term"
