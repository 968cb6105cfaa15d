"""Export to Rocq: theorems or reasons, the list of accepted theorems, and its verdict."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

import pytest
import sympy as sp
from rocq_judge import accepts, compiled_library

from fedtheory.cli import run
from fedtheory.kernel import Term, assumption, square
from fedtheory.kernel.expressions import Average, norm_sq
from fedtheory.language.assumptions import (
    Assumption,
    one_at_a_time,
    positive_weights,
    several_clients,
    whole_cycles,
)
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.definitions import NOISE
from fedtheory.proofs.lyapunov import Lyapunov
from verify.rocq.accepted import load_accepted
from verify.rocq.export import export_claim, export_id
from verify.rocq.library_parts import read_library
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported
from verify.rocq.run import NEEDED

STEP = "renard2022:lemma-2.2.proof.last.fixed"
ELSEWHERE = ("comparator:drift.one-step", "vlaski2023:eq-5.49.fixed", "landmarks:fedprox.local-step")
"""A theorem at another point, with constants of each client, or of another algorithm."""
ROOTED = "fraboni2022:claim.literature.delay.fixed"
COUNTED = ("fedfix.schedule.reports", "fedfix.schedule.fixed", "fedfix.schedule.window")
CYCLES, BOUNDS = "fraboni2022:eq-35", "fraboni2022:eq-35.bounds"
AGES, PERIODLESS = "fraboni2022:dl-case.bounds", "fraboni2022:table-2.async.W"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the compiled library."""
    return compiled_library(tmp_path_factory)


def judged(folder: Path, claim: Claim, certificate: AnyCertificate) -> bool:
    """Return whether Rocq accepts a claim with a certificate."""
    known = export_claim(claim, certificate)
    (folder / "Tried.v").write_text(render_file(known), encoding="utf-8")
    return accepts(folder, "Tried.v")


@pytest.mark.rocq
def test_one_step_is_accepted_and_what_is_false_is_not(library: Path) -> None:
    """The repaired Lemma 2.2 with noise; half of its variance, and larger steps, are not proved by the same terms."""
    claim, certificate = find(STEP), certificate_of(STEP)
    assert isinstance(certificate, Certificate)
    assert judged(library, claim, certificate)
    sigma = next(symbol for symbol, quantity in claim.where.items() if quantity.name == "noise_deviation")
    (terms,) = certificate.links
    halved = [replace(t, coefficient=t.coefficient / 2) if t.reason.kind == "assumption" else t for t in terms]  # type: ignore[union-attr]
    smaller = replace(claim, rhs=sp.sympify(claim.rhs).subs(sigma, sigma / sp.sqrt(2)))
    assert not judged(library, smaller, replace(certificate, links=[halved]))
    assert not judged(library, replace(claim, conditions=()), replace(certificate, relaxed=None))


@pytest.mark.rocq
def test_schedules_are_counted(library: Path) -> None:
    """Reports of FedFix clients, their staleness, and the window are proved; one update more is not."""
    for name in COUNTED:
        claim, certificate = find(f"fraboni2022:{name}"), certificate_of(f"fraboni2022:{name}")
        assert isinstance(certificate, Combination)
        assert judged(library, claim, certificate)
        first, *others = claim.relations
        more = (replace(first, right=first.right + 1), *others)
        assert not judged(library, replace(claim, lhs=None, rhs=None, chain=(), also=more), certificate)
        unfinished = replace(claim, assumptions=tuple(one for one in claim.assumptions if one != whole_cycles))
        assert not judged(library, unfinished, certificate)


@pytest.mark.rocq
def test_windows_of_asynchronous_servers(library: Path) -> None:
    """The smallest window takes one common period; not two, and not where some weights may be zero."""
    claim, certificate = find(CYCLES), certificate_of(CYCLES)
    assert isinstance(certificate, Combination)
    assert judged(library, claim, certificate)
    window, counts = claim.relations
    longer = (replace(window, right=2 * window.right), counts)
    assert not judged(library, replace(claim, lhs=None, rhs=None, chain=(), also=longer), certificate)
    unweighted = replace(claim, assumptions=tuple(one for one in claim.assumptions if one != positive_weights))
    assert not judged(library, unweighted, certificate)
    bounds, known = find(BOUNDS), certificate_of(BOUNDS)
    assert isinstance(known, Combination)
    assert judged(library, bounds, known)
    *others, last = bounds.relations
    smaller = (*others, replace(last, right=last.right / 2))
    assert not judged(library, replace(bounds, lhs=None, rhs=None, chain=(), also=smaller), known)


