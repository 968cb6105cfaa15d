"""Write the page that a student gets back."""

from __future__ import annotations

import re
from html import escape

import sympy as sp

from fedtheory.language.typesetting import latex
from verify.grade.answer_limits import FUNCTIONS, Unreadable
from verify.grade.marking import AnswerRow, Result
from verify.grade.notebooks import format_points
from verify.grade.python_answer import read_python

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font-size: 1.1rem; margin: 1.6rem 0 .2rem; } pre { background: #f4f4f4; padding: .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.points { float: right; font-weight: 600; } .trouble { background: #fff4e0; padding: .4rem .8rem; }
.question { color: #555; border-left: 3px solid #ddd; padding-left: .8rem; white-space: pre-line; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; } dd pre { margin: 0; }
"""
_FORMULA = re.compile(r"\$([^$]+)\$")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[A-Za-z_]\w*")
RUN_FILE = "run.toml"
"""The file name under which a student saves a run."""


def write_feedback_page(result: Result) -> str:
    """Return a self-contained HTML page with points, comments and counterexamples; text of the student is escaped."""
    who, what = escape(result.student), escape(result.title or result.assignment or result.file)
    pending = f"; {format_points(result.pending)} still to be given by a person" if result.pending else ""
    own = (trouble for trouble in result.troubles if trouble not in result.notes)
    troubles = "".join(f'<p class="trouble">{escape(trouble)}</p>\n' for trouble in own)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{what}: {who}</title>\n<style>{STYLE}</style></head>\n<body>\n"
        f"<h1>{what}</h1>\n<p>{who}: {result.points:g} of {format_points(result.of)}{pending}.</p>\n"
        f"{troubles}{''.join(map(_write_section, result.rows))}</body>\n</html>\n"
    )


def annotate_run(row: AnswerRow, name: str = RUN_FILE) -> str:
    """Return the run file of a refuted answer, with the command that shows the violation as its first line."""
    return f"# {write_command(row, name)}\n{row.run_file}" if row.relation else row.run_file or ""


def write_command(row: AnswerRow, name: str = RUN_FILE) -> str:
    """Return the command that shows both sides of an answer on the run that refutes it."""
    return f'fedtheory check "{row.relation}" {name}'


def _write_section(row: AnswerRow) -> str:
    points = "not graded yet" if row.points is None else f"{row.points:g}"
    name = f"<code>{escape(row.name)}</code>"
    return (
        f'<h2><span class="points">{points} / {row.of}</span>{escape(row.title)} ({name})</h2>\n'
        f"{write_question(row)}<dl>{_write_answer(row)}<dt>Result</dt><dd>{escape(row.comment)}</dd></dl>\n{_write_run(row)}"
    )


def write_question(row: AnswerRow) -> str:
    """Typeset a question; empty if it is not known."""
    return f'<div class="question">{_typeset(row.question)}</div>\n' if row.question else ""


def _write_answer(row: AnswerRow) -> str:
    """Return the answer as submitted, and as parsed if that differs."""
    if not row.answer:
        return ""
    given = f"<dt>Your answer</dt><dd><pre>{escape(row.answer)}</pre></dd>"
    formula = _typeset_read_formula(row.read)
    if not formula and row.read in ("", row.answer):
        return given
    return f"{given}<dt>Read as</dt><dd>{formula}<code>{escape(row.read)}</code></dd>"


def _typeset_read_formula(text: str) -> str:
    """Typeset the formula as parsed; empty for numbers, words and anything else."""
    words = set(_NAME.findall(text)) - FUNCTIONS.keys()
    if text in words or not words:
        return ""
    try:
        return f"<p>{_convert_formula(latex(read_python(text, {word: _build_symbol(word) for word in words})))}</p>"
    except Unreadable:
        return ""


def _build_symbol(word: str) -> sp.Symbol:
    """Return a symbol; a word that is not a Greek letter is typeset upright, not as a product of its letters."""
    is_word = len(word) > 1 and latex(sp.Symbol(word)) == word
    return sp.Symbol(rf"\mathrm{{{word}}}" if is_word else word, positive=True)


def _write_run(row: AnswerRow) -> str:
    if row.run_file is None:
        return ""
    run = f"<p>The run that violates your bound:</p>\n<pre>{escape(row.run_file)}</pre>\n"
    if not row.relation:
        return run
    typed = f"<pre>{escape(write_command(row))}</pre>\n"
    return f"{run}<p>Save it as <code>{RUN_FILE}</code>; this command shows both sides:</p>\n{typed}"


def _typeset(text: str) -> str:
    """Convert Markdown with LaTeX to HTML; formulas become MathML if the converter is installed."""
    parts = _FORMULA.split(text)
    return "".join(_convert_formula(part) if place % 2 else _mark_up_text(part) for place, part in enumerate(parts))


def _mark_up_text(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", _STRONG.sub(r"<b>\1</b>", escape(text, quote=False)))


def _convert_formula(latex: str) -> str:
    try:
        from latex2mathml.converter import convert

        return str(convert(latex))
    except Exception:
        # Without the converter, or if it fails, the LaTeX source is shown.
        return f"<code>{escape(latex)}</code>"
