"""The front page of a new site before its claims are checked: it shows the progress of the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from fedtheory.language.registry import find_publisher
from fedtheory.language.targets import display_name, resolve
from report.drawing import load_templates

_REFRESH = '<meta http-equiv="refresh"'
"""Tag by which a progress page differs from a front page with results."""
_INTERVAL = 3.0
"""Seconds between updates of the progress."""


@dataclass
class ProgressPage:
    """Progress as a page; a front page with earlier results is kept until its claims are checked again."""

    path: Path
    targets: Sequence[str]
    on_progress: Callable[[int, int], None]
    _written: float = field(default=float("-inf"), init=False)
    _is_new: bool = field(init=False)

    def __post_init__(self) -> None:
        # A stopped command may have left a progress page.
        self._is_new = not self.path.exists() or _REFRESH in self.path.read_text(encoding="utf-8")

    def __call__(self, done: int, whole: int) -> None:
        """Report the number of finished checks and of all checks."""
        self.on_progress(done, whole)
        if self._is_new and monotonic() - self._written >= _INTERVAL:
            self._written = monotonic()
            self._write(done, whole)

    def _write(self, done: int, whole: int) -> None:
        template = load_templates(()).get_template("progress.html")
        text = template.render(sources=_count_sources(self.targets), done=done, whole=whole, every=round(_INTERVAL))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text, encoding="utf-8")


def _count_sources(targets: Sequence[str]) -> list[tuple[str, int]]:
    """Count the claims of each source and of each user file."""
    return list(Counter(map(_name_source, targets)).items())


def _name_source(target: str) -> str:
    claim = resolve(target)
    paper = find_publisher(claim)
    if paper is None:
        return display_name(target, claim).rpartition(":")[0]
    return f"{paper.source.authors} ({paper.source.year})"
