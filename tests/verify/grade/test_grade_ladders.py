"""Ladders, units and looseness of the grader at their edges: exponents, corners, quotas, sizes."""

from __future__ import annotations

import math
import subprocess
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check.joint_checks import CheckResult
from verify.falsify.run_tables import make_working_table
from verify.falsify.search_state import estimate_exact_cost
from verify.grade.answer_dimensions import _find_exponent
from verify.grade.battery import Battery, _limit_each_kind
from verify.grade.bound import _find_smaller_bound, _is_at_least, _list_proved_bounds
from verify.grade.confinement import Limits
from verify.grade.counterexample import describe_size
from verify.grade.equality import are_equal, has_units_of
from verify.grade.ladders import _build_level, _list_corners, _list_levels
from verify.grade.looseness import _find_common_denominator, _Range, measure_looseness
from verify.grade.sandbox import _run

x, y = sp.symbols("x y", positive=True)
eta, tau, L, sigma, M, T, D = sp.symbols("eta tau L sigma M T D", positive=True)


@pytest.mark.parametrize(("ratio", "exponent"), [(9.0, 2), (1 / 3, -1), (math.sqrt(3), Fraction(1, 2)), (1.0, 0)])
def test_exponents_of_units(ratio: float, exponent: Fraction | int) -> None:
    assert _find_exponent(ratio, 3) == exponent
    assert _find_exponent(ratio * 1.01, 3) is None


def test_unknown_units_are_no_wrong_units() -> None:
    claim = Claim(id="mine:units", lhs=D, rhs=eta * sigma, where={eta: q.local_step_size, sigma: q.noise_deviation})
    assert has_units_of(2 * eta * sigma, eta * sigma, claim) is True
    assert has_units_of(eta * sigma**2, eta * sigma, claim) is False
    assert has_units_of(x, eta * sigma, claim) is None
    assert has_units_of(sp.S.Zero, eta * sigma, claim) is False


def test_numbers_without_a_value_are_equal_to_none() -> None:
    assert are_equal(x + y, y + x)
    assert not are_equal(sp.sqrt(-x), x)
    assert not are_equal(sp.log(-x), x)


TABLE: dict[str, Any] = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2"]], [["1"]]],
        "linear": [["1"], ["-1"]],
        "start": ["3"],
        "noise": "1",
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/8", "local_steps": 2, "rounds": 3},
}


def _algorithm(**changes: Any) -> dict[str, Any]:
    return {**TABLE, "algorithm": TABLE["algorithm"] | changes}


