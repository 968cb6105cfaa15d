"""Certificates that a search finds are exported and accepted like recorded ones."""

from __future__ import annotations

import pytest
import sympy as sp
from rocq_judge import accepts, compiled_library

from fedtheory import Claim, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value
from fedtheory.language.quantities import Quantity
from fedtheory.language.targets import resolve
from fedtheory.proofs.document import with_quantities
from fedtheory.search import Found, find_proof
from verify.rocq.export import export_claim
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Exported

x, y, F, v, w, best = sp.symbols("x y F v w best", real=True)
L, mu, eta, M, sigma = sp.symbols("L mu eta M sigma", positive=True)
POINTS = {x: q.point, y: q.second_point, F: q.objective, L: q.smoothness}
DESCENT = {v: q.centralised_model, w: q.next_centralised_model, best: q.optimum, F: q.objective, L: q.smoothness}
DESCENT |= {eta: q.local_step_size, mu: q.strong_convexity}
CURVED = (a.convex_and_smooth, a.strongly_convex_clients)
ROUND = (a.same_local_work, a.unit_server_step, a.uniform_shares, a.full_participation, a.unbiased_bounded_variance)
CHANGE = Gradient(F, x) - Gradient(F, y)
D, tau, T, G = sp.symbols("D tau T G", positive=True)
local, mean, following, F_i = sp.symbols("local mean following F_i", real=True)
STEP = {local: q.local_iterate, mean: q.average_iterate, following: q.next_average_iterate, best: q.optimum}
STEP |= {F: q.objective, F_i: q.client_objective, L: q.smoothness, mu: q.strong_convexity}
STEP |= {eta: q.local_step_size, M: q.clients, sigma: q.noise_deviation}
NOW, GAP = Expectation(norm_sq(mean - best)), Expectation(Value(F, mean) - Value(F, best))
DRIFT = Expectation(Average(norm_sq(local - mean)))
RUN = {D: q.initial_distance, tau: q.local_steps, T: q.rounds, G: q.second_moment}
CLASSICS = {
    "co-coercivity": Claim(
        id="mine:points",
        place="points",
        lhs=norm_sq(CHANGE),
        rhs=L * inner(CHANGE, x - y),
        where=POINTS,
        assumptions=[a.convex_and_smooth],
    ),
    "gradient descent": Claim(
        id="mine:descent",
        place="path",
        lhs=norm_sq(w - best),
        rhs=(1 - eta * mu) * norm_sq(v - best),
        where=DESCENT,
        assumptions=CURVED,
        conditions=[eta <= 1 / L],
    ),
    "Koloskova et al. 2020, Lemma 8": Claim(
        id="mine:step",
        place="step",
        lhs=Expectation(norm_sq(following - best)),
        rhs=(1 - mu * eta / 2) * NOW + eta**2 * sigma**2 / M - eta * GAP + 3 * L * eta * DRIFT,
        where=STEP,
        assumptions=(*ROUND, *CURVED),
        conditions=[eta <= 1 / (12 * L)],
    ),
}

H, R, gamma, h, D_0 = sp.symbols("H R gamma h D_0", positive=True)
OTHER_NAMES = {gamma: q.local_step_size, H: q.local_steps, R: q.rounds, h: q.gradient_dissimilarity}
OTHER_NAMES |= {D_0: q.initial_distance, L: q.smoothness, M: q.clients, sigma: q.noise_deviation}


def _bound(name: str, left: Quantity, right: sp.Expr, condition: sp.Basic) -> Claim:
    """Return a bound on convex runs, in symbols that SymPy orders differently from those of the used theorems."""
    used = right.free_symbols | condition.free_symbols
    return Claim(
        id=f"mine:{name}",
        lhs=left,
        rhs=right,
        where={symbol: quantity for symbol, quantity in OTHER_NAMES.items() if symbol in used},
        assumptions=(*ROUND, a.convex_and_smooth, a.bounded_dissimilarity),
        conditions=[condition],
    )


