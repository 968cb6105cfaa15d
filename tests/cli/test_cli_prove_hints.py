"""`fedtheory prove FOLDER` suggests a correction for each broken certificate."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Command

STATEMENTS = """
import sympy as sp
from fedtheory import Claim, Gradient, Value, norm_sq
from fedtheory import assumptions as a, quantities as q
from fedtheory.kernel.expressions import Expectation

x, z, z_next, F_i = sp.symbols("x z_i z_i^+ F_i", real=True)
eta, L, sigma = sp.symbols("eta L sigma", positive=True)
step = x - eta * Gradient(F_i, x)
GIVEN = {F_i: q.client_objective, eta: q.local_step_size, L: q.smoothness}
CLAIMS = (
    Claim(
        id="hinted:descent", kind="inequality", title="Descent", locator="Lemma 1", place="points",
        lhs=Value(F_i, step), rhs=Value(F_i, x) - eta * (1 - L * eta / 2) * norm_sq(Gradient(F_i, x)),
        where=GIVEN | {x: q.point}, conditions=[eta <= 1 / L], assumptions=[a.convex_and_smooth], verdict="proved",
    ),
    Claim(
        id="hinted:noisy", kind="inequality", title="Noisy descent", locator="Lemma 2", place="step",
        lhs=Expectation(Value(F_i, z_next)),
        rhs=Expectation(Value(F_i, z)) - eta * (1 - L * eta / 2) * Expectation(norm_sq(Gradient(F_i, z)))
        + L * eta**2 * sigma**2 / 2,
        where=GIVEN | {z: q.local_iterate, z_next: q.next_local_iterate, sigma: q.noise_deviation},
        conditions=[eta <= 1 / L], assumptions=[a.convex_and_smooth], verdict="proved",
    ),
)
"""
CERTIFICATES = """
import sympy as sp
from fedtheory.kernel import Term, assumption, smoothness
from fedtheory.proofs import Certificate
from .statements import F_i, L, eta, step, x, z, z_next

CERTIFICATES = [
    Certificate(claim="hinted:descent", links=[[Term(sp.S.One, smoothness(F_i, x, step))]]),
    Certificate(claim="hinted:noisy", links=[[
        Term(sp.S.One, smoothness(F_i, z_next, z)), Term(L * eta**2 / 2, assumption("bounded variance")),
    ]]),
]
"""
SOURCE = """
from fedtheory import Source
from .statements import CLAIMS

SOURCE = Source(key="hinted", title="A paper", authors="A. Author", year=2026, claims=CLAIMS)
"""


@pytest.mark.usefixtures("no_open_paper")
def test_a_table_of_certificates_says_what_would_help(command: Command, tmp_path: Path) -> None:
    """Exchanged points and missing assumptions are named below the table, each with its claim."""
    folder = tmp_path / "hinted"
    folder.mkdir()
    for name, text in (("__init__", SOURCE), ("statements", STATEMENTS), ("certificates", CERTIFICATES)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    found = command("prove", str(folder))
    lines = " ".join(found.out.split())
    assert found.code == 1
    assert "hinted:descent: the certificate is accepted with one change: the two points exchanged in term 1" in lines
    assert "hinted:noisy: the certificate gets further if the claim assumes more: add assumptions." in lines
    assert "assumptions.same_local_work" in lines
    assert "assumptions.unbiased_bounded_variance" in lines
