"""Every assignment: its solutions earn all points, its copies differ, its notebooks carry the marks of nbgrader."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.exercises import BoundQuestion, ChoiceQuestion, CodeQuestion, Draw, ManualQuestion, Question
from fedtheory.language.exercises.copy_symbols import remove_needless_braces
from fedtheory.language.registry import find, papers
from fedtheory.sources.fraboni2022.assignments.limit_or_cycle import even, first, odd, phi, second
from fedtheory.sources.lecture27.assignments.tau_under_a_budget import find_best_steps
from fedtheory.sources.renard2022.assignments.find_the_error import draw_published_lines
from fedtheory.sources.vlaski2023.assignments.problem_5_1 import compute_limiting_point
from fedtheory.sources.vlaski2023.assignments.problem_5_2 import compute_sampled_variance
from verify.grade import (
    Assignment,
    Submission,
    assignments,
    find_assignment,
    find_launch,
    mark_submission,
    points,
    read_submission,
)
from verify.grade import notebooks as n
from verify.grade.confinement import launch_plain
from verify.grade.notebook_answers import has_name_of_grader
from verify.grade.questions import GivenAnswer, describe_rule, mark_answer

ALL = pytest.mark.parametrize("assignment", assignments().values(), ids=list(assignments()))


def write(folder: Path, text: str, name: str = "ana.ipynb") -> Path:
    """Write a file to a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@ALL
@pytest.mark.parametrize("student", ["class", "ana"])
def test_the_solution_earns_all_points(assignment: Assignment, student: str, tmp_path: Path) -> None:
    """The instructor's notebook, handed in, has all points that no person gives."""
    copy = assignment.copy(student)
    path = write(tmp_path, n.write_notebook(n.build_instructor_notebook(assignment, copy)))
    result = mark_submission(assignment, copy, read_submission(path, student), find_launch(unsafe=True))
    assert result.troubles == ()
    assert [row.points for row in result.rows if row.points is not None] == [
        question.points for question in copy.questions if not isinstance(question, ManualQuestion)
    ]
    assert result.points + result.pending == result.of == copy.points


@ALL
def test_an_empty_copy_earns_nothing(assignment: Assignment, tmp_path: Path) -> None:
    """An unanswered notebook, or Python file, gets no points and no error messages."""
    copy = assignment.copy("ana")
    files = {
        "ana.ipynb": n.write_notebook(n.build_student_notebook(assignment, copy)),
        "ana.py": n.write_python_template(assignment, copy),
    }
    for name, text in files.items():
        handed_in = read_submission(write(tmp_path, text, name), "ana")
        result = mark_submission(assignment, copy, handed_in, find_launch(unsafe=True))
        assert (result.points, result.troubles) == (0, ())


@ALL
def test_copies_differ_and_stay(assignment: Assignment) -> None:
    """Two students have different copies, and each the same one again."""
    texts = {
        s: json.dumps(n.build_student_notebook(assignment, assignment.copy(s))["cells"][2:])
        for s in ("ana", "bob", "eve")
    }
    assert len(set(texts.values())) == 3
    assert json.dumps(n.build_student_notebook(assignment, assignment.copy("ana"))["cells"][2:]) == texts["ana"]


@ALL
def test_the_claims_exist(assignment: Assignment) -> None:
    """An assignment is about claims of the sources."""
    assert assignment.claims
    assert all(find(claim) for claim in assignment.claims)


@ALL
def test_an_assignment_is_with_its_paper(assignment: Assignment) -> None:
    """An assignment is in the folder of the paper of its first claim."""
    home = papers()[find(assignment.claims[0]).source].part("assignments")
    assert home is not None
    assert assignment in home.ASSIGNMENTS


@ALL
def test_marks_of_nbgrader(assignment: Assignment) -> None:
    """Every cell has its marks, ids are unique, and points stand where they are counted or read."""
    copy = assignment.copy("ana")
    for notebook in (n.build_student_notebook(assignment, copy), n.build_instructor_notebook(assignment, copy)):
        marks = [cell["metadata"]["nbgrader"] for cell in notebook["cells"]]
        ids = [mark["grade_id"] for mark in marks]
        assert len(set(ids)) == len(ids)
        assert all(
            mark["schema_version"] == 3 and mark["cell_type"] == cell["cell_type"]
            for mark, cell in zip(marks, notebook["cells"], strict=True)
        )
        assert sum(mark.get("points", 0) for mark in marks) == copy.points
        assert all(("points" in mark) == mark["grade"] for mark in marks)


