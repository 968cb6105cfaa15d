"""Certificates as documents: they are read and checked like the originals, satisfy the schema, and are never
executed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from jsonschema import Draft202012Validator

from fedtheory.errors import InputError
from fedtheory.kernel import Term, square
from fedtheory.kernel.expressions import norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Part, certificates, check_certificate, facts
from fedtheory.proofs.document import certificate_in, digest, document_of, find_claim_id, read_document, schema
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.roots import Root

IDS = sorted(certificates())
LONG = {
    "fraboni2022:cor-1.random-weights",
    "vlaski2023:eq-5.59-5.60",
    "vlaski2023:eq-5.61.fixed",
    "vlaski2023:eq-5.62.explicit",
    "vlaski2023:eq-5.64.fixed",
    "vlaski2023:eq-5.65",
    "vlaski2023:thm-5.1.recursion.explicit",
}
"""Certificates that take seconds to check."""
SOME = [pytest.param(one, marks=[pytest.mark.long] * (number % 4 > 0)) for number, one in enumerate(IDS)]
"""All certificates, or one in four for the fast tests."""
SCHEMA = Path(__file__).parents[3] / "docs" / "certificate.schema.json"


@cache
def document(claim_id: str) -> Any:
    """Return the document of a recorded certificate."""
    return document_of(find(claim_id), certificates()[claim_id])


@cache
def validator() -> Draft202012Validator:
    """Return the validator of documents against the schema."""
    return Draft202012Validator(schema())


@pytest.mark.parametrize("claim_id", IDS)
def test_documents_survive_a_round_trip(claim_id: str) -> None:
    """Writing and reading through JSON gives an equal document."""
    claim, first = find(claim_id), document(claim_id)
    read = json.loads(json.dumps(first))
    assert read == first
    assert find_claim_id(read) == claim_id
    second = document_of(claim, certificate_in(claim, read))
    third = document_of(claim, certificate_in(claim, json.loads(json.dumps(second))))
    assert json.dumps(third) == json.dumps(second)
    assert second["letters"] == first["letters"]


@pytest.mark.parametrize(
    "claim_id",
    [
        pytest.param(
            one, marks=[pytest.mark.slow if one in LONG else pytest.mark.long] * (one in LONG or number % 4 > 0)
        )
        for number, one in enumerate(IDS)
    ],
)
def test_documents_are_judged_as_certificates(claim_id: str) -> None:
    """A document that was written and read twice is accepted like the certificate."""
    claim = find(claim_id)
    second = document_of(claim, certificate_in(claim, json.loads(json.dumps(document(claim_id)))))
    proof = check_certificate(claim, json.loads(json.dumps(second)))
    assert proof.verdict == "proved", [step for step in proof.steps if not step.holds]
    assert proof.document == second


@pytest.mark.parametrize("claim_id", SOME)
def test_a_document_fits_the_schema(claim_id: str) -> None:
    """A document satisfies the schema, but not with an additional key, without its kind or claim, or in another
    version.
    """
    whole = document(claim_id)
    assert not list(validator().iter_errors(whole))
    for key in ("kind", "claim"):
        less = {name: one for name, one in whole["certificate"].items() if name != key}
        assert not validator().is_valid({**whole, "certificate": less})
    assert not validator().is_valid({**whole, "certificate": {**whole["certificate"], "more": 1}})
    assert not validator().is_valid({**whole, "more": 1})
    assert not validator().is_valid({**whole, "version": 2})


def test_the_schema_is_a_schema_and_is_on_record() -> None:
    """The file in the documentation is the schema of the package."""
    Draft202012Validator.check_schema(schema())
    assert SCHEMA.read_text(encoding="utf-8") == json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


DIGESTS = """
import json
from fedtheory.language.registry import find
from fedtheory.proofs import certificates
from fedtheory.proofs.document import digest, document_of
print(json.dumps({name: digest(document_of(find(name), one)) for name, one in certificates().items()}))
"""


@pytest.mark.long
def test_digests_are_those_of_the_content() -> None:
    """Equal content has equal digests in another process and with another order of keys; other content does not."""
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    found = subprocess.run([sys.executable, "-c", DIGESTS], env=environment, capture_output=True, text=True, check=True)
    digests = {claim_id: digest(document(claim_id)) for claim_id in IDS}
    assert json.loads(found.stdout) == digests
    assert len(set(digests.values())) == len(IDS)
    for claim_id in IDS:
        assert digest(shuffled(document(claim_id), random.Random(claim_id))) == digests[claim_id]


def shuffled(document: Any, chance: random.Random) -> Any:
    """Return a document with the keys of each table in another order."""
    if isinstance(document, list):
        return [shuffled(one, chance) for one in document]
    if not isinstance(document, dict):
        return document
    return {key: shuffled(document[key], chance) for key in chance.sample(list(document), len(document))}


# Rejected documents give one line with the place, at once, without execution.

x, eta, T, r = sp.Symbol("x", real=True), *sp.symbols("eta T r", positive=True)
WHERE = {x: q.point, eta: q.local_step_size, T: q.rounds}
CLAIM = Claim(id="t:small", lhs=norm_sq(x), rhs=2 * norm_sq(x), where=WHERE, place="points")
SMALL = Certificate(
    claim=CLAIM.id, links=[[Term(sp.S.One, square(x))]], roots=[Root(r, T, [Part(T, facts.ONE)])], relaxed=[eta <= 1]
)
CLAIM = replace(CLAIM, conditions=[eta <= 1])
TERM = ("certificate", "links", 0, 0)
PART = ("certificate", "roots", 0, "parts", 0)


def changed(*path: Any, to: Any) -> Any:
    """Return the document of the small certificate with one changed part."""
    whole = deepcopy(document_of(CLAIM, SMALL))
    place = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return whole


def refusal(whole: Any) -> str:
    """Return the message with which every reader rejects a document, within a second, in one line."""
    begun = time.process_time()
    with pytest.raises(InputError) as refused:
        certificate_in(CLAIM, whole)
    proof = check_certificate(CLAIM, whole)
    assert time.process_time() - begun < 1
    assert proof.verdict == "broken"
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_small_document_is_accepted() -> None:
    """The unchanged small document is accepted."""
    assert check_certificate(CLAIM, changed("version", to=1)).verdict == "proved"


@pytest.mark.parametrize("symbol", [[r], {}, r + 1, sp.Symbol("r", real=True), None], ids=str)
def test_invalid_symbols_are_refused(symbol: Any) -> None:
    """A symbol without a name, or of another sign with the same name, is rejected."""
    with pytest.raises(InputError, match="has no name"):
        Scope({"r": r}).name_of(symbol)


def test_the_first_of_two_names_is_written() -> None:
    """The first of two names of a symbol is written, so that documents are unique."""
    assert Scope({"one": r, "other": r}).name_of(r) == "one"


SYMBOL = {"latex": "s", "is": "real"}
WRONG: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "another format": (("format",), "proof", "format: expected"),
    "another version": (("version",), 2, "format: expected"),
    "a version as text": (("version",), "1", "format: expected"),
    "an unknown key at the top": (("more",), 1, "expected a table with"),
    "an unknown key of a certificate": (("certificate", "more"), 1, "certificate.more: unknown key"),
    "an unknown key of a term": ((*TERM, "more"), 1, "links[0][0].more: unknown key"),
    "an unknown key of a reason": ((*TERM, "reason", "more"), 1, "reason.more: unknown key"),
    "another claim": (("certificate", "claim"), "liu2022:thm-1", "certificate.claim: expected t:small"),
    "no text for the claim": (("certificate", "claim"), 7, "certificate.claim: expected a text"),
    "an unknown kind": (("certificate", "kind"), "luck", "certificate.kind: expected one of"),
    "a certificate that is none": (("certificate",), [], "certificate: expected a table"),
    "links that are no list": (("certificate", "links"), {}, "certificate.links: expected a list"),
    "a link that is none": (("certificate", "links", 0), "luck", "links[0]: expected a table"),
    "a term that is none": (TERM, [], "links[0][0]: expected a table"),
    "a term without a reason": (TERM, {"kind": "term", "coefficient": "1"}, "expected reason as well"),
    "a coefficient that is a number": ((*TERM, "coefficient"), 1, "coefficient: expected an expression as text"),
    "a flag that is a number": ((*TERM, "averaged"), 1, "averaged: expected true or false"),
    "an unknown reason": ((*TERM, "reason", "reason"), "luck", "no inequality called 'luck'"),
    "a reason about nothing": ((*TERM, "reason"), {"reason": "square"}, "expected of as well"),
    "an unknown fact": ((*PART, "premise"), {"fact": "luck"}, "premise.fact: expected one of"),
    "a premise of no kind": ((*PART, "premise"), {"luck": "one"}, "premise.kind: expected one of"),
    "a link counted backwards": ((*PART, "premise"), {"kind": "relation", "claim": "t", "link": -1}, "from zero on"),
    "letters that are no table": (("letters",), [], "letters: expected a table"),
    "a letter that is none": (("letters", "s"), "real", "letters.s: expected latex"),
    "a letter of another kind": (("letters", "s"), {"latex": "s", "is": "integer"}, "letters.s: expected latex"),
    "a letter with no text": (("letters", "s"), {"latex": 1, "is": "real"}, "letters.s.latex: expected a text"),
    "a letter of the claim, again": (("letters", "local_step_size"), SYMBOL, "a name that nothing else has"),
    "a letter of a technique": (("letters", "induction.power"), SYMBOL, "a name that nothing else has"),
    "a letter called as a head": (("letters", "inner"), SYMBOL, "a name that nothing else has"),
    "a letter that is no name": (("letters", "1 + s"), SYMBOL, "a name that nothing else has"),
}


@pytest.mark.parametrize("name", WRONG)
def test_documents_that_are_none(name: str) -> None:
    """Unknown keys, wrong types, another claim, and used symbols are rejected with the place."""
    path, value, expected = WRONG[name]
    assert expected in refusal(changed(*path, to=value))


TEXTS = [
    "__import__('os')",
    "(lambda: 1)()",
    "x if 1 else 2",
    "9**9**9",
    "2**1001",
    "1/0",
    "1/(local_step_size - local_step_size)",
    "print(1)",
    "inner(point)",
    "inner(point, point, point)",
    "inner(*point)",
    "inner(point, right=point)",
    "point.__class__",
    "point.name",
    "point[0]",
    "[1 for _ in point]",
    "{1}",
    "'1'",
    "f'{1}'",
    "1.5",
    "1e3",
    "1j",
    "True",
    "None",
    "...",
    "1 != 1",
    "1 < 2 < 3",
    "not 1",
    "1 and 2",
    "7 // 2",
    "7 % 2",
    "~1",
    "+1",
    "(one := 1)",
    "yield",
    "await point",
    "1; 2",
    "unknown",
    "inner",
    "\x00",
    "",
    "9" * 5000,
    "1 + " * 6000 + "1",
    "(" * 5000 + "1" + ")" * 5000,
    "-" * 10_000 + "1",
    "2*" * 5000 + "2",
    "mean(" * 3000 + "1" + ")" * 3000,
]


FRACTION = "1/(rounds + "
LARGE: dict[str, str] = {
    **{f"a fraction {depth} deep": FRACTION * depth + "1" + ")" * depth for depth in (5, 20, 150, 1000)},
    "a difference of deep fractions": f"{FRACTION * 12}1{')' * 12} - {FRACTION * 11}1{')' * 11}",
    "powers of powers": "(((1 + rounds)**9 + local_step_size)**9 + rounds)**9",
    "a high power": "(1 + rounds)**201",
    "a product of powers": "(1 + rounds)**150*(1 + local_step_size)**150",
    "negative powers of negative powers": "(" * 6 + "rounds" + " + 1)**(-1)" * 6,
}


@pytest.mark.parametrize("name", LARGE)
def test_expressions_that_would_take_forever(name: str) -> None:
    """Nested quotients and powers of powers, which grow without bound, are rejected at once."""
    places = ((*TERM, "coefficient"), (*TERM, "reason", "of"), (*PART, "coefficient"))
    for place in (*places, ("certificate", "roots", 0, "of")):
        refusal(changed(*place, to=LARGE[name]))
    refusal(changed("certificate", "relaxed", 0, to=f"{LARGE[name]} <= 1"))


@pytest.mark.parametrize("text", TEXTS, ids=[text[:30] for text in TEXTS])
def test_texts_that_are_no_expressions(text: str) -> None:
    """Invalid texts are rejected in place of any expression."""
    places = ((*TERM, "coefficient"), (*TERM, "reason", "of"), ("certificate", "relaxed", 0))
    for place in (*places, ("certificate", "roots", 0, "of"), (*PART, "coefficient")):
        refusal(changed(*place, to=text))


def test_a_key_says_one_thing(tmp_path: Path) -> None:
    """A repeated key is rejected, because some readers use its first value, others its last."""
    file = tmp_path / "twice.json"
    file.write_text(json.dumps(document("liu2022:thm-1")).replace('"claim":', '"claim": "other:thm-1", "claim":', 1))
    with pytest.raises(InputError, match="claim: expected this key once"):
        read_document(file)


def test_texts_are_not_executed(tmp_path: Path) -> None:
    """A text that would create a file does not create it."""
    file = tmp_path / "executed"
    for made in (f"open({str(file)!r}, 'w')", f"__import__('pathlib').Path({str(file)!r}).touch()"):
        for text in (made, f"inner(point, {made})", f"(lambda: {made})()", f"point.a[{made}]", f"1 if {made} else 2"):
            refusal(changed(*TERM, "coefficient", to=text))
            refusal(changed("letters", text, to=SYMBOL))
    assert not file.exists()
