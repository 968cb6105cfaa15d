"""`fedtheory verify` on cheap claims, in one process."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from cli_claims import MINE

pytestmark = pytest.mark.long

KEYS = {"id", "verdict", "recorded", "instances", "worst_ratio", "seconds"}

YOUNG = "renard2022:property-2.5"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with the user's own claims."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_recorded_verdict(command) -> None:
    """A claim with a certificate is proved and tried on many instances; progress does not go to standard output."""
    outcome = command("verify", YOUNG, "--jobs", "1", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert document.keys() >= {"claims", "seconds"}
    (claim,) = document["claims"]
    assert claim.keys() >= KEYS
    assert (claim["id"], claim["verdict"], claim["recorded"]) == (YOUNG, "proved", "proved")
    assert claim["instances"] >= 200
    assert 0 < claim["worst_ratio"] <= 1
    assert claim["seconds"] >= 0


def test_refuted_claim_in_order(command) -> None:
    """Verdicts have the requested order, each once; a recorded refutation agrees."""
    ids = ["renard2022:property-2.4", YOUNG, "renard2022:toy-problem"]
    outcome = command("verify", *ids, ids[0], "--jobs", "1", "--json")
    assert outcome.code == 0
    assert [claim["id"] for claim in outcome.document["claims"]] == ids
    assert [claim["verdict"] for claim in outcome.document["claims"]] == ["refuted", "proved", "definition"]
    assert outcome.document["claims"][2]["instances"] == 0


def test_for_people(command) -> None:
    """Without --json the output is a table."""
    outcome = command("verify", YOUNG, "--jobs", "1")
    assert outcome.code == 0
    assert YOUNG in outcome.out
    assert "proved" in outcome.out
    assert "0 with another verdict" in outcome.out


def test_no_noise_on_standard_error(command) -> None:
    """If standard error is no terminal, the progress bar writes nothing."""
    assert command("verify", "renard2022:toy-problem", "--jobs", "1", "--json").err == ""


def test_wrong_recorded_verdict(command, mine: Path) -> None:
    """Exit code 1 where a verdict differs from the recorded one, in both directions."""
    outcome = command("verify", f"{mine}:wrong", f"{mine}:right", "--jobs", "1", "--json")
    assert outcome.code == 1
    wrong, right = outcome.document["claims"]
    assert (wrong["id"], wrong["verdict"], wrong["recorded"]) == ("mine:wrong", "supported", "refuted")
    assert (right["id"], right["verdict"], right["recorded"]) == ("mine:right", "supported", "supported")


def test_wrongly_supported(command, mine: Path) -> None:
    """A claim recorded as supported that is refuted gives exit code 1, also in the output for people."""
    outcome = command("verify", f"{mine}:wrongly_supported", "--jobs", "1")
    assert outcome.code == 1
    assert "refuted" in outcome.out
    assert "1 with another verdict" in outcome.out


def test_claims_without_a_recorded_verdict(command, mine: Path) -> None:
    """Without a recorded verdict the exit code is always 0."""
    outcome = command("verify", f"{mine}:steps_are_huge", "--jobs", "1", "--json")
    assert outcome.code == 0
    (claim,) = outcome.document["claims"]
    assert (claim["verdict"], claim["recorded"]) == ("refuted", None)
    assert claim["worst_ratio"] > 1


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", ["unbound", "outside"])
def test_mistaken_claims(name: str, jobs: str, command, mine: Path) -> None:
    """A claim that cannot be evaluated gives one line, also from a worker process."""
    complaint = command("verify", f"{mine}:{name}", "--jobs", jobs, "--json").complaint()
    assert f"mine:{name}" in complaint


def test_claims_of_no_family(command, mine: Path) -> None:
    """A definition has no instances and no ratio."""
    outcome = command("verify", f"{mine}:bare", "--jobs", "1", "--json")
    assert outcome.code == 0
    (claim,) = outcome.document["claims"]
    assert (claim["verdict"], claim["instances"], claim["worst_ratio"]) == ("definition", 0, None)


FAULTY = """
import sympy as sp
from fedtheory import Claim, Rate, quantities as q

