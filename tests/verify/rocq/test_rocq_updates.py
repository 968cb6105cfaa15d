"""Updates of a server whose clients work on stale models, for Rocq."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rocq_judge import accepts, compiled_library

from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.combination import Combination
from verify.rocq.export import export_claim, export_id
from verify.rocq.papers.fraboni2022.update_vocabulary import UpdateVocabulary
from verify.rocq.papers.fraboni2022.zero_weights import POSITIVE, SPLIT
from verify.rocq.project import collect_uses, name_file, render_file, write_project
from verify.rocq.refusals import NotExported

STARTS_AND_ENDS, STEPS, LOSS = "fraboni2022:eq-7.distances", "fraboni2022:lemma-3.eq-69", "fraboni2022:cor-1.update"
MOVE, WEIGHTS, TANGENTS = "fraboni2022:lemma-6.steps.move", "fraboni2022:lemma-1", "fraboni2022:lemma-4.proof"
GIVEN, PAIRED = "fraboni2022:A5.conditions.fixed", "fraboni2022:A5.conditions.alpha"
PROGRESS, SPREAD = "fraboni2022:lemma-2.fixed", "fraboni2022:lemma-3.eq-64-66.fixed"
SAMPLES, NOISE = "fraboni2022:lemma-3.eq-67-68.fixed", "fraboni2022:lemma-5.steps.fixed"
MISSING, GAPS, SLOPE = "fraboni2022:lemma-7.steps", "fraboni2022:eq-105.round", "fraboni2022:thm-2.update"
LENGTHS, CHANGES, WINDOW, SLOPES, MEAN_SLOPE = (
    f"fraboni2022:{one}"
    for one in ("eq-23", "thm-3.step", "eq-25.fixed", "thm-3.gradient.step", "thm-3.gradient.update")
)
STALE, ALIGNED, MOVES = (
    f"fraboni2022:{one}" for one in ("lemma-3.phi.fixed", "lemma-4.server-step", "lemma-6.server-step")
)
FAIR, SAME = "fraboni2022:claim.W1.fixed", "fraboni2022:claim.W1.equivalent.synchronous"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the compiled library."""
    return compiled_library(tmp_path_factory)


def judged(folder: Path, claim: Claim) -> bool:
    """Return whether Rocq accepts a claim with the certificate of the claim it was made from."""
    used = [known for one in export_claim(claim, certificate_of(claim.id)).uses for known in collect_uses(one).values()]
    for known in used:
        if not (folder / name_file(known)).with_suffix(".vo").is_file():
            (folder / "claims").mkdir(exist_ok=True)
            (folder / name_file(known)).write_text(render_file(known), encoding="utf-8")
            assert accepts(folder, name_file(known))
    (folder / "Tried.v").write_text(render_file(export_claim(claim, certificate_of(claim.id))), encoding="utf-8")
    return accepts(folder, "Tried.v")


def halved(claim: Claim, place: int) -> Claim:
    """Return a claim with half of one right side."""
    relations = [*claim.relations]
    relations[place] = replace(relations[place], right=relations[place].right / 2)
    return replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", [STARTS_AND_ENDS, STEPS, LOSS, MOVE, "fraboni2022:eq-104"])
def test_updates(library: Path, claim_id: str) -> None:
    """Virtual iterates, sums over steps, what fair types lose, moves and slopes; not with half of what is claimed."""
    claim = find(claim_id)
    assert judged(library, claim)
    for place in range(len(claim.relations)):
        assert not judged(library, halved(claim, place))


