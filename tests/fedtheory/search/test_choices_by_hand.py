"""Statements that proof searches accept, and numbers that they try, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Numbers
from fedtheory.language import quantities as q
from fedtheory.search import candidates, chains, remainders, restated
from fedtheory.search.coefficients import list_simple_values
from fedtheory.search.dimensions import Dimensions
from fedtheory.search.positivity import SignFacts
from fedtheory.search.samples import Samples
from fedtheory.search.workspace import Workspace, list_used_names, make_lemma_name

eta = sp.Symbol("eta", positive=True)


def _choice() -> Any:
    """Return a choice with two points of one symbol, and no units or dimensions."""
    dimensions = SimpleNamespace(fit=lambda *_: True, find=lambda _: None)
    return SimpleNamespace(many=Samples([eta], np.array([[0.7, 1.9]])), units=(), dimensions=dimensions)


@pytest.mark.parametrize("factor", ["1", "1/2", "2", "1/4", "4", "3/2", "3", "1/3", "3/4"])
def test_simple_numbers_are_tried(factor: str) -> None:
    """Simple factors are tried alone, and times a power of a symbol."""
    number = sp.Rational(factor)
    choice = _choice()
    for power in (0, 1, -2):
        at = [float(number) * 0.7**power, float(number) * 1.9**power]
        assert list(list_simple_values([(value, value) for value in at], choice)) == [number * eta**power]
    assert list(list_simple_values([(float(number) * 0.99, float(number) * 1.01)] * 2, choice)) == [number]


def test_only_what_the_kernel_accepts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof is found only if summands exist, and the kernel accepts it for the claim as written."""
    goal = SimpleNamespace(
        signs=SignFacts(Numbers(), []),
        claim=SimpleNamespace(id="t"),
        original="original",
        relaxed=None,
        given=(),
        supposed=(),
    )
    remainder: Any = SimpleNamespace(goal=goal, parts=[])
    monkeypatch.setattr(remainders, "_write_document", lambda *_: "document")
    monkeypatch.setattr(remainders, "spend", lambda _: None)
    asked: list[Any] = []

    def shown(verdict: str, summands: list[sp.Expr] | None) -> Any:
        proof = SimpleNamespace(verdict=verdict, work={})
        monkeypatch.setattr(remainders, "check_certificate", lambda *given: asked.append(given) or proof)
        return remainders.prove_remainder(remainder, eta, lambda *_: summands)

    found = shown("proved", [eta])
    assert found is not None
    assert found.proof.verdict == "proved"
    assert shown("broken", [eta]) is None
    assert shown("proved", None) is None
    assert asked == [("original", "document")] * 2


