"""Additional pages of papers can be drawn."""

from __future__ import annotations

import pytest

from fedtheory.language.registry import all_sources
from report.drawing import PaperTask, load_templates

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("key", sorted(all_sources()))
def test_pages_of_a_paper_are_drawn(key: str) -> None:
    """Each page is drawn with figures that Matplotlib can typeset and scale."""
    drawn = PaperTask(key).draw(load_templates(()))
    assert all("<h1" in text for name, text in drawn.files.items() if name.endswith(".html"))
