"""Rounds in which clients are drawn are exported to Rocq."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts, compiled_library
from test_rocq_quotients import larger

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel.expressions import Gradient, Inner
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.certificates_of_papers import certificate_of
from verify.rocq.export import export_claim, export_id
from verify.rocq.library_parts import read_library
from verify.rocq.project import collect_uses, name_file, render_file

DRAWN = "vlaski2023:eq-5.38.lemma-step"
LEMMA = "vlaski2023:lemma-5.1"
IN_THE_MEAN, OF_OUTCOMES = "vlaski2023:eq-5.29", "vlaski2023:eq-5.17"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the compiled library."""
    return compiled_library(tmp_path_factory)


def judged(folder: Path, claim: Claim) -> bool:
    """Return whether Rocq accepts a claim with the certificate of the claim it was made from."""
    (folder / "Tried.v").write_text(render_file(export_claim(claim, certificate_of(claim.id))), encoding="utf-8")
    return accepts(folder, "Tried.v")


def with_lemmas(folder: Path, claim_id: str) -> None:
    """Check the claims that a proof uses, each once."""
    for used in [*collect_uses(export_id(claim_id)).values()][:-1]:
        file = folder / name_file(used)
        if not file.is_file():
            file.parent.mkdir(exist_ok=True)
            file.write_text(render_file(used), encoding="utf-8")
            assert accepts(folder, name_file(used))


def twice(claim: Claim, last: int) -> Claim:
    """Return a claim in which one member of the vector that vanishes counts twice."""
    (relation,) = claim.relations
    vector = relation.left.args[0]
    larger = vector + vector.args[last]
    return replace(claim, lhs=None, rhs=None, chain=(), also=(replace(relation, left=Inner(larger, larger)),))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", [IN_THE_MEAN, OF_OUTCOMES])
def test_equations_between_vectors(library: Path, claim_id: str) -> None:
    """Two equations hold, in expectation and for every outcome, but not with a member counted twice."""
    claim = find(claim_id)
    assert judged(library, claim)
    assert not judged(library, twice(claim, 0))


@pytest.mark.rocq
def test_steps_have_to_be_normalised(library: Path) -> None:
    """With arbitrary step sizes the mean over the participants is not the gradient."""
    claim = find(IN_THE_MEAN)
    needed = tuple(one for one in claim.assumptions if one != a.normalised_steps)
    assert not judged(library, replace(claim, assumptions=needed))


@pytest.mark.rocq
def test_variance_of_those_that_are_drawn(library: Path) -> None:
    """The bound of Lemma 5.1 for few participants; not with half of the noise, or without what differs of clients."""
    claim = find(DRAWN)
    assert judged(library, claim)
    (relation,) = claim.relations
    sigma = next(symbol for symbol, quantity in claim.notation.items() if quantity.name == "absolute_noise")
    of_clients = next(part for part in relation.right.args if part.has(Gradient))
    for right in (relation.right.subs(sigma, sigma / 2), relation.right - of_clients):
        false = replace(claim, lhs=None, rhs=None, chain=(), also=(replace(relation, right=right),))
        assert not judged(library, false)


@pytest.mark.rocq
def test_draws_without_replacement(library: Path) -> None:
    """Lemma 5.1 for what participants end with; not with the factor of draws with replacement."""
    claim = find(LEMMA)
    assert judged(library, claim)
    clients, drawn = (
        next(symbol for symbol, quantity in claim.notation.items() if quantity.name == name)
        for name in ("clients", "participants")
    )
    first, *others = claim.relations
    replaced = replace(first, right=first.right.subs(clients - drawn, clients - 1))
    assert replaced != first
    assert not judged(library, replace(claim, lhs=None, rhs=None, chain=(), also=(replaced, *others)))


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "place", "factor"),
    [
        ("vlaski2023:thm-5.1.rate", 0, sp.Rational(1, 2)),
        pytest.param("vlaski2023:eq-5.64.fixed", 1, sp.Rational(1, 2), marks=pytest.mark.slow),
        ("vlaski2023:eq-5.65", 0, sp.Rational(1, 2)),
        ("vlaski2023:eq-5.65.step-condition.fixed", 0, sp.Integer(2)),
        ("vlaski2023:eq-5.52.fixed", 2, sp.Rational(1, 2)),
        ("vlaski2023:eq-5.53.way", 1, sp.Rational(1, 2)),
    ],
)
def test_numbers_of_a_round(library: Path, claim_id: str, place: int, factor: sp.Rational) -> None:
    """Relations with roots and means over the clients, and bounds at every step; not with another constant."""
    claim = find(claim_id)
    with_lemmas(library, claim_id)
    assert judged(library, claim)
    assert not judged(library, larger(claim, place, factor))


@pytest.mark.rocq
def test_a_round_with_draws_exists(library: Path) -> None:
    """Assumptions on draws, conditional expectations and noise are fulfilled by a round of two clients."""
    assert accepts(library, "library/Instance.v", "library/TwoClients.v", "library/RoundInstance.v")


def test_the_round_with_draws_is_simulated() -> None:
    """Numbers that Rocq computes for the round agree with the exact engine."""
    stated = read_library()["library/RoundInstance.v"].partition("Theorem round_distance :")[2].partition("Proof.")[0]
    computed = stated.partition("= ")[2].partition(".")[0].replace(" ", "")
    problem = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["3"], "noise": "1"}
    algorithm = {
        **{"local_step_size": ["1/4", "1/8"], "local_steps": [1, 2], "rounds": 1},
        "participation": {"kind": "uniform", "clients": 1},
    }
    run = parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": algorithm}, RATIONAL)
    assert str(q.final_distance_sq.on(run)) == computed
