"""Parts of the export, each with stand-ins for the rest: what it refuses, and text that does not depend on others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, eta

from fedtheory.kernel import InequalityRef
from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Inner, LocalSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import DISPLACEMENT
from verify.rocq import accepted, export
from verify.rocq.algorithms import Algorithm
from verify.rocq.combination import _CombinationWriter
from verify.rocq.inequalities import _bound_norm_of_mean, _write_triangle, write_inequality
from verify.rocq.links import Links
from verify.rocq.lyapunov import _LyapunovWriter
from verify.rocq.numbers import name_parts, number
from verify.rocq.papers.fraboni2022.schedule_vocabulary import ScheduleVocabulary, with_sums
from verify.rocq.papers.fraboni2022.update_vocabulary import UpdateVocabulary
from verify.rocq.papers.lecture27 import gaps
from verify.rocq.papers.lecture27.gaps import GapsVocabulary
from verify.rocq.papers.lecture27.intervals import is_of_interval
from verify.rocq.papers.vlaski2023.client_step import slack_of
from verify.rocq.papers.vlaski2023.client_steps import _ClientStepsWriter
from verify.rocq.papers.vlaski2023.round_numbers import _RoundNumbersWriter, is_of_round_numbers
from verify.rocq.papers.vlaski2023.round_vanishing import _VanishingWriter
from verify.rocq.reading import Reader
from verify.rocq.recursion import _RecursionWriter
from verify.rocq.refusals import NotExported
from verify.rocq.round_premises import Premises
from verify.rocq.round_roots import Roots
from verify.rocq.round_scalars import OutcomeScalars, Scalars
from verify.rocq.round_vocabulary import RoundReader
from verify.rocq.rounds import _prove_relation
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.step import write_operator
from verify.rocq.terms import Atom

x, y, z = sp.symbols("x y z", positive=True)
CLAIM = Claim(id="t:one", lhs=eta, rhs=L, where=WHERE)
BELOW, SAME, ABOVE = Relation(x, "<=", y), Relation(x, "==", y), Relation(x, ">=", y)


class Telescoped(Derived):
    """A statement about each step is summed over an interval."""

    kind = "telescoped"


class Symbols:
    """A symbol for each quantity, by its name."""

    def __call__(self, quantity: Any) -> sp.Symbol:
        return sp.Symbol(quantity.name, positive=True)


def _given(**known: Any) -> Any:
    return SimpleNamespace(**{"symbols": Symbols(), "symbol": Symbols(), "claim": CLAIM, **known})


def _reader(**known: Any) -> Any:
    lengths = SimpleNamespace(rewriting=lambda _: "", same=known.pop("same", ()))
    names = {"vector": lambda one: Atom(str(one)), "length": lambda one, _: Atom(f"length {one}"), "lengths": lengths}
    names["text"] = lambda one: one.text
    return _given(vocabulary=_given(), **{**names, "with_names": lambda one: one, "number": str, **known})


def _premise(**known: Any) -> Any:
    return SimpleNamespace(**{"kind": "used", "label": "a used claim", "claim": "t:used", "link": 0, **known})


def _part(**known: Any) -> Any:
    return SimpleNamespace(**{"over": None, "summed": False, "averaged": False, "premise": None, **known})


def _conclude(measured: Any, **shape: Any) -> Callable[[], Any]:
    """Conclude from a recursion of the mean over all clients, with no tactic for means."""
    writer = _given(certificate=SimpleNamespace(measure=DISPLACEMENT, bound=x), run=_given())
    writer.claim = SimpleNamespace(relations=[SimpleNamespace(left=measured)])
    writer.shape = SimpleNamespace(**{"mean": None, "largest": None, **shape})
    for name in ("_bound_largest", "_bound_average"):
        setattr(writer, name, getattr(_RecursionWriter, name).__get__(writer))
    return lambda: _RecursionWriter._conclude(writer, x)


def _rest(**stated: Any) -> Any:
    definition = SimpleNamespace(at_optimum={}, client={x: 0}, client_update={x: 0}, **{"name": "mine", **stated})
    return _given(definition=definition, own=[])


SPOKEN = ScalarVocabulary(CLAIM)
USED: Any = SimpleNamespace(claim=SimpleNamespace(id="t:used", place="round"), general=SimpleNamespace(binders=()))
NOISY: Any = _given(reader=_reader(is_drawn=lambda _: True), premises=None, _sum_steps=lambda _: None)
OF_ROUND: Any = SimpleNamespace(vocabulary=SimpleNamespace(constants={"smooth": None}))
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a sum's client": (lambda: SPOKEN.introduce_client, "sums over clients"),
    "a fact": (lambda: SPOKEN.fact("f"), "the fact 'f'"),
    "an equation": (lambda: SPOKEN.equation(sp.Eq(x, 1)), "the condition Eq"),
    "a sum": (lambda: SPOKEN.write_sum("f i"), "sums over clients"),
    "sums of multiples": (lambda: SPOKEN.split_sums({}), "sums over clients"),
    "a strict relation": (lambda: write_operator(Relation(x, "<", y)), "strict inequalities"),
    "an assumption": (lambda: slack_of(_given(), "strange"), "no bound 'strange' on a local step"),
    "convexity of clients of a round": (
        lambda: write_inequality(InequalityRef("convexity", (x, y, z)), OF_ROUND),
        "convexity of the clients of a round",
    ),
    "an inequality": (lambda: write_inequality(InequalityRef("strange"), _reader()), "the inequality 'strange'"),
    "one side of a triangle": (lambda: _write_triangle(_reader(), x), "for two or three vectors"),
    "a square": (lambda: _write_triangle(_reader(), x, y, z, x), "for two or three vectors"),
    "lengths of multiples": (lambda: _bound_norm_of_mean(_reader(same=["x"]), x), "the average norm of multiples"),
    "a sum of steps": (lambda: Links._write_term(_given(), _part(summed=True)), "sums over local steps"),
    "a squared share": (
        lambda: Links._bound_share(_given(reader=_reader()), x * y**2, y, Atom("s"), ""),
        "the coefficient x*y**2 is not linear in y",
    ),
    "an expected vector": (lambda: Reader.vector(_given(), Expectation(x)), "the expectation of a vector"),
    "a drawn mean": (
        lambda: RoundReader._take_expectation(_reader(), x + Selected(y)),
        "the expectation of a sum with participants",
    ),
    "another mixed function": (
        lambda: _LyapunovWriter._find_contraction(
            _given(known=_rest(), certificate=SimpleNamespace(function=x)), _given()
        ),
        "only the distance between clients is known of mixtures of neighbours' vectors",
    ),
    "another recursion": (_conclude(x), "no bound on this quantity from a recursion"),
    "one client of pairs": (
        _conclude(Symbols()(q.max_drift), largest=1),
        "does not bound the drift of one client",
    ),
    "a mean of pairs": (_conclude(Symbols()(q.round_drift)), "the library has no average of"),
    "the mean of all rounds": (_conclude(Symbols()(q.average_round_drift)), "the library has no average of"),
    "a number of each client": (
        lambda: _RoundNumbersWriter._prove_premise(_given(), _part(over=x)),
        "numbers of a round are exported without sums",
    ),
    "a used number": (
        lambda: _RoundNumbersWriter._prove_premise(_given(vocabulary=_given()), _part(premise=_premise())),
        "exported by facts and conditions",
    ),
    "an inner product of outcomes": (
        lambda: list(
            OutcomeScalars.squares(_given(reader=_reader(is_drawn=lambda _: True)), Relation(Inner(x, y), "<=", z), ())
        ),
        "two different vectors of participants",
    ),
    "an inner product in the mean": (
        lambda: list(Scalars.squares(NOISY, Relation(Expectation(Inner(x, y)), "<=", z), ())),
        "two different vectors of a round",
    ),
    "two means of participants": (
        lambda: Scalars._prove_sampled(NOISY, "a", "b", Selected(x) * y + z * Selected(x)),
        "several averages over participants",
    ),
    "a product with a mean": (
        lambda: Scalars._prove_sampled(NOISY, "a", "b", Inner(Selected(x), y) * Selected(x)),
        "several averages over participants",
    ),
    "two noises": (
        lambda: Scalars._prove_start_noise(NOISY, "a", "b", LocalSum(x) + LocalSum(y), mean=False),
        "other noise than that at the start",
    ),
    "no sum of noise": (
        lambda: Scalars._prove_start_noise(NOISY, "a", "b", Selected(x), mean=False),
        "other noise than that at the start",
    ),
    "a sum of squares": (
        lambda: Scalars._write_slack(NOISY, InequalityRef("square", (x,)), summed=True),
        "the sum of square over the steps of a round",
    ),
    "a sum of what is unknown": (
        lambda: Premises.sum_over_steps(_given(of_name={}), "strange", _reader()),
        "no sum over steps of 'strange'",
    ),
    "two roots": (lambda: Roots([x, y], _reader()), "with at most one root"),
    "a root that is nowhere linear": (
        lambda: Roots._eliminate(_given(reader=_reader()), SimpleNamespace(of=x**2, letter=y)),  # type: ignore[arg-type]
        "linear in none of its symbols",
    ),
    "no gradients": (
        lambda: _VanishingWriter._write_proof(_given(), BELOW, [_part(reason=InequalityRef("square"), averaged=True)]),
        "no term compares the clients' gradients",
    ),
    "one client's gradients": (
        lambda: _VanishingWriter._write_proof(_given(), BELOW, [_part(reason=InequalityRef("cocoercive"))]),
        "no term compares the clients' gradients",
    ),
    "gradients from below": (lambda: _VanishingWriter._write_proof(_given(), ABOVE, []), "from below or above"),
    "gradients by a lemma": (
        lambda: _VanishingWriter._write_proof(_given(), BELOW, None),
        "from below or above",
    ),
    "a link by a lemma": (
        lambda: _prove_relation(BELOW, Derived("t:used"), _given()),
        "links of the kind Derived",
    ),
    "an equation between squares": (
        lambda: _prove_relation(Relation(Inner(x, y), "==", z), None, _given()),
        "links of the kind NoneType",
    ),
    "an ordering of schedules": (
        lambda: ScheduleVocabulary.signs(_given(), [sp.Eq(x, y), x <= y]),
        "orderings of numbers of schedules",
    ),
    "parameters that are points": (
        lambda: list(
            Algorithm.bounds(_given(parameters={x: SimpleNamespace(key="p", allowed=sp.FiniteSet(1, 2), is_flag=True)}))
        ),
        "expected an interval of values of p, got {1, 2}",
    ),
    "no vectors at the optimum": (
        lambda: Algorithm.at_optimum(_rest()),
        "mine does not state its vectors at the optimum",
    ),
    "powers of steps": (
        lambda: _ClientStepsWriter._prove_induction(_given(), 1, BELOW, SimpleNamespace(base=x, start=())),  # type: ignore[arg-type]
        "for bounds without powers",
    ),
    "another start of steps": (
        lambda: _ClientStepsWriter._prove_induction(_given(), 1, BELOW, SimpleNamespace(base=None, start=[1])),  # type: ignore[arg-type]
        "for bounds without powers",
    ),
    "weaker conditions of a server": (
        lambda: export._state_under_conditions(CLAIM, SimpleNamespace(library=("Space",)), ()),  # type: ignore[arg-type]
        "weaker conditions than the claim's",
    ),
    "another vector between models": (
        lambda: GapsVocabulary._write_vector(_given(), x - y),
        "the length of x - y is not in the library",
    ),
    "a used claim that is no run": (
        lambda: _CombinationWriter._prove_claim(_given(_export_used=lambda _: USED), Derived("t:used"), 1, set()),
        "t:used is not about runs",
    ),
    "a strange start": (
        lambda: GapsVocabulary.note_ordering(_given(of_a_round=True), _premise(kind="strange"), USED),
        "start or end of another interval is not exported: t:used",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parts_that_have_no_theorem_are_refused(name: str) -> None:
    """Each part of the export refuses what it cannot write, whatever the others let through."""
    write, why = REFUSED[name]
    with pytest.raises(NotExported) as refusal:
        write()
    assert why in str(refusal.value)


@pytest.mark.parametrize("kind", ["telescoped", "at the next start", "at the first start"])
def test_premises_at_other_ends_of_intervals(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Premises at other ends of intervals are listed before the steps of a proof, and are not premises of a step."""
    relation = SimpleNamespace(relations=[BELOW], id="t:used", place="run")
    writer: Any = _given(translate=lambda slack, _: slack)
    premise = _premise(kind=kind, derive=lambda *_: y - x)
    known: Any = SimpleNamespace(claim=relation)
    monkeypatch.setattr(gaps, "symbols_of", lambda _: Symbols())
    with pytest.raises(NotExported, match="start or end of another interval is not exported: t:used"):
        GapsVocabulary.derive(writer, premise, lambda _: known)