def _table(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a run as in a search, in rationals."""
    return make_working_table(parse_run(table, RATIONAL))


def test_levels_of_a_ladder() -> None:
    """Doubling reaches any number of rounds; other algorithms have at most 512 rounds."""
    levels = ((1, 4, 512, 1), (2, 8, 513, 16))
    assert list(_list_levels(TABLE, levels)) == list(levels)
    assert list(_list_levels(_algorithm(name="scaffold"), levels)) == [levels[0]]
    clock = {"policy": "async", "times": ["1", "2"]}
    assert list(_list_levels(_algorithm(clock=clock), levels)) == [levels[0]]
    assert list(_list_levels(_algorithm(local_steps=1), levels)) == [(1, 1, 512, 1), (2, 1, 513, 16)]


def test_a_level_of_a_ladder() -> None:
    """A level has three times the clients, eight steps, five rounds, and a fourth of the step size."""
    found = _build_level(_table(TABLE), 3, 8, 5, 4)
    assert len(found["problem"]["hessians"]) == 6
    assert [found["algorithm"][key] for key in ("local_steps", "rounds")] == [8, 5]
    assert Fraction(str(found["algorithm"]["local_step_size"])) == Fraction(1, 32)
    own = _build_level(_table(_algorithm(local_steps=[1, 2])), 1, 8, 5, 4)
    assert own["algorithm"]["local_steps"] == [1, 2]


def test_corners_of_causes() -> None:
    """Corners are each cause alone, each pair, and all causes."""
    kept = [causes for causes, _ in _list_corners(_table(TABLE))]
    present = max(kept, key=len)
    assert set(present) <= {"noise", "start", "spread", "residuals"}
    assert len(present) >= 3
    count = len(present)
    assert [len(causes) for causes in kept] == [1] * count + [2] * math.comb(count, 2) + [count]
    quiet = next(table for causes, table in _list_corners(_table(TABLE)) if causes == ("start",))
    assert quiet["problem"]["noise"] == [0, 0]


def test_a_quota_of_each_kind() -> None:
    """Each kind of run has a quota; runs of one round and of several rounds are two kinds."""
    runs = [parse_run(_algorithm(rounds=rounds), RATIONAL) for rounds in (2, 3, 1, 4, 5, 1)]
    assert list(_limit_each_kind(runs, 2)) == [runs[0], runs[1], runs[2], runs[5]]


def test_work_and_size_of_a_counterexample() -> None:
    table = _table(_algorithm(local_steps=1, rounds=1, server_step_size="1/2"))
    assert describe_size(table) == "a run with 2 clients, 1 local step, 1 round, step size 1/8, server step size 1/2"
    assert estimate_exact_cost(_table(_algorithm(rounds=100))) > 100 * estimate_exact_cost(table)


def test_sizes_of_symbols() -> None:
    counts, momentum = _Range((0, 1), sp.Integer(2)), _Range((0, -1), sp.Rational(1, 2), is_complement=True)
    assert [counts.size_at(power, sp.Integer(256)) for power in (0, 1)] == [2, 512]
    assert [momentum.size_at(power, sp.Integer(256)) for power in (0, -1)] == [
        sp.Rational(1, 2),
        1 - sp.Rational(1, 512),
    ]
    assert [counts.change(1), counts.change(-1), momentum.change(-1)] == ["grows", "falls", "tends to 1"]
    assert _find_common_denominator(sp.sqrt(x) + 1, x ** sp.Rational(2, 3)) == 6


def test_looseness_over_values() -> None:
    """A factor sqrt(M) grows without bound with M; a factor of three is three; user-defined quantities are ignored."""
    where = {eta: q.local_step_size, sigma: q.noise_deviation, M: q.clients, L: q.smoothness}
    sides = {"lhs": q.final_suboptimality, "rhs": eta * sigma**2 / M}
    claim = Claim(id="mine:loose", where=where, conditions=[eta <= 1 / L], **sides)
    found = measure_looseness(claim, eta * sigma**2 / sp.sqrt(M))
    assert found is not None
    assert (found.excess, found.growth) == (math.inf, ((M, "grows"),))
    thrice = measure_looseness(claim, 3 * eta * sigma**2 / M)
    assert thrice is not None
    assert (thrice.excess, thrice.growth) == (pytest.approx(3.0), ())
    assert measure_looseness(claim, x * eta * sigma**2 / M) is None
    # Of the sizes that are tried eta L is 1/32 at most, where it may be one.
    more = measure_looseness(claim, eta * sigma**2 / M + eta**2 * L * sigma**2 / M)
    assert more is not None
    assert more.excess == pytest.approx(33 / 32)


def test_a_bound_is_proved_by_any_sharper_one_and_by_none_that_is_not_proved() -> None:
    """The growing form of Lemma 2.3 is below the published one, and no answer between them is proved."""
    claim = find("renard2022:lemma-2.3")
    growing = find("renard2022:lemma-2.3.growing").relations[0].right
    assert _find_smaller_bound(claim, growing) is not None
    assert not _is_at_least(claim, growing, claim.relations[0].right)
    assert _find_smaller_bound(claim, growing / 2) is None
    own = replace(claim, id="mine:drift", is_published=False)
    assert own not in _list_proved_bounds(own)


@pytest.mark.long
def test_code_that_waits_is_distinguished_from_code_that_computes() -> None:
    """Code that waits has another message than code that computes, and so has code with too long an answer."""

    def started(command: str) -> Any:
        def launch(_program: str, _limits: Limits) -> subprocess.Popen[bytes]:
            pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
            return subprocess.Popen(["sh", "-c", command], start_new_session=True, **pipes)

        return launch

    def ending(command: str, limits: Limits) -> str:
        return _run(started(command), b"", limits)[1]

    assert ending("sleep 600", Limits(waiting=1)) == "the code was stopped after 1 seconds of waiting"
    assert ending("yes", Limits(output=100)) == "the code prints more than 100 bytes"
    assert ending("exit 3", Limits()) == "the code crashed the process (exit code 3)"
    assert ending("kill -9 $$", Limits(seconds=7)).startswith("the code was stopped after 7 seconds")
    assert ending("exit 0", Limits()) == "the code ended the process: leave out exit() and quit()"


def test_levels_that_are_left_open_together_are_checked_alone() -> None:
    """Levels that a check of the whole ladder leaves undecided are checked one by one."""
    claim = Claim(id="mine:zero", lhs=0, rhs=q.final_distance_sq, where={})
    short, long = _table(TABLE), _table(_algorithm(rounds=100_000))
    tried = Battery([], [short, long])
    runs = [parse_run(TABLE, FLOAT)] * 2
    together = {0: CheckResult(True, ratio=0.25)}
    tried.__dict__["_floats"] = SimpleNamespace(runs=runs, check_claims=lambda _: {})
    alone, undecided = tried._check_on_ladders(claim)
    assert (alone.holds, undecided.holds) == (True, None)
    tried.__dict__["_floats"] = SimpleNamespace(runs=runs, check_claims=lambda claims: {claims[0]: together})
    assert next(iter(tried._check_on_ladders(claim))) is together[0]
