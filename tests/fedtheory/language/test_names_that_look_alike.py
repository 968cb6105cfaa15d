"""Names and texts of users that resemble others are rejected before any check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.federation.algorithms import definition, names
from fedtheory.federation.definition import Parameter
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from fedtheory.language.wellformed import require_wellformed
from fedtheory.plain_names import require_plain, require_readable

D, T = sp.symbols("D T", positive=True)
GIVEN: dict[str, Any] = {"lhs": q.final_distance_sq, "rhs": D**2 / 2**T, "where": {T: q.rounds, D: q.initial_distance}}
OVERRIDE, SPACE, FILLER = "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{ZERO WIDTH SPACE}", "\N{HANGUL FILLER}"
SELECTOR, BACK = "\N{VARIATION SELECTOR-16}", "\b"
CYRILLIC, OMICRON = "\N{CYRILLIC SMALL LETTER A}", "\N{GREEK SMALL LETTER OMICRON}"
UNSEEN = {"override": OVERRIDE, "space": SPACE, "filler": FILLER, "selector": SELECTOR, "back": BACK}


def _claim(**changes: Any) -> Claim:
    return Claim(id="mine:halved", **(GIVEN | changes))


@pytest.mark.parametrize("character", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("field", ["title", "locator", "note", "printed"])
def test_texts_of_claims_show_all_of_their_characters(field: str, character: str) -> None:
    require_wellformed(_claim(**{field: "halved"}))
    with pytest.raises(InputError, match=rf"^{field}: expected characters that people see"):
        require_wellformed(_claim(**{field: f"hal{character}ved"}))


def test_words_have_one_alphabet() -> None:
    """Words of a single alphabet are accepted, and so are mathematical signs and accents."""
    fine = "Łojasiewicz, Hölder, гладкость, 光滑, η-smooth, Δx, ℓ₁, x² ≤ 1,\n\tthe next line"
    require_readable("title", fine)
    for symbol in (CYRILLIC, OMICRON, "\N{FULLWIDTH LATIN SMALL LETTER A}"):
        require_readable("title", symbol)
        with pytest.raises(InputError, match="expected words of one alphabet"):
            require_readable("title", f"a bound for gr{symbol}dients")


def test_names_are_printable_ascii() -> None:
    require_plain("name", "lemma-1.2: a_b (c)")
    for symbol in (CYRILLIC, "\N{LATIN SMALL LETTER E WITH ACUTE}", BACK, "\x7f"):
        with pytest.raises(InputError, match="expected letters a to z"):
            require_plain("name", f"a{symbol}")


def test_symbols_look_different() -> None:
    """Two symbols with one name, or with similar characters of two alphabets, are rejected."""
    for alike in (sp.Symbol("T", real=True), sp.Symbol("\N{CYRILLIC CAPITAL LETTER TE}", positive=True)):
        with pytest.raises(InputError, match="symbols"):
            require_wellformed(_claim(where=GIVEN["where"] | {alike: q.local_steps}))
        with pytest.raises(InputError, match="symbols"):
            require_wellformed(_claim(for_all={alike: [1, 2]}))


def test_own_quantities_have_names_of_their_own() -> None:
    """A user-defined quantity cannot have a name of the vocabulary."""
    own = q.RunQuantity("error", "e", "half of the distance", lambda run: run.algorithm.rounds)
    require_wellformed(_claim(lhs=own))
    published = replace(own, name="initial_distance")
    behind = {"where": GIVEN["where"] | {D: published}}
    for changes in ({"lhs": published}, behind):
        with pytest.raises(InputError, match="expected a name that no quantity of fedtheory has, got 'initial_dist"):
            require_wellformed(_claim(**changes))
    for changed in (replace(own, latex=f"e{SPACE}"), replace(own, meaning=f"h{CYRILLIC}lf"), replace(own, name="é")):
        with pytest.raises(InputError, match=r"where\[e"):
            require_wellformed(_claim(lhs=changed))


def test_own_assumptions_have_names_of_their_own() -> None:
    own = a.Assumption("short", "there are at most three rounds", lambda run: run.algorithm.rounds <= 3)
    require_wellformed(_claim(assumptions=[own, a.full_participation]))
    for changed in (
        replace(own, name=a.full_participation.name),
        replace(own, name=f"sh{OMICRON}rt"),
        replace(own, statement=f"at most{OVERRIDE} three"),
    ):
        with pytest.raises(InputError, match="assumptions"):
            require_wellformed(_claim(assumptions=[changed]))


def test_algorithms_and_their_numbers_have_plain_names() -> None:
    prox = definition("fedprox")
    (number,) = prox.parameters
    alike = sp.Symbol(f"p{CYRILLIC}th", real=True)
    for changes in (
        {"name": f"fedpr{OMICRON}x"},
        {"description": f"as fedprox{OVERRIDE}"},
        {"server": {**prox.server, alike: 0}},
        {"coins": {alike: sp.Rational(1, 2)}},
        {"parameters": (replace(number, key=f"proxim{CYRILLIC}l"),)},
        {"parameters": (replace(number, meaning=f"the w{CYRILLIC}ight"),)},
        {"parameters": (number, Parameter(alike, "path", "a number", sp.Interval(0, 1)))},
    ):
        with pytest.raises(InputError, match=r"expected (letters a to z|characters|words)"):
            replace(prox, **changes)


def test_everything_that_is_published_has_such_names() -> None:
    for name in names():
        definition(name)
    for name in tuple(all_claims())[::10]:
        require_wellformed(find(name))
