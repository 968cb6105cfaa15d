"""A user-defined claim is tried and searched like any other whose id begins otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.verdict import verify

CLAIMS = """\
import sympy as sp
from fedtheory import Claim, assumptions as a, quantities as q

eta, D, mu = sp.symbols("eta D mu", positive=True)
where = {eta: q.local_step_size, D: q.initial_distance, mu: q.strong_convexity}
# Motzkin's polynomial: nowhere negative, but no sum of squares, so that no search proves it.
motzkin = dict(lhs=3 * eta**2 * D**2, rhs=eta**4 * D**2 + eta**2 * D**4 + 1)
stated = dict(motzkin, where=where, conditions=[eta <= 1], assumptions=[a.full_participation])
first = Claim(id="mine:bound", **stated)
second = Claim(id="renard2022:bound", **stated)
"""


@pytest.mark.long
def test_the_beginning_of_an_id_costs_no_search(tmp_path: Path) -> None:
    """The beginning of an id gives the same instances, of the same kinds, and a search."""
    (tmp_path / "mine.py").write_text(CLAIMS)
    first, second = verify([f"{tmp_path / 'mine.py'}:{name}" for name in ("first", "second")], search=1)
    assert (first.verdict, first.instances, dict(first.lacking)) == (
        second.verdict,
        second.instances,
        dict(second.lacking),
    )
    assert first.is_own
    assert second.is_own
    assert first.searched > 0
    assert second.searched > 0