eta, T, tau, mu = sp.symbols("eta T tau mu", positive=True)
good = Claim(id="mine:good", lhs=0, rhs=eta, where={eta: q.local_step_size, mu: q.smoothness}, conditions=[mu > 0])
text = Claim(
    id="mine:text",
    lhs=q.max_drift,
    rhs="eta",
    where={eta: q.local_step_size},
)
unbound = Claim(id="mine:unbound", lhs=q.max_drift, rhs=eta, where={})
rate = Claim(id="mine:rate", rate=Rate(q.average_suboptimality, 1 / T, T), where={T: q.rounds})
ladder = Claim(id="mine:ladder", rate=Rate(q.average_suboptimality, 1 / tau, tau), where={tau: q.smoothness})
"""


def test_a_whole_file(command, tmp_path: Path) -> None:
    """All claims of a file are tried; invalid ones are named with their lines, and do not stop the others."""
    path = tmp_path / "mine.py"
    path.write_text(FAULTY)
    outcome = command("verify", path, "--jobs", "1", "--search", "0", "--json")
    assert outcome.code == 2
    verdicts = {claim["target"].rpartition(":")[2]: claim["verdict"] for claim in outcome.document["claims"]}
    assert verdicts == {"good": "supported", "rate": "refuted"}
    faults = {fault["target"].rpartition(":")[2]: fault["error"] for fault in outcome.document["faulty"]}
    assert faults.keys() == {"text", "unbound", "ladder"}
    for name, line in {"text": 10, "unbound": 13, "ladder": 15}.items():
        assert f"mine.py, line {line}:" in faults[name]
    line = outcome.err.splitlines()[-1]
    assert all(fault in " ".join(line.split()) for fault in map(" ".join, map(str.split, faults.values())))


MISSPELT = """
from fedtheory import Claim, Rate, quantities as q
first = Claim(id="mine:first", lhs=q.max_drift, rhs=q.rounds, where={})
error = q.average_suboptimalty
"""


def test_a_name_that_is_misspelt(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt name gives the line and the intended name, also if the file is given without its folder."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MISSPELT)
    for name in ("mine.py", str(tmp_path / "mine.py")):
        complaint = command("verify", name).complaint()
        assert f"{name}, line 4: cannot be executed: AttributeError" in complaint
        assert "is 'average_suboptimality' meant?" in complaint


def test_a_rate_is_no_side(command, tmp_path: Path) -> None:
    """A rate that is used as a side gives one line with the correct notation."""
    path = tmp_path / "mine.py"
    path.write_text(FAULTY.replace("rate=Rate(q.average_suboptimality, 1 / T, T)", "lhs=Rate(q.max_drift, 1 / T, T)"))
    assert "rate=Rate(...)" in command("verify", f"{path}:rate").complaint()


def test_a_rate_shows_its_numbers(command, tmp_path: Path) -> None:
    """A rate is shown with the ratio at each level, and the limit that refutes it."""
    path = tmp_path / "mine.py"
    path.write_text(FAULTY)
    outcome = command("verify", f"{path}:rate", "--jobs", "1")
    assert outcome.code == 0
    assert "T = 256: left side" in outcome.out
    assert "measured tends to" in outcome.out
    assert "as T grows, and order to 0" in outcome.out
    assert "Traceback" not in outcome.err


WIDE = """
import sympy as sp
from fedtheory import Claim, quantities as q

eta, tau, T, L, D = sp.symbols("eta tau T L D", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, L: q.smoothness, D: q.initial_distance}
descent = Claim(id="mine:descent", lhs=q.final_suboptimality, rhs=D**2 / (2 * eta * tau * T), where=where,
                conditions=[eta <= 2 / L])