@pytest.mark.rocq
def test_theorems_apply_to_a_server(tmp_path: Path) -> None:
    """One server with an old model fulfils what (7) asks, and nothing less will do."""
    write_project(tmp_path, [STARTS_AND_ENDS])
    needed = ("Space", "Clients", "Objectives", "Normal", "Step", "Run", "Schedule", "Stale", "Weights", "Instance")
    assert accepts(tmp_path, *(f"library/{name}.v" for name in (*needed, "StaleInstance")))
    assert accepts(tmp_path, "claims/fraboni2022_eq_7_distances.v")
    opening = "From Coq Require Import Arith.\nRequire Import StaleInstance fraboni2022_eq_7_distances.\n"
    for last, holds in (("1", True), ("2", False)):
        given = f"stale_server stale_scheme _ stale_minimiser {last} (PeanoNat.Nat.lt_succ_diag_r 1)"
        applied = f"fraboni2022_eq_7_distances {given}"
        (tmp_path / "Applied.v").write_text(f"{opening}Definition applied := {applied}.\n", encoding="utf-8")
        assert accepts(tmp_path, "Applied.v") is holds


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", [STARTS_AND_ENDS, LOSS, FAIR, SAME])
def test_updates_need_their_assumptions(library: Path, claim_id: str) -> None:
    """A fact about updates is refused without the assumption that it needs, such as fair types."""
    claim = find(claim_id)
    assert judged(library, claim)
    assert not judged(library, replace(claim, assumptions=()))


@pytest.mark.rocq
@pytest.mark.parametrize(("claim_id", "place"), [(WEIGHTS, 0), (WEIGHTS, 2), (TANGENTS, 0), (GIVEN, 0), (PAIRED, 0)])
def test_random_weights(library: Path, claim_id: str, place: int) -> None:
    """Lemma 1, what convex objectives lose at stale models, and given weights; not with half of what is claimed."""
    assert judged(library, find(claim_id))
    assert not judged(library, halved(find(claim_id), place))


@pytest.mark.rocq
@pytest.mark.parametrize(
    "claim_id", [PROGRESS, SPREAD, SAMPLES, NOISE, MISSING, GAPS, LENGTHS, CHANGES, WINDOW, SLOPES]
)
def test_draws(library: Path, claim_id: str) -> None:
    """Draws and random weights of an update have the claimed moments, and not half of them."""
    claim = find(claim_id)
    assert judged(library, claim)
    for place in range(len(claim.relations)):
        assert not judged(library, halved(claim, place))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", [STALE, ALIGNED, MOVES, SLOPE, MEAN_SLOPE])
def test_means_of_draws(library: Path, claim_id: str) -> None:
    """Means over clients, steps and updates, also where all weights are zero; not with half of what is claimed."""
    claim = find(claim_id)
    assert judged(library, claim)
    assert not judged(library, halved(claim, 0))


def test_updates_without_positive_weights() -> None:
    """If a claim divides by the weights of an update, some client has a positive weight; else both cases are shown."""
    divides, does_not = (export_id(claim_id).theorem for claim_id in (STALE, ALIGNED))
    assert [binder.type for binder in divides.binders if binder.name == POSITIVE] == ["0 < weight_sum A n"]
    assert not [binder for binder in does_not.binders if binder.name == POSITIVE]
    assert (SPLIT in divides.proof, SPLIT in does_not.proof) == (False, True)


@pytest.mark.parametrize("claim_id", [MOVE, TANGENTS, PROGRESS, SAMPLES])
def test_symbols_of_assumptions_need_them(claim_id: str) -> None:
    """alpha, L and draws mean nothing where neither Assumption 5 nor smooth objectives nor means are assumed."""
    with pytest.raises(NotExported, match="is defined by the assumption"):
        export_claim(replace(find(claim_id), assumptions=()), certificate_of(claim_id))


def test_an_assumption_without_a_definition_is_refused() -> None:
    """The library of updates has no ball; what a theorem does not need is passed over."""
    claim = find(STEPS)
    with pytest.raises(NotExported, match="'bounded second moment' has no definition in the library of updates"):
        export_claim(replace(claim, assumptions=(*claim.assumptions, a.bounded_second_moment)), certificate_of(STEPS))
    more = replace(claim, assumptions=(*claim.assumptions, a.finite_answering_time))
    assert export_claim(more, certificate_of(STEPS)).theorem == export_id(STEPS).theorem


def test_facts_of_updates_are_in_the_library() -> None:
    """A fact that no lemma shows is not used in a theorem."""
    assert isinstance(certificate_of(STEPS), Combination)
    assert "earlier_sums A n" in export_id(STEPS).theorem.proof
    with pytest.raises(NotExported, match="the fact 'nobody is late' of updates"):
        UpdateVocabulary(find(STEPS)).fact("nobody is late")
