"""Texts of terms and numbers, and what counts as accepted, against values by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel.expressions import Expectation, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.rocq import accepted
from verify.rocq.accepted import remove_comments
from verify.rocq.algorithms import Algorithm
from verify.rocq.names import _escape, require_new_words
from verify.rocq.numbers import _move_sign, needs_no_brackets, number
from verify.rocq.papers.lecture27.gaps import GapsVocabulary
from verify.rocq.papers.vlaski2023 import client_steps
from verify.rocq.papers.vlaski2023.round_numbers import _RoundNumbersWriter
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import RoundVocabulary
from verify.rocq.terms import Atom, Atoms, Dot, Mean, Multiple, Number, Sum, text
from verify.rocq.theorem import project, prove_conjunction

x, y, tau, M = sp.symbols("x y tau M", positive=True)
NAMES = {x: "x", y: "y S", tau: "tau A", M: "M_of A"}


def test_every_file_of_a_theorem_is_the_same_and_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A theorem is not accepted if one of its files differs, is missing, or has not been compiled."""
    monkeypatch.setattr(accepted, "read_library", lambda: {"a.v": "A", "b.v": "B"})
    monkeypatch.setattr(accepted, "collect_uses", lambda _: {"one": "c"})
    monkeypatch.setattr(accepted, "name_file", lambda one: f"{one}.v")
    monkeypatch.setattr(accepted, "render_file", str.upper)
    names = ("a", "b", "c")
    last = Path(accepted.LAST).with_suffix(".vo")

    def fill() -> None:
        for name in names:
            (tmp_path / f"{name}.v").write_text(name.upper())
            (tmp_path / f"{name}.vo").write_text("")
        (tmp_path / last).parent.mkdir(exist_ok=True)
        (tmp_path / last).write_text("")

    def is_accepted() -> bool:
        return accepted._is_accepted(tmp_path, None)  # type: ignore[arg-type]

    fill()
    assert is_accepted()
    for name in names:
        (tmp_path / f"{name}.v").write_text("other")
        assert not is_accepted()
        (tmp_path / f"{name}.v").unlink()
        assert not is_accepted()
        fill()
        (tmp_path / f"{name}.vo").unlink()
        assert not is_accepted()
        fill()
    (tmp_path / last).unlink()
    assert not is_accepted()


def test_comments_may_be_nested() -> None:
    assert remove_comments("a (* b (* c *) d *) e\n  f") == "a e f"
    assert remove_comments("(* a *)") == ""


@pytest.mark.parametrize("missing", [a.unit_server_step, a.uniform_shares, None])
def test_rounds_of_the_library_need_equal_shares_and_a_server_step_of_one(missing: Any) -> None:
    """The library needs equal shares, a server step of one, and one of two laws of participation."""
    laws: Any = (a.uniform_sampling, a.full_participation)
    known = {a.unit_server_step, a.uniform_shares, *laws} - {missing}
    given = SimpleNamespace(claim=SimpleNamespace(assumptions=known if missing else known - set(laws)))
    with pytest.raises(NotExported, match="the library has rounds"):
        RoundVocabulary.__post_init__(given)  # type: ignore[arg-type]


def test_terms_as_people_read_them() -> None:
    """There are brackets after a minus and around sums; a square has one vector, an inner product has two."""
    v, w, value = Atom("v"), Atom("w"), Atom("f x", kind="S")
    for term, written in (
        (Sum(v, w), "v + w"),
        (Sum(v, w, "-"), "v - w"),
        (Sum(v, Sum(w, v)), "v + (w + v)"),
        (Sum(v, Sum(w, v), "-"), "v - (w + v)"),
        (Sum(value, Number("a + b")), "f x + (a + b)"),
        (Multiple("2", v), "2 • v"),
        (Multiple("1 / 2", value), "(1 / 2) * f x"),
        (Multiple("2", Dot(v, w)), "2 * ⟨v, w⟩"),
        (Multiple("2", Sum(v, w)), "2 • (v + w)"),
        (Mean(v), "vmean C (fun i => (v)%vec)"),
        (Mean(value), "mean C (fun i => f x)"),
        (Dot(v, v), "‖v‖²"),
        (Dot(v, Atom("v")), "‖v‖²"),
        (Dot(v, w), "⟨v, w⟩"),
    ):
        assert text(term, "C") == written
    atoms = Atoms()
    assert [atoms.place("own", one) for one in (v, w, v)] == [0, 1, 0]
    assert atoms.lists["own"] == [v, w]
    assert atoms.place("shared", w) == 0


