"""`fedtheory course`: assignments whose answers are bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Jobs, Json, escape, print_json, print_lines, print_table, progress
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.language.exercises import Assignment, Copy
    from verify.grade import ReadBack, Result

NAME = "course"

app = typer.Typer(
    name=NAME,
    help="Assignments whose answers are bounds: list them, write notebooks, grade submissions.",
    no_args_is_help=True,
)

AssignmentId = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="An assignment's id, or my_exercise.py.")]
Student = Annotated[
    str | None, typer.Option("--student", metavar="ID", help="The student's id; default: one copy for the whole class.")
]
Roster = Annotated[
    str | None,
    typer.Option("--students", metavar="FILE", help="A copy for each student of a list: an id a line, or a csv file."),
]
Solutions = Annotated[
    bool,
    typer.Option("--solutions", help="Also write, under `instructor`, the notebook with solutions and the rubric."),
]
Folder = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")]
Grades = Annotated[str, typer.Argument(metavar="DIR", help="A folder that `fedtheory course grade` has written.")]
Submissions = Annotated[str, typer.Argument(metavar="DIR", help="A folder of submissions, .py and .ipynb.")]
AnswerFile = Annotated[str, typer.Argument(metavar="FILE", help="Your own answers, .py or .ipynb; its code is run.")]
Named = Annotated[
    str | None,
    typer.Option("--assignment", metavar="ID", help="The assignment of all files: an id, or my_exercise.py."),
]
SharedCopy = Annotated[str | None, typer.Option("--copy", metavar="ID", help="Grade every file as this copy.")]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe", help="Execute submitted code without a sandbox if bubblewrap is missing."),
]


@app.command("list")
def list_assignments(as_json: Json = False) -> None:
    """List the assignments: title, level, points and the claims that they are about."""
    from fedtheory.language.exercises import CLASS
    from verify.grade import assignments

    documents: list[dict[str, Any]] = [
        {
            "id": assignment.id,
            "title": assignment.title,
            "source": assignment.source,
            "level": assignment.level,
            "claims": list(assignment.claims),
            "questions": len(assignment.copy(CLASS).questions),
            "points": assignment.copy(CLASS).points,
        }
        for assignment in assignments().values()
    ]
    if as_json:
        print_json(documents)
        return
    rows = [
        ["\n".join((d["id"], d["title"])), "\n".join((d["level"], *d["claims"])), f"{d['points']} in {d['questions']}"]
        for d in documents
    ]
    columns = ["id and title", "level and claims", "points in questions"]
    print_table(f"{len(rows)} assignments", columns, rows, whole=())


@app.command("new")
def new(  # noqa: PLR0917  Typer makes each argument an option
    assignment: AssignmentId,
    output: Folder = ".",
    student: Student = None,
    students: Roster = None,
    solutions: Solutions = False,
    as_json: Json = False,
) -> None:
    """Write an assignment: notebook and Python file for each student; with --solutions also solutions and rubric."""
    from verify.grade import find_assignment, require_sound

    names = _list_names(student, students)
    chosen = find_assignment(assignment)
    copies = [chosen.copy(name) for name in names]
    if chosen.file is not None:
        _announce_first_check()
        require_sound(chosen, copies[0], Path(output))
    files = [file for copy in copies for file in _write_copy(chosen, copy, Path(output), solutions)]
    if as_json:
        written = [copy.student for copy in copies]
        one = written[0] if len(written) == 1 else None
        print_json(
            {"assignment": chosen.id, "student": one, "students": written, "files": [str(file) for file in files]}
        )
    elif len(copies) == 1:
        print_lines(*(f"wrote {file}" for file in files))
    else:
        print_lines(f"wrote {len(copies)} copies, {len(files)} files, to {Path(output) / chosen.id}")


def _announce_first_check() -> None:
    """Explain on standard error why the first file takes longer."""
    typer.echo("grading your own solutions first, and searching for a counterexample to each reference bound", err=True)


def _list_names(student: str | None, roster: str | None) -> list[str]:
    """Return the ids of the students that are named, or listed in a file.

    Without either, the only id is that of the copy for the whole class.
    """
    from fedtheory.language.exercises import CLASS
    from verify.grade.roster import read_roster

    if student is not None and roster is not None:
        raise InputError("--students", "expected either --student or --students, got both")
    return [student or CLASS] if roster is None else read_roster(Path(roster))


def _write_copy(assignment: Assignment, copy: Copy, output: Path, with_solutions: bool) -> list[Path]:
    from verify.grade import notebooks as n

    folder = output / assignment.id / copy.student
    texts = {
        folder / f"{copy.student}.ipynb": n.write_notebook(n.build_student_notebook(assignment, copy)),
        folder / f"{copy.student}.py": n.write_python_template(assignment, copy),
    }
    if with_solutions:
        for_instructor = output / "instructor" / assignment.id / copy.student
        texts |= {
            for_instructor / f"{assignment.id}.ipynb": n.write_notebook(n.build_instructor_notebook(assignment, copy)),
            for_instructor / "rubric.md": n.write_rubric(assignment, copy),
        }
    return [_write(file, text) for file, text in texts.items()]


@app.command("check")
def check(file: AnswerFile, assignment: Named = None, copy: SharedCopy = None, as_json: Json = False) -> None:
    """Show how each answer of your own file is parsed and whether its units match, not whether it is right."""
    from verify.grade import read_back

    found = read_back(Path(file), assignment, copy)
    if as_json:
        print_json([vars(each) for each in found])
    else:
        _print_read_back(found)


def _print_read_back(found: list[ReadBack]) -> None:
    marks = {True: "[green]read[/green]", False: "[bold red]not read[/bold red]"}
    rows = [[each.name, marks[each.is_readable], escape(each.text)] for each in found]
    print_table("answers", ["question", "", "as it is read, or why it is not"], rows, whole=("question",))
    print_lines("this says nothing about whether an answer is right")


@app.command("points")
def points(  # noqa: PLR0917  Typer makes each argument an option
    grades: Grades,
    student: Annotated[str | None, typer.Argument(metavar="[STUDENT]", help="The student's id.")] = None,
    question: Annotated[str | None, typer.Argument(metavar="[QUESTION]", help="The question's name.")] = None,
    given: Annotated[str | None, typer.Argument(metavar="[POINTS]", help="The points of this answer.")] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="A comment for the student.")] = "",
    table: Annotated[
        str | None,
        typer.Option("--from", metavar="CSV", help="A csv file with columns student, question, points and note."),
    ] = None,
    assignment: Annotated[
        str | None, typer.Option("--assignment", metavar="ID", help="The assignment, if the student has several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Enter points given by a person, as for proofs; grading again keeps them."""
    from verify.grade.point_entries import EnteredPoints, parse_points, read_given
    from verify.grade.result_files import give_points

    if (table is None) == (student is None):
        raise InputError("STUDENT", "expected either STUDENT QUESTION POINTS, or --from CSV")
    if table is not None:
        entries = read_given(Path(table))
    elif student is None or question is None or given is None:
        raise InputError("POINTS", "expected STUDENT QUESTION POINTS")
    else:
        entries = [EnteredPoints(student, question, parse_points(given), note, assignment or "")]
    results = give_points(Path(grades), entries)
    if as_json:
        print_json({"results": [result.document() for result in results], "entered": len(entries)})
    else:
        _print_table(results, Path(grades), [])


