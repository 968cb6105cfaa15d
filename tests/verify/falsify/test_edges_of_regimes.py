"""Parts of the searches over regimes and shapes of runs against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from claim_symbols import WHERE, L, T, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run
from verify.falsify.instance_search import _may_go_far
from verify.falsify.regimes.edge import Edge
from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.factors import _CYCLES, BASE, HORIZON, normalise
from verify.falsify.regimes.regime_search import _Searching
from verify.falsify.run_tables import Table, get
from verify.falsify.score import NOTHING
from verify.falsify.shrink import _Shrinking
from verify.falsify.structure import _change_linear_terms


def _table(linear: tuple[int, ...], curvatures: tuple[int, ...] = (1, 1), **problem: Any) -> Table:
    own = {
        "kind": "quadratic",
        "hessians": [[[fmpq(one)]] for one in curvatures[: len(linear)]],
        "linear": [[fmpq(one)] for one in linear],
        "start": [fmpq(3)],
    }
    return {"problem": own | problem, "algorithm": {"local_step_size": fmpq(1, 4), "local_steps": 1, "rounds": 2}}


def test_steps_are_repeated_while_one_of_them_helps() -> None:
    """Steps are repeated while any of them helps, and the tables are built again from the smaller run."""

    class Shrinking:
        def __init__(self, number: int) -> None:
            self.table: Any = number
            self.tried: list[int] = []

        def _tries(self, table: int) -> bool:
            self.tried.append(table)
            if table % 2 or table < 0:
                return False
            self.table = table
            return True

    def smaller(number: int) -> Any:
        return iter((number - 1, number - 2, number - 3))

    for start, end, tried in ((6, 0, [5, 4, 3, 2, 1, 0, -1, -2, -3]), (1, 0, [0, -1, -2, -3]), (0, 0, [-1, -2, -3])):
        shrinking: Any = Shrinking(start)
        assert _Shrinking._repeat(shrinking, smaller) is (start != end)
        assert (shrinking.table, shrinking.tried) == (end, tried)


def test_other_linear_terms() -> None:
    """Noise where there is none; each term with the other sign, one more, and none; a start next to it and opposite."""
    found = list(_change_linear_terms(_table((2, -5), noise=[fmpq(1)] * 2)))
    linear = [[int(one[0]) for one in table["problem"]["linear"]] for table in found[:6]]
    assert linear == [[-2, -5], [3, -5], [0, -5], [2, 5], [2, -4], [2, 0]]
    assert [table["problem"]["start"] for table in found[6:8]] == [[4], [-3]]
    (flat,) = found[8:]
    assert [one[0][0] for one in flat["problem"]["hessians"]] == [1, 0]
    assert flat["problem"]["linear"] == [[0], [0]]
    assert get(next(_change_linear_terms(_table((2, -5)))), "problem.noise") == [1, 1]
    alike = list(_change_linear_terms(_table((2, -5), (1, 7), noise=[fmpq(1)] * 2)))[8:]
    assert [[one[0][0] for one in table["problem"]["hessians"]] for table in alike] == [[1, 1], [7, 7]]
    assert len(list(_change_linear_terms(_table((2,), noise=[fmpq(1)])))) == 5


@pytest.mark.parametrize(
    ("place", "setting", "far"),
    [
        ("run", set(), True),
        ("run", {"problem.noise", "problem.weights"}, True),
        ("run", {"algorithm.clock.policy async"}, False),
        ("run", {"algorithm.clock.policy async", "problem.noise"}, False),
        ("step", {"problem.noise"}, False),
    ],
)
def test_long_horizons_without_clocks(place: str, setting: set[str], far: bool) -> None:
    state: Any = SimpleNamespace(claim=SimpleNamespace(place=place), setting=setting)
    assert _may_go_far(state) is far


def test_clients_that_can_be_afforded() -> None:
    """Seven doublings with a clock, six clients where half of them take part, and cycles with a clock alone."""
    point = {**BASE, "clients": 9.97}
    assert normalise(point)["clients"] == 9.97
    assert normalise({**point, "participation": "half"})["clients"] == 2.585
    assert normalise({**point, "participation": "one"})["clients"] == 9.97
    assert normalise({**point, "clock": "one slow"})["clients"] == 7
    assert normalise({**point, "horizon": ("cycle", 2)})["horizon"] == ("T", 2)
    assert [HORIZON.in_words(level) for level in _CYCLES] == ["1 cycle", "4 cycles"]


def test_all_conditions_are_needed_for_a_step() -> None:
    run = parse_run(_table((2, -5)), FLOAT)
    for conditions, allowed in (
        ([eta * L <= 1, T >= 2], True),
        ([eta * L <= 1, T >= 3], False),
        ([T >= 3, eta * L <= 1], False),
        ([8 * eta * L <= 1, T >= 2], False),
    ):
        assert Edge(Claim(id="t:edge", lhs=eta, rhs=1, where=WHERE, conditions=conditions))._allows(run) is allowed


def test_the_best_run_has_the_largest_score() -> None:
    """The best run has the largest score among those on which the claim applies and holds."""
    near, far, nothing, wrong = (_table((number,)) for number in range(4))
    seen = [
        Seen(dict(BASE), -2.0, near, True),
        Seen(dict(BASE), -1.0, far, True),
        Seen(dict(BASE), NOTHING, nothing, True),
        Seen(dict(BASE), 5.0, wrong, False),
        Seen(dict(BASE), 7.0, None, None),
    ]
    violations = SimpleNamespace(decide_open=lambda _: None, found=None, left_open=3)
    searching: Any = SimpleNamespace(
        _go=lambda: None,
        _climb_settings=lambda: None,
        _violations=violations,
        _evaluation=SimpleNamespace(known=dict(enumerate(seen)), count=9, factors={}),
        _pairs=lambda: None,
    )
    found = _Searching.search(searching)
    assert (found.evaluations, found.applicable, found.left_open) == (9, 4, 3)
    assert far in vars(found).values()
    assert near not in vars(found).values()
    searching._evaluation.known = {0: seen[2], 1: seen[3], 2: seen[4]}
    assert _Searching.search(searching).applicable == 2