_SPREAD = H**2 * (h**2 + sigma**2)
_RIGHT = D_0**2 / (gamma * H * R) + 3 * gamma * sigma**2 / M + 20 * L * gamma**2 * _SPREAD
RUNS = (
    _bound("renamed", q.average_suboptimality, _RIGHT, gamma <= 1 / (5 * L)),
    _bound("step", q.average_suboptimality, _RIGHT, sp.Eq(gamma, 1 / (8 * L * H))),
    _bound(
        "fixed",
        q.average_suboptimality,
        3 * L * D_0**2 / (H * R) + H**2 * (h**2 + sigma**2) * 3 / L,
        sp.Eq(gamma, 1 / (4 * L)),
    ),
    _bound("drift", q.average_round_drift, (7 * sigma**2 / H + 25 * h**2) / L**2, sp.Eq(gamma, 1 / (3 * L * H))),
)


@pytest.mark.rocq
def test_bounds_on_runs_are_accepted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Rocq accepts bounds in other symbols, with equations, and without a number that a theorem names."""
    folder = compiled_library(tmp_path_factory)
    used: dict[str, str] = {}
    for claim in RUNS:
        texts = _list_texts(_export(claim))
        for name, text in texts.items():
            if name not in used:
                (folder / f"{name}.v").write_text(text, encoding="utf-8")
                assert accepts(folder, f"{name}.v"), name
        used |= texts


def _list_texts(known: Exported) -> dict[str, str]:
    """Return the scripts of a theorem and of those that it uses, each after those that it uses."""
    texts: dict[str, str] = {}
    for one in known.uses:
        texts |= _list_texts(one)
    return {**texts, known.theorem.name: render_file(known)}


def test_equations_are_hypotheses() -> None:
    """An equation is a hypothesis, and a coefficient is written for the value that it gives."""
    text = render_file(_export(RUNS[1]))
    assert "(condition1 : size_of A = 1 / (8 * tau A * L))" in text
    assert "rewrite value1" in text
    with pytest.raises(NotExported, match="equations with roots"):
        _export(_bound("root", q.max_drift, 3 * _SPREAD / (L**2 * R), sp.Eq(gamma, 1 / (4 * L * sp.sqrt(R)))))


def test_documents_with_lemmas_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored document that adds lemmas is refused with the reason, not with an unknown id."""
    claim = resolve(CLASSICS["co-coercivity"])
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert found.proof.document is not None
    changed = {**found.proof.document, "lemmas": [{"name": "first"}]}
    monkeypatch.setattr("verify.rocq.export.document_for", lambda _claim: changed)
    with pytest.raises(NotExported, match="adds lemmas"):
        export_claim(claim)


@pytest.mark.rocq
def test_found_certificates_are_accepted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Rocq accepts a certificate about points, one of gradient descent and one of a local step."""
    folder = compiled_library(tmp_path_factory)
    for name, classic in CLASSICS.items():
        text = render_file(_export(classic))
        (folder / "Found.v").write_text(text, encoding="utf-8")
        assert accepts(folder, "Found.v"), name


def _export(classic: Claim) -> Exported:
    found = find_proof(resolve(classic))
    assert isinstance(found, Found)
    return export_claim(with_quantities(found.proof.claim, found.proof.document), found.proof.certificate)


@pytest.mark.long
def test_lemmas_of_documents_are_refused() -> None:
    """A document with lemmas is refused with a message, as the export does not support lemmas yet."""
    bound = Claim(
        id="mine:bound",
        lhs=q.average_suboptimality,
        rhs=D**2 / (eta * tau * T) + 2 * eta * sigma**2 / M + 4 * L * eta**2 * tau**2 * G**2,
        where={L: q.smoothness, eta: q.local_step_size, M: q.clients, sigma: q.noise_deviation, **RUN},
        assumptions=(*ROUND, a.convex_and_smooth, a.bounded_second_moment),
        conditions=[eta <= 1 / (4 * L)],
    )
    with pytest.raises(NotExported):
        _export(bound)
