"""Attained ratios of bounds: terms of right sides, stored runs checked again, and bounds that fail with less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import Claim, InputError
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL, plain_float
from fedtheory.language.registry import all_sources, claims_of, find, papers
from fedtheory.runfile import parse_run, read_toml
from fedtheory.sources.renard2022.statements import tightened
from verify import slack
from verify.check import check
from verify.early_decisions import decide_claim
from verify.slack import (
    WHOLE,
    compute_share,
    compute_shares,
    list_parts,
    run_files,
    search,
    select_proved_bounds,
    select_proved_claims,
)
from verify.slack.bound_parts import bound_of
from verify.slack.search import regenerate, remove_stale
from verify.slack.stored_runs import list_stored_files, store_run
from verify.verdict import verify

eta, sigma, zeta, tau, L = sp.symbols("eta sigma zeta tau L", positive=True)
WHERE = {
    eta: q.local_step_size,
    sigma: q.noise_deviation,
    zeta: q.gradient_dissimilarity,
    tau: q.local_steps,
    L: q.smoothness,
}
THEOREM = find("renard2022:thm-2.1.halved")
APART = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["1/1000000"]], [["1/1000000"]]],
        "linear": [["1"], ["-1"]],
        "start": ["0"],
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1", "local_steps": 2, "rounds": 1},
}
"""Two clients that are driven apart by opposite slopes, almost constant ones."""


def bound(right: sp.Expr) -> Claim:
    """Return a bound on the drift."""
    return Claim(id="mine:drift", lhs=q.max_drift, rhs=right, where=WHERE)


def test_parts_are_the_terms() -> None:
    """The terms are the whole side first, and then its summands; a product is split only if its factor is a sum."""
    parts = list_parts(bound(2 * eta**2 * (tau + 1) * (3 * sigma**2 + zeta**2) + eta * (1 + L * eta) * sigma))
    assert [part.name for part in parts] == [WHOLE, "1", "2", "3"]
    expected = {
        6 * eta**2 * (tau + 1) * sigma**2,
        2 * eta**2 * (tau + 1) * zeta**2,
        eta * (1 + L * eta) * sigma,
    }
    assert {part.expression for part in parts[1:]} == expected
    assert sorted(part.constant for part in parts[1:]) == [1, 2, 6]
    assert [part.name for part in list_parts(bound(zeta**2))] == [WHOLE]


def test_subtracted_parts_are_no_terms() -> None:
    """A subtracted part is no term, since a smaller constant would not make the bound smaller."""
    assert [part.expression for part in list_parts(bound(zeta**2 - sigma**2))[1:]] == [zeta**2]


def test_the_share_of_a_part_is_where_the_bound_begins_to_fail() -> None:
    """With exactly that much of the part the run attains the bound, with less it violates it."""
    claim = bound(7 * tau**2 * eta**2 * zeta**2 + sigma**2)
    part = next(part for part in list_parts(claim) if part.expression.has(zeta))
    share = compute_share(part, APART)
    assert share is not None
    assert 0.142 < float(share) < 1 / 7
    exactly = sp.Rational(int(share.p), int(share.q))
    run = parse_run(APART, RATIONAL)
    assert check(part.scaled(exactly), run).worst.ratio == 1
    assert check(part.scaled(exactly * sp.Rational(999, 1000)), run).holds is False


def test_a_run_that_needs_nothing_has_no_share() -> None:
    """The other term covers the left side alone; and a run outside of the assumptions says nothing."""
    parts = list_parts(bound(7 * tau**2 * eta**2 * zeta**2 + sigma**2 + L))
    needed = {part.expression for part in parts[1:] if compute_share(part, APART) is not None}
    assert needed == {7 * tau**2 * eta**2 * zeta**2}
    far = {**APART, "algorithm": {**APART["algorithm"], "local_step_size": "10000000"}}
    assert compute_share(list_parts(THEOREM)[0], far) is None


def tightest_file(claim: Claim) -> Path | None:
    """Return the file of a proved claim's tightest run, if one is stored."""
    file = run_files(claim).get(WHOLE)
    if file is None:
        return None
    needed = compute_share(bound_of(claim), read_toml(file))
    assert needed is not None, claim.id
    assert needed <= 1, claim.id
    return file


@pytest.mark.long
@pytest.mark.parametrize("source", all_sources())
def test_stored_runs_need_what_they_are_stored_for(source: str) -> None:
    """Each is checked again, exactly; no bound fails on its own run, and no file is there for nothing."""
    named = set()
    for claim in select_proved_bounds(claims_of(source)):
        for share in compute_shares(claim):
            assert 0 < share.value <= 1, (claim.id, share.part.name)
            named.add(run_files(claim)[share.part.name])
    named |= {file for claim in select_proved_claims(claims_of(source)) if (file := tightest_file(claim)) is not None}
    assert named == {file for file in list_stored_files() if file.parent.parent.name == source}


@pytest.mark.parametrize(
    "name", ["thm-2.1.halved", "lemma-2.3.growing", "lemma-2.3.mean.growing", "lemma-2.3.quiet", "lemma-2.2.halved"]
)
def test_less_of_a_part_is_refuted(name: str) -> None:
    """The stored run refutes the bound with less of a term, in rationals, under all conditions."""
    for share in compute_shares(find(f"renard2022:{name}")):
        less = sp.Rational(int(share.value * 990_000), 10**6)
        found = check(share.part.scaled(less), parse_run(share.run, RATIONAL))
        assert found.holds is False, share.part.name
        assert all(condition.holds for condition in found.conditions)