def test_only_means_of_updates_are_premises_of_means() -> None:
    """A premise about runs is the relation itself; summed or telescoped ones are refused."""
    asked: list[Any] = []
    writer: Any = _given(
        run=ScalarVocabulary(CLAIM), _export_used=None, _prove_claim=lambda *given: asked.append(given)
    )
    _CombinationWriter._prove_derived(writer, Derived("t:used"), 3, {"i"})
    assert asked == [(Derived("t:used"), 3, {"i"})]
    with pytest.raises(NotExported, match="the library has no law for"):
        _CombinationWriter._prove_derived(writer, Telescoped("t:used"), 3, set())


@pytest.mark.parametrize("counted", [8, 98, 998])
def test_text_does_not_depend_on_symbols_of_other_claims(counted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SymPy names and orders symbols by a count over the whole process."""
    monkeypatch.setattr(sp.Dummy, "_count", counted)
    first, second, third = ClientSum(x * y), ClientSum(y), Average(x)
    names = {x: "a i", y: "b i", z: "c"}
    assert with_sums(z * first * second * third, names) == (
        "c * ((mean (clients_of A) (fun i => a i))) * ((sum (number (clients_of A)) (fun i => a i * b i))) * "
        "((sum (number (clients_of A)) (fun i => b i)))"
    )
    parts = name_parts([sp.sqrt(z), x + y, 1 + z], positive=True)
    assert [*parts] == [sp.sqrt(z), x + y, 1 + z]
    assert all(symbol.is_positive for symbol in parts.values())
    assert (
        number(sp.Mul(*reversed(parts.values())), {s: f"p{n}" for n, s in enumerate(parts.values())}) == "p0 * p1 * p2"
    )


def _telescoped(**known: Any) -> Any:
    premise: Any = Telescoped("t:used")
    return SimpleNamespace(**{"premise": premise, "coefficient": 1, **known})


@pytest.mark.parametrize(
    ("links", "stands"),
    [
        ([[_telescoped()]], True),
        ([[_telescoped(), _telescoped(premise=x <= y)]], True),
        ([[_telescoped(), _telescoped()]], True),
        ([[_telescoped()], [_telescoped()]], False),
        ([[]], False),
        ([[_telescoped(premise=x <= y)]], False),
        ([[_telescoped(premise=Derived("t:used"))]], False),
        ([[_telescoped(), _telescoped(premise=Derived("t:used"))]], False),
        ([[_telescoped(coefficient=2)]], False),
        ([[_telescoped(), _telescoped(premise=x <= y, coefficient=y)]], False),
    ],
)
def test_sums_over_an_interval_are_of_one_relation(links: Any, *, stands: bool) -> None:
    """A statement about each step is a premise once, besides orderings of numbers."""
    certificate: Any = SimpleNamespace(links=links)
    assert is_of_interval(certificate) is stands


def test_theorems_that_a_folder_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose files are there as exported now; claims that are not exported have none."""

    def export(claim_id: str) -> Any:
        if claim_id == "c":
            raise NotExported("no theorem")
        return SimpleNamespace(theorem=SimpleNamespace(name=f"{claim_id}_name", statement=f"{claim_id}_goal"))

    monkeypatch.setattr(accepted, "list_proved_ids", lambda: ["a", "c", "b", "d"])
    monkeypatch.setattr(accepted, "export_id", export)
    monkeypatch.setattr(accepted, "_is_accepted", lambda folder, known: folder == tmp_path and known.theorem.name < "c")
    monkeypatch.setattr(accepted, "compute_digest", lambda known: known.theorem.name[::-1])
    assert accepted.list_accepted(tmp_path) == [
        accepted.Checked("a", "a_goal", "eman_a"),
        accepted.Checked("b", "b_goal", "eman_b"),
    ]


def test_arguments_for_claims_about_each_client_or_step() -> None:
    """A claim about draws alone uses others at the first client and step; weights and reports are those it assumes."""

    def arguments(
        *assumptions: Any, draws: bool = True, clients: bool = False, steps: bool = False, smoothness: str = "L"
    ) -> dict[str, str]:
        vocabulary: Any = object.__new__(UpdateVocabulary)
        vocabulary.claim = SimpleNamespace(assumptions=assumptions)
        vocabulary.of_draws, vocabulary.of_clients, vocabulary.of_steps = draws, clients, steps
        vocabulary.symbols = Symbols()
        vocabulary.names = {Symbols()(q.smoothness): smoothness}
        return {**vocabulary.substitute_arguments(CLAIM)}

    client, step = {"i": "O", "Hi": "(several (clients_of A))"}, {"k": "O", "Hk": "(some_steps A)"}
    assert arguments() == client | step
    assert arguments(clients=True) == step
    assert arguments(steps=True) == client
    assert arguments(draws=False) == client
    assert arguments(draws=False, clients=True) == {}
    reports = arguments(a.somebody_reports, draws=False, clients=True)
    assert reports == {"weight_sum_positive": "(somebody_reports n Hn)"}
    for alone in (a.given_weights, a.weight_covariance):
        assert arguments(alone, draws=False, clients=True) == {}
    assert set(arguments(a.given_weights, a.weight_covariance, draws=False, clients=True)) == {"given_A"}
    of_samples = arguments(draws=False, clients=True, smoothness="L_xi")
    assert of_samples["L"] == "L_xi"
    assert set(of_samples) == {"L", "L_positive", "convex_A", "smooth_A"}


@pytest.mark.parametrize(
    ("place", "assumptions", "where", "stands"),
    [
        ("run", (a.uniform_sampling,), {x: q.clients}, True),
        ("step", (a.uniform_sampling,), {x: q.clients}, False),
        ("run", (), {x: q.clients}, False),
        ("run", (a.uniform_sampling,), {x: q.clients, y: q.max_drift}, False),
    ],
)
def test_claims_about_numbers_of_rounds(place: Any, assumptions: Any, where: Any, *, stands: bool) -> None:
    """Claims about numbers of rounds are exported for runs with client sampling only."""
    claim: Any = SimpleNamespace(place=place, assumptions=assumptions, notation=where)
    assert is_of_round_numbers(claim) is stands
