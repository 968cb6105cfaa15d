"""Reports the progress of long work: a bar in a terminal or a notebook, otherwise a line every few seconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_IN_A_CELL = "JPY_PARENT_PID"
"""Set in cells of a notebook, whose standard error counts as a terminal but cannot redraw a line."""


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress as a bar, or as occasional lines, on standard error; yield a callback (done, all)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if console.is_jupyter:
        yield _show_notebook_bar(label)
        return
    if not console.is_terminal or _IN_A_CELL in os.environ:
        yield _print_lines(label)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


_PATIENCE = 10.0
"""Seconds between two lines of progress."""


def _print_lines(label: str) -> Callable[[int, int], None]:
    """Return a callback that prints (done, all) as a line on standard error every few seconds, and at the end.

    If the total grows during the work, the fraction done is printed instead, and never decreases.  Equal lines are
    not repeated.  Work that ends before the first line prints nothing.
    """
    from time import perf_counter

    last_report, first, most, has_reported = perf_counter(), 0, 0.0, False
    last_words = ""

    def print_progress(done: int, whole: int) -> None:
        nonlocal last_report, first, most, has_reported, last_words
        first, most = first or whole, max(most, done / max(whole, 1))
        is_end = done == whole == first and has_reported
        if is_end or perf_counter() - last_report >= _PATIENCE:
            last_report, has_reported = perf_counter(), not is_end
            words = f"{done} of {whole}" if whole == first else f"about {most:.0%}"
            if words != last_words:
                print(f"{label}: {words}", file=sys.stderr, flush=True)
            last_words = words

    return print_progress


def _show_notebook_bar(label: str) -> Callable[[int, int], None]:
    """Return a callback that shows (done, all) as a bar below the cell."""
    from html import escape
    from importlib import import_module

    show: Any = import_module("IPython.display")

    def bar(done: int, whole: int) -> Any:
        shown = f'{escape(label)} <progress value="{done}" max="{max(whole, 1)}"></progress> {done} of {whole}'
        return show.HTML(shown)

    handle = show.display(bar(0, 0), display_id=True)
    return lambda done, whole: handle.update(bar(done, whole))