"""


def test_a_counterexample_is_simpler_than_its_instance(command, tmp_path: Path) -> None:
    """One client in one dimension refutes that gradient descent with a step size of 2/L converges."""
    path = tmp_path / "mine.py"
    path.write_text(WIDE)
    claim = command("verify", f"{path}:descent", "--jobs", "1", "--json").document["claims"][0]
    assert claim["verdict"] == "refuted"
    assert len(claim["run"]["problem"]["hessians"]) == 1
    assert len(claim["lhs"]) + len(claim["rhs"]) < 16
    assert claim["worst_ratio"] >= Fraction(claim["ratio"]) - Fraction(1, 10**9)


SEVERAL = """
from fedtheory import Claim, quantities as q
import sympy as sp
eta, tau = sp.symbols("eta tau", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps}
still = Claim(id="mine:still", lhs=q.max_drift, rhs=0, where={})
fine = Claim(id="mine:fine", lhs=0, rhs=q.max_drift, where={})
away = Claim(id="mine:away", lhs=q.average_suboptimality, rhs=eta * tau, where=where)
"""


def test_each_false_claim_of_a_file_shows_its_counterexample(command, tmp_path: Path) -> None:
    """Each false claim has the command that saves its counterexample; true claims have none."""
    path = tmp_path / "mine.py"
    path.write_text(SEVERAL)
    out = command("verify", path, "--jobs", "1", "--search", "1").out
    assert out.count("the simplest counterexample of") == 2
    for name in ("still", "away"):
        assert f"`fedtheory verify {path}:{name} --save run.toml`" in out
    assert f"{path}:fine --save" not in out


def test_the_instance_in_a_few_lines(command, tmp_path: Path) -> None:
    """The instance is printed in a few lines; `--save` writes the file, from which `check` reads the same sides."""
    saved = tmp_path / "run.toml"
    verify = ("verify", YOUNG, "--jobs", "1", "--save", saved)
    outcome = command(*verify)
    shown = outcome.out[outcome.out.index("the simplest run") :].splitlines()
    assert len(shown) <= 10
    assert f"  written to {saved}" in shown
    assert "[problem]" not in outcome.out
    document = command(*verify, "--json").document["claims"][0]
    checked = command("check", YOUNG, saved, "--arithmetic", "rational", "--json").document
    assert (checked["lhs"], checked["rhs"]) == (document["lhs"], document["rhs"])
    assert float(Fraction(checked["ratio"])) >= 0.99 * document["worst_ratio"]
    refused = command("verify", YOUNG, "--save", tmp_path)
    assert refused.code == 2
    assert "--save: cannot be written" in refused.err.splitlines()[-1]


def test_few_instances_are_reported(command, tmp_path: Path) -> None:
    """If few runs satisfy the conditions, the output says so, with the missing kinds and a suggestion."""
    path = tmp_path / "mine.py"
    rare = "Claim(id='mine:rare', lhs=q.final_distance_sq, rhs=10**9 * T, where={T: q.rounds}, conditions=[T >= 30])"
    path.write_text(f"{FAULTY}rare = {rare}\n")
    outcome = command("verify", f"{path}:rare", "--jobs", "1", "--search", "0")
    printed = " ".join(outcome.out.split())
    assert "few instances:" in printed
    assert "what excludes runs: the condition T >= 30 fails" in printed
    assert "fedtheory falsify" in printed
    assert "supported" not in printed


def test_seconds_that_are_no_number(command, mine: Path) -> None:
    """A number of seconds that is NaN is rejected."""
    assert "search" in command("verify", f"{mine}:steps_are_huge", "--search", "nan").complaint()


POINTS = """
import sympy as sp
from fedtheory import Claim, norm_sq, quantities as q

x, y = sp.symbols("x y", real=True)
where = {x: q.point, y: q.second_point}
young = Claim(id="mine:young", place="points", lhs=norm_sq(x + y), rhs=sp.Rational(3, 2) * norm_sq(x) + 2 * norm_sq(y), where=where)
"""  # noqa: E501


def test_points_of_a_counterexample(command, tmp_path: Path) -> None:
    """Points of a counterexample are in the output, in JSON, and in the saved run file; all commands agree."""
    file, saved = tmp_path / "points.py", tmp_path / "run.toml"
    file.write_text(POINTS)
    target = f"{file}:young"
    shown = command("verify", target, "--jobs", "1", "--search", "1", "--save", saved).out
    assert "left side 4, right side 7/2\n  at x = 1, y = 1\n" in shown
    assert "the run does not matter" in shown
    assert "client 1" not in shown
    (claim,) = command("verify", target, "--jobs", "1", "--search", "1", "--json").document["claims"]
    assert (claim["lhs"], claim["rhs"], claim["points"]) == ("4", "7/2", {"x": ["1"], "y": ["1"]})
    assert saved.read_text().startswith("# mine:young at x = 1, y = 1; ")
    checked = command("check", target, saved, "--arithmetic", "rational", "--json").document
    assert (checked["holds"], checked["lhs"], checked["points"]) == (False, "4", claim["points"])
    assert "at x = 1, y = 1" in command("falsify", target, "--budget", "1").out
    found = command("falsify", target, "--budget", "1", "--json").document
    assert (found["lhs"], found["rhs"], found["points"]) == ("4", "7/2", claim["points"])
