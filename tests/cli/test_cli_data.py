"""`fedtheory data`: columns, clients, their dissimilarity, and an initial run file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_support import CLIENT_OF_ROW

from fedtheory import FLOAT, read_run

COUNTS = [6, 4, 2]


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    """Return a csv file with columns of very different scales and three clients of unequal size."""
    generator = np.random.default_rng(3)
    lines = ["income,hospital,price,rooms"]
    for client in CLIENT_OF_ROW:
        income, rooms = generator.normal(40_000, 9_000), generator.integers(1, 6)
        lines.append(f"{income:.0f},{'ABC'[client]},{income / 50_000 + rooms / 2:.3f},{rooms}")
    (tmp_path / "homes.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "homes.csv"


CHOSEN = ("--target", "price", "--client", "hospital")


def test_document(command, homes: Path) -> None:
    """The document has scales of the raw columns, each client's rows and curvatures, and notes on anomalies."""
    document = command("data", homes, *CHOSEN, "--json").document
    assert document["rows"] == 12
    assert [feature["name"] for feature in document["features"]] == ["income", "rooms"]
    incomes = [float(line.split(",")[0]) for line in homes.read_text().splitlines()[1:]]
    assert document["features"][0]["mean"] == pytest.approx(np.mean(incomes))
    assert document["features"][0]["deviation"] == pytest.approx(np.std(incomes))
    assert document["target"]["name"] == "price"
    assert [(client["name"], client["rows"]) for client in document["clients"]] == list(zip("ABC", COUNTS, strict=True))
    assert document["standardize"]
    assert document["intercept"]
    assert any("2 to 6 rows" in note for note in document["notes"])


def test_the_run_file_is_the_one_that_is_described(command, homes: Path, tmp_path: Path) -> None:
    """The written run file is readable from any folder, and its constants are those of the document."""
    (tmp_path / "runs").mkdir()
    saved = tmp_path / "runs" / "run.toml"
    document = command("data", homes, *CHOSEN, "--save", saved, "--json").document
    assert document["files"] == [str(saved)]
    run = read_run(saved, FLOAT)
    assert run.problem.weights == pytest.approx(np.array(COUNTS) / 12)
    assert run.smoothness == pytest.approx(document["constants"]["smoothness"])
    curvatures = [(client["strong_convexity"], client["smoothness"]) for client in document["clients"]]
    problem = run.problem
    for hessian, (least, largest) in zip(problem.hessians, curvatures, strict=True):
        values = np.linalg.eigvalsh(hessian)
        assert (max(values[0], 0), values[-1]) == (pytest.approx(least, abs=1e-9), pytest.approx(largest))
    pulls = np.linalg.norm(problem.gradients(np.tile(problem.optimum, (3, 1))), axis=1)
    assert pulls == pytest.approx([client["gradient_at_optimum"] for client in document["clients"]], abs=1e-9)
    assert run.algorithm.work.step_sizes[0] <= 1 / (4 * run.smoothness)
    assert run.trajectory.server_suboptimality[-1] < run.trajectory.server_suboptimality[0] / 10


def test_equal_clients_have_no_heterogeneity(command, tmp_path: Path) -> None:
    """Clients with equal rows have zero gradients at the optimum and equal curvatures, and need no weights."""
    rows = ["1,2", "3,5", "-1,0"]
    text = "a,y,client\n" + "".join(f"{row},{client}\n" for client in "uv" for row in rows)
    (tmp_path / "same.csv").write_text(text)
    document = command("data", tmp_path / "same.csv", "--json").document
    assert document["constants"]["gradient_dissimilarity_at_optimum"] == pytest.approx(0, abs=1e-12)
    assert document["constants"]["curvature_dissimilarity"] == pytest.approx(0, abs=1e-12)
    assert "shares" not in document["run"]["problem"]


def test_notes_on_unusual_files(command, data_folder: Path, tmp_path: Path) -> None:
    """Notes mention rows without clients, constant columns, and flat directions."""
    notes = command("data", data_folder / "no_client.npz", "--json").document["notes"]
    assert any("no column assigns rows to clients" in note for note in notes)
    (tmp_path / "flat.csv").write_text("a,b,y,client\n1,1,2,u\n1,1,3,v\n")
    notes = command("data", tmp_path / "flat.csv", "--json").document["notes"]
    assert any("column 'a' never changes" in note for note in notes)
    assert any("ridge" in note for note in notes)


def test_for_people(command, homes: Path) -> None:
    """The output for people has two tables, and a complete run file."""
    out = command("data", homes, *CHOSEN).out
    for expected in (
        "3 clients",
        "price (target)",
        "how strongly a client moves the model away from the common optimum",
        "of the total loss F",
        "a run file to begin with",
    ):
        assert expected in " ".join(out.split())
    start = out.index("[problem]")
    (homes.parent / "printed.toml").write_text(out[start:].replace(str(homes), homes.name))
    assert read_run(homes.parent / "printed.toml", FLOAT).problem.clients == 3


def test_bad_arguments(command, homes: Path, tmp_path: Path) -> None:
    """A bad argument gives one line with the option's name instead of the run file's key."""
    assert command("data", homes, "--target", "prize").complaint().startswith("fedtheory: target: ")
    assert "is 'price' meant?" in command("data", homes, "--target", "prize").complaint()
    assert "no such file" in command("data", tmp_path / "none.csv").complaint()
    assert "cannot be written" in command("data", homes, *CHOSEN, "--save", tmp_path / "no" / "run.toml").complaint()
