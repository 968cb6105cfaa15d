"""Descriptions of data files against values by hand, and memory sizes of planned runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_runs import a_run

from fedtheory import FLOAT, InputError, Run
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.planner.alternatives import Costs
from fedtheory.planner.description import DataDescription, _round_down, describe, encode_description
from fedtheory.planner.deterministic_runs import count_numbers
from fedtheory.runfile import parse_run

ROWS = {"u": [(1, 2), (1, 4)], "v": [(2, 2)] * 3}
"""Inputs and outputs of two clients."""


def _describe(folder: Path, rows: dict[str, list[tuple[float, float]]], **keys: Any) -> DataDescription:
    file = folder / "rows.csv"
    lines = [f"{a},{y},{client}" for client, pairs in rows.items() for a, y in pairs]
    file.write_text("\n".join(["a,y,client", *lines, ""]))
    return describe(str(file), ColumnChoice(), standardize=False, intercept=False, **keys)


def test_numbers_of_clients_and_of_all(tmp_path: Path) -> None:
    """F_u = w^2 - 6w + 10 and F_v = 4w^2 - 8w + 4, weighted 2 to 3: F'' = 28/5, and w* = 9/7."""
    found = _describe(tmp_path, ROWS)
    one, other = found.clients
    assert (one.name, one.rows, one.target_mean, one.smoothness) == ("u", 2, 3, pytest.approx(2))
    assert (other.name, other.rows, other.target_mean, other.smoothness) == ("v", 3, 2, pytest.approx(8))
    assert [client.gradient_at_optimum for client in found.clients] == pytest.approx([24 / 7, 16 / 7])
    assert [client.curvature_apart for client in found.clients] == pytest.approx([18 / 5, 12 / 5])
    assert [client.strong_convexity for client in found.clients] == pytest.approx([2, 8])
    gap = 28 / 10 * (9 / 7) ** 2
    assert found.constants == pytest.approx(
        {
            "smoothness": 8,
            "strong_convexity": 2,
            "objective_smoothness": 28 / 5,
            "objective_strong_convexity": 28 / 5,
            "gradient_dissimilarity_at_optimum": 24 / 7,
            "curvature_dissimilarity": 18 / 5,
            "initial_gap": gap,
            "optimal_value": 32 / 5 - gap,
        }
    )


def test_a_first_run(tmp_path: Path) -> None:
    """1/(4 L) = 1/32 is rounded down to 0.031; clients with different numbers of rows are weighted by them."""
    found = _describe(tmp_path, ROWS)
    table = found.run_table("rows.csv")
    assert table["algorithm"] == {"local_step_size": pytest.approx(0.031), "local_steps": 5, "rounds": 100}
    problem = table["problem"]
    assert (problem["data"], problem["kind"], problem["shares"]) == ("rows.csv", "least-squares", "samples")
    assert "standardize" not in problem
    assert found.run_table()["problem"]["data"] == str(tmp_path / "rows.csv")
    alike = _describe(tmp_path, {client: [(1, 2), (2, 1)] for client in "uv"})
    assert "shares" not in alike.run_table()["problem"]
    assert [_round_down(number) for number in (0.03199, 0.25, 1, 123.9)] == pytest.approx([0.031, 0.25, 1, 120])


def test_the_run_of_prepared_columns(tmp_path: Path) -> None:
    """Two columns and an intercept are three coordinates; standardised columns have mean square one."""
    file = tmp_path / "rows.csv"
    file.write_text("a,b,y,client\n1,5,1,u\n3,5,0,u\n1,9,2,v\n3,9,1,v\n")
    for standardize, intercept in ((False, False), (True, False), (False, True), (True, True)):
        found = describe(str(file), ColumnChoice(), standardize=standardize, intercept=intercept)
        hessians = np.mean(np.array([np.array(one, dtype=float) for one in found.run.problem.hessians]), axis=0)
        assert hessians.shape == (2 + intercept, 2 + intercept)
        squares = sorted(np.diag(hessians) / 2)
        assert squares == pytest.approx(sorted([*([1, 1] if standardize else [5, 53]), *([1] * intercept)]), rel=1e-12)


def test_notes_on_rows(tmp_path: Path) -> None:
    """Notes give the least and the largest number of rows, and flat directions if a column is always zero."""
    notes = _describe(tmp_path, ROWS).notes
    assert any(note.startswith("clients have 2 to 3 rows: ") for note in notes)
    assert not any("flat directions" in note or "never changes" in note for note in notes)
    alike = _describe(tmp_path, {client: [(1, 2), (2, 1)] for client in "uv"}).notes
    assert not any(note.startswith("clients have") for note in alike)
    flat = _describe(tmp_path, {client: [(0, 2), (0, 1)] for client in "uv"}).notes
    assert any("flat directions" in note for note in flat)
    assert any("column 'a' never changes" in note for note in flat)


def test_scales_of_columns(tmp_path: Path) -> None:
    """Scales are those of inputs 1, 1, 2, 2, 2 and outputs 2, 4, 2, 2, 2."""
    found: Any = encode_description(_describe(tmp_path, ROWS))
    assert found["rows"] == 5
    (feature,) = found["features"]
    expected = {"name": "a", "mean": 8 / 5, "deviation": 0.24**0.5, "least": 1, "largest": 2}
    assert {key: pytest.approx(value) if key != "name" else value for key, value in expected.items()} == feature
    target = {"name": "y", "mean": 12 / 5, "deviation": 0.8, "least": 2, "largest": 4}
    assert {key: pytest.approx(value) if key != "name" else value for key, value in target.items()} == found["target"]


TRIPLE: dict[str, Any] = {
    "kind": "quadratic",
    "hessians": [[["1", "0"], ["0", "1"]]] * 3,
    "linear": [["1", "0"], ["-1", "1"], ["3", "0"]],
    "start": ["3", "-2"],
}


def _run(**algorithm: Any) -> Run:
    keys = {"local_step_size": "1/10", "local_steps": 5, "rounds": 50, **algorithm}
    return parse_run({"problem": TRIPLE, "algorithm": keys}, FLOAT, Path())


def test_numbers_between_rounds() -> None:
    """In the plane, runs keep the model alone; with SCAFFOLD two server vectors and one of each of three clients."""
    assert count_numbers(_run()) == 2
    assert count_numbers(_run(name="scaffold")) == 2 * (2 + 3)


def test_a_round_costs_the_steps_of_its_slowest_client() -> None:
    unlike = _run(local_steps=[1, 4, 2])
    assert Costs(2.0, 7.0).cost_round(unlike, a_run()) == 2 * 4 + 7


LABELLED = "a,ill,site\n1,no,u\n2,yes,u\n3,no,u\n4,yes,v\n-1,no,v\n"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Return a file whose target has two words."""
    file = tmp_path / "ill.csv"
    file.write_text(LABELLED)
    return file


