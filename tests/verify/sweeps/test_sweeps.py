"""A sweep's file: what it ranges over, what it refuses, and that each row is what `check` says of its run."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from sweep_support import BASE, swept, write_sweep

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation.problem import datasets
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.datasets import DataSet
from fedtheory.language.registry import claims_of, find
from verify.check import check
from verify.sweeps import read_results, read_spec, run_sweep
from verify.sweeps.sweep_design import Design, read_design

THEOREM = "renard2022:thm-2.1"


def design(text: str) -> Design:
    """Return the design of the tables of a sweep."""
    tables = tomllib.loads(BASE + text)
    base = {name: tables[name] for name in ("problem", "algorithm")}
    return read_design(base, tables.get("grid", {}), tables.get("random", {}))


def test_the_grid_is_a_product_and_the_last_key_varies_fastest() -> None:
    """Every combination is there once, in the order of nested loops; quoted and bare keys mean the same."""
    plan = design('[grid]\nalgorithm.local_steps = [1, 2]\n"problem.noise" = {from = 0, to = 4, step = 2}')
    found = [tuple(plan.values(row).values()) for row in range(plan.runs)]
    assert found == [(steps, noise) for steps in (1, 2) for noise in (0, 2, 4)]
    assert [key.text for key in plan.keys] == ["algorithm.local_steps", "problem.noise"]


def test_every_point_of_the_grid_has_the_same_draws() -> None:
    """A draw depends on the seed, its number and its key, not on the grid or on other keys."""
    law = '"problem.linear[0][1]" = {law = "uniform", low = -1, high = 1}'
    plan = design(f"[grid]\nalgorithm.rounds = [1, 2]\n[random]\ncount = 3\nseed = 5\n{law}")
    draws = [plan.values(row)["problem.linear[0][1]"] for row in range(6)]
    assert draws[:3] == draws[3:]
    assert len(set(draws)) == 3
    more = design(f'[random]\ncount = 9\nseed = 5\nproblem.noise = {{law = "integers", low = 0, high = 9}}\n{law}')
    assert [more.values(row)["problem.linear[0][1]"] for row in range(3)] == draws[:3]
    other = design(f"[random]\ncount = 3\nseed = 6\n{law}")
    assert not {other.values(row)["problem.linear[0][1]"] for row in range(3)} & set(draws)


def test_draws_follow_their_laws() -> None:
    """Three thousand draws of each law have the expected ends, types and distribution."""
    plan = design(
        """[random]
        count = 3000
        problem.noise = {law = "uniform", low = 1, high = 3}
        algorithm.local_step_size = {law = "log-uniform", low = "1/1000", high = 10}
        algorithm.local_steps = {law = "integers", low = 1, high = 3}
        algorithm.name = {law = "choice", values = ["fedavg", "distributed-gd"]}
        problem.linear = {law = "integers", low = 0, high = 1, shape = [2, 2]}
        """
    )
    rows = [plan.values(row) for row in range(plan.runs)]
    noise = [row["problem.noise"] for row in rows]
    assert 1 <= min(noise) < 1.01
    assert 2.99 < max(noise) <= 3
    assert abs(sum(noise) / 3000 - 2) < 5 * (2 / math.sqrt(12)) / math.sqrt(3000)
    small = sum(row["algorithm.local_step_size"] < 0.1 for row in rows)
    assert abs(small - 1500) < 5 * math.sqrt(750)
    for key, values in (("algorithm.local_steps", {1, 2, 3}), ("algorithm.name", {"fedavg", "distributed-gd"})):
        assert {row[key] for row in rows} == values
    assert {str(row["problem.linear"]) for row in rows} == {
        str([[a, b], [c, d]]) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)
    }


def test_spaced_numbers_reach_both_ends() -> None:
    """Spaced numbers are even, or even on a log scale, with six digits."""
    spaced = design("[grid]\nproblem.noise = {from = 0, to = 1, count = 5}").axes[0].values
    assert spaced == (0, 0.25, 0.5, 0.75, 1)
    logarithmic = design('[grid]\nproblem.noise = {from = "1/3", to = 30, count = 3, spacing = "log"}').axes[0].values
    assert logarithmic == (1 / 3, 3.16228, 30)


def test_keys_are_set_at_any_depth() -> None:
    """Tables are made where there are none, entries of lists are replaced, and the base run stays unchanged."""
    plan = design('[grid]\nalgorithm.participation.kind = ["uniform"]\n"problem.hessians[1][0][0]" = ["7/2"]')
    tables = plan.tables(0)
    assert tables["algorithm"]["participation"] == {"kind": "uniform"}
    assert tables["problem"]["hessians"] == [[["2", "0"], ["0", "1"]], [["7/2", "0"], ["0", "1"]]]
    assert plan.base == {name: tomllib.loads(BASE)[name] for name in ("problem", "algorithm")}


MISTAKES = {
    "algorithm.local_stepsize: unknown key": "[grid]\nalgorithm.local_stepsize = [1, 2]",
    "algorithm.clock.intervall: unknown key": "[grid]\nalgorithm.clock.intervall = [1, 2]",
    "algorithm.rounds: expected a whole number of at least 1, got 0": "[grid]\nalgorithm.rounds = [0]",
    "grid: expected a key of a run file such as algorithm.local_steps, got 'rounds'": "[grid]\nrounds = [1]",
    "problem.hessians[5][0][0]: expected a key or list entry that the run file has": (
        '[grid]\n"problem.hessians[5][0][0]" = [1]'
    ),
    "grid.algorithm.rounds: expected a list of values, or a range": "[grid]\nalgorithm.rounds = 3",
    "grid.algorithm.rounds: expected a list of values, or a range {from = 0, to = 9}, got []": (
        "[grid]\nalgorithm.rounds = []"
    ),
    "grid.algorithm.rounds.to: expected 5 or more": "[grid]\nalgorithm.rounds = {from = 5, to = 4}",
    "grid.algorithm.rounds.until: unknown key": "[grid]\nalgorithm.rounds = {from = 5, to = 6, until = 4}",
    "grid.problem.noise.from: expected a positive number on a log scale": (
        '[grid]\nproblem.noise = {from = 0, to = 1, count = 3, spacing = "log"}'
    ),
    "random.problem.noise.law: expected one of uniform, log-uniform, integers, choice, got 'normal'": (
        '[random]\nproblem.noise = {law = "normal"}'
    ),
    "random.problem.noise.high: expected more than 2, got 1": (
        '[random]\nproblem.noise = {law = "uniform", low = 2, high = 1}'
    ),
    "random.problem.noise.low: is missing": '[random]\nproblem.noise = {law = "integers", high = 1}',
    "random.problem.noise.values: expected a list": '[random]\nproblem.noise = {law = "choice", values = 1}',
    "random.count: expected further keys in [random], with laws of their values": "[random]\ncount = 3",
    "random.count: expected a whole number of at least 1, got 0": "[random]\ncount = 0",
    "algorithm.clock.policy: overlaps with algorithm.clock": (
        '[grid]\n"algorithm.clock" = [{policy = "async"}]\n"algorithm.clock.policy" = ["sync"]'
    ),
    "grids: unknown key": "[grids]\nproblem.noise = [1]",
    "run: expected a string": "run = 3",
    "claims: expected a list of claims' ids": "claims = 3",
    "claims[0]: no claim is called 'renard2022:thm-2.2'": 'claims = ["renard2022:thm-2.2"]',
    "claims[0]: renard2022:assumption-1 is a definition": 'claims = ["renard2022:assumption-1"]',
    "arithmetic: expected one of float, rational": 'arithmetic = "double"',
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named_before_the_first_run(mistake: str, tmp_path: Path) -> None:
    """A mistake is reported with the file, the key, and what was expected."""
    text = MISTAKES[mistake]
    top = "" if text.startswith("[") else text
    claims = "" if "claims" in top else f'claims = ["{THEOREM}"]'
    spec = write_sweep(tmp_path, "\n".join([top, claims, BASE if "run =" not in top else "", "" if top else text]))
    with pytest.raises(InputError) as found:
        read_spec(spec)
    assert str(found.value).startswith(f"{spec}: {mistake}")


def test_mistakes_of_the_base_run_name_its_file(tmp_path: Path) -> None:
    """The message names the run file for a mistake in it, and the sweep for a wrong swept key."""
    (tmp_path / "base.toml").write_text(BASE.replace("rounds", "round"))
    spec = write_sweep(tmp_path, f'run = "base.toml"\nclaims = ["{THEOREM}"]\n[grid]\nproblem.noise = [1]')
    with pytest.raises(InputError, match=r"base.toml: algorithm.rounds: is missing; is 'round' a typing error for it"):
        read_spec(spec)
    (tmp_path / "base.toml").write_text(BASE)
    assert read_spec(spec).design.runs == 1
    spec.write_text(spec.read_text().replace("noise", "nois"))
    with pytest.raises(InputError, match=r"sweep.toml: problem.nois: unknown key"):
        read_spec(spec)
    spec.write_text(f'run = "base.toml"\nclaims = ["{THEOREM}"]\n{BASE}')
    with pytest.raises(InputError, match="problem: expected either run or the tables problem and algorithm, got both"):
        read_spec(spec)


def test_sources_and_patterns_name_the_claims_that_can_be_checked(tmp_path: Path) -> None:
    """A source stands for all its claims with a relation or a rate, in the order of its pages."""
    whole = read_spec(write_sweep(tmp_path, f'claims = ["renard2022"]\n{BASE}'))
    assert list(whole.targets) == [c.id for c in claims_of("renard2022") if c.relations or c.rate is not None]
    some = read_spec(write_sweep(tmp_path, f'claims = ["renard2022:thm-2.1", "*:thm-2.1.s*"]\n{BASE}'))
    assert list(some.targets) == ["renard2022:thm-2.1", "renard2022:thm-2.1.sharp"]


SWEEP = f"""
claims = ["{THEOREM}", "renard2022:lemma-2.2.proof.triangle"]
{BASE}
[grid]
algorithm.local_steps = [1, 3]
algorithm.participation = [{{kind = "full"}}, {{kind = "uniform", clients = 2}}, {{kind = "uniform", clients = 3}}]
[random]
count = 3
algorithm.local_step_size = {{law = "log-uniform", low = "1/50", high = 5}}
"""


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=lambda arithmetic: arithmetic.name)
def test_each_row_is_what_check_says_of_its_run(tmp_path: Path, arithmetic: Any) -> None:
    """Verdicts are those of exact runs of the row's run file, in both arithmetics; sides are those of its own."""
    swept(tmp_path, f'arithmetic = "{arithmetic.name}"\n{SWEEP}')
    results = read_results(tmp_path / "sweep.parquet")
    assert len(results.rows) == 2 * results.design.runs == 36
    seen = set()
    for row in results.rows:
        seen.add(row["verdict"])
        tables = tomllib.loads(results.run_file(row["row"]))
        if row["verdict"] == "invalid":
            with pytest.raises(InputError) as error:
                parse_run(tables, arithmetic)
            assert row["reason"] == str(error.value)
            continue
        found, exact = (check(find(row["claim"]), parse_run(tables, each)) for each in (arithmetic, RATIONAL))
        words = {None: "not applicable", True: "holds", False: "violated"}
        assert row["verdict"] == words[exact.holds]
        assert (row["reason"] == exact.reason) or row["reason"] == "decided in rationals"
        sides = (None, None) if found.worst is None else (found.worst.lhs, found.worst.rhs)
        assert (row["lhs"], row["rhs"]) == tuple(None if side is None else plain_float(side) for side in sides)
        if arithmetic is RATIONAL and found.worst is not None:
            assert (row["lhs_exact"], row["rhs_exact"]) == tuple(map(str, sides))
            assert row["ratio_exact"] == str(found.worst.ratio)
    assert seen >= {"holds", "violated", "not applicable", "invalid"}


