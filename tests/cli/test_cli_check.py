"""`fedtheory check`: holds, violated, not applicable, and near ties that rationals decide."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_claims import CONTRACT, MINE
from cli_support import DIGITS, QUADRATIC, Changes, run_text

TUNED = "thm-2.1.rate.tuned"

KEYS = {"id", "applicable", "reason", "conditions", "lhs", "rhs", "ratio", "holds", "terms"}

Checked = Callable[..., dict[str, Any]]

TENTH: Changes = {"algorithm.local_step_size": '"1/10"'}

TIES = {"tie": True, "equal": True, "strict": False, "above": False, "just_below": False, "just_above": True}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with the user's own claims."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def check(command, mine: Path, write_run) -> Checked:
    """Return a function that checks a claim, an id or a name in `mine`, on a run, and returns the document."""

    def checked(
        claim: str, changes: Changes | None = None, arithmetic: str = "float", base: Any = QUADRATIC
    ) -> dict[str, Any]:
        target = claim if ":" in claim else f"{mine}:{claim}"
        outcome = command("check", target, write_run(changes, base), "--json", "--arithmetic", arithmetic)
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.document.keys() >= KEYS
        assert_reasoned(outcome.document)
        return outcome.document

    return checked


def assert_reasoned(document: dict[str, Any]) -> None:
    """Check that undecided conditions have a reason, and decided ones have none."""
    assert document["holds"] is not None or document["reason"] is not None
    for condition in document["conditions"]:
        assert (condition["holds"] is None) == (condition["reason"] is not None)


def assert_not_evaluated(document: dict[str, Any]) -> None:
    """Assert that a claim that is not applicable has no sides and no verdict."""
    assert document["applicable"] is False
    assert [document[key] for key in ("lhs", "rhs", "ratio", "holds")] == [None] * 4
    assert document["terms"] == []


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_holds(arithmetic: str, check: Checked) -> None:
    """The theorem of renard2022 holds on the documented run: sides, ratio, and terms that add up."""
    document = check("renard2022:thm-2.1", arithmetic=arithmetic)
    assert (document["applicable"], document["reason"], document["holds"]) == (True, None, True)
    assert [condition["holds"] for condition in document["conditions"]] == [True]
    kind = str if arithmetic == "rational" else float
    sides = [document[key] for key in ("lhs", "rhs", "ratio")]
    assert all(type(side) is kind for side in sides)
    lhs, rhs, ratio = (float(Fraction(side)) for side in sides)
    assert 0 < lhs <= rhs
    assert ratio == pytest.approx(lhs / rhs)
    assert sum(float(Fraction(term["value"])) for term in document["terms"]) == pytest.approx(rhs)
    assert all(term["term"] for term in document["terms"])


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_violated(arithmetic: str, check: Checked) -> None:
    """A false claim is violated, with a ratio above one and exit code 0."""
    document = check("steps_are_huge", arithmetic=arithmetic)
    assert (document["applicable"], document["holds"]) == (True, False)
    assert Fraction(document["ratio"]) > 1


def test_printed_misprint_is_violated(check: Checked) -> None:
    """A refuted claim of renard2022 is violated on the documented run."""
    assert check("renard2022:property-2.4")["holds"] is False


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problem.weights": '["3/4", "1/4"]'}, "unequal weights"),
        ({"algorithm.local_steps": "[1, 2]"}, "different numbers of local steps"),
        ({"algorithm.local_step_size": "[0.01, 0.02]"}, "different step sizes"),
        ({"algorithm.server_step_size": '"1/2"'}, "server step size"),
        ({"algorithm.participation": '{ kind = "uniform", clients = 1 }'}, "takes part"),
        ({"algorithm.local_step_size": '"1/4"'}, "does not hold"),
    ],
    ids=["weights", "local-steps", "step-sizes", "server-step", "participation", "condition"],
)
@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_not_applicable(changes: Changes, reason: str, arithmetic: str, check: Checked) -> None:
    """A failed assumption or condition is named, and nothing is evaluated."""
    document = check("renard2022:thm-2.1", changes, arithmetic)
    assert_not_evaluated(document)
    assert reason in document["reason"]


def test_conditions_with_slack(check: Checked) -> None:
    """Every condition is listed with its slack, including one that fails."""
    document = check("small_steps", {"algorithm.rounds": "1"}, "rational")
    assert_not_evaluated(document)
    assert [(c["holds"], c["slack"]) for c in document["conditions"]] == [(True, "3/40"), (False, "-1")]
    document = check("small_steps", {"algorithm.rounds": "5"}, "rational")
    assert [(c["holds"], c["slack"]) for c in document["conditions"]] == [(True, "3/40"), (True, "3")]
    assert (document["lhs"], document["rhs"], document["holds"]) == ("1/20", "11/2", True)
    assert sorted(term["value"] for term in document["terms"]) == ["1/2", "5"]


def test_diverging_run(check: Checked) -> None:
    """Rationals decide if a run exceeds double precision; if they are too long, the reason says so."""
    short = check("progress", {"algorithm.local_step_size": "100", "algorithm.rounds": "60"})
    assert (short["applicable"], short["holds"], short["settled_by"]) == (True, False, "decided in rationals")
    long = check("progress", {"algorithm.local_step_size": "100", "algorithm.rounds": "20_000"})
    assert_not_evaluated(long)
    assert "diverges at round" in long["reason"]


def test_diverging_run_in_rationals(check: Checked) -> None:
    """Rationals beyond the range of floats are compared."""
    document = check("progress", {"algorithm.local_step_size": "100", "algorithm.rounds": "20"}, "rational")
    assert (document["applicable"], document["holds"]) == (True, False)
    assert Fraction(document["ratio"]) > 10**300


@pytest.mark.parametrize(("name", "holds"), list(TIES.items()))
def test_near_ties_are_decided_in_rationals(name: str, holds: bool, check: Checked) -> None:
    """Exact arithmetic decides near ties, and the answer says so."""
    document = check(name, TENTH)
    assert (document["applicable"], document["holds"]) == (True, holds)
    assert "rationals" in document["settled_by"]
    assert type(document["lhs"]) is float
    exact = check(name, TENTH, "rational")
    assert (exact["applicable"], exact["holds"], exact["settled_by"]) == (True, holds, None)


def test_condition_at_its_edge(check: Checked) -> None:
    """A condition that holds with equality holds."""
    for arithmetic in ("float", "rational"):
        assert check("edge", TENTH, arithmetic)["holds"] is True


def test_condition_just_over_its_edge(check: Checked) -> None:
    """A condition that fails by less than rounding error fails in rationals."""
    assert_not_evaluated(check("over_the_edge", TENTH, "rational"))


def test_irrational_constants(check: Checked) -> None:
    """Squares of irrational constants are exact: |(3, -2)|^2 is 13."""
    for arithmetic in ("float", "rational"):
        document = check("root", {"problem.linear": "[[0,0],[0,0]]"}, arithmetic)
        assert document["holds"] is True
        assert Fraction(document["lhs"]) == pytest.approx(13)


def test_ties_of_constants_are_decided_on_data(check: Checked) -> None:
    """Constants of a problem are rational, however long a run on it is."""
    assert check("tie", TENTH | {"algorithm.rounds": "5"}, base=DIGITS)["holds"] is True


@pytest.mark.long
def test_undecided_where_rationals_cost_too_much(command, tmp_path: Path, write_run) -> None:
    """A near tie of expectations of a large run stays undecided, with a reason."""
    path = tmp_path / "close.py"
    path.write_text(
        "from fedtheory import Claim, quantities as q\n"
        "final = q.final_suboptimality.symbol\n"
        "below = final * (10**14 - 1) / 10**14\n"
        "close = Claim(id='t:close', lhs=final, rhs=below, where={final: q.final_suboptimality})\n"
    )
    run = write_run(TENTH | {"algorithm.rounds": "5"}, DIGITS)
    document = command("check", f"{path}:close", run, "--json").document
    assert (document["applicable"], document["holds"]) == (True, None)
    assert "too large to repeat in rationals, and the two sides are equal, or closer" in document["reason"]


def test_a_tie_on_data_that_is_proved_holds(check: Checked) -> None:
    """Both sides of a proved identity agree up to rounding, so that it holds."""
    document = check("fraboni2022:eq-7.distances", TENTH | {"algorithm.rounds": "5"}, base=DIGITS)
    assert (document["holds"], document["settled_by"]) == (
        True,
        "both sides agree up to rounding, and the claim is proved",
    )


TINY = (
    "from fedtheory import Claim, quantities as q\n"
    "tiny = Claim(id='t:tiny', lhs=q.final_suboptimality, rhs=q.initial_gap.symbol / 10**6,"
    " where={q.initial_gap.symbol: q.initial_gap})\n"
)


ANY_CLOCK = "assumptions=[a.finite_answering_time]"


@pytest.mark.long
def test_a_violation_on_data_is_confirmed(command, tmp_path: Path, write_run) -> None:
    """A clear violation in floats is confirmed by narrower enclosures of the expectations."""
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    outcome = command("check", f"{path}:tiny", write_run(TENTH | {"algorithm.rounds": "5"}, DIGITS))
    assert outcome.code == 0
    assert "violated (decided in enclosures)" in outcome.out


@pytest.mark.long
def test_long_runs_on_data_are_enclosed_where_rationals_are_asked_for(command, tmp_path: Path, write_run) -> None:
    """A run for which rationals would take days is enclosed, and the answer names its arithmetic."""
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    run = write_run(TENTH | {"algorithm.rounds": "20"}, DIGITS)
    document = command("check", f"{path}:tiny", run, "--arithmetic", "rational", "--json").document
    assert (document["arithmetic"], document["bits"], document["holds"]) == ("enclosure", 53, False)
    assert "+/-" in document["lhs"]


def test_a_violation_that_cannot_be_repeated_says_where_to_look(command, tmp_path: Path, write_run) -> None:
    """A violation on data with stale models is seen only in floats; the answer suggests a smaller run, which confirms
    it.
    """
    path = tmp_path / "tiny.py"
    path.write_text(TINY.replace("Claim, ", "Claim, assumptions as a, ").replace("where=", f"{ANY_CLOCK}, where="))
    stale = {"algorithm.rounds": "5", "algorithm.clock.policy": '"async"', "algorithm.clock.times": str([1, 2] * 5)}
    outcome = command("check", f"{path}:tiny", write_run(TENTH | stale, DIGITS))
    assert outcome.code == 0
    words = " ".join(outcome.out.split())
    assert "undecided (floats alone see a violation, and the run is too large to repeat in rationals, and" in words
    assert "runs with stale models have no enclosures" in words
    assert f"`fedtheory falsify {path}:tiny` looks for a smaller run" in outcome.out.replace("\n", " ")
    assert "confirmed in rationals" in command("falsify", f"{path}:tiny").out


def test_a_typed_relation(command, write_run) -> None:
    """A bound can be typed in names of quantities, without a file."""
    outcome = command("check", "clients <= 1", write_run())
    assert "violated" in outcome.out
    assert command("check", "client <= 1", write_run()).code == 2


def test_definition_without_relation(check: Checked) -> None:
    """A definition without a relation has nothing to check, and the answer says so."""
    document = check("bare")
    assert (document["holds"], document["lhs"]) == (None, None)
    assert "no relation" in document["reason"]


def test_rate(check: Checked) -> None:
    """A rate comes with its ladder of horizons."""
    document = check("renard2022:thm-2.1.rate.tuned", {"problem.noise": "0"})
    assert document["rate"]["rungs"]
    assert all(level["rounds"] >= 1 for level in document["rate"]["rungs"])


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_contract_example(arithmetic: str, command, tmp_path: Path, write_run) -> None:
    """The user-defined claim of the documentation is checked from its folder."""
    path = tmp_path / "mine.py"
    path.write_text(CONTRACT)
    outcome = command("check", f"{path}:drift", write_run(), "--json", "--arithmetic", arithmetic)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["id"] == "mine:drift"
    assert outcome.document["holds"] is True
    assert 0 < Fraction(outcome.document["ratio"]) < 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unbound", ("mine:unbound", "where", "gap, rho")),
        ("unbound_condition", ("mine:condition", "where", "rho")),
        ("outside", ("mine:outside", "sin(eta)")),
        ("float_power", ("mine:power", "power")),
    ],
)
def test_mistaken_claims(name: str, words: tuple[str, ...], command, mine: Path, write_run) -> None:
    """A claim outside the language gives one line with the claim and the error."""
    complaint = command("check", f"{mine}:{name}", write_run(), "--json").complaint()
    assert all(word in complaint for word in words), complaint


@pytest.mark.parametrize(
    "changes", [{}, TENTH, {"algorithm.local_step_size": "1"}, {"algorithm.local_steps": "[1, 2]"}]
)
@pytest.mark.parametrize("claim", [f"renard2022:{name}" for name in ("thm-2.1", "property-2.4", "problem", TUNED)])
@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_for_people(claim: str, changes: Changes, arithmetic: str, command, write_run) -> None:
    """Without --json the verdict is in words."""
    outcome = command("check", claim, write_run({**changes, "algorithm.rounds": "2"}), "--arithmetic", arithmetic)
    assert (outcome.code, outcome.err) == (0, "")
    assert claim in outcome.out
    assert any(word in outcome.out for word in ("holds", "violated", "undecided", "not applicable"))


def test_run_file_is_named(command, mine: Path, tmp_path: Path) -> None:
    """A mistake in the run file is not attributed to the claim."""
    path = tmp_path / "bad.toml"
    path.write_text(run_text(QUADRATIC, {"problem.noise": "-1"}))
    assert f"{path}: problem.noise" in command("check", f"{mine}:tie", path, "--json").complaint()


@pytest.mark.parametrize(
    ("size", "distance"),
    [("3/25", "is 4% below"), ("1/8", "is at"), ("3/20", "is 20% above"), ("3/10", "is 2.4 times")],
    ids=["below", "at", "above", "far"],
)
def test_the_distance_from_a_limit_is_said_in_words(command, write_run, size: str, distance: str) -> None:
    """The output gives the number of the run, its distance from the limit, and the limit."""
    path = write_run({"algorithm.local_step_size": f'"{size}"'})
    line = command("check", "renard2022:thm-2.1", path).out.splitlines()[2]
    assert distance in line
    assert "eta = " in line
    assert "the limit 0.125" in line or "the limit 1/8" in line


def test_the_answer_comes_first(command, write_run) -> None:
    """The output begins with the outcome, both sides, the condition with least slack and the largest term; then one
    table.
    """
    lines = command("check", "renard2022:thm-2.1", write_run()).out.splitlines()
    assert [line.split(":")[0] for line in lines[1:4]] == ["holds (in floats)", "tightest condition", "dominant term"]
    exact = command("check", "renard2022:thm-2.1", write_run(), "--arithmetic", "rational").out.splitlines()
    assert exact[1].startswith("holds (in rationals): left side")
    document = command("check", "renard2022:thm-2.1", write_run(), "--json").document
    assert f"ratio {document['ratio']:.6g}" in lines[1]
    largest = max(document["terms"], key=lambda term: term["value"])["value"]
    assert f"{largest / document['rhs']:.0%} of the right side" in lines[3]
    assert next(n for n, line in enumerate(lines) if "worst place" in line) == 5
    fails = command("check", "renard2022:thm-2.1", write_run({"algorithm.local_step_size": "1"})).out
    assert "not applicable" in fails.splitlines()[1]
    assert "failing condition: eta <= 1/(4*L), margin -" in fails.splitlines()[2]


def test_averages_over_clients_have_the_weights_of_the_claim() -> None:
    """With unequal weights a condition shows sum p_i L_i, which determines its slack, not (1/M) sum L_i."""
    from fedtheory.arithmetic import FLOAT
    from fedtheory.cli.check import encode_check
    from fedtheory.language.registry import find
    from fedtheory.runfile import parse_run
    from verify.check import check

    problem = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["3"]]],
        "linear": [["1"], ["-2"]],
        "weights": ["1/4", "3/4"],
        "start": ["2"],
    }
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": 0.1, "local_steps": 2, "rounds": 3}}, FLOAT)
    found = check(find("comparator:curvatures.average-error"), run)
    condition = encode_check(found)["conditions"][0]
    assert condition["slack"] == pytest.approx(1 - 0.1 * (1 / 4 * 1 + 3 / 4 * 3))
    assert "p_{i} L_{i}" in condition["condition"]
    assert all(r"\frac{1}{M}\sum_{i=1}^M L" not in term["term"] for term in encode_check(found)["terms"])
    assert r"\frac{1}{M}\sum_{i=1}^M L" not in str(found.card())