def test_numbers_as_rocq_reads_them() -> None:
    """Numbers are written with products, signs in front, and roots and powers of counts."""
    for expression, written in (
        (x * y, "x * y S"),
        (-x, "- (x)"),
        (-x * y, "- (x * y S)"),
        (x / y, "x / y S"),
        (x / (2 * y), "x / (2 * y S)"),
        (sp.Rational(-3, 2), "- (3 / 2)"),
        (sp.Integer(-3), "- 3"),
        (sp.sqrt(x), "sqrt (x)"),
        (x**-2, "1 / (x ^ 2)"),
        (x ** sp.Rational(3, 2), "(sqrt (x)) ^ 3"),
        (x**tau, "x ^ steps_of A"),
        (x ** (tau + 2), "x ^ (steps_of A + 2)"),
        (x ** (M - 1), "x ^ (number (clients_of A) - 1)"),
    ):
        assert number(expression, NAMES) == written
    assert number(y - x, NAMES) == "y S - (x)"
    for expression in (x**y, x ** (tau - 1), x ** sp.Rational(1, 3)):
        with pytest.raises(NotExported):
            number(expression, NAMES)
    assert [needs_no_brackets(word) for word in ("x", "12", "f x", "x + y", "2 x", "- x")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_statements_that_are_shown_at_once() -> None:
    assert [project("p", link, 3) for link in range(3)] == ["proj1 (p)", "proj1 (proj2 (p))", "proj2 (proj2 (p))"]
    assert project("p", 0, 1) == "p"
    assert prove_conjunction(["a", "b", "c"]) == "split.\n{ a }\nsplit.\n{ b }\nc"
    assert prove_conjunction(["a"]) == "a"


def test_names_that_are_words_of_the_library() -> None:
    """Single letters are fine unless a text uses them; longer ones may not be in the library."""
    require_new_words(["v", "my_own_name"])
    for name in ("A", "steps", "Theorem", "1a", "a-b", "", "a b"):
        with pytest.raises(NotExported, match="is no name for Rocq"):
            require_new_words(["v", name])
    assert _escape("a-b.c") != _escape("a.b-c")


def test_relations_on_outcomes_of_a_round() -> None:
    """Outside of expectations there are means over participants, the participants, and the server's next model."""
    takes_part, model, other = sp.symbols("a_i x_next y")
    known = {q.participates: takes_part, q.next_server_model: model}
    given: Any = SimpleNamespace(symbols=lambda quantity: known[quantity])
    for expression, said in (
        (Selected(other), True),
        (takes_part * other, True),
        (other + model, True),
        (other, False),
        (Expectation(model), False),
        (Expectation(Selected(other)) + other, False),
        (Expectation(model) + Selected(other), True),
    ):
        assert RoundVocabulary.is_of_outcome(given, expression) is said


def test_denominators_with_averages_are_positive() -> None:
    """Each denominator with a mean in it is listed once; the others are known to be positive."""
    mean, eta_ = sp.symbols("m eta", positive=True)
    parts = [
        SimpleNamespace(coefficient=one) for one in (1 / (1 + mean), 2 / (1 + mean), 1 / (1 + eta_), 1 / mean, 1 + mean)
    ]
    writer: Any = SimpleNamespace(
        _parts=parts, means={"mean": mean}, names={mean: "m", eta_: "e"}, _replace_averages=lambda one: one
    )
    assert list(_RoundNumbersWriter._prove_denominators(writer)) == [
        f"assert (below1 : 0 < {number(1 + mean, writer.names)}) by sum_positive."
    ]


def test_sums_over_rounds_telescope() -> None:
    """Sums over rounds telescope from the gap at the start to the gap at the end, or to the progress of all rounds."""
    names = ("start", "end", "next", "last", "first", "T", "progress", "rest")
    start, end, following, last, first, rounds, progress, rest = sp.symbols(" ".join(names), positive=True)
    symbols = {
        q.interval_start_gap: start,
        q.interval_end_gap: end,
        q.next_interval_start_gap: following,
        q.final_suboptimality: last,
        q.initial_gap: first,
        q.rounds: rounds,
        q.reciprocal_progress: progress,
    }
    known: Any = SimpleNamespace(claim=Claim(id="t:k", lhs=q.max_drift, rhs=0, where={}))
    premise: Any = SimpleNamespace(link=0)
    for slack, total, then in (
        (1 / following - 1 / start - rest, 1 / last - 1 / first - rounds * rest, "rewrite reciprocals_telescope"),
        (1 / end - 1 / start - rest, progress - rounds * rest, "fold (reciprocal_progress A x_star)"),
    ):
        writer: Any = SimpleNamespace(
            translate=lambda *_, slack=slack: slack,
            symbols=lambda quantity: symbols[quantity],
            number=str,
            _apply_claim=lambda *_: "applied",
        )
        found, tactic = GapsVocabulary._prove_sum(writer, premise, known)
        assert sp.expand(found - total) == 0
        assert then in tactic
        assert f"T A * ({-rest})" in tactic


def test_lemmas_about_a_step_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas about a step begin with the first step, and are not collected unless this is requested."""

    class Asked(Exception):
        """Stand-in for a request, with the vocabulary filled in."""

    def vocabulary(_claim: Any, **given: Any) -> Any:
        raise Asked(given)

    monkeypatch.setattr(client_steps, "StepVocabulary", vocabulary)
    writer: Any = SimpleNamespace(claim=None)
    for more, expected in (({}, (0, False)), ({"first": 2, "gathered": True}, (2, True))):
        with pytest.raises(Asked) as asked:
            client_steps._ClientStepsWriter._state_step(writer, "a", x, y, (), **more)  # type: ignore[arg-type]
        given = asked.value.args[0]
        assert (given["first"], given["gathered"]) == expected
        assert given["place"].step == ("(step_of S O)" if expected[1] else "S")


def test_a_sum_takes_the_sign_of_a_product() -> None:
    """The first that has both signs in it, where the number in front is negative."""
    plus, minus = x + y, x - y
    assert _move_sign(sp.Mul(-2, x, minus)).args == (2 * x, y - x)
    for product in (2 * x * minus, -2 * x * plus, -2 * x, -x, minus, sp.Integer(-2)):
        assert _move_sign(product) is product


def test_records_of_a_state() -> None:
    """One text for each vector; a client keeps its own where it is not drawn, if that is asked for."""
    given: Any = SimpleNamespace(definition=SimpleNamespace(client=[y]))
    given._write = lambda one, end, _, *, is_mean: f"{end} of {one}" + (" as a mean" if is_mean else "")
    ends = {x: sp.Symbol("a"), y: sp.Symbol("b")}
    for more, written in (
        ({}, "x := a of x; y := fun i => b of y"),
        ({"kept": True}, "x := a of x; y := fun i => if is_drawn i then b of y else y s i"),
        ({"is_mean": True}, "x := a of x as a mean; y := fun i => b of y as a mean"),
    ):
        assert Algorithm._record(given, ends, {}, **more) == f"{{| {written} |}}"  # type: ignore[arg-type]