@pytest.mark.long
def test_divergence_is_a_verdict_of_its_own(tmp_path: Path) -> None:
    """A step size that is too large leaves the floats; the reason names the round."""
    text = BASE.replace("rounds = 4", "rounds = 4000").replace('"1/20"', "1")
    claim = 'claims = ["mine.py:gap"]'
    (tmp_path / "mine.py").write_text(
        "from fedtheory import Claim, quantities as q\n"
        'gap = Claim(id="mine:gap", lhs=q.final_suboptimality, rhs=q.initial_gap)\n'
    )
    found = swept(tmp_path, f"{claim}\n{text}\n[grid]\nalgorithm.local_step_size = [0.1, 5]")
    assert [row["verdict"] for row in found] == ["holds", "diverging"]
    assert found[1]["reason"].startswith("the run diverges at round")
    assert found[1]["lhs"] is None


def test_an_unexpected_failure_costs_its_own_row_only(tmp_path: Path) -> None:
    """A claim whose own code fails on a run is reported there, and the other runs have their results."""
    (tmp_path / "mine.py").write_text(
        "from fedtheory import Claim, quantities as q\n"
        "from fedtheory.language.assumptions import Assumption\n"
        'odd = Assumption("odd", "divides", lambda run: 1 / (run.algorithm.rounds - 2))\n'
        'gap = Claim(id="mine:gap", lhs=0, rhs=q.initial_gap, assumptions=[odd])\n'
    )
    found = swept(tmp_path, f'claims = ["mine.py:gap"]\n{BASE}\n[grid]\nalgorithm.rounds = [1, 2, 3]')
    assert [row["verdict"] for row in found] == ["holds", "failed", "holds"]
    assert found[1]["reason"].endswith("mine.py, line 3: cannot be executed: ZeroDivisionError: division by zero")