@pytest.mark.rocq
def test_ages_of_models_of_asynchronous_servers(library: Path) -> None:
    """Staleness of models and lengths of windows are exact; they are not proved if clients report together."""
    claim, certificate = find(AGES), certificate_of(AGES)
    assert isinstance(certificate, Combination)
    assert judged(library, claim, certificate)
    for place, right in enumerate((2, sp.S.Half, 2, sp.S.Half)):
        relations = [*claim.relations]
        if relations[place].operator == "<=" and right == 2:
            relations[place] = replace(relations[place], left=right * relations[place].left)
        else:
            relations[place] = replace(relations[place], right=right * relations[place].right)
        assert not judged(library, replace(claim, lhs=None, rhs=None, chain=(), also=tuple(relations)), certificate)
    together = replace(claim, assumptions=tuple(one for one in claim.assumptions if one != one_at_a_time))
    assert not judged(library, together, certificate)


def test_a_common_period_exists() -> None:
    """A claim that does not mention the period does not assume one: its proof takes the least."""
    theorem = export_id(PERIODLESS).theorem
    assert "nu" not in {binder.name for binder in theorem.binders}
    assert "destruct (least_period_exists" in theorem.proof


@pytest.mark.rocq
def test_roots_of_numbers(library: Path) -> None:
    """Rates with roots; not a smaller bound, another number under a root, or a factor 0/0 for a single step."""
    claim, certificate = find(ROOTED), certificate_of(ROOTED)
    assert isinstance(certificate, Combination)
    assert judged(library, claim, certificate)
    steps, others = (root.of for root in certificate.roots)
    assert min(claim.for_all[steps]) == 1
    *first, last = claim.relations
    for factor in (sp.Rational(1, 4), steps / (steps - 1) - 1 / (steps - 1)):
        changed = [*first, replace(last, right=sp.Mul(last.right, factor))]
        assert not judged(library, replace(claim, lhs=None, rhs=None, chain=(), also=changed), certificate)
    swapped = [replace(root, of=of) for root, of in zip(certificate.roots, (others, steps), strict=True)]
    assert not judged(library, claim, replace(certificate, roots=swapped))


@pytest.mark.rocq
@pytest.mark.slow
def test_known_deceptions_are_refused(library: Path) -> None:
    """Signs, scales, missing assumptions and missing terms: none of them becomes a theorem."""
    for claim, certificate in false_proofs():
        try:
            assert not judged(library, claim, certificate), claim.id
        except NotExported:
            continue


def false_proofs() -> list[tuple[Claim, Certificate]]:
    """Return false claims, and proved ones, with certificates that do not prove them."""
    printed, repaired = find("vlaski2023:eq-5.49"), certificate_of("vlaski2023:eq-5.49.fixed")
    assert isinstance(repaired, Certificate)
    found = [(printed, replace(repaired, claim=printed.id))]
    for claim_id in (STEP, "liu2022:thm-1.step", "renard2022:property-2.5", "liu2022:eq-7.a", *ELSEWHERE):
        claim, certificate = find(claim_id), certificate_of(claim_id)
        assert isinstance(certificate, Certificate)
        links = [link for link in certificate.links if isinstance(link, list | tuple)]
        without = [list(link)[1:] if link else [*link, Term(-sp.S.One, square(sp.S.Zero))] for link in links]
        signs = [[replace(term, coefficient=-term.coefficient) for term in link] for link in links]
        found += [(claim, replace(certificate, links=changed)) for changed in (without, signs)]
        if claim.assumptions:
            found.append((replace(claim, assumptions=()), certificate))
        unknown = [[*link, Term(sp.S.One, assumption("bounded variance"))] for link in links]
        found.append((claim, replace(certificate, links=unknown)))
    return found


