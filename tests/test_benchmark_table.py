"""The table of benchmarks in the documentation has the format of the writing script."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def writer() -> ModuleType:
    """Return the script that writes the table."""
    spec = importlib.util.spec_from_file_location("table", ROOT / "tests/benchmarks/table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RESULTS = {
    "benchmarks": [
        {"extra_info": {"rows": [["one", "another", 12345.6, "times faster"], ["cost", "1 to 9", -0.031, "exponent"]]}},
        {"extra_info": {}},
    ]
}


def test_rows() -> None:
    """Ratios have two digits, exponents two places; a benchmark without rows adds none."""
    module = writer()
    assert module.table(module.measured(RESULTS)).splitlines()[2:] == [
        "| one | another | 12,000 times faster |",
        "| cost | 1 to 9 | exponent -0.03 |",
    ]


def test_rows_of_other_runs_stay() -> None:
    """A run updates the rows that it measures, adds new ones, and keeps the others."""
    module = writer()
    before = module.table({("one", "another"): "3 times faster", ("two", "others"): "exponent 0.50"})
    page = f"above\n{module.BEGIN}\n\n{before}\n\n{module.END}\nbelow"
    rows = module.written_before(page) | module.measured(RESULTS)
    assert list(rows.items()) == [
        (("one", "another"), "12,000 times faster"),
        (("two", "others"), "exponent 0.50"),
        (("cost", "1 to 9"), "exponent -0.03"),
    ]


def test_the_page_has_a_place_for_them() -> None:
    """Writing a table twice leaves one, and changes nothing else."""
    page, module = (ROOT / "docs/explanation/costs.md").read_text(encoding="utf-8"), writer()
    once = module.written(page, "| rows |")
    assert module.written(once, "| rows |") == once
    assert once.startswith(page.partition(module.BEGIN)[0])
    assert once.endswith(page.partition(module.END)[2])


def test_a_page_without_marks() -> None:
    """A page without marks is an error."""
    with pytest.raises(ValueError, match="expected the lines"):
        writer().written("nothing", "| rows |")