def test_columns_have_the_types_of_their_values(tmp_path: Path) -> None:
    """Columns are whole numbers, numbers, words or lists; rational strings count as numbers, exact in rationals."""
    text = f"""claims = "{THEOREM}"\n{BASE}
    [grid]
    algorithm.local_steps = [1]
    algorithm.local_step_size = ["1/30", 0.5]
    algorithm.aggregation = ["importance"]
    problem.start = [["1", "2"]]
    """
    row = swept(tmp_path, text)[0]
    assert [row[f"algorithm.{key}"] for key in ("local_steps", "local_step_size")] == [1, 1 / 30]
    assert (row["algorithm.aggregation"], row["problem.start"]) == ("importance", '["1", "2"]')
    (tmp_path / "exact").mkdir()
    exact = swept(tmp_path / "exact", f'arithmetic = "rational"\n{text}')
    assert [row["algorithm.local_step_size"] for row in exact] == ["1/30", "1/2"]


GRID_OF_STEPS = '[grid]\nalgorithm.local_step_size = ["1/20", "1/2", 500]\nalgorithm.rounds = [4, 400]\n'


@pytest.mark.parametrize("claims", ["", f'claims = ["{THEOREM}"]\n'], ids=["without-claims", "with-claims"])
def test_errors_are_recorded(claims: str, tmp_path: Path) -> None:
    """Each run has the exact value of the quantity, or null if it diverges, next to the results of claims."""
    text = f'{claims}errors = ["final_suboptimality", "initial_distance"]\n{BASE}{GRID_OF_STEPS}'
    rows = swept(tmp_path, text)
    assert [row["row"] for row in rows] == list(range(6))
    for row in rows:
        table = tomllib.loads(BASE)
        table["algorithm"] |= {"local_step_size": row["algorithm.local_step_size"], "rounds": row["algorithm.rounds"]}
        run = parse_run(table, FLOAT)
        divergence = run.attempted_trajectory.divergence
        if divergence is not None and divergence.round is not None:
            assert row["final_suboptimality"] is None
        else:
            assert row["final_suboptimality"] == pytest.approx(float(run.trajectory.final_suboptimality))
        if not claims:
            assert row["verdict"] == (None if divergence is None else "diverging")
            assert row["reason"] == (None if divergence is None else divergence.reason)
        assert row["initial_distance"] == pytest.approx(float(run.initial_distance_sq) ** 0.5)
    known = [row for row in rows if row["final_suboptimality"] is not None]
    best = min(known, key=lambda row: row["final_suboptimality"])
    results = read_results(tmp_path / "sweep.parquet")
    assert results.find_smallest("final_suboptimality") == (best["final_suboptimality"], best["row"], len(known))
    by_run = [(row["row"], row["final_suboptimality"]) for row in results.list_error_rows("final_suboptimality")]
    assert by_run == [(row["row"], row["final_suboptimality"]) for row in rows]


