"""The page that a student gets back."""

from __future__ import annotations

from html import escape

from verify.grade.marking import Result, Row

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font-size: 1.1rem; margin: 1.6rem 0 .2rem; } pre { background: #f4f4f4; padding: .8rem; overflow-x: auto; }
.points { float: right; font-weight: 600; } .trouble { background: #fff4e0; padding: .4rem .8rem; }
"""


def feedback_page(result: Result) -> str:
    """A self-contained HTML page with points, comments and counterexamples; everything of the student's is escaped."""
    who, what = escape(result.student), escape(result.title or result.assignment or result.file)
    pending = f", and {result.pending} that a person gives" if result.pending else ""
    troubles = "".join(f'<p class="trouble">{escape(trouble)}</p>\n' for trouble in result.troubles)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{what}: {who}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>{what}</h1>\n<p>{who}: {result.points:g} of {result.of} points{pending}.</p>\n"
        f"{troubles}{''.join(map(_section, result.rows))}</body>\n</html>\n"
    )


def _section(row: Row) -> str:
    points = "to be read" if row.points is None else f"{row.points:g}"
    run = "" if row.run_file is None else f"<pre>{escape(row.run_file)}</pre>\n"
    name = f"<code>{escape(row.name)}</code>"
    return (
        f'<h2><span class="points">{points} / {row.of}</span>{escape(row.title)} ({name})</h2>\n'
        f"<p>{escape(row.comment)}</p>\n{run}"
    )