@ALL
def test_the_students_notebook_has_no_solution(assignment: Assignment) -> None:
    """Neither solutions nor the cells that count points are given out."""
    copy = assignment.copy("ana")
    text = n.write_notebook(n.build_student_notebook(assignment, copy))
    assert "verify" not in text
    assert "SOLUTION" not in text
    for question in copy.questions:
        assert json.dumps(question.solution_cell, ensure_ascii=False)[1:-1] not in text


@ALL
def test_the_python_file_is_the_whole_assignment(assignment: Assignment) -> None:
    """Title, introduction, worked start, statements and options stand in its comments; each answer has its line."""
    copy = assignment.copy("ana")
    text = n.write_python_template(assignment, copy)
    printed = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")).split()
    asked = [part for q in copy.questions for part in (q.title, q.text, q.option_list, q.how)]
    for part in (assignment.title, copy.introduction, copy.worked, *asked):
        words = part.split()
        assert any(printed[at : at + len(words)] == words for at in range(len(printed) - len(words) + 1)), part
    starts = [question.start for question in copy.questions if not isinstance(question, ManualQuestion)]
    assert all(f"\n{start}\n" in text for start in starts)


@ALL
def test_cells_name_the_variable_that_they_want(assignment: Assignment) -> None:
    """A cell to fill shows the name that is read, also in the version that nbgrader makes of the instructor's."""
    copy = assignment.copy("ana")
    wanted = {question.name: question.start.splitlines()[0] for question in copy.questions}
    for notebook in (n.build_student_notebook(assignment, copy), n.build_instructor_notebook(assignment, copy)):
        cells = {cell["id"]: cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"}
        for name in wanted.keys() & cells.keys():
            assert wanted[name] in cells[name].partition("### BEGIN SOLUTION")[0]


@ALL
def test_points_in_a_notebook(assignment: Assignment) -> None:
    """The value of a counting cell for the solution is the points of the question."""
    for question in assignment.copy("ana").questions:
        if not isinstance(question, ManualQuestion):
            space: dict[str, object] = {}
            exec(question.solution_cell, space)
            assert points(assignment.id, "ana", question.name, space[question.name]) == question.points


@ALL
def test_the_rubric_has_everything(assignment: Assignment) -> None:
    """The rubric names each question with its points, its rule and its solution."""
    copy = assignment.copy("ana")
    text = n.write_rubric(assignment, copy)
    assert all(
        describe_rule(q) in text and q.solution_cell in text and n.format_points(q.points) in text
        for q in copy.questions
    )
    assert text.startswith(
        f"# {assignment.title}: rubric\n\nCopy of `ana`, {sum(q.points for q in copy.questions)} points."
    )
    assert text.count("\n## ") == len(copy.questions)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BoundQuestion, "All points: the answer equals the reference, or it is not refuted"),
        (ChoiceQuestion, "All points for the right answer, otherwise none."),
        (CodeQuestion, "The share of the "),
        (ManualQuestion, "Read by a person: "),
    ],
)
def test_each_kind_of_question_has_its_rule(kind: type[Question], words: str) -> None:
    """The rubric says for bounds, functions, texts and all else how points are given."""
    asked = [q for one in assignments().values() for q in one.copy("ana").questions if isinstance(q, kind)]
    assert asked
    assert all(describe_rule(question).startswith(words) for question in asked)


def questions_of(kind: type[Question]) -> list[Question]:
    """Return all questions of a kind of one copy."""
    return [q for assignment in assignments().values() for q in assignment.copy("ana").questions if isinstance(q, kind)]


def test_bounds_refer_to_claims_that_stand() -> None:
    """The reference of a bound is proved or supported, and there are several."""
    asked = [q for q in questions_of(BoundQuestion) if isinstance(q, BoundQuestion)]
    assert len(asked) >= 4
    assert all(q.claim.verdict in ("proved", "supported") for q in asked)


def test_wrong_choices_earn_nothing() -> None:
    """One of all symbols is right; others, and answers that are no symbol, are not."""
    for question in questions_of(ChoiceQuestion):
        assert isinstance(question, ChoiceQuestion)
        shares = [mark_answer(question, GivenAnswer(symbol)).share for symbol in "abcdefgh"]
        assert sum(filter(None, shares)) == 1
        assert shares["abcdefgh".index(question.letter)] == 1


def test_limiting_point_is_a_fixed_point() -> None:
    """At the limiting point of problem 5.1 the summed gradients vanish."""
    steps, curvatures, optima = [2, 5, 1], [1, 3, 4], [-2, 6, 5]
    w = compute_limiting_point(steps, curvatures, optima)
    assert sum(e * h * (w - o) for e, h, o in zip(steps, curvatures, optima, strict=True)) == 0


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_sampled_variance_is_the_formula(size: int) -> None:
    """Enumeration agrees with (K - L) / (L (K - 1)) times the spread."""
    values = [3, -1, 4, 1]
    middle = Fraction(sum(values), 4)
    spread = sum((v - middle) ** 2 for v in values) / 4
    assert compute_sampled_variance(values, size) == Fraction(4 - size, size * 3) * spread
    assert len(list(combinations(values, size))) > 0