@pytest.mark.parametrize("kind", ["huber", "softplus", "logistic"])
@pytest.mark.parametrize("batch", ["", "batch = 1\n"], ids=["full", "batches"])
def test_averages_over_replicas_have_a_margin(kind: str, batch: str, tmp_path: Path) -> None:
    """The margin is half of the interval that a simulation reports; averages without randomness have none."""
    (tmp_path / "mine.csv").write_text("a,y,client\n1,1,u\n2,0,u\n1,0,v\n3,1,v\n")
    base = f'[problem]\nkind = "{kind}"\ndata = "mine.csv"\nridge = 0.1\n{batch}[algorithm]\nrounds = 2\n'
    grid = "[grid]\nalgorithm.local_step_size = [0.01, 0.02]\n"
    rows = swept(tmp_path, f'errors = ["final_suboptimality"]\n{base}{grid}')
    results = read_results(tmp_path / "sweep.parquet")
    for row in rows:
        table = tomllib.loads(base)
        table["algorithm"]["local_step_size"] = row["algorithm.local_step_size"]
        run: Any = parse_run(table, FLOAT, tmp_path)
        interval = run.trajectory.interval("suboptimality")
        assert row["final_suboptimality.margin"] == results.find_margin("final_suboptimality", row["row"])
        if not batch:
            assert row["final_suboptimality.margin"] is None
        else:
            assert row["final_suboptimality.margin"] == pytest.approx((interval.high[-1] - interval.low[-1]) / 2)