CHOICE = ColumnChoice("ill", "site")


def test_two_words_are_classes(labelled: Path) -> None:
    """The later word counts 1; gradients at x* are those of the logistic loss, and the run file can be read."""
    found = describe(str(labelled), CHOICE, standardize=False, intercept=False)
    assert (found.kind, found.classes) == ("logistic", ("no", "yes"))
    assert [client.target_mean for client in found.clients] == pytest.approx([1 / 3, 1 / 2])
    assert [client.curvature_apart for client in found.clients] == [None, None]
    assert found.constants["curvature_dissimilarity"] is None
    assert found.target.mean == pytest.approx(2 / 5)
    table = found.run_table(labelled.name)
    assert table["problem"]["ridge"] == "1/100"
    read = parse_run(table, FLOAT, labelled.parent)
    assert read.problem.optimum == pytest.approx(found.problem.optimum)
    (w,) = found.problem.optimum
    by_hand = [
        abs(np.mean([-s * x / (1 + np.exp(s * x * w)) for x, s in rows]) + w / 100)
        for rows in ([(1, -1), (2, 1), (3, -1)], [(4, 1), (-1, -1)])
    ]
    assert [client.gradient_at_optimum for client in found.clients] == pytest.approx(by_hand)
    assert any("ridge" in note for note in found.notes)


def test_the_document_of_classes_satisfies_its_schema(labelled: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = Path(__file__).parents[3] / "docs" / "schemas" / "outputs.schema.json"
    defined = json.loads(schemas.read_text(encoding="utf-8"))["$defs"]
    written = json.loads(json.dumps({**encode_description(describe(str(labelled), CHOICE)), "files": []}))
    jsonschema.Draft202012Validator({"$ref": "#/$defs/data", "$defs": defined}).validate(written)
    assert written["classes"] == ["no", "yes"]


def test_two_numbers_are_classes_if_asked(tmp_path: Path) -> None:
    """A note names the option; rows without clients belong to one client."""
    file = tmp_path / "rows.csv"
    file.write_text("a,y\n1,0\n2,5\n3,0\n4,5\n")
    choice = ColumnChoice("y")
    plain = describe(str(file), choice)
    assert (plain.kind, plain.classes) == ("least-squares", ())
    assert any("--kind logistic" in note for note in plain.notes)
    found = describe(str(file), choice, kind="logistic")
    assert (found.classes, [client.name for client in found.clients]) == (("0", "5"), ["all rows"])
    assert found.clients[0].target_mean == pytest.approx(1 / 2)
    assert found.clients[0].gradient_at_optimum == pytest.approx(0, abs=1e-9)
    assert found.run_table()["problem"]["clients"] == 4
    with pytest.raises(InputError, match="expected least-squares or logistic, got 'svm'"):
        describe(str(file), choice, kind="svm")


@pytest.mark.parametrize("labels", [("low", "mid", "high"), ("low",)])
def test_other_words_are_no_target(tmp_path: Path, labels: tuple[str, ...]) -> None:
    """One word or three are refused, and words are no numbers for least squares."""
    file = tmp_path / "rows.csv"
    file.write_text("a,y,site\n" + "".join(f"{n},{labels[n % len(labels)]},u\n" for n in range(6)))
    for kind in (None, "least-squares", "logistic"):
        with pytest.raises(InputError):
            describe(str(file), ColumnChoice("y", "site"), kind=kind).run  # noqa: B018
    (tmp_path / "ill.csv").write_text(LABELLED)
    with pytest.raises(InputError, match="expected a number"):
        describe(str(tmp_path / "ill.csv"), CHOICE, kind="least-squares")


def test_rounding_errors_are_no_gradients(tmp_path: Path) -> None:
    """The gradient of a single client at its minimiser is zero, and so are all where the target is constant."""
    rows = [(0.1 * n * n - 1.7, 3.3 * n + 0.7) for n in range(9)]
    assert [client.gradient_at_optimum for client in _describe(tmp_path, {"u": rows}).clients] == [0]
    file = tmp_path / "constant.csv"
    file.write_text("a,y,client\n" + "".join(f"{a},7,{n % 2}\n" for n, (a, _) in enumerate(rows)))
    found = describe(str(file), ColumnChoice("y", "client"), standardize=True, intercept=True)
    assert [client.gradient_at_optimum for client in found.clients] == [0, 0]
    assert "the target 'y' never changes: there is nothing to predict" in found.notes
