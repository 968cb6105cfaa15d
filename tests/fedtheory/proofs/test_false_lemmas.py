"""Changed documents with lemmas do not prove false claims."""

from __future__ import annotations

import ast
import copy
import random
import re
from functools import cache
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, find_proof

eta, tau, T, M, G, sigma, L, D = sp.symbols("eta tau T M G sigma L D", positive=True)
WHERE = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, M: q.clients, G: q.second_moment}
WHERE |= {sigma: q.noise_deviation, L: q.smoothness, D: q.initial_distance}
ASSUMED = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares, a.convex_and_smooth)
ASSUMED += (a.unbiased_bounded_variance, a.bounded_second_moment)
START, NOISE, DRIFT = D**2 / (eta * tau * T), 2 * eta * sigma**2 / M, 4 * L * eta**2 * tau**2 * G**2


def _bound(rhs: Any, most: Any = 1 / (4 * L)) -> Claim:
    stated = {"lhs": q.average_suboptimality, "where": WHERE, "assumptions": ASSUMED, "conditions": [eta <= most]}
    return resolve(Claim(id="mine:bound", rhs=rhs, **stated))


TRUE = _bound(START + NOISE + DRIFT)
FALSE = {
    "no drift": _bound(START + NOISE),
    "no noise": _bound(START + DRIFT / tau),
    "no start": _bound(NOISE + DRIFT),
    "less noise": _bound(START + NOISE / M + DRIFT / tau**2),
    "too large a step": _bound(START + NOISE + DRIFT, 4 / L),
}


@cache
def _document() -> Any:
    found = find_proof(TRUE)
    assert isinstance(found, Found)
    return found.proof.document


def _change(chance: random.Random) -> Any:
    """Return the document of the true claim with one to three changes."""
    document = copy.deepcopy(_document())
    for _ in range(chance.randint(1, 3)):
        lemma = chance.choice(document["lemmas"]) if document["lemmas"] else {}
        other = chance.choice(document["lemmas"]) if document["lemmas"] else {}
        chance.choice(_CHANGES)(document, lemma, other, chance)
    return document


def _change_statement(_document: Any, lemma: Any, _other: Any, chance: random.Random) -> None:
    statements = ["average_suboptimality <= 0", "average_round_drift <= 0", "total_progress <= 0", "1 <= 0"]
    lemma["statement"] = chance.choice(statements)


def _change_number(document: Any, lemma: Any, _other: Any, chance: random.Random) -> None:
    target = chance.choice([document, lemma, lemma])
    key = chance.choice(["certificate", "statement"]) if target is lemma and lemma else "certificate"
    if key in target:
        target[key] = _with_other_number(target[key], chance)


def _with_other_number(entry: Any, chance: random.Random) -> Any:
    if isinstance(entry, dict):
        key = chance.choice(list(entry))
        return {**entry, key: _with_other_number(entry[key], chance)}
    if isinstance(entry, list):
        place = chance.randrange(len(entry)) if entry else 0
        return [_with_other_number(one, chance) if n == place else one for n, one in enumerate(entry)]
    if isinstance(entry, str):
        return re.sub(r"\b\d\b", lambda _found: str(chance.randint(0, 4)), entry, count=chance.randint(1, 3))
    return entry


def _change_place(_document: Any, lemma: Any, _other: Any, chance: random.Random) -> None:
    lemma["place"] = chance.choice(["run", "step", "path", "round", "points"])


def _change_conditions(_document: Any, lemma: Any, _other: Any, chance: random.Random) -> None:
    conditions = [["1 <= 0"], [], ["local_step_size <= 0"], ["average_suboptimality <= 0"], ["smoothness == 0"]]
    lemma["conditions"] = chance.choice(conditions)


def _swap_certificates(_document: Any, lemma: Any, other: Any, _chance: random.Random) -> None:
    if lemma and other:
        lemma["certificate"], other["certificate"] = other["certificate"], lemma["certificate"]


