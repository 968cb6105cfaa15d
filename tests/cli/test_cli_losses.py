"""Run files of scalar losses: answers of the commands, and errors."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from cli_support import Changes, results

from fedtheory import FLOAT, RATIONAL, read_run
from fedtheory.runfile import parse_run, run_table, run_toml

HUBER: dict[str, str] = {
    "problem.kind": '"huber"',
    "problem.terms": """[
        [{ coordinate = 0, weight = "1", centre = "2", width = "1/2" }],
        [{ coordinate = 0, weight = 4, centre = -1, width = 1 }, { coordinate = 1, width = "3/2" }],
    ]""",
    "problem.start": '["3", "-1"]',
    "problem.noise": '["1", "1/2"]',
    "algorithm.local_step_size": '"1/20"',
    "algorithm.local_steps": "2",
    "algorithm.rounds": "2",
}
REFLECTED = """[
    [{ centre = 2, width = 0.5, reflected = true }, { centre = -1, width = 1, weight = 2 }],
    [{ centre = 0, width = 2, weight = 4 }],
]"""
SOFTPLUS: Changes = {"problem.kind": '"softplus"', "problem.terms": REFLECTED, "problem.start": "[3]"}
LOG_COSH: Changes = {"problem.kind": '"log-cosh"'}


def test_simulate_in_rationals(command, write_run) -> None:
    """All numbers are exact over all outcomes of the noise, and the constants hold on the whole space."""
    document = command("simulate", write_run(base=HUBER), "--arithmetic", "rational", "--json").document
    assert document["constants"]["smoothness"] == "4"
    assert document["constants"]["gradient_dissimilarity_sq"] == "45/8"
    assert document["constants"]["noise_deviation_sq"] == "2"
    assert set(document["constants"]["regions"].values()) == {"on all of space"}
    assert document["server"]["suboptimality"][0] == "433/64"
    found = results(document)
    assert all("/" in value or value.lstrip("-").isdigit() for values in found.values() for value in values)
    assert [len(row) for row in document["local"]["suboptimality"]] == [3, 3]
    assert [len(document["local"]["drift"]), len(document["local"]["drift"][0][0])] == [2, 2]
    assert document["diverges"] is None


@pytest.mark.parametrize("changes", [{}, LOG_COSH, SOFTPLUS], ids=["huber", "log-cosh", "softplus"])
def test_simulate_in_floats(command, write_run, changes: Changes) -> None:
    """Every kind of loss has the same keys, and finite numbers."""
    document = command("simulate", write_run(changes, base=HUBER), "--json").document
    assert set(document["server"]) == {"mean", "suboptimality", "distance_sq", "gradient_sq"}
    assert set(document["local"]) == {"suboptimality", "drift"}
    assert all(isinstance(value, float) for name, values in results(document).items() for value in values)
    assert document["server"]["suboptimality"][-1] < document["server"]["suboptimality"][0]


def test_floats_are_near_rationals(command, write_run) -> None:
    """Both arithmetics agree on a Huber run."""
    path = write_run(base=HUBER)
    exact, floats = (
        results(command("simulate", path, "--arithmetic", name, "--json").document) for name in ("rational", "float")
    )
    for name, values in exact.items():
        expected = [float(FLOAT.number(value, name)) for value in values]
        assert floats[name] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_simulate_for_people(command, write_run) -> None:
    """The terminal shows the kind and the constants."""
    shown = command("simulate", write_run(base=HUBER)).out
    assert "huber losses" in shown
    assert "gradient_dissimilarity: on all of space" in shown


def test_check_in_rationals(command, write_run) -> None:
    """Theorem 2.1 holds for clients of different curvature, with constants on the whole space."""
    path = write_run(base=HUBER)
    document = command("check", "renard2022:thm-2.1", path, "--arithmetic", "rational", "--json").document
    assert document["applicable"]
    assert document["holds"] is True
    assert set(document["regions"].values()) == {"all of space"}
    assert document["rhs"] == "141757/3200"


@pytest.mark.parametrize("changes", [LOG_COSH, SOFTPLUS], ids=["log-cosh", "softplus"])
def test_simulate_in_enclosures(command, write_run, changes: Changes) -> None:
    """Every number is a rational, or an enclosure whose midpoint is close to the float."""
    path = write_run(changes, base=HUBER)
    document = command("simulate", path, "--arithmetic", "rational", "--json").document
    assert document["arithmetic"] == "enclosure"
    assert set(document["constants"]["regions"].values()) == {"on all of space"}
    floats = results(command("simulate", path, "--json").document)
    for name, values in results(document).items():
        for enclosure, number in zip(values, floats[name], strict=True):
            middle, _, radius = enclosure.strip("[]").partition("+/-")
            assert FLOAT.number(middle.strip() or 0, name) == pytest.approx(number, rel=1e-8, abs=1e-12)
            assert float(radius or 0) <= 1e-28 * max(1, abs(number))
    assert "enclosure arithmetic" in command("simulate", path, "--arithmetic", "rational").out


@pytest.mark.parametrize("changes", [LOG_COSH, SOFTPLUS], ids=["log-cosh", "softplus"])
def test_check_in_enclosures(command, write_run, changes: Changes) -> None:
    """Theorem 2.1 is decided in enclosures with noise, and the answer names the arithmetic."""
    path = write_run(changes, base=HUBER)
    document = command("check", "renard2022:thm-2.1", path, "--arithmetic", "rational", "--json").document
    assert document["holds"] is True
    assert document["arithmetic"] == "enclosure"
    assert document["bits"] == 264
    sides = [document["lhs"], document["rhs"], document["ratio"]]
    assert all(side.startswith("[") and " +/- " in side for side in sides)
    shown = command("check", "renard2022:thm-2.1", path, "--arithmetic", "rational").out
    assert "holds (in enclosures of 264 bits)" in shown


def test_ties_in_enclosures(command, write_run) -> None:
    """An identity between transcendental numbers is left undecided, with a reason."""
    path = write_run(LOG_COSH, base=HUBER)
    document = command("check", "renard2022:property-2.4.fixed", path, "--arithmetic", "rational", "--json").document
    assert document["applicable"]
    assert document["holds"] is None
    assert "equal, or closer than enclosures of 1032 bits can tell" in document["reason"]


def test_violations_in_floats_are_confirmed_in_enclosures(command, write_run) -> None:
    """A violation in floats is confirmed by disjoint enclosures."""
    path = write_run(LOG_COSH, base=HUBER)
    document = command("check", "renard2022:property-2.4", path, "--json").document
    assert document["arithmetic"] == "float"
    assert document["holds"] is False
    assert document["settled_by"] == "decided in enclosures"


def test_quadratics_only(command, write_run) -> None:
    """Methods for constant Hessians do not apply to other losses, with a reason."""
    document = command("check", "liu2022:noniid.bgd", write_run(base=HUBER), "--json").document
    assert document["holds"] is not False
    strong = command("check", "vlaski2023:thm-5.1.rate", write_run(base=HUBER), "--json").document
    assert not strong["applicable"]
    assert "strongly convex" in strong["reason"]


@pytest.mark.parametrize("changes", [{}, LOG_COSH, SOFTPLUS], ids=["huber", "log-cosh", "softplus"])
def test_round_trip(write_run, changes: Changes) -> None:
    """A run, and the run from its run file, are equal in every arithmetic."""
    for arithmetic in (FLOAT, RATIONAL):
        table = run_table(read_run(write_run(changes, base=HUBER), arithmetic))
        text = run_toml(table)
        assert tomllib.loads(text) == table
        assert run_table(parse_run(table, arithmetic)) == table


MISTAKES: dict[str, tuple[Changes, str, str]] = {
    "no terms": ({"problem.terms": "[]"}, "problem.terms", "a list of terms for each client"),
    "a client without terms": ({"problem.terms": "[[]]"}, "problem.terms[0]", "at least one entry"),
    "not a table": ({"problem.terms": "[[1]]"}, "problem.terms[0][0]", "expected a table"),
    "no width": ({"problem.terms": "[[{ centre = 1 }]]"}, "problem.terms[0][0].width", "is missing"),
    "a width of zero": ({"problem.terms": "[[{ width = 0 }]]"}, "problem.terms[0][0].width", "a positive number"),
    "a negative weight": (
        {"problem.terms": "[[{ width = 1, weight = -1 }]]"},
        "problem.terms[0][0].weight",
        "a positive number",
    ),
    "a typing error": ({"problem.terms": "[[{ widht = 1 }]]"}, "problem.terms[0][0].width", "widht"),
    "a coordinate below zero": (
        {"problem.terms": "[[{ width = 1, coordinate = -1 }]]"},
        "problem.terms[0][0].coordinate",
        "at least 0",
    ),
    "a coordinate without end": (
        {"problem.terms": "[[{ width = 1, coordinate = 1000000000 }]]"},
        "problem.terms[0][0].coordinate",
        "at most 99999, got 1000000000",
    ),
    "huber is symmetric": (
        {"problem.terms": "[[{ width = 1, reflected = true }]]"},
        "problem.terms[0][0].reflected",
        "unknown key",
    ),
    "a short start": ({"problem.start": "[1]"}, "problem.start", "expected 2 numbers, got 1"),
    "weights of others": ({"problem.weights": '["1/2", "1/4", "1/4"]'}, "problem.weights", "expected 2 numbers"),
    "weights that do not sum to one": ({"problem.weights": '["1/2", "1/4"]'}, "problem.weights", "sum to 1"),
    "noise of others": ({"problem.noise": "[1]"}, "problem.noise", "one number or 2"),
    "negative noise": ({"problem.noise": "-1"}, "problem.noise", "not negative"),
    "no minimiser": (
        {
            "problem.kind": '"softplus"',
            "problem.terms": "[[{ width = 1 }]]",
            "problem.start": "[0]",
            "problem.noise": None,
        },
        "problem.terms",
        "F has no minimiser",
    ),
    "hessians": ({"problem.hessians": "[[[1]]]"}, "problem.hessians", "unknown key"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(command, write_run, name: str) -> None:
    """An error is one line with the file, the key, and the expected value."""
    changes, key, words = MISTAKES[name]
    path: Path = write_run(changes, base=HUBER)
    complaint = command("simulate", path, "--json").complaint()
    assert complaint.startswith(f"fedtheory: {path}: {key}: ")
    assert words in complaint


def test_refused_enumerations_name_the_reason(command, write_run) -> None:
    """Too many outcomes, sampled participants and other clocks give one line with the reason."""
    for changes, words in (
        ({"algorithm.rounds": "4"}, "2^16 outcomes, more than the 2^14 that are enumerated"),
        ({"algorithm.participation": '{ kind = "uniform", clients = 1 }'}, "participants that are not sampled"),
        ({"algorithm.clock": '{ policy = "async", times = [1, 2] }'}, "models that are not the newest"),
    ):
        path = write_run(changes, base=HUBER)
        assert words in command("simulate", path).complaint()
        checked = command("check", "renard2022:thm-2.1", path, "--json").document
        assert not checked["applicable"]