def test_the_cycle_repeats_its_points() -> None:
    """The two updates of Example 2 carry its points into each other."""
    assert sp.simplify(odd + second * phi * (1 - even) - even) == 0
    assert sp.simplify(even - first * phi * odd - odd) == 0


def test_free_communication_asks_for_one_step() -> None:
    """If an aggregation costs nothing, one local step is best; if it is expensive, more are."""
    constants = (0.05, 1.0, 0.1, 1.0, 0.5)
    assert find_best_steps((1, 0, 1000), constants) == 1
    assert find_best_steps((1, 500, 100_000), constants) > 1


def test_the_printed_lines_have_an_error() -> None:
    """Every copy has a refuted line, in the order of the print."""
    for student in ("ana", "bob", "eve", "class"):
        lines = draw_published_lines(Draw("find-the-error", student))
        assert len({line.id for line in lines}) == 4
        assert any(line.verdict == "refuted" for line in lines)


def test_a_copied_file_is_reported() -> None:
    """A file that says it is another student's copy is marked, and this is reported."""
    assignment = find_assignment("polarization")
    handed_in = Submission("bob", "polarization", (), copy_of="ana")
    assert "copy of ana" in mark_submission(assignment, assignment.copy("bob"), handed_in, launch_plain).troubles[0]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import verify.grade", True),
        ("from verify.grade import points\npoints = 3", True),
        ("from verify.grade import points\n\npoints('a', STUDENT, 'b', b)", False),
        ("from fedtheory.sources.renard2022.assignments import polarization", True),
        ("# I verified it\nx = 1", False),
        ("# the last of my assignments\nx = 1", False),
    ],
)
def test_cells_that_name_the_grader(source: str, expected: bool) -> None:
    """Only cells that count points may name the grader."""
    assert has_name_of_grader(source) is expected


@pytest.mark.parametrize("student", ["", "a/b", "..\\x", " a", "a\nb", "..", "a" * 200, "<b>"])
def test_ids_name_files(student: str) -> None:
    """An id that cannot name a file is refused."""
    with pytest.raises(InputError, match="student"):
        find_assignment("polarization").copy(student)


_COMMANDS = set(
    re.findall(
        r"\w+",
        "Delta alpha approx bar beta blacktriangleright cdot dagger delta dots eta forall frac gamma ge iff in infty "
        "kappa lambda langle lceil le left leq mathbb mathcal max mid min mu nabla neq phi psi quad rangle rceil rho "
        "right sigma sqrt sum tau text theta to underbrace varphi widetilde zeta",
    )
)
"""LaTeX commands of all assignments."""


@ALL
def test_symbols_do_not_run_into_commands(assignment: Assignment) -> None:
    """In no copy a symbol stands right behind a LaTeX command, which would make one unknown command of both."""
    for student in ("class", "ana", "student_01", "student_02", "student_03", "bob", "x1", "x2", "x3"):
        copy = assignment.copy(student)
        texts = [n.write_python_template(assignment, copy), *(question.solution_cell for question in copy.questions)]
        used = {command for text in texts for command in re.findall(r"\\([A-Za-z]+)", text)}
        assert used <= _COMMANDS, student


def test_conditions_of_a_bound_are_printed() -> None:
    """Conditions of a bound are printed in the symbols of the copy."""
    copy = assignments()["drift-recursion"].copy("ana")
    asked = [question for question in copy.questions if isinstance(question, BoundQuestion)]
    assert asked
    for question in asked:
        assert ("The bound has to hold for $" in question.option_list) is bool(question.claim.conditions)
        assert len(re.findall(r"leq|geq|<|>", question.option_list)) == len(question.claim.conditions)


@pytest.mark.parametrize(
    ("drawn", "typeset"),
    [
        (r"${\tau}$ steps of size ${\eta}\le1$", r"$\tau$ steps of size $\eta\le1$"),
        (r"$\frac{D^2}{2{\alpha}H}$", r"$\frac{D^2}{2\alpha H}$"),
        (r"$\frac1{{\tau}}$, $\frac1{\tau}$", r"$\frac1{\tau}$, $\frac1{\tau}$"),
        (r"$\sum_{k=1}^{\tau}F$ and $\bar{\theta}$", r"$\sum_{k=1}^{\tau}F$ and $\bar{\theta}$"),
    ],
)
def test_symbols_have_no_needless_braces(drawn: str, typeset: str) -> None:
    """Braces stay where they hold an index or an argument."""
    assert remove_needless_braces(drawn) == typeset