@pytest.mark.parametrize("name", ["lemma-2.3.growing", "lemma-2.3.mean.growing", "lemma-2.3.mean.quiet"])
def test_runs_need_half_of_each_term_of_the_drift(name: str) -> None:
    """No proof can halve a constant of the drift bound."""
    claim = find(f"renard2022:{name}")
    found = {share.part.name: share.value for share in compute_shares(claim)}
    assert found.keys() == {part.name for part in list_parts(claim)}
    assert all(value >= fmpq(1, 2) for value in found.values())


def test_runs_need_the_first_term_and_half_of_the_noise_in_the_theorem() -> None:
    """The first term is attained in the limit."""
    needed = {share.part.expression: share.value for share in compute_shares(THEOREM)}
    assert needed[tightened.start_term] > fmpq(98, 100)
    assert needed[tightened.noise] >= fmpq(1, 2)


def test_a_run_that_says_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of a damaged file names it."""
    keep_in(tmp_path, monkeypatch)
    store_run(THEOREM, WHOLE, {**APART, "algorithm": {**APART["algorithm"], "local_step_size": "10000000"}})
    with pytest.raises(InputError, match=run_files(THEOREM)[WHOLE].name):
        compute_shares(THEOREM)


def test_parts_with_one_run_share_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file stays while a part names it; a run that no part names is removed."""
    keep_in(tmp_path, monkeypatch)
    other = find("renard2022:lemma-2.3.quiet")
    for claim, part in ((THEOREM, WHOLE), (THEOREM, "1"), (other, WHOLE)):
        store_run(claim, part, APART)
    (file,) = list_stored_files()
    assert read_toml(file) == APART
    assert run_files(THEOREM) == {WHOLE: file, "1": file}
    store_run(THEOREM, WHOLE, None)
    store_run(other, WHOLE, None)
    assert run_files(THEOREM) == {"1": file}
    assert run_files(other) == {}
    assert list_stored_files() == {file}
    store_run(THEOREM, "1", None)
    assert list_stored_files() == set()
    assert run_files(bound(zeta**2)) == {}


def test_parts_that_no_longer_exist_lose_their_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of proved claims stay, for their whole sides and their terms alone."""
    keep_in(tmp_path, monkeypatch)
    unproved = find("renard2022:lemma-2.2")
    for claim, part in ((THEOREM, WHOLE), (THEOREM, "99"), (unproved, WHOLE)):
        store_run(claim, part, APART)
    remove_stale()
    assert run_files(THEOREM).keys() == {WHOLE}
    assert run_files(unproved) == {}


def test_a_better_run_takes_the_place_of_a_stored_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with a larger ratio replaces the stored run, and one with a smaller ratio does not."""
    keep_in(tmp_path, monkeypatch)
    monkeypatch.setattr(search, "_evaluate_all_instances", lambda claims: [(claim, []) for claim in claims])
    claim = find("renard2022:lemma-2.3.quiet")
    weak = {**APART, "problem": {**APART["problem"], "hessians": [[["1/2"]], [["1/2"]]]}}
    for table, largest in ((weak, False), (APART, True), (weak, True)):
        regenerate([claim], 0, [table])
        assert (compute_shares(claim)[0].value > fmpq(99, 100)) is largest


@pytest.mark.long
def test_the_instance_of_the_verdict_is_a_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored runs have a ratio at least that of the run on the claim's page."""
    keep_in(tmp_path, monkeypatch)
    claim = find("renard2022:lemma-2.3.quiet")
    regenerate([claim], 0)
    evidence = verify(claim)[0].evidence
    assert evidence is not None
    assert evidence.worst is not None
    assert compute_shares(claim)[0].value >= evidence.worst.ratio


@pytest.mark.long
def test_the_tightest_instance_of_a_step_is_kept_where_the_sample_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict then has it as its witness; of a claim that is as tight on the sample nothing is kept."""
    keep_in(tmp_path, monkeypatch)
    loose, tight = find("renard2022:thm-2.1.proof.split.fixed"), find("renard2022:lemma-2.2.proof.regroup.fixed")
    shares = dict[str, fmpq | None]()
    regenerate([loose, tight], 0, (), lambda part, share: shares.update({part.bound.id: share}))
    assert shares[tight.id] is None
    stored = decide_claim(loose.id).stored
    assert stored is not None
    assert stored.outcome.ratio == pytest.approx(plain_float(shares[loose.id]))
    found = verify(loose)[0]
    assert found.worst_ratio == stored.outcome.ratio
    assert found.run == stored.witness.table


def keep_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be read and written in another folder, with a subfolder for each paper."""
    moved = {key: replace(paper, folder=folder / key) for key, paper in papers().items()}
    for paper in moved.values():
        paper.folder.mkdir()
    monkeypatch.setattr("verify.slack.stored_runs.papers", lambda: moved)
    monkeypatch.setattr("verify.slack.stored_runs.find_publisher", lambda claim: moved.get(claim.source))


def test_shares_of_any_length_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of any length are found once, also with more digits than Python reads from a text."""
    monkeypatch.setenv("FEDTHEORY_CACHE", str(tmp_path / "kept"))
    value, asked = fmpq(3**9000 - 1, 3**9000), list[str]()

    def long_share(part: slack.Part, _table: object) -> fmpq:
        asked.append(part.name)
        return value

    monkeypatch.setattr(slack, "compute_share", long_share)
    first, second = compute_shares(THEOREM), compute_shares(THEOREM)
    assert [share.value for share in first] == [share.value for share in second] == [value] * len(first)
    assert asked == [share.part.name for share in first]
