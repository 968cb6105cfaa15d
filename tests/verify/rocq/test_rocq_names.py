"""One quantity has one name in a theorem, one claim has one file, and what the kernel refuses has none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory.cli import run
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language import registry
from fedtheory.language.folder import open_paper
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import all_claims, find
from fedtheory.language.targets import resolve
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.combination import Combination
from verify.rocq import round_vocabulary, vocabulary
from verify.rocq.accepted import load_accepted, remove_comments
from verify.rocq.export import export_claim, export_id
from verify.rocq.lyapunov_symbols import CALLED
from verify.rocq.names import name_of, require_own_names
from verify.rocq.papers.fraboni2022 import schedules, updates
from verify.rocq.papers.lecture27.gaps import OF_INTERVALS
from verify.rocq.papers.vlaski2023 import client_step
from verify.rocq.project import explain_refusal, list_proved_ids, render_file
from verify.rocq.refusals import NotExported
from verify.rocq.run import TABLE

STEP_SIZES = {q.local_step_size, q.effective_step_size}
"""Step sizes of which a round has only one."""
TABLES: Mapping[str, Mapping[Quantity, str]] = {
    "steps": vocabulary.NUMBERS,
    "runs": {**TABLE, **OF_INTERVALS, q.lipschitz: "rho", q.mixing_contraction: CALLED[q.mixing_contraction]},
    "rounds": {**round_vocabulary.NUMBERS, **round_vocabulary.VECTORS},
    "one client": client_step.NUMBERS,
    "schedules": schedules.SCHEDULES,
    "updates": updates.UPDATES,
}


@pytest.mark.parametrize("words", TABLES)
def test_no_two_quantities_have_one_name(words: str) -> None:
    """Any two quantities of one theorem have different names."""
    for first, second in combinations(TABLES[words], 2):
        names = TABLES[words][first], TABLES[words][second]
        assert names[0] != names[1] or {first, second} == STEP_SIZES, (first.name, second.name)


def test_a_round_has_one_step_size() -> None:
    """A round has either the step size that all clients share or the one that is divided by their numbers of steps."""
    for claim_id, unknown in (
        ("liu2022:eq-5", q.effective_step_size),
        ("vlaski2023:thm-5.1.recursion.explicit", q.local_step_size),
    ):
        words = round_vocabulary.RoundVocabulary(find(claim_id))
        assert words.symbols(unknown) not in words.numbers
        assert "step_size S" in words.numbers.values()


@pytest.mark.parametrize("part", range(4))
def test_each_theorem_names_each_quantity(part: int) -> None:
    """Every quantity of the claim has its own name."""
    for claim_id in [*load_accepted()][part::4]:
        known = export_id(claim_id)
        require_own_names(known.claim, known.theorem.names)


RUNS = (a.same_local_work, a.unit_server_step, a.full_participation)
D, Dm, s, s_y, z, z_y, G = sp.symbols("D Dm s s_y z z_y G", nonnegative=True)
FALSE = {
    "the largest and the mean": ({D: q.gradient_dissimilarity, Dm: q.mean_dissimilarity}, a.bounded_mean_dissimilarity),
    "by the other assumption": ({D: q.gradient_dissimilarity, Dm: q.mean_dissimilarity}, a.bounded_dissimilarity),
    "noise at two points": ({s: q.noise_at_optimum, s_y: q.comparator_noise}, a.smooth_noise),
    "dissimilarity at two points": ({z: q.dissimilarity_at_optimum, z_y: q.comparator_dissimilarity}, a.smooth_noise),
}


def false_claim(name: str) -> Claim:
    """Return the claim that the first quantity is at most the second."""
    where, assumption = FALSE[name]
    lhs, rhs = where
    assumptions = (*RUNS, assumption, a.convex_and_smooth)
    return Claim(id="false:one-name", lhs=lhs, rhs=rhs, where=where, assumptions=assumptions)


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_about_two_quantities_stays_false(name: str) -> None:
    """The claim is refused, or its theorem has two names."""
    claim = false_claim(name)
    try:
        statement = export_claim(claim, Combination(claim=claim.id, links=[[]])).theorem.statement
    except NotExported:
        return
    smaller, larger = statement.split(" <= ")
    assert smaller != larger


def test_two_quantities_with_one_name_are_refused() -> None:
    """The exporter refuses two quantities with one name, by the names in the text instead of those in the tables."""
    claim = false_claim("noise at two points")
    with pytest.raises(NotExported, match="would both be 'sigma'"):
        require_own_names(claim, {q.noise_at_optimum: "sigma", q.comparator_noise: "sigma"})
    with pytest.raises(NotExported, match="comparator_noise has no name"):
        require_own_names(claim, {q.noise_at_optimum: "sigma"})


def test_published_claims_keep_their_file_names() -> None:
    """File names keep symbols and digits, have underscores for punctuation, and occur once."""
    names = [name_of(claim_id) for claim_id in all_claims()]
    assert names == ["".join(c if c.isalnum() else "_" for c in claim_id) for claim_id in all_claims()]
    assert len({name.lower() for name in names}) == len(names)


def variants(claim_id: str) -> Iterator[str]:
    """Yield ids that differ in punctuation only."""
    for place, character in enumerate(claim_id):
        if not character.isalnum():
            yield from (claim_id[:place] + other + claim_id[place + 1 :] for other in "-._:'" if other != character)


def test_ids_that_differ_in_punctuation_have_two_names() -> None:
    """Names are injective, also of ids that look like names."""
    for claim_id in [*all_claims()][::7]:
        found = [claim_id, *variants(claim_id)]
        names = [name_of(one) for one in found]
        assert len({*names}) == len(names), claim_id
        assert all(name.replace("_", "").isalnum() and not name[0].isdigit() for name in names)
    assert name_of("claim:_liu2022_3a_thm_2d_1") != name_of("liu2022:thm:1")


PAPER = """
import sympy as sp
from fedtheory import Claim, Source, assumptions as a, quantities as q

