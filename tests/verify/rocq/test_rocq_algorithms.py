"""Theorems about user-defined algorithms: what is false of another definition is not accepted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts
from test_rocq import judged, library
from test_rocq_quotients import recorded

from fedtheory.federation.algorithms import dsgd, fedavg, fedavgm, scaffnew, scaffold
from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, eta
from fedtheory.language.registry import find
from fedtheory.proofs.lyapunov import Lyapunov
from verify.rocq import algorithms
from verify.rocq.export import export_id
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported

__all__ = ["library"]
AT_REST = [f"landmarks:{name}.at-rest" for name in ("fedavg", "scaffold", "scaffnew", "fedavgm")]

LAST_ROUNDS = ["landmarks:fedavgm.contraction", "landmarks:dsgd.consensus"]


def moved(known: FederatedAlgorithm, step: sp.Expr) -> FederatedAlgorithm:
    """Return a definition with another local step."""
    (local,) = known.steps
    return replace(known, local=Local(local.vector, local.start, step))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", AT_REST)
def test_the_optimum_is_a_fixed_point_of_algorithms(library: Path, claim_id: str) -> None:
    """Rocq accepts the claim that the algorithm rests at the optimum, and not that it rests elsewhere."""
    claim, certificate = find(claim_id), recorded(claim_id)
    (relation,) = claim.relations
    assert judged(library, claim, certificate)
    other = replace(claim, lhs=None, rhs=None, chain=(), also=(replace(relation, right=sp.S.One),))
    other = replace(other, where={**claim.where, **claim.notation})
    assert not judged(library, other, certificate)


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "other"),
    [
        (AT_REST[0], moved(fedavg.algorithm, 2 * fedavg.y - eta * Gradient(fedavg.y))),
        (AT_REST[1], moved(scaffold.algorithm, scaffold.y - eta * (Gradient(scaffold.y) + scaffold.c_i + scaffold.c))),
        (AT_REST[2], moved(scaffnew.algorithm, scaffnew.z - eta * (Gradient(scaffnew.z) + scaffnew.h))),
        (AT_REST[3], replace(fedavgm.algorithm, at_optimum={fedavgm.x: sp.S.Zero, fedavgm.v: sp.S.Zero})),
    ],
)
def test_other_definitions_do_not(
    library: Path, monkeypatch: pytest.MonkeyPatch, claim_id: str, other: FederatedAlgorithm
) -> None:
    """Twice the iterate, corrections of the wrong sign, and another resting point are not accepted."""
    monkeypatch.setattr(algorithms, "definition_of", lambda _claim: other)
    assert not judged(library, find(claim_id), recorded(claim_id))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", LAST_ROUNDS)
def test_last_rounds(library: Path, claim_id: str) -> None:
    """Rocq accepts the bound of the last round, but not half of it, nor another function."""
    claim, certificate = find(claim_id), recorded(claim_id)
    assert isinstance(certificate, Lyapunov)
    (relation,) = claim.relations
    other = replace(claim, lhs=None, rhs=None, chain=(), also=(replace(relation, right=relation.right / 2),))
    assert judged(library, claim, certificate)
    assert not judged(library, replace(other, where={**claim.where, **claim.notation}), certificate)
    assert not judged(library, claim, replace(certificate, offset=certificate.offset / 2))


@pytest.mark.rocq
@pytest.mark.parametrize(
    ("claim_id", "other"),
    [
        (LAST_ROUNDS[0], moved(fedavgm.algorithm, fedavgm.y - 2 * eta * Gradient(fedavgm.y))),
        (LAST_ROUNDS[1], moved(dsgd.algorithm, dsgd.y - 2 * eta * Gradient(dsgd.y))),
        (LAST_ROUNDS[1], replace(dsgd.algorithm, client_update={dsgd.x: dsgd.y})),
    ],
)
def test_other_definitions_have_other_bounds(
    library: Path, monkeypatch: pytest.MonkeyPatch, claim_id: str, other: FederatedAlgorithm
) -> None:
    """Bounds are not accepted for twice the step, or for clients that do not receive the others' models."""
    monkeypatch.setattr(algorithms, "definition_of", lambda _claim: other)
    assert not judged(library, find(claim_id), recorded(claim_id))


@pytest.mark.rocq
@pytest.mark.parametrize("claim_id", LAST_ROUNDS)
def test_hypotheses_on_noise_can_be_satisfied(library: Path, claim_id: str) -> None:
    """Without noise anything may be past, as the theorems ask for; it is not enough that one client has none."""
    for quiet, holds in (("noise_of A n k i = zero", True), ("noise_of A n k O = zero", False)):
        said = f"(forall n k i, {quiet}) -> forall n, unbiased (step_of_round A own n) (fun _ => True)"
        proof = "intros A own quiet n. constructor; auto; intros; cbn; rewrite quiet; apply dot_zero."
        text = f"{render_file(export_id(claim_id))}\nGoal forall A own, {said}.\nProof. {proof} Qed.\n"
        (library / "Quiet.v").write_text(text, encoding="utf-8")
        assert accepts(library, "Quiet.v") == holds


@pytest.mark.rocq
def test_more_local_steps_move_a_model(library: Path) -> None:
    """Federated averaging with one local step stays at the optimum; with more steps it does not."""
    claim = replace(find(AT_REST[0]), conditions=())
    assert not judged(library, claim, recorded(AT_REST[0]))


def test_definitions_are_those_that_run() -> None:
    """A theorem has the definition that runs are computed from, with the participants that the claim allows."""
    definitions = export_id("landmarks:scaffold.at-rest").theorem.definitions
    assert "Record scaffold_state {V : space} := { x : V; c : V; c_i : nat -> V }." in definitions
    assert "c_i := fun i => if is_drawn i then" in definitions
    assert "weights i" in definitions
    assert "is_drawn" not in export_id("landmarks:fedavgm.at-rest").theorem.definitions


def test_compression_is_refused() -> None:
    """Compressed algorithms are refused, since no theory of the library has compression errors."""
    compressed = replace(find(AT_REST[1]), assumptions=[*find("landmarks:compressed.price").assumptions])
    with pytest.raises(NotExported, match="without compression"):
        algorithms.Algorithm(compressed)
