"""Claims that state step sizes: the runs that are made for them have these sizes, and false ones are refuted."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from fedtheory import Claim, step_sizes, weighted_mean
from fedtheory import assumptions as a
from fedtheory import quantities as q
from verify.check import check
from verify.instances import FAMILIES, families_for
from verify.instances.schedules import with_stated_sizes
from verify.verdict import verify

mu, L, tau, D, T, t, n, k = sp.symbols("mu L tau D T t n k", positive=True)
WHERE = {mu: q.strong_convexity, L: q.smoothness, tau: q.local_steps, D: q.initial_distance, T: q.iterations}
SIZES = step_sizes(2 / (mu * (sp.Max(8 * L / mu, tau) + tau * n + k)), WHERE)
PLAIN = [a.full_gradients, a.one_type, a.full_participation, a.uniform_shares, a.unit_server_step, SIZES]


def _claim(rhs: sp.Expr) -> Claim:
    error = weighted_mean("late_error", q.suboptimality_at_step, t + 1, t)
    return Claim(id="mine:late", lhs=error, rhs=rhs, where=WHERE, assumptions=PLAIN)


def test_the_family_has_the_stated_sizes() -> None:
    (name,) = families_for(_claim(L * D**2))
    runs = [FAMILIES[name].build(number) for number in range(12)]
    assert all(SIZES.failure(run) is None for run in runs)
    assert sum(check(_claim(L * D**2), run).applicable for run in runs) > 1


def test_a_changed_run_gets_the_sizes_of_its_problem() -> None:
    claim = _claim(L * D**2)
    run = FAMILIES[families_for(claim)[0]].build(3).with_step_factor(2)
    assert SIZES.failure(run) is not None
    assert SIZES.failure(with_stated_sizes(claim, run)) is None


@pytest.mark.long
def test_a_false_bound_is_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(_FILE, encoding="utf-8")
    verdicts = {found.target: found.verdict for found in verify(["mine.py:true", "mine.py:false"], jobs=1, search=0.2)}
    assert verdicts == {"mine.py:true": "supported", "mine.py:false": "refuted"}


_FILE = """
import sympy as sp
from fedtheory import Claim, step_sizes, weighted_mean, assumptions as a, quantities as q
mu, L, tau, D, T, t, n, k = sp.symbols("mu L tau D T t n k", positive=True)
where = {mu: q.strong_convexity, L: q.smoothness, tau: q.local_steps, D: q.initial_distance, T: q.iterations}
error = weighted_mean("late_error", q.suboptimality_at_step, t + 1, t)
sizes = step_sizes(2 / (mu * (sp.Max(8 * L / mu, tau) + tau * n + k)), where)
setting = [a.full_gradients, a.one_type, a.full_participation, a.uniform_shares, a.unit_server_step, sizes]
true = Claim(id="mine:true", lhs=error, rhs=L * D**2 / 2, where=where, assumptions=setting)
false = Claim(id="mine:false", lhs=error, rhs=L * D**2 / (2 * T), where=where, assumptions=setting)
"""
