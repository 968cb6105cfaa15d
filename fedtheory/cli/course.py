"""`fedtheory course`: assignments whose answers are bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Jobs, Json, print_json, print_lines, print_table, progress

if TYPE_CHECKING:
    from verify.grade import Result

NAME = "course"

app = typer.Typer(
    name=NAME,
    help="Assignments whose answers are bounds: list them, write notebooks, grade submissions.",
    no_args_is_help=True,
)

AssignmentId = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="An assignment's id, or my_exercise.py.")]
Student = Annotated[str, typer.Option("--student", metavar="ID", help="Whose copy; by default one for a whole class.")]
Folder = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Where the files go.")]
Submissions = Annotated[str, typer.Argument(metavar="DIR", help="A folder of submissions, .py and .ipynb.")]
Named = Annotated[
    str | None,
    typer.Option("--assignment", metavar="ID", help="What all submissions answer: an id, or my_exercise.py."),
]
SharedCopy = Annotated[str | None, typer.Option("--copy", metavar="ID", help="The copy that all students have.")]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe", help="Execute submitted code without a sandbox where bubblewrap cannot be had."),
]


@app.command("list")
def list_assignments(as_json: Json = False) -> None:
    """List the assignments, with the claims that they are about."""
    from fedtheory.language.exercises import CLASS
    from verify.grade import assignments

    documents: list[dict[str, Any]] = [
        {
            "id": assignment.id,
            "title": assignment.title,
            "claims": list(assignment.claims),
            "questions": len(assignment.copy(CLASS).questions),
            "points": assignment.copy(CLASS).points,
        }
        for assignment in assignments().values()
    ]
    if as_json:
        print_json(documents)
        return
    rows = [[str(d["id"]), str(d["title"]), str(d["questions"]), str(d["points"])] for d in documents]
    print_table(f"{len(rows)} assignments", ["id", "title", "questions", "points"], rows, whole=("id",))


@app.command("new")
def new(assignment: AssignmentId, output: Folder = ".", student: Student = "class", as_json: Json = False) -> None:
    """Write an assignment: notebook and Python file for the student; apart, under `instructor`, solution and rubric."""
    from verify.grade import find_assignment, require_sound
    from verify.grade import notebooks as n

    chosen = find_assignment(assignment)
    copy = chosen.copy(student)
    if chosen.file is not None:
        require_sound(chosen, copy)
    of_student, of_instructor = f"{chosen.id}/{copy.student}", f"instructor/{chosen.id}/{copy.student}"
    texts = {
        f"{of_student}/{copy.student}.ipynb": n.notebook_text(n.student_notebook(chosen, copy)),
        f"{of_student}/{copy.student}.py": n.python_template(chosen, copy),
        f"{of_instructor}/{chosen.id}.ipynb": n.notebook_text(n.instructor_notebook(chosen, copy)),
        f"{of_instructor}/rubric.md": n.rubric(chosen, copy),
    }
    files = [_write(Path(output) / name, text) for name, text in texts.items()]
    if as_json:
        print_json({"assignment": chosen.id, "student": copy.student, "files": [str(file) for file in files]})
    else:
        print_lines(*(f"wrote {file}" for file in files))


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
    from fedtheory.errors import InputError
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
            )
    except OSError as error:
        raise InputError("--output", f"cannot write to {output}: {error.strerror}") from None
    if as_json:
        points = str(Path(output) / "points.csv")
        document = [result.document() for result in results]
        print_json({"results": document, "points": points, "left_out": left_out(Path(submissions))})
    else:
        _for_people(results, Path(output), left_out(Path(submissions)))


def _write(path: Path, text: str) -> Path:
    from fedtheory.errors import InputError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError("--output", f"expected a folder to write to, got {path.parent} ({error.strerror})") from None
    return path


def _for_people(results: list[Result], output: Path, others: list[str]) -> None:
    from rich.markup import escape

    rows = [
        [escape(r.student), escape(r.assignment), f"{r.points:g}", str(r.pending or ""), str(r.of), _told(r)]
        for r in results
    ]
    columns = ["student", "assignment", "points", "to be read", "of", "troubles"]
    print_table(f"{len(rows)} submissions", columns, rows, whole=("student", "points"), roomy=("assignment",))
    ungraded = [result.file for result in results if not result.rows]
    if ungraded:
        print_lines(f"[yellow]not graded:[/yellow] {escape(', '.join(ungraded))}")
    if others:
        print_lines(f"[yellow]no .py and no .ipynb:[/yellow] {escape(', '.join(others))}")
    print_lines(f"points in {output / 'points.csv'}, feedback in {output / 'feedback'}")


def _told(result: Result) -> str:
    from rich.markup import escape

    return escape("; ".join(result.troubles))