@pytest.mark.rocq
def test_possibly_zero_numbers_are_no_denominators(library: Path) -> None:
    """M/(M-1) - 1/(M-1) is 1, but not for a single client; with several clients it is."""
    claim, certificate = find(STEP), certificate_of(STEP)
    assert isinstance(certificate, Certificate)
    clients = next(symbol for symbol, quantity in claim.where.items() if quantity.name == "clients")
    one = clients / (clients - 1) - 1 / (clients - 1)
    changed = replace(claim, rhs=sp.sympify(claim.rhs) * one)
    assert not judged(library, changed, certificate)
    assert judged(library, replace(changed, assumptions=(*claim.assumptions, several_clients)), certificate)


@pytest.mark.parametrize(
    "claim_id", ["liu2022:thm-1", "comparator:average-error", "comparator:strongly-convex.last-model"]
)
@pytest.mark.parametrize("dropped", NEEDED, ids=lambda assumption: assumption.name)
def test_other_runs_are_refused(claim_id: str, dropped: Assumption) -> None:
    """Claims about other settings than full participation, equal local work and server step one are not exported."""
    claim = find(claim_id)
    wider = replace(claim, assumptions=tuple(one for one in claim.assumptions if one != dropped))
    with pytest.raises(NotExported, match="full participation and equal local work"):
        export_claim(wider, certificate_of(claim_id))


def false_functions() -> list[tuple[Claim, Lyapunov]]:
    """Return false claims: V with the noise of its own round in it, and a mean over participants that misses some."""
    claim, certificate = find("landmarks:fedavgm.contraction"), certificate_of("landmarks:fedavgm.contraction")
    assert isinstance(certificate, Lyapunov)
    drawn = [one for one in claim.assumptions if one.name != "full participation"]
    return [
        (claim, replace(certificate, function=certificate.function + norm_sq(Average(NOISE)))),
        (replace(claim, assumptions=drawn), certificate),
    ]


@pytest.mark.parametrize("place", range(2))
def test_no_theorem_is_written_of_what_changes_with_a_round(place: int) -> None:
    """No file is written for a function that changes with the round; the first one deceived the kernel once."""
    with pytest.raises(NotExported):
        export_claim(*false_functions()[place])


def test_targets_without_a_theorem_have_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each target has an entry; one without a theorem says why, and no file is written for it."""
    named = [STEP, "fraboni2022:thm-1", "fraboni2022:thm-2"]
    assert run(["rocq", *named, "-o", str(tmp_path), "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in entries] == named
    assert (tmp_path / entries[0]["file"]).read_text(encoding="utf-8").count(f"Theorem {entries[0]['theorem']}\n") == 1
    assert [entry["theorem"] for entry in entries[1:]] == [None, None]
    assert all(entry["reason"] for entry in entries[1:])
    listed = (tmp_path / "_CoqProject").read_text(encoding="utf-8").split("\n")
    assert listed[-2] == "Assumptions.v"
    assert {*listed[1:-1]} == {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.v")}


def test_no_text_admits_anything() -> None:
    """Neither the library nor a theorem leaves a proof out or adds an axiom."""
    texts = [*read_library().values(), *(render_file(export_id(claim_id)) for claim_id in list(load_accepted())[:5])]
    for text in texts:
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort)\b", text)


RUN = """
[problem]
kind = "quadratic"
hessians = [[["1"]], [["2"]]]
linear = [["1"], ["0"]]
start = ["3"]
noise = "1"

[algorithm]
name = "fedavg"
local_step_size = "1/4"
local_steps = 2
rounds = 1
"""


def test_the_run_of_two_clients_is_simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers that Rocq computes for the run agree with the exact engine."""
    stated = read_library()["library/TwoClients.v"].partition("Theorem two_clients :")[2].partition("Proof.")[0]
    computed = dict(re.findall(r"(\w+) two_clients_run(?: best)? = (\d+ / \d+)", stated))
    (tmp_path / "run.toml").write_text(RUN, encoding="utf-8")
    assert run(["simulate", str(tmp_path / "run.toml"), "--arithmetic", "rational", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    steps, drifts = found["local"]["suboptimality"][0][1:], [*chain(*found["local"]["drift"][0][:2])]
    assert {name: Fraction(value.replace(" ", "")) for name, value in computed.items()} == {
        "final_distance_sq": Fraction(found["server"]["distance_sq"][-1]),
        "final_suboptimality": Fraction(found["server"]["suboptimality"][-1]),
        "average_suboptimality": sum(map(Fraction, steps)) / 2,
        "average_round_drift": sum(map(Fraction, drifts)) / 4,
    }
