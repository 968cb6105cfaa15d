"""Output about the default setting of a user-defined claim."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_claims import CONTRACT

LINE = "assumptions=[a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step]"
NAMES = ["full participation", "uniform shares", "same local work", "unit server step"]
SAID = f"so plain FedAvg is assumed, which is {LINE}"
PARTICIPANTS = """
sampled = Claim(id="mine:sampled", lhs=0, rhs=q.participants)
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    """Return a file with the claim of the documentation, and one about participants."""
    file = tmp_path / "mine.py"
    file.write_text(CONTRACT + PARTICIPANTS)
    return str(file)


@pytest.mark.parametrize("name", ["check", "prove", "show", "falsify", "verify"])
@pytest.mark.long
def test_the_supposed_setting_is_printed(command, write_run, own: str, name: str) -> None:
    """The assumed setting is printed for people with the line that states it, and in JSON by names."""
    target = f"{own}:drift"
    options = {"falsify": ["--budget", "0.1"], "verify": ["--search", "0"], "prove": ["--no-search"]}
    given = {"check": [write_run({})], **options}.get(name, [])
    printed = " ".join(command(name, target, *given).out.split())
    named = "mine:drift" if name in ("check", "prove", "show") else target
    assert f"{named}: no setting is named, {SAID}" in printed
    document = command(name, target, *given, "--json").document
    found = document["claims"][0] if name == "verify" else document
    assert (found["assumed"], found["assumed_line"]) == (NAMES, LINE)


def test_published_claims_have_no_supposed_setting(command) -> None:
    """No setting is assumed for published claims."""
    found = command("prove", "renard2022:lemma-2.3", "--json").document
    assert (found["assumed"], found["assumed_line"]) == ([], None)
    assert "no setting" not in command("prove", "renard2022:lemma-2.3").out


def test_defaults_lifted_by_a_quantity_are_printed(command, own: str) -> None:
    """A claim that counts participants concerns client sampling."""
    found = command("show", f"{own}:sampled", "--json").document
    assert found["assumed"] == ["uniform sampling", *NAMES[1:]]
    printed = " ".join(command("show", f"{own}:sampled").out.split())
    assert "plain FedAvg extended by its quantities (uniform sampling, " in printed


@pytest.mark.long
def test_the_page_of_a_claim_says_what_is_supposed(command, own: str, tmp_path: Path) -> None:
    """The page of a claim has the supposed setting after its assumptions."""
    assert command("report", f"{own}:sampled", "-o", tmp_path / "pages").code == 0
    page = (tmp_path / "pages" / "mine-sampled.html").read_text()
    assert "The claim names no setting, so plain FedAvg extended by its quantities (uniform sampling, " in page
    assert f"<code>{LINE.replace('full_participation', 'uniform_sampling')}</code>" in page


DSGD = """\
import sympy as sp
from fedtheory import Claim, assumptions as a, quantities as q

G = q.small_step_bias
kept = dict(lhs=q.final_consensus_distance_sq, where={G.symbol: G})
consensus = Claim(id="kol:consensus", rhs=G.symbol, assumptions=[a.dsgd, a.full_gradients], **kept)
"""
RUN = """\
[problem]
kind = "quadratic"
hessians = [[["1"]], [["1/5"]], [["2"]]]
linear = [["1"], ["-1/2"], ["3"]]
start = ["3"]
[algorithm]
name = "dsgd"
mixing = [["1/3", "1/3", "1/3"], ["1/3", "1/3", "1/3"], ["1/3", "1/3", "1/3"]]
local_step_size = "1/10"
rounds = 5
"""


def test_a_quantity_without_a_value_is_named(command, tmp_path: Path) -> None:
    """A quantity without a value is named once, with the reason."""
    (tmp_path / "dsgd.py").write_text(DSGD)
    (tmp_path / "dsgd.toml").write_text(RUN)
    outcome = command("check", f"{tmp_path / 'dsgd.py'}:consensus", tmp_path / "dsgd.toml")
    reason = "the limit for small steps is known for the update rule, and dsgd is not a setting of it"
    assert f"not applicable: small_step_bias has no value: {reason}" in " ".join(outcome.out.split())
    found = json.loads(command("check", f"{tmp_path / 'dsgd.py'}:consensus", tmp_path / "dsgd.toml", "--json").out)
    assert [one["name"] for one in found["excluded"]] == ["small_step_bias"]


NOVA = """\
from fedtheory import Claim, assumptions as a, quantities as q

nova = Claim(id="odd:nova-bias", lhs=q.small_step_bias, relation="==", rhs=0, assumptions=[a.fednova])
"""


@pytest.mark.long
def test_a_quantity_that_excludes_all_runs_is_named(command, tmp_path: Path) -> None:
    """Both commands name a quantity that has no value on any run of the algorithm, with the number of runs."""
    (tmp_path / "mine.py").write_text(NOVA)
    target = f"{tmp_path / 'mine.py'}:nova"
    (claim,) = command("verify", target, "--search", "0", "--json").document["claims"]
    assert (claim["verdict"], claim["instances"]) == ("not applicable", 0)
    (excluded,) = claim["excluded"]
    assert excluded["name"] == "small_step_bias"
    assert excluded["runs"] >= 200
    assert claim["reason"] == f"small_step_bias has no value ({excluded['runs']} runs)"
    assert f"is not applicable: {claim['reason']}" in " ".join(command("verify", target, "--search", "0").out.split())
    found = command("falsify", target, "--budget", "1", "--json").document
    assert (found["verdict"], found["applicable_runs"]) == ("not applicable", 0)
    assert found["reason"].startswith("small_step_bias has no value (")