@app.command("grade")
def grade(  # noqa: PLR0917  Typer makes each argument an option
    submissions: Submissions,
    output: Folder = "grades",
    assignment: Named = None,
    copy: SharedCopy = None,
    jobs: Jobs = -1,
    unsafe: Unsafe = False,
    as_json: Json = False,
) -> None:
    """Grade a folder of submissions: points.csv, and a page of feedback for each student; can be resumed."""
    from verify.grade import grade_folder, left_out

    try:
        with progress("grading") as tell:
            results = grade_folder(
                Path(submissions),
                Path(output),
                assignment=assignment,
                copy=copy,
                jobs=jobs,
                unsafe=unsafe,
                on_progress=tell,
                on_own=_announce_first_check,
            )
    except OSError as error:
        raise InputError("--output", f"cannot write to {output}: {error.strerror}") from None
    if as_json:
        points = str(Path(output) / "points.csv")
        document = [result.document() for result in results]
        print_json({"results": document, "points": points, "left_out": left_out(Path(submissions))})
    else:
        _print_table(results, Path(output), left_out(Path(submissions)))


def _write(path: Path, text: str) -> Path:

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError("--output", f"expected a folder to write to, got {path.parent} ({error.strerror})") from None
    return path


def _print_table(results: list[Result], output: Path, others: list[str]) -> None:
    rows = [
        [
            escape(r.student),
            escape(r.assignment),
            f"{r.points:g}",
            str(r.pending or ""),
            str(r.of),
            _describe_troubles(r),
        ]
        for r in results
    ]
    columns = ["student", "assignment", "points", "manual", "max", "issues"]
    title = "1 submission" if len(rows) == 1 else f"{len(rows)} submissions"
    print_table(title, columns, rows, whole=("student", "points"), roomy=("assignment",))
    ungraded = [result.file for result in results if not result.rows]
    if ungraded:
        print_lines(f"[yellow]not graded:[/yellow] {escape(', '.join(ungraded))}")
    if others:
        print_lines(f"[yellow]no .py and no .ipynb:[/yellow] {escape(', '.join(others))}")
    print_lines(f"points in {output / 'points.csv'}, feedback in {output / 'feedback'}")
    pending = sum(row.points is None for result in results for row in result.rows)
    if (output / "points-edited.csv").exists():
        print_lines("points.csv had been edited and is written again; its former text is in points-edited.csv")
    if pending:
        read, typed = output / "to_read.html", f"fedtheory course points {output} STUDENT QUESTION POINTS"
        print_lines(
            f"{pending} answer{'s' * (pending > 1)} to read, in {read};"
            f" enter points in {output / 'to_read.csv'} and grade again, or type `{typed}`"
        )


def _describe_troubles(result: Result) -> str:
    return escape("; ".join(result.troubles))
