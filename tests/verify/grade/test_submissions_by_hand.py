"""Submissions against texts by hand: files cut into statements, cells, formulas, relations."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, eta

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.grade import answer_limits, notebook_answers
from verify.grade.answer_limits import Guarded, Unreadable
from verify.grade.code_repair import repair_signs
from verify.grade.equality import are_equal
from verify.grade.notebook_cells import read_cells
from verify.grade.notebooks import _build_cell
from verify.grade.other_copies import differs_from_copy
from verify.grade.plain_text import TIGHT, convert_powers, is_latex, write_in_ascii
from verify.grade.python_answer import read_python
from verify.grade.typed_numbers import write_plain_numbers
from verify.grade.typed_relation import write_relation
from verify.grade.units import _list_blocks, _split_at_error, split_code

x, y = sp.symbols("x y", positive=True)


def test_blocks_and_statements() -> None:
    """Decorators belong to what is behind them, and clauses to what is before; a wrong one costs itself alone."""
    assert _list_blocks("a = 1\nb = 2") == ["a = 1\n", "b = 2\n"]
    assert _list_blocks("@f\nclass A:\n  b = 2\nelse: c") == ["@f\nclass A:\n  b = 2\nelse: c\n"]
    assert split_code("@f\ndef g():\n    return 1\n\nh = 2\n") == ("@f\ndef g():\n    return 1", "h = 2")
    assert split_code("a = 1; b = 2\nc = 3\n") == ("a = 1; b = 2", "c = 3")
    assert split_code("if a:\n    b = 1\nelse:\n    b = 2\n") == ("if a:\n    b = 1\nelse:\n    b = 2",)
    assert split_code("") == ()
    found = split_code("a = 1\nb = = 2\nc = 3\n")
    assert (found[0], found[1].strip(), found[2]) == ("a = 1", "b = = 2", "c = 3")
    late = split_code("a = 1\nb = 5 +\nc = 3\n")
    assert (late[0], late[-1]) == ("a = 1", "c = 3")
    blocks = ["", "a = 1\n", "b = (\n", "c = 3\n"]
    assert _split_at_error(blocks, 2) == ("a = 1\n", "b = (\n", "c = 3\n")
    assert _split_at_error(blocks, 99) == ("a = 1\n", "b = (\n", "c = 3\n")
    assert _split_at_error(["("] + ["a = 1\n"] * 9, 9) is None
    assert _split_at_error(["a = \n"], 1) == ("", "a = \n", "")
    assert _split_at_error(["a = 1\n"], 99) == ("", "a = 1\n", "")


def test_lines_that_python_does_not_know_are_left_out() -> None:
    """Lines of code cells that Python cannot parse are left out; a markdown cell with a name is an answer."""

    def cell(kind: str, source: str, **marks: Any) -> dict[str, Any]:
        return {"cell_type": kind, "source": source, "metadata": {"nbgrader": marks}}

    cells = [
        cell("code", "%matplotlib inline\na = 1\n!ls\n  %time b\nnp.sqrt?\nb = 2"),
        cell("code", "STUDENT = 1", locked=True),
        cell("code", "# Autograded cell for `a`; leave it empty."),
        cell("markdown", "some text"),
        cell("markdown", "c = 3", solution=True, grade_id="t"),
        cell("markdown", "words alone", solution=True, grade_id="u"),
    ]
    found = read_cells(json.dumps({"cells": cells}))
    assert found.units == ("a = 1\nb = 2", "c = 3")
    assert dict(found.texts) == {"t": "c = 3", "u": "words alone"}
    assert found.handout == "some text\nc = 3\nwords alone"
    marks = _build_cell("code", "n", "s")["metadata"]["nbgrader"]
    assert (marks["solution"], marks["grade"], marks["locked"], "points" in marks) == (False, False, False, False)


def test_questions_that_are_asked_otherwise() -> None:
    """With a formula or a symbol that the file has not, whichever; a file without the title says nothing."""

    def asked(handout: str) -> bool:
        question: Any = SimpleNamespace(title="Drift", text="Bound $a$ by $b$.", names={"K": 1})
        submission: Any = SimpleNamespace(handout=handout)
        return differs_from_copy(question, submission)

    assert not asked("Drift\nBound $a$ by $b$ in `K`")
    assert asked("Drift\nBound $a$ by $c$ in `K`")
    assert asked("Drift\nBound $c$ by $b$ in `K`")
    assert asked("Drift\nBound $a$ by $b$ in `T`")
    assert not asked("Bound $a$")
    assert not asked("#  Drift\n# Bound $a$   by $b$ in `K`")


def test_errors_of_answers_that_are_no_python() -> None:
    """The error is at the first wrong symbol of its line, or at the end of an unfinished statement."""
    for text, where in (
        ("2 $ 3", "at `$ 3`, character 3"),
        ("2 + ", "at the end, behind `2 +`, character 4"),
        ("(1", "character 1"),
    ):
        with pytest.raises(Unreadable, match=where.replace("$", r"\$").replace("+", r"\+")):
            read_python(text, {})
    for text in ("not 1", "~2", "1 if 2 else 3", "True", "'a'", "x.y", "f(x=1)"):
        with pytest.raises(Unreadable):
            read_python(text, {"x": x})
    assert read_python("-+2", {}) == -2
    for product in ("2(3)", "x(3)", "(1+2)(3)"):
        with pytest.raises(Unreadable, match="expected \\* before the bracket"):
            read_python(product, {"x": x})


def test_plain_texts_of_formulas() -> None:
    assert [is_latex(text) for text in ("a_b^2", r"\eta", "$a", "{a}")] == [False, True, True, True]
    assert [convert_powers(text) for text in ("a**12", "a^12", r"\eta**12", r"\eta^12")] == [
        *("a^{12}", "a^{12}", r"\eta^{12}", r"\eta^12"),
    ]
    assert [write_in_ascii(text, ()).strip(TIGHT) for text in ("3.;", "x²", "|x|", "√2", "2 rounds")] == [
        *("3", "x^(2)", "abs(x)", "sqrt(2)", "2"),
    ]
    assert [
        write_plain_numbers(text) for text in ("1,000,000", "1.000.000", "3,5", "max(1,5)", "5 %", "1 1/2", "2:3")
    ] == [
        *("1000000", "1000000", "3.5", "max(1,5)", "(5/100)", "(1+1/2)", "2/3"),
    ]
    assert repair_signs("a = 1") == "a = 1"
    assert are_equal((x + 1) ** 2, x**2 + 2 * x + 1)
    assert not are_equal(sp.sqrt(x), x)
    assert not are_equal(x, x + sp.Rational(1, 10**9))


def test_relations_in_names_of_quantities() -> None:
    """None where a symbol has no number of a run, a place is no run, or there are several relations."""
    claim = Claim(id="t:one", lhs=q.max_drift, rhs=4 * eta**2 * L, where=WHERE)
    assert write_relation(claim) == "max_drift <= 4*local_step_size**2*smoothness"
    model = sp.Symbol("w", real=True)
    vector: Any = SimpleNamespace(
        place="run", relations=claim.relations, notation={**claim.notation, L: q.server_model}
    )
    assert write_relation(vector) is None
    two: Any = SimpleNamespace(place="run", relations=[*claim.relations] * 2, notation=claim.notation)
    step: Any = SimpleNamespace(place="step", relations=claim.relations, notation=claim.notation)
    assert write_relation(two) is write_relation(step) is None
    assert model.is_real


def test_cells_that_name_the_grader(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One cell that names the grader gives no points; other cells are marked."""
    for cells, points in (
        (["a = 1", "import verify"], 0.0),
        (["import verify", "a = 1"], 0.0),
        (["a = 1"], 3.0),
        ([], 3.0),
    ):
        monkeypatch.setattr(notebook_answers, "_get_executed", lambda cells=cells: cells)
        monkeypatch.setattr(notebook_answers, "_find_question", lambda *_: None)
        monkeypatch.setattr(notebook_answers, "_take_answer", lambda *_: None)
        mark = SimpleNamespace(comment="fine", run_file=None, relation=None, points_of=lambda _: 3.0)
        monkeypatch.setattr(notebook_answers, "mark_answer", lambda *_, mark=mark: mark)
        assert notebook_answers.points("a", "s", "q", 1) == points
        assert ("fine" in capsys.readouterr().out) is (points > 0)


def test_powers_of_powers_and_functions_without_a_name() -> None:
    """The largest power inside counts, as do the digits of all numbers; what could not be read is not written."""
    build = Guarded({})
    largest = answer_limits._LARGEST_EXPONENT
    for base in (x**2 * y**largest, 3 * x + sp.Integer(2) ** 900):
        with pytest.raises(Unreadable):
            build.power(base, sp.Integer(5))
        assert build.power(base, sp.Integer(4)) == base**4
    claim = Claim(id="t:gamma", lhs=q.max_drift, rhs=eta * L, where=WHERE)
    relation = SimpleNamespace(left=eta, operator="<=", right=sp.gamma(eta), free_symbols={eta})
    odd: Any = SimpleNamespace(place="run", relations=[relation], notation=claim.notation)
    assert write_relation(odd) is None
    relation.right = sp.sqrt(eta)
    assert write_relation(odd) == "local_step_size <= sqrt(local_step_size)"
