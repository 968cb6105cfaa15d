"""Constants without a rational value: in exact arithmetic the output says that their fractions are bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cli_support import Changes

IRRATIONAL: Changes = {
    "problem.hessians": '[[["2", "1"], ["1", "1"]], [["2", "1"], ["1", "1"]]]',
    "problem.linear": '[["1", "0"], ["1", "0"]]',
    "problem.start": '["1", "-1"]',
    "algorithm.local_step_size": '"1/8"',
    "algorithm.rounds": "1",
}
"""Two equal clients, whose Hessian has the trace 3 and the determinant 1: its eigenvalues are (3 +- sqrt(5))/2."""
RATIONAL: Changes = {**IRRATIONAL, "problem.hessians": '[[["2", "1"], ["1", "2"]], [["2", "1"], ["1", "2"]]]'}
"""The eigenvalues are 1 and 3."""
DIFFERENT: Changes = {
    **IRRATIONAL,
    "problem.hessians": '[[["2"]], [["1"]]]',
    "problem.linear": '[["1"], ["0"]]',
    "problem.start": '["1"]',
}
"""The dissimilarity of the clients is bounded on a ball only."""


def test_no_fraction_is_an_irrational_eigenvalue(command, write_run) -> None:
    """A fraction does not satisfy x^2 - 3 x + 1 = 0, so that none of the printed ones is exact."""
    document = command("simulate", write_run(IRRATIONAL), "--arithmetic", "rational", "--json").document
    for name in ("smoothness", "strong_convexity"):
        value = Fraction(document["constants"][name])
        assert 0 < abs(value**2 - 3 * value + 1) < Fraction(1, 10**12)
        assert [note for note in document["notes"] if note.startswith(f"{name} is an eigenvalue")]


@pytest.mark.parametrize(
    ("changes", "arithmetic", "rounded"),
    [
        (IRRATIONAL, "rational", {"smoothness"}),
        (IRRATIONAL, "float", set()),
        (RATIONAL, "rational", set()),
        (DIFFERENT, "rational", {"gradient_dissimilarity"}),
    ],
)
def test_a_check_names_the_constants_that_are_bounds(
    command, write_run, changes: Changes, arithmetic: str, rounded: set[str]
) -> None:
    relation = "local_step_size*smoothness <= 100 + gradient_dissimilarity**2"
    found = command("check", relation, write_run(changes), "--arithmetic", arithmetic, "--json").document
    assert (found["holds"], found["arithmetic"]) == (True, arithmetic)
    assert found["rounded"].keys() == rounded
    shown = command("check", relation, write_run(changes), "--arithmetic", arithmetic).out
    assert all(f"{name}: {found['rounded'][name]}, not exact" in shown for name in rounded)
    assert ("not exact" in shown) == bool(rounded)


def test_exact_constants_have_no_note(command, write_run) -> None:
    for changes, arithmetic in ((RATIONAL, "rational"), (IRRATIONAL, "float"), (DIFFERENT, "float")):
        document = command("simulate", write_run(changes), "--arithmetic", arithmetic, "--json").document
        assert document["notes"] == []
    noted = command("simulate", write_run(DIFFERENT), "--arithmetic", "rational", "--json").document["notes"]
    assert [note.partition(" ")[0] for note in noted] == ["gradient_dissimilarity"]
