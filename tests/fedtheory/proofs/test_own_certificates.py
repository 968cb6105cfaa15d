"""Certificates of claims about user-defined algorithms: each belongs to one definition."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory import InputError
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import NotApplicable
from fedtheory.federation.definition import FederatedAlgorithm
from fedtheory.kernel import Term, assumption, cocoercivity, square, strong_convexity
from fedtheory.kernel.expressions import Gradient, norm_sq
from fedtheory.language.assumptions import OfAlgorithm
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.proofs import check_certificate
from fedtheory.proofs.definitions import OBJECTIVE, OPTIMUM, definition, list_parameter_bounds, state
from fedtheory.proofs.document import certificate_in, document_of
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.lyapunov import START_DISTANCE, Lyapunov
from fedtheory.runfile import parse_run
from verify.check import check

DEFINITION = """
import sympy as sp
from fedtheory.federation.definition import *

x, m, y = sp.symbols("x m y_i", real=True)
own = FederatedAlgorithm(
    name="own",
    server={x: start, m: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={x: x + Average(y - x), m: (m + x) / 2},
    model=x,
    steps_are_rounds=True,
    at_optimum={x: optimum, m: optimum},
)
"""
CLAIMS = """
import sympy as sp
from fedtheory import Claim, assumptions as a, quantities as q

T, D, L, mu, sigma, M, eta = sp.symbols("T D L mu sigma M eta", positive=True)
OWN = a.of_algorithm("mine.py:own")
rest = Claim(
    id="mine:rest", lhs=q.optimum_displacement_sq, relation="==", rhs=0, where={}, assumptions=[OWN, a.same_step_size]
)
NOTATION = {T: q.rounds, D: q.initial_distance, L: q.smoothness, mu: q.strong_convexity, sigma: q.noise_deviation}
shrinks = Claim(
    id="mine:shrinks",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** T * D**2 + eta * sigma**2 / (M * mu),
    where=NOTATION | {M: q.clients, eta: q.local_step_size},
    conditions=[eta <= 1 / L],
    assumptions=[
        OWN,
        a.convex_and_smooth,
        a.strongly_convex_clients,
        a.unbiased_bounded_variance,
        a.same_step_size,
        a.uniform_shares,
    ],
)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an algorithm in one file and claims about it in another."""
    (tmp_path / "mine.py").write_text(DEFINITION)
    (tmp_path / "claims.py").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    resolve.cache_clear()
    return tmp_path


def changed(old: str, new: str, before: str = DEFINITION) -> str:
    """Return the file of the algorithm with one text replaced."""
    assert old in before
    text = before.replace(old, new)
    Path("mine.py").write_text(text)
    return text


def own() -> FederatedAlgorithm:
    """Return the present definition of the file."""
    return definition("mine.py:own")


def evaluate_at_optimum() -> FixedPoint:
    return FixedPoint(claim="mine:rest", local_step="single")


def shrinking() -> Lyapunov:
    """Return a Lyapunov certificate for gradient steps on F with averaged noise."""
    claim = resolve("claims.py:shrinks")
    symbol = {quantity.name: each for each, quantity in claim.where.items()}
    eta, mu, smoothness = symbol["local_step_size"], symbol["strong_convexity"], symbol["smoothness"]
    extra = eta**2 / symbol["clients"]
    x = state(next(one for one in own().server if one.name == "x"))
    both_ways = [(x, OPTIMUM), (OPTIMUM, x)]
    return Lyapunov(
        claim="mine:shrinks",
        function=norm_sq(x - OPTIMUM),
        factor=1 - eta * mu,
        offset=extra * symbol["noise_deviation"] ** 2,
        level=symbol["initial_distance"] ** 2,
        round=[
            *(Term(eta, cocoercivity(OBJECTIVE, *points)) for points in both_ways),
            *(Term(eta, strong_convexity(OBJECTIVE, *points)) for points in both_ways),
            Term(eta * (1 / smoothness - eta), square(Gradient(OBJECTIVE, x))),
            Term(extra, assumption("bounded variance"), averaged=True),
        ],
        start=[Term(sp.S.One, assumption(START_DISTANCE))],
    )


CERTIFICATES = {"rest": evaluate_at_optimum, "shrinks": shrinking}


def document(name: str) -> Any:
    """Return a certificate as JSON for the present definition."""
    return json.loads(json.dumps(document_of(resolve(f"claims.py:{name}"), CERTIFICATES[name]())))


def verdict(name: str, sent: Any) -> str:
    return check_certificate(resolve(f"claims.py:{name}"), sent).verdict


@pytest.mark.parametrize("name", CERTIFICATES)
def test_claims_about_ones_own_algorithm_are_proved(name: str) -> None:
    sent = document(name)
    assert sent["definition"] == own().digest
    assert verdict(name, sent) == "proved"


FALSE = {
    "a local step up the hill": ("y - eta * Gradient(y)", "y + eta * Gradient(y)"),
    "a larger local step": ("y - eta * Gradient(y)", "y - 3 * eta * Gradient(y)"),
    "a round that goes too far": ("x + Average(y - x)", "x + 3 * Average(y - x)"),
    "a model that is another vector": ("model=x", "model=m"),
    "several local steps": ("steps_are_rounds=True", "steps_are_rounds=False"),
    "a start beside the start": ("x: start, m", "x: 2 * start, m"),
}


@pytest.mark.parametrize("what", FALSE)
def test_false_variants_are_not_proved(what: str) -> None:
    """A false variant is proved neither by the certificate of the true claim, nor by one that names the variant."""
    sent = document("shrinks")
    changed(*FALSE[what])
    with pytest.raises(InputError, match="definition: expected"):
        certificate_in(resolve("claims.py:shrinks"), sent)
    assert verdict("shrinks", sent) == "broken"
    assert verdict("shrinks", sent | {"definition": own().digest}) == "broken"
    assert verdict("shrinks", document("shrinks")) == "broken"


def test_moving_vectors_are_no_fixed_point() -> None:
    changed("m: (m + x) / 2", "m: m + x")
    assert verdict("rest", document("rest")) == "broken"


@pytest.mark.parametrize("named", ["0" * 64, "", None, 3, ["own"]])
def test_a_certificate_names_its_definition(named: object) -> None:
    sent = document("rest")
    assert verdict("rest", sent | {"definition": named}) == "broken"
    del sent["definition"]
    assert verdict("rest", sent) == "broken"


def test_claims_about_known_algorithms_name_none() -> None:
    claim, certificate = (
        find("landmarks:scaffold.at-rest"),
        FixedPoint(claim="landmarks:scaffold.at-rest", local_step="idle"),
    )
    sent = document_of(claim, certificate)
    assert "definition" not in sent
    for named in ("0" * 64, None):
        with pytest.raises(InputError, match="definition: expected none"):
            certificate_in(claim, sent | {"definition": named})


def test_words_do_not_define_an_algorithm() -> None:
    before = own().digest
    changed('name="own"', 'name="mine", description="After nobody."')
    assert own().digest == before
    changed('"x m y_i", real=True', '"x m y_i", complex=True, real=True')
    assert own().digest == before
    changed('x, m, y = sp.symbols("x m y_i", real=True)', 'x, m, y = (sp.Dummy(n, real=True) for n in ("x", "m", "y"))')
    first = own().digest
    Path("mine.py").write_text(Path("mine.py").read_text() + "\n")
    assert own().digest == first != before


@pytest.mark.parametrize("what", FALSE)
def test_everything_else_is(what: str) -> None:
    before = own().digest
    changed(*FALSE[what])
    assert own().digest != before


PARAMETERS = {
    "a momentum that may be negative": "Parameter(b, 'momentum', '', sp.Interval(-1, 0))",
    "a switch that is called momentum": "Parameter(b, 'probability', '', sp.Interval(1, 1), 1, is_flag=True)",
    "a probability that may be zero": "Parameter(b, 'probability', '', sp.Interval(0, 1))",
    "a set that nobody knows": "Parameter(b, 'momentum', '', sp.ConditionSet(b, b**5 + b > 1))",
}


@pytest.mark.parametrize("what", PARAMETERS)
def test_parameters_are_what_they_are_called(what: str) -> None:
    """The kernel uses the sign of a parameter by its kind, such as momentum."""
    with_symbol = changed("model=x,", f"model=x, parameters=({PARAMETERS[what]},),")
    changed("own = ", 'b = sp.Symbol("b", real=True)\nown = ', with_symbol)
    found = check_certificate(resolve("claims.py:rest"), document("rest"))
    assert found.verdict == "broken"
    assert any("can be any of" in step.text for step in found.steps)


def test_a_switch_is_zero_or_one_whatever_is_allowed() -> None:
    """A flag has the values zero and one, so that its momentum is not at most a half."""
    switch = 'Parameter(b, "momentum", "", sp.Interval(0, sp.S.Half), 1, is_flag=True)'
    text = changed("model=x,", f"model=x, parameters=({switch},),")
    changed("own = ", 'b = sp.Symbol("b", real=True)\nown = ', text)
    beta = sp.Symbol("beta", positive=True)
    claim = replace(resolve("claims.py:rest"), where={beta: q.momentum})
    assert list_parameter_bounds(claim) == (beta <= 1,)


def test_imitated_definitions_are_refused() -> None:
    text = changed("own = FederatedAlgorithm(", "class Other(FederatedAlgorithm):\n    pass\n\nown = Other(")
    assert "class Other" in text
    found = check_certificate(resolve("claims.py:rest"), evaluate_at_optimum())
    assert found.verdict == "broken"
    assert "expected a FederatedAlgorithm, got a Other" in found.steps[0].text


def test_two_numbers_of_one_name_are_not_one() -> None:
    """Two parameters with one name do not cancel, and the model moves away from the claimed fixed point."""
    first, second = (f'sp.Symbol("a", {sign}=True)' for sign in ("positive", "real"))
    changed("x + Average(y - x)", f"x + Average(y - x) + ({first} - {second}) * x")
    parameters = f'Parameter({first}, "one", "", sp.Reals, 1), Parameter({second}, "other", "", sp.Reals, 0)'
    changed("model=x,", f"model=x, parameters=({parameters}),", Path("mine.py").read_text())
    found = check_certificate(resolve("claims.py:rest"), evaluate_at_optimum())
    assert found.verdict == "broken"
    assert "a: has two meanings" in found.steps[0].text


def test_assumptions_about_algorithms_are_known_ones() -> None:
    """A user-made assumption that names an algorithm does not restrict a claim to its runs."""
    true = find("landmarks:scaffold.at-rest")
    forged = OfAlgorithm("scaffold", "the algorithm is scaffold", lambda _run: None, ("scaffold",))
    others = [one for one in true.assumptions if not isinstance(one, OfAlgorithm)]
    claim = replace(true, id="t:false", assumptions=[forged, *others])
    found = check_certificate(claim, FixedPoint(claim=claim.id, local_step="idle"))
    assert [step.text for step in found.steps if not step.holds] == [
        "the claim concerns no algorithm, or several: expected one that has a definition"
    ]
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["3"]]], "linear": [["1"], ["0"]], "start": ["1"]}
    algorithm = {"name": "fedavg", "local_step_size": "1/4", "local_steps": 3, "rounds": 2}
    run = parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)
    assert check(claim, run).holds is False
    assert check(true, run).holds is None


def test_a_missing_file_is_named() -> None:
    Path("mine.py").unlink()
    found = check_certificate(resolve("claims.py:rest"), evaluate_at_optimum())
    assert found.verdict == "broken"
    assert "mine.py: no such file" in found.steps[0].text


def test_runs_of_another_file_of_that_name_are_not_what_is_proved(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    problem = {"kind": "quadratic", "hessians": [[["2"]]], "linear": [["1"]], "start": ["3"]}
    table = {"problem": problem, "algorithm": {"name": "mine.py:own", "local_step_size": "1/8", "rounds": 1}}
    meant, _ = resolve("claims.py:rest").assumptions
    (other / "mine.py").write_text(DEFINITION)
    meant.require(parse_run(table, RATIONAL, other))
    (other / "mine.py").write_text(DEFINITION.replace("m + x", "m - x"))
    with pytest.raises(NotApplicable, match=r"another definition than mine\.py:own in the present folder"):
        meant.require(parse_run(table, RATIONAL, other))