def test_data_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data are read once for all runs of a process, also in a sweep over keys of the problem."""
    read: list[Path] = []

    def counted(path: Path, choice: ColumnChoice) -> DataSet:
        read.append(path)
        return read_columns(path, choice)

    read_columns = datasets._read_columns
    monkeypatch.setattr(datasets, "_read_columns", counted)
    base = 'errors = ["final_suboptimality"]\n[problem]\nkind = "least-squares"\ndata = "mine.csv"\n'
    grid = "[algorithm]\nrounds = 2\n[grid]\nalgorithm.local_step_size = [0.1, 0.2, 0.3]\nproblem.batch = [1, 2]\n"
    found = []
    for value in (1, 2):
        (tmp_path / "mine.csv").write_text(f"a,y,client\n1,{value},u\n2,0,u\n1,3,v\n2,1,v\n")
        path = write_sweep(tmp_path, base + grid)
        spec = read_spec(path)
        read.clear()
        run_sweep(spec, tmp_path / f"{value}.parquet")
        assert len(read) == 1
        found.append([row["final_suboptimality"] for row in read_results(tmp_path / f"{value}.parquet").rows])
    assert len(found[0]) == 6
    assert all(one != other for one, other in zip(*found, strict=True))


def test_diverging_runs_on_data_are_called_so_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Diverging runs on data are reported without reading their rows in rationals."""

    def refuse(*_arguments: object) -> Run:
        raise AssertionError

    monkeypatch.setattr("verify.sweeps.row_outcome._read_exactly", refuse)
    monkeypatch.setattr("verify.check.escalation._BUDGET", 1)
    (tmp_path / "mine.py").write_text(
        "from fedtheory import Claim, quantities as q\n"
        'gap = Claim(id="mine:gap", lhs=q.final_suboptimality, rhs=q.initial_gap)\n'
    )
    (tmp_path / "mine.csv").write_text("a,y,client\n1,1,u\n2,0,u\n1,3,v\n2,1,v\n")
    base = 'claims = ["mine.py:gap"]\n[problem]\nkind = "least-squares"\ndata = "mine.csv"\n[algorithm]\nrounds = 900\n'
    found = swept(tmp_path, f"{base}[grid]\nalgorithm.local_step_size = [0.01, 5]")
    assert [row["verdict"] for row in found] == ["holds", "diverging"]


@pytest.mark.parametrize("name", ["final_suboptimalty", "round_drift", "average"])
def test_errors_are_quantities_of_a_whole_run(name: str, tmp_path: Path) -> None:
    """A typing error is named, and so is what has a value for each round."""
    path = write_sweep(tmp_path, f'errors = ["{name}"]\n{BASE}{GRID_OF_STEPS}')
    with pytest.raises(InputError, match=r"errors\[0\]: expected a quantity of a whole run"):
        read_spec(path)
