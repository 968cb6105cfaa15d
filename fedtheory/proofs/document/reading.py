"""Reads documents: their symbols, and their certificate for a claim."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.proofs.definitions import definition_of, names_of
from fedtheory.proofs.document.records import CERTIFICATE
from fedtheory.proofs.document.symbols import read_declared, symbols_of
from fedtheory.proofs.proof_report import Document
from fedtheory.proofs.run_terms import unused_symbol
from fedtheory.runfile.definitions import is_user_defined

FORMAT, VERSION = "fedtheory certificate", 1
LONGEST = 250_000
"""Largest number of characters of a document; the papers' longest has 13,000."""
QUANTITIES = "quantities"
"""The entry that names quantities of the certificate that the claim does not name."""
LEMMAS = "lemmas"
"""The entry with the lemmas of the certificate."""
DEFINITION = "definition"
"""The entry with the digest of the user's definition that the certificate is about."""


def certificate_in(claim: Claim, document: object) -> Any:
    """Return the certificate of a document, for a claim; an `InputError` names the place and what was expected."""
    entries = _require_format(document)
    claim = with_quantities(claim, document)
    _require_definition(claim, entries)
    scope = read_declared(entries["letters"], symbols_of(claim), "letters")
    found = CERTIFICATE.read(entries["certificate"], scope, "certificate")
    if found.claim != claim.id:
        raise InputError("certificate.claim", f"expected {claim.id}, got {found.claim}")
    return found


def with_quantities(claim: Claim, document: object) -> Claim:
    """Return the claim with symbols for the further quantities that a document names; its statement is unchanged.

    Raises `InputError` if a name is no quantity of the vocabulary.
    """
    names = document.get(QUANTITIES, []) if isinstance(document, dict) else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) > _MOST_QUANTITIES:
        raise InputError(QUANTITIES, f"expected a list of at most {_MOST_QUANTITIES} names, got {names!r:.80}")
    if not names:
        return claim
    where = {**claim.where, **claim.notation}
    for name in names:
        if any(known.name == name for known in where.values()):
            continue
        quantity = _list_quantities().get(name)
        if quantity is None:
            raise InputError(QUANTITIES, f"expected names of quantities, got {name!r:.80}")
        where[unused_symbol(quantity, where, claim)] = quantity
    return replace(claim, where=where)


_MOST_QUANTITIES = 50


@cache
def _list_quantities() -> dict[str, Quantity]:
    """Return the quantities, vectors and objectives of the vocabulary by their names."""
    from fedtheory.language.vocabulary import vocabulary

    return {entry.quantity.name: entry.quantity for entry in vocabulary() if isinstance(entry.quantity, Quantity)}


def read_document(file: str | Path) -> Document:
    """Return the document of a JSON file; an `InputError` names the file and what was expected."""
    try:
        with Path(file).open(encoding="utf-8") as opened:
            text = opened.read(LONGEST + 1)
        require_short(text)
        return _require_format(json.loads(text, object_pairs_hook=_reject_repeated_keys))
    except OSError as error:
        raise InputError("", f"cannot be read ({error.strerror})", str(file)) from None
    except (ValueError, RecursionError) as error:
        raise InputError("", f"is not JSON: {error}", str(file)) from None
    except InputError as error:
        raise error.in_file(str(file)) from None


def require_short(text: str) -> None:
    """Raise `InputError` for a document that is longer than any certificate."""
    if len(text) > LONGEST:
        raise InputError("", f"expected a document of at most {LONGEST} characters")


def _reject_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a table; raise `InputError` for a repeated key, which readers could interpret differently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise InputError(next(name for name in found if names.count(name) > 1), "expected this key once")
    return found


def find_claim_id(document: object) -> str:
    """Return the id of the claim that a document is about."""
    certificate = _require_format(document)["certificate"]
    name = certificate.get("claim") if isinstance(certificate, dict) else None
    if not isinstance(name, str):
        raise InputError("certificate.claim", f"expected the id of a claim, got {name!r:.80}")
    return name


def _require_format(document: object) -> Document:
    expected = {"format", "version", "letters", "certificate"}
    if not isinstance(document, dict) or document.keys() - {DEFINITION, QUANTITIES, LEMMAS} != expected:
        raise InputError("", f"expected a table with {', '.join(sorted(expected))}")
    if (document["format"], document["version"]) != (FORMAT, VERSION):
        found = f"{document['format']!r:.40} version {document['version']!r:.10}"
        raise InputError("format", f"expected {FORMAT!r} of version {VERSION}, got {found}")
    if not isinstance(document["letters"], dict):
        raise InputError("letters", f"expected a table, got {document['letters']!r:.80}")
    return document


def _require_definition(claim: Claim, entries: Document) -> None:
    """Raise `InputError` if a certificate was made for another version of the user's definition."""
    expected, given = digest_definition(claim), entries.get(DEFINITION)
    if given != expected or (DEFINITION in entries and expected is None):
        (name, *_) = names_of(claim) or {"no algorithm"}
        raise InputError(DEFINITION, f"expected {expected or 'none'}, for {name} as it is now, got {given!r:.80}")


def digest_definition(claim: Claim) -> str | None:
    """Return the digest of the user's definition that a claim is about; None if there is none."""
    named = names_of(claim)
    return definition_of(claim).digest if len(named) == 1 and any(map(is_user_defined, named)) else None
