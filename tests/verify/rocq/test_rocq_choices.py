"""Choices of the export between two forms, signs and refusals, and the files that list what Rocq accepted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.federation.definition.language import Mixed, Weighted
from fedtheory.kernel.expressions import Average
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity
from verify.rocq import accepted, unchecked
from verify.rocq.accepted import Checked
from verify.rocq.algorithms import ZERO, Algorithm
from verify.rocq.numbers import SignProofs
from verify.rocq.origins import _explain_sign
from verify.rocq.refusals import NotExported
from verify.rocq.step import write_theorem_at_step
from verify.rocq.terms import Atom, Mean, Multiple, Sum
from verify.rocq.vocabulary import Vocabulary

x, y, z = sp.symbols("x y z", positive=True)
V, W = Atom("v"), Atom("w")


def test_objectives_are_those_of_the_library() -> None:
    known, other = sp.symbols("F G")
    vocabulary: Any = SimpleNamespace(objectives={known: "loss"})
    assert Vocabulary._find_objective(vocabulary, known) == "loss"
    with pytest.raises(NotExported, match="no objective G"):
        Vocabulary._find_objective(vocabulary, other)


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        ({}, ZERO),
        ({V: 0}, ZERO),
        ({V: 0, W: 1}, W),
        ({V: 1, W: 0}, V),
        ({V: 2}, Multiple("2", V)),
        ({V: -1}, Multiple("- 1", V)),
        ({V: 1, W: -1}, Sum(V, W, "-")),
        ({V: 1, W: -2}, Sum(V, Multiple("2", W), "-")),
        ({V: 1, W: 3}, Sum(V, Multiple("3", W), "+")),
        ({V: -3, W: -3}, Sum(Multiple("- 3", V), Multiple("3", W), "-")),
    ],
)
def test_linear_combinations_of_vectors(parts: dict[Atom, int], written: Any) -> None:
    """Vectors without weight are left out; a sum goes on with a minus, but does not begin with one."""
    algorithm: Any = SimpleNamespace(
        definition=SimpleNamespace(parts=lambda *_: {one: sp.Integer(scale) for one, scale in parts.items()}),
        _number=lambda scale: scale,
        _part=lambda _of, part, _vectors, _place: part,
    )
    place: Any = SimpleNamespace(numbers={})
    assert Algorithm.term(algorithm, x, y, {}, place) == written


@pytest.mark.parametrize("is_full", [True, False])
def test_weighted_sums_are_averages_where_every_client_participates(is_full: bool) -> None:
    """Averages are weighted sums over all clients; mixtures of neighbours are not."""
    algorithm: Any = SimpleNamespace(is_full=is_full, term=lambda *_: V)
    place: Any = SimpleNamespace(at_step=False)

    def is_mean(part: Any) -> bool:
        return Algorithm._part(algorithm, x, part, {}, place) == Mean(V)

    assert is_mean(Average(y))
    assert is_mean(Weighted(y)) is is_full
    assert not is_mean(Mixed(y))


def _known(**changes: Any) -> Any:
    plain = {"assumptions": frozenset(), "quantities": (), "names": {}, "divisors": frozenset()}
    return SimpleNamespace(**(plain | changes))


SIGN: dict[str, tuple[str, Any, Assumption | Quantity | None]] = {
    "a constant that is positive": ("0 < L", _known(quantities=(q.smoothness,)), q.smoothness),
    "a constant of an assumption": ("0 <= L", _known(assumptions=frozenset({a.smooth})), a.smooth),
    "a constant of another claim": ("0 < L", _known(), None),
    "a deviation that is not negative": (
        "0 <= zeta",
        _known(quantities=(q.gradient_dissimilarity,)),
        q.gradient_dissimilarity,
    ),
    "a deviation that may be zero": ("0 < zeta", _known(quantities=(q.gradient_dissimilarity,)), None),
    "a name of its own": (
        "0 < mine",
        _known(
            quantities=(q.gradient_dissimilarity,),
            names={q.gradient_dissimilarity: "mine"},
            divisors=frozenset({q.gradient_dissimilarity}),
        ),
        q.gradient_dissimilarity,
    ),
    "a name of its own that nothing is divided by": (
        "0 < mine",
        _known(quantities=(q.gradient_dissimilarity,), names={q.gradient_dissimilarity: "mine"}),
        None,
    ),
    "a number by its sign": (
        f"0 <= {q.initial_gap.name}",
        _known(quantities=(q.initial_gap,)),
        q.initial_gap,
    ),
    "a number that may be zero": (f"0 < {q.initial_gap.name}", _known(quantities=(q.initial_gap,)), None),
    "a number that is divided by": (
        f"0 < {q.initial_gap.name}",
        _known(quantities=(q.initial_gap,), divisors=frozenset({q.initial_gap})),
        q.initial_gap,
    ),
    "a positive number": (f"0 < {q.clients.name}", _known(quantities=(q.clients,)), q.clients),
    "another relation": ("L = 0", _known(quantities=(q.smoothness,)), None),
}


@pytest.mark.parametrize("name", SIGN)
def test_signs_come_from_definitions_and_denominators(name: str) -> None:
    goal, known, source = SIGN[name]
    found = _explain_sign(goal, known)
    assert (found is None) if source is None else (found is not None and found.endswith(f": {source.name}"))


@pytest.mark.parametrize(
    ("condition", "denominator", "is_turned"),
    [
        (x <= y / 2, y - x, False),
        (x >= 2 * y, y - x, True),
        (x >= 2 * y, (y - x) ** 2, False),
        (x >= 2 * y, y + x, False),
        (x >= 2 * y, z - x, False),
    ],
)
def test_negative_denominators_are_made_positive(condition: Any, denominator: Any, is_turned: bool) -> None:
    """A negative one turns both signs; a square, and what no condition decides, stays."""
    signs = SignProofs({x: "x", y: "y", z: "z"}, [condition])
    top, bottom = signs._turn_denominator(z, sp.expand(denominator))
    assert sp.expand(top - (-z if is_turned else z)) == 0
    assert sp.expand(bottom - (-denominator if is_turned else denominator)) == 0


def test_the_list_of_accepted_claims_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "list.json"
    one = Checked("a:b", "0 <= 1", "12ab")
    monkeypatch.setattr(accepted, "_NAME", str(file))
    monkeypatch.setattr(accepted, "list_accepted", lambda folder: [one] if folder == tmp_path else [])
    accepted.main([str(tmp_path)])
    text = file.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert json.loads(text) == {"a:b": {"statement": "0 <= 1", "digest": "12ab"}}
    assert accepted.load_accepted.__wrapped__() == {"a:b": one}
    assert one.theorem == "a_b"


def test_the_section_of_the_others_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text before and after it stays; the reason with most claims comes first, equal ones by their words."""
    groups = {"late": ["c"], "rare": ["b"], "often": ["d", "a"]}
    monkeypatch.setattr(unchecked, "list_unchecked", lambda: groups)
    file = tmp_path / "page.md"
    file.write_text(f"before\n{unchecked.START}old{unchecked.END}\nafter\n", encoding="utf-8")
    unchecked.main([str(file)])
    lines = ["before", unchecked.START, "- often: `d`, `a`", "- late: `c`", "- rare: `b`", unchecked.END, "after", ""]
    assert file.read_text(encoding="utf-8") == "\n".join(lines)


def test_claims_refused_for_one_reason_stand_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of a refusal names the expression; the list of unchecked claims only gives the reason."""

    def refuse(claim_id: str) -> None:
        raise NotExported("a symbol has no name in the library", claim_id)

    monkeypatch.setattr(unchecked, "list_proved_ids", lambda: ["a:one", "b:two"])
    monkeypatch.setattr(unchecked, "export_id", refuse)
    assert unchecked.list_unchecked() == {"a symbol has no name in the library": ["a:one", "b:two"]}
    assert str(NotExported("no name", "delta")) == "no name: delta"


def test_theorems_at_a_step_use_no_other_claim() -> None:
    """A theorem about a step uses no other claim, and a certificate without one link for each relation is not
    written.
    """
    claim: Any = SimpleNamespace(place="step", relations=["one"])
    for links, lemmas, refusal in ((["a"], ("other",), "uses other claims"), (["a", "b"], (), "expected one link")):
        certificate: Any = SimpleNamespace(links=links, lemmas=lemmas)
        with pytest.raises(NotExported, match=refusal):
            write_theorem_at_step(claim, certificate)