def test_a_claim_in_other_words_needs_all_that_it_relies_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reworded claim has no proof if the kernel rejects one of its lemmas, or if it has several relations."""
    certificates = {"whole": 1, "used": 1, "refused": 1}
    relied = {"whole": ["used"], "used": [], "refused": []}
    relation = SimpleNamespace(ordered=(eta, eta), operator="<=")
    claims = {name: SimpleNamespace(name=name, relations=[relation], for_all={}) for name in certificates}
    monkeypatch.setattr(restated, "find", claims.__getitem__)
    monkeypatch.setattr(restated, "certificate_of", certificates.get)
    monkeypatch.setattr(
        restated,
        "document_of",
        lambda claim, _: {"letters": {}, "certificate": {"name": claim.name, "claim": claim.name}},
    )
    monkeypatch.setattr(restated, "list_dependencies", lambda entry, _: relied[entry["name"]])
    monkeypatch.setattr(restated, "lemma_id", lambda _, lemma: lemma)
    monkeypatch.setattr(restated, "make_lemma_name", lambda name: name)
    reached: list[int] = []

    def stop(*_: Any) -> str:
        reached.append(1)
        raise InputError("x", "y")

    monkeypatch.setattr(restated, "write_expression", stop)
    for name in ("Scope", "symbols_of"):
        monkeypatch.setattr(restated, name, lambda _: None)
    for one in claims.values():
        one.conditions, one.place = (), "run"
    for name in certificates:
        certificates[name] = SimpleNamespace(relaxed=None)  # type: ignore[assignment]
    workspace: Any = SimpleNamespace(claim=None)
    assert restated.restate(workspace, "used", {}) is None
    assert len(reached) == 1
    assert restated.restate(workspace, "whole", {}) is None
    assert len(reached) == 2
    for change in ({"relations": [relation] * 2}, {"for_all": {1: 1}}):
        vars(claims["used"]).update(change)
        assert restated.restate(workspace, "used", {}) is None
        assert len(reached) == 2
        vars(claims["used"]).update(relations=[relation], for_all={})
    certificates["used"] = None  # type: ignore[assignment]
    assert restated.restate(workspace, "used", {}) is None
    assert restated.restate(workspace, "whole", {}) is None
    assert len(reached) == 2


def test_optimal_points_are_shared_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is compared with the least one at every point except the common minimiser of all clients."""
    f, other, at, best, own = sp.symbols("f g x x_star x_i")
    monkeypatch.setattr(candidates, "differs", lambda point, _: point == own)
    monkeypatch.setattr(candidates, "optimality", lambda objective, point: (objective, point))
    context: Any = SimpleNamespace(minimisers={f: best, other: best}, objectives={f})
    assert list(candidates._list_optimality(context, f, [at, best, own])) == [(f, at)]
    assert list(candidates._list_optimality(context, other, [at])) == []
    assert list(candidates._list_optimality(SimpleNamespace(minimisers={}, objectives={f}), f, [at])) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("strongly", "smooth", "convex", "kinds"),
    [
        (False, None, False, []),
        (False, None, True, ["convexity"]),
        (False, sp.Symbol("L"), True, ["cocoercivity", "smoothness"]),
        (False, sp.Dummy("L"), True, ["cocoercivity", "convexity", "smoothness"]),
        (True, sp.Symbol("L"), True, ["strong_convexity", "cocoercivity", "smoothness", "interpolation"]),
        (False, sp.Symbol("L"), False, ["smoothness", "lipschitz_gradient", "interpolation"]),
    ],
)
def test_inequalities_of_an_objective(
    strongly: bool, smooth: sp.Symbol | None, convex: bool, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inequalities of an objective are listed for each pair of points in both orders; convexity without a named L."""
    f, x, y = sp.symbols("f x y")
    for name in ("strong_convexity", "cocoercivity", "convexity", "smoothness", "lipschitz_gradient", "interpolation"):
        monkeypatch.setattr(candidates, name, lambda _, at, around, name=name: (name, at, around))
    constants = {} if smooth is None else {f: smooth}
    context: Any = SimpleNamespace(
        strongly_convex={f} if strongly else set(), smooth=constants, convex={f} if convex else set()
    )
    found = list(candidates._list_at_pairs(context, f, [(x, y), (y, x)]))
    assert found == [(kind, *pair) for pair in ((x, y), (y, x)) for kind in kinds]


def test_lemmas_that_a_document_needs() -> None:
    """Lemmas of a document include their own lemmas, in the order of their proofs; names match whole words."""
    work: Any = SimpleNamespace(_entries={"a": {"x": 1}, "b": {"uses": "a"}, "c": {"uses": "ab"}, "d": {"uses": ["b"]}})
    names = lambda *wanted: [next(iter(entry.values())) for entry in Workspace.entries(work, wanted)]  # noqa: E731
    assert names("d") == [1, "a", ["b"]]
    assert names("c", "none") == ["ab"]
    assert names() == []
    assert list_used_names([{"a": "one + two_more"}], ["two", "two_more", "one"]) == ["two_more", "one"]
    assert make_lemma_name("At Optimum: x-y ") == "at-optimum-x-y"


def test_conditions_of_a_lemma_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lemma with a condition that is not proved is omitted; obvious conditions need no proof."""
    monkeypatch.setattr(remainders, "follows", lambda condition, *_: condition == "seen")
    monkeypatch.setattr(
        remainders, "_prove_condition", lambda _, __, condition: None if condition == "open" else f"by {condition}"
    )
    monkeypatch.setattr(chains, "make_premise", lambda name, said, *rest: (name, said, rest[-1]))
    goal: Any = SimpleNamespace(claim=None, signs=SimpleNamespace(conditions=()))

    def used(*conditions: str) -> Any:
        claim = SimpleNamespace(conditions=conditions, relations=[SimpleNamespace(slack=None)])
        work: Any = SimpleNamespace(proofs={"lemma": SimpleNamespace(claim=claim)})
        return chains._make_premise(goal, work, "lemma", "said")

    assert used("seen") == ("lemma", "said", ())
    assert used("one", "seen", "two") == ("lemma", "said", ("by one", "by two"))
    assert used("one", "open") is None


def test_steps_on_the_way_to_a_quantity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps lead to a quantity through others, in the claim's numbers, and in its count of rounds or iterations."""

    def step(
        name: str, row: str, *rows: str, numbers: tuple[str, ...] = (), words: tuple[str, ...] = ("iterations",)
    ) -> Any:
        fits = {"fits_noise": True, "fits_full_gradients": True}
        known = {"name": name, "settings": name, "row": row, "replacements": dict.fromkeys(words, "")}
        return SimpleNamespace(rows=set(rows), numbers=set(numbers), **known, **fits)

    steps = [
        step("far", "drift", numbers=("eta",)),
        step("near", "error", "drift"),
        step("other", "gap"),
        step("numbers", "error", numbers=("sigma",)),
        step("refused", "error"),
        step("counted", "error", words=()),
    ]
    monkeypatch.setattr(chains, "_collect_steps", lambda: steps)
    monkeypatch.setattr(chains, "_list_rows", lambda _: ("error",))
    monkeypatch.setattr(chains, "check_assumed", lambda _, settings, __: SimpleNamespace(holds=settings != "refused"))
    powers: list[bool] = []
    monkeypatch.setattr(chains, "has_power_of_rounds", lambda _: bool(powers))

    def found(*names: str) -> list[str]:
        claim: Any = SimpleNamespace(notation={name: SimpleNamespace(name=name) for name in names}, assumptions=())
        return [one.name for one in chains._select_steps(claim)]

    assert found("eta") == ["near", "far"]
    assert found() == ["near"]
    assert found("sigma") == ["near", "numbers"]
    assert found("iterations") == ["counted"]
    powers.append(True)
    assert found("eta") == ["counted"]


def test_functions_have_no_dimension() -> None:
    """All parts of a sum must have the same dimension; a logarithm has none, nor has a root."""
    L, mu = sp.symbols("L mu", positive=True)
    claim: Any = SimpleNamespace(where={}, notation={L: q.smoothness, mu: q.strong_convexity, eta: q.local_step_size})
    dimensions = Dimensions(claim)
    own = dimensions.find(L)
    assert own is not None
    assert dimensions.find(L + mu) == own
    assert dimensions.find(L * eta) == (0, 0)
    for number in (L + eta, sp.log(L), sp.sqrt(L), sp.Max(L, mu), L + 1, sp.Symbol("z")):
        assert dimensions.find(number) is None


def test_numbers_within_rounding_of_an_end() -> None:
    """A number within a hundred-thousandth of an end counts as the end, due to the accuracy of solvers."""
    choice = _choice()
    for part, stands in ((0.9e-5, True), (1.1e-5, False)):
        for low, high in ((1 + part, 1.01), (0.99, 1 - part)):
            assert (sp.S.One in list(list_simple_values([(low, high)] * 2, choice))) is stands
