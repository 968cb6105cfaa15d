"""An exercise of the instructor's own: given out, handed in and graded as those of the papers."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_exercise import OWN

from fedtheory.errors import InputError
from verify.grade import exercise_checks, find_assignment, grade_folder, points, require_sound
from verify.grade import notebooks as n
from verify.grade.submission import header


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """Write the file of an exercise."""
    path = tmp_path / "my_exercise.py"
    path.write_text(OWN)
    return path


@pytest.mark.long
def test_from_the_file_to_points(exercise: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solution and another valid bound get all points, and a false bound gets a run."""
    # The reference is true: however long it is searched, nothing is found.
    monkeypatch.setattr(exercise_checks, "_LOOKS", 50)
    assignment = find_assignment(str(exercise))
    copy = assignment.copy("ana")
    require_sound(assignment, copy)
    folder = tmp_path / "in"
    folder.mkdir()
    notebook = n.write_notebook(n.build_instructor_notebook(assignment, copy))
    (folder / "ana.ipynb").write_text(notebook)
    tighter = "18*tau**2*eta**2*zeta**2 + 3*tau*eta**2*sigma**2"
    answers = {"bob": tighter, "eve": "tau*eta**2*(zeta**2 + sigma**2)", "zoe": "0"}
    for student, answer in answers.items():
        (folder / f"{student}.py").write_text(f"{header('my-drift', student)}\nbound = {answer!r}\nhalf = '1.5'\n")
    (folder / "max.py").write_text(f"{header('my-drift', 'max')}\nopen('missing').read()\nhalf = '3/2'\n")
    found = {r.student: r for r in grade_folder(folder, tmp_path / "out", assignment=str(exercise), unsafe=True)}
    assert {s: r.points for s, r in found.items()} == {"ana": 8, "bob": 8, "eve": 3.5, "zoe": 2, "max": 2}
    assert all(r.pending == 4 for r in found.values())
    assert "uses files" in found["max"].troubles[0]
    assert (tmp_path / "out" / "feedback" / "eve-bound.toml").is_file()
    assert points(str(exercise), "ana", "half", "3/2") == 2


@pytest.mark.long
def test_a_changed_exercise_is_graded_again(exercise: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored results are used while the exercise is the same."""
    monkeypatch.setattr(exercise_checks, "_LOOKS", 50)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ana.py").write_text(f"{header('my-drift', 'ana')}\nhalf = '2'\n")
    assert grade_folder(folder, tmp_path / "out", assignment=str(exercise), unsafe=True)[0].points == 0
    exercise.write_text(OWN.replace("sp.Rational(3, 2)", "sp.Integer(2)"))
    assert grade_folder(folder, tmp_path / "out", assignment=str(exercise), unsafe=True)[0].points == 2


@pytest.mark.long
def test_exercises_on_false_claims_are_refused(exercise: Path, tmp_path: Path) -> None:
    """An exercise whose claim became false is refused, with a run file that violates the claim."""
    exercise.write_text(OWN.replace("rhs=18 * tau**2", "rhs=tau"))
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "ana.py").write_text(f"{header('my-drift', 'ana')}\nhalf = '3/2'\n")
    with pytest.raises(InputError, match=r"bound: the claim is false: .* the run is in .*counterexample\.toml"):
        grade_folder(folder, output, assignment=str(exercise), unsafe=True)
    assert not (output / "points.csv").exists()
    command = (output / exercise_checks.COUNTEREXAMPLE).read_text().splitlines()[0]
    assert command.startswith('# fedtheory check "max_drift <= ')


def test_solutions_are_graded_once_for_each_edition(
    exercise: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record in the output spares later gradings; another text of the file, or another copy, is graded again."""
    checked: list[str] = []
    monkeypatch.setattr(
        exercise_checks, "require_sound", lambda _assignment, copy, _folder: checked.append(copy.student)
    )
    for student in ("ana", "ana", "bob", "bob"):
        assignment = find_assignment(str(exercise))
        exercise_checks.require_sound_once(assignment, assignment.copy(student), tmp_path / "out")
    exercise.write_text(OWN + "\n")
    assignment = find_assignment(str(exercise))
    exercise_checks.require_sound_once(assignment, assignment.copy("bob"), tmp_path / "out")
    assert checked == ["ana", "bob", "bob"]


def give_out(exercise: Path) -> None:
    """Write a copy of an exercise after other steps."""
    assignment = find_assignment(str(exercise))
    require_sound(assignment, assignment.copy("class"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("rhs=18 * tau**2", "rhs=tau", "bound: the claim is false: in exact arithmetic .* on a run with 2 clients"),
        ('exercise = ex.Assignment(\n    id="my-drift"', 'exercise = ex.Assignment(\n    id="../x"', "id"),
        ("names=ex.letters_of(eta, tau, zeta, sigma)", "names=ex.letters_of(eta)", "bound.names"),
        ("solution=sp.Rational(3, 2)", 'solution="1/0"', "half.solution"),
        (
            "solution=sp.Rational(3, 2)",
            "solution=1.5",
            r"half.solution: expected an exact number, such as sympy.Rational\(1, 2\)",
        ),
        ('name="half"', 'name="bound"', "different names"),
        ('name="half"', 'name="a half"', "name of a Python variable"),
        ("claim=drift", "claim=None", "bound.claim"),
        ("points=2", "points=0.5", "half.points"),
        ("lhs=q.max_drift", "lhs='max_drift'", "lhs"),
        (
            "conditions=[eta <= 1 / (4 * L)]",
            "conditions=[L >= 10**9]",
            r"none of the small runs .*: the condition L >= 1000000000 fails \(\d+ runs\)",
        ),
        ("exercise = ex.Assignment(", "exercise = ex.Missing(", "line 14"),
        ("exercise = ex.Assignment(", "exercise = dict(", "expected one Assignment"),
    ],
)
def test_mistakes_of_an_exercise_are_named(exercise: Path, old: str, new: str, complaint: str) -> None:
    """Before students get an exercise, one line names the file, the question and what was expected."""
    exercise.write_text(OWN.replace(old, new))
    with pytest.raises(InputError, match=complaint) as found:
        give_out(exercise)
    assert "my_exercise.py" in str(found.value)
    assert "\n" not in str(found.value)