def _rename(document: Any, lemma: Any, other: Any, _chance: random.Random) -> None:
    if lemma and other:
        old, new = f"mine:bound#{lemma['name']}", f"mine:bound#{other['name']}"
        text = repr(document).replace(repr(old), repr(new))
        document.update(ast.literal_eval(text))


def _leave_out(document: Any, lemma: Any, _other: Any, _chance: random.Random) -> None:
    document["lemmas"] = [one for one in document["lemmas"] if one is not lemma]


def _shuffle(document: Any, _lemma: Any, _other: Any, chance: random.Random) -> None:
    chance.shuffle(document["lemmas"])


_CHANGES = (
    *(_change_statement, _change_number, _change_number, _change_place, _change_conditions),
    *(_swap_certificates, _rename, _leave_out, _shuffle),
)


@pytest.mark.long
@pytest.mark.parametrize("name", FALSE)
def test_changed_documents_prove_nothing_false(name: str) -> None:
    """A document of a true claim, and forty changes of it, prove no false claim."""
    chance = random.Random(name)
    documents = [_document(), *(_change(chance) for _ in range(40))]
    assert not [
        n for n, document in enumerate(documents) if check_certificate(FALSE[name], document).verdict == "proved"
    ]


def test_a_lemma_may_not_rely_on_itself() -> None:
    """A lemma may use neither itself nor a later lemma."""
    document = copy.deepcopy(_document())
    steps = check_certificate(TRUE, document).steps
    assert all(step.holds for step in steps)
    document["lemmas"] = document["lemmas"][::-1]
    assert check_certificate(TRUE, document).verdict == "broken"
    circle = copy.deepcopy(_document())
    entry = {"name": "goal", "place": "run", "statement": "average_suboptimality <= 0"}
    part = {"kind": "part", "coefficient": "1", "premise": {"claim": "mine:bound#goal"}}
    entry["certificate"] = {"kind": "combination", "claim": "mine:bound#goal", "links": [[part]]}
    circle["lemmas"] = [entry]
    circle["certificate"] = {"kind": "combination", "claim": "mine:bound", "links": [[part]]}
    assert check_certificate(FALSE["no drift"], circle).verdict == "broken"


def test_conditions_of_a_lemma_have_to_follow() -> None:
    """A lemma under a contradictory condition is proved, but its condition must follow where it is used."""
    document = copy.deepcopy(_document())
    entry = {"name": "nothing", "place": "run", "statement": "clients <= 1", "conditions": ["clients <= 1"]}
    part = {"kind": "part", "coefficient": "1", "premise": {"condition": "clients <= 1"}}
    entry["certificate"] = {"kind": "combination", "claim": "mine:bound#nothing", "links": [[part]]}
    document["lemmas"].append(entry)
    assert check_certificate(TRUE, document).verdict == "proved"
    known = {"kind": "relation", "claim": "mine:bound#nothing"}
    document["certificate"] = {**document["certificate"], "known": [known]}
    proof = check_certificate(TRUE, document)
    assert proof.verdict == "broken"
    assert any("conditions of mine:bound#nothing" in step.text for step in proof.steps if not step.holds)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "Renard"),
        ("name", "renard2022:thm-2.1"),
        ("place", "nowhere"),
        ("statement", "average_suboptimality"),
        ("statement", "unknown <= 1"),
        ("conditions", "clients <= 1"),
        ("verdict", "proved"),
    ],
)
def test_invalid_lemmas_are_refused(key: str, value: str) -> None:
    """Invalid names, places, statements and keys of a lemma are rejected."""
    document = copy.deepcopy(_document())
    document["lemmas"][0][key] = value
    assert check_certificate(TRUE, document).verdict == "broken"


def test_two_lemmas_of_one_name_are_refused() -> None:
    """Two lemmas with one name are rejected as ambiguous."""
    document = copy.deepcopy(_document())
    document["lemmas"].append(document["lemmas"][0])
    assert check_certificate(TRUE, document).verdict == "broken"