G = sp.Symbol("G", nonnegative=True)
KNOWN = dict(where={G: q.second_moment}, verdict="proved")
ASSUMED = (a.same_local_work, a.unit_server_step, a.full_participation, a.bounded_second_moment)
CLAIMS = (
    Claim(id="twins:a.b", lhs=G, rhs=G, assumptions=ASSUMED, **KNOWN),
    Claim(id="twins:a-b", lhs=G, rhs=2 * G, assumptions=ASSUMED, **KNOWN),
    Claim(id="twins:false", lhs=2 * G, rhs=G, assumptions=ASSUMED, **KNOWN),
)
SOURCE = Source(key="twins", title="Twins", authors="N. Body", year=2030, claims=CLAIMS)
"""
CERTIFICATES = """
import sympy as sp
from fedtheory.kernel import Term
from fedtheory.proofs import Combination, Part
from fedtheory.proofs.facts import ONE
from . import CLAIMS, G

CERTIFICATES = [
    Combination(claim=CLAIMS[0].id, links=[[]]),
    Combination(claim=CLAIMS[1].id, links=[[Part(G, ONE)]]),
    Combination(claim=CLAIMS[2].id, links=[[]]),
]
"""


@pytest.fixture
def paper(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with two claims whose ids differ in punctuation, and a false one."""
    folder = tmp_path / "twins"
    folder.mkdir()
    (folder / "__init__.py").write_text(PAPER, encoding="utf-8")
    (folder / "certificates.py").write_text(CERTIFICATES, encoding="utf-8")
    yield folder
    registry._OPENED.pop("twins", None)
    for kept in (registry.all_claims, resolve, open_paper, export_id):
        kept.cache_clear()


def test_claims_refused_by_the_kernel_are_not_written(paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1, the reason names the step, and each of the other claims has its file."""
    output = paper.parent / "rocq"
    assert run(["rocq", str(paper), "-o", str(output), "--json"]) == 1
    first, second, false = json.loads(capsys.readouterr().out)
    assert (false["file"], false["theorem"]) == (None, None)
    assert false["reason"].startswith("the kernel refuses its certificate: ")
    texts = [(output / one["file"]).read_text(encoding="utf-8") for one in (first, second)]
    assert "\n  G <= G.\n" in texts[0]
    assert "\n  G <= 2 * G.\n" in texts[1]
    assert {path.name for path in (output / "claims").iterdir()} == {Path(one["file"]).name for one in (first, second)}
    assert run(["rocq", str(paper), "-o", str(output)]) == 1
    assert "the kernel refuses the certificates of twins:false" in capsys.readouterr().out


def test_a_certificate_without_its_terms_is_refused() -> None:
    """A tightened statement under the id of a proved claim is refused, since the certificate does not prove it."""
    claim = find("liu2022:thm-1")
    assert certificate_of(claim.id) is not None
    assert explain_refusal(claim) is None
    assert explain_refusal(replace(claim, rhs=sp.sympify(claim.rhs) / 2)) is not None
    assert all(explain_refusal(find(claim_id)) is None for claim_id in list_proved_ids()[::40])


def test_comments_are_not_what_rocq_reads() -> None:
    """A digest does not depend on comments, and depends on every other word."""
    text = render_file(export_id("liu2022:thm-1"))
    changed = text.replace("(* assumption: smooth *)", "(* of an (* inner *) comment *)")
    assert changed != text
    assert remove_comments(changed) == remove_comments(text)
    assert remove_comments(text.replace("0 <= G", "0 < G")) != remove_comments(text)
    assert "Theorem liu2022_thm_1" in remove_comments(text)
