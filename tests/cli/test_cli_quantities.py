"""`fedtheory quantities` lists the vocabulary, each name once, in its chapter, for people and programs."""

from __future__ import annotations

import importlib
import re

import pytest

from fedtheory.cli.unicode_math import unicode_math
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import all_claims
from fedtheory.language.vocabulary import VocabularyEntry, vocabulary

KEYS = ["name", "symbol", "formula", "chapter", "defined_in", "assumption", "place"]
CONTRACT = (
    "clients rounds local_steps local_step_size server_step_size smoothness strong_convexity noise_deviation "
    "gradient_dissimilarity initial_distance initial_gap average_suboptimality max_drift average_gradient_sq "
    "final_suboptimality final_distance_sq"
)
SYMBOLS = {
    r"\tau": "τ",
    r"\chi_n^2": "χₙ²",
    r"\bar q": "q̄",
    r"\theta^{n,k}": "θ^{n,k}",
    r"\tau_M": "τ_M",
    r"\sum_i\frac1{\tau_i}": "∑ᵢ1/τᵢ",
    r"\frac\mu2\operatorname{tr}(H^{-1}R)": "μ/2 tr(H⁻¹R)",
    r"\frac{1}{\tau T}\sum_{t=0}^{T-1}\mathbb E F(x^*)": "1/(τT) ∑ₜ₌₀ᵀ⁻¹E F(x*)",
    r"\max_{i\in S_n}T_i": "max_{i∈Sₙ}Tᵢ",
    r"\text{load of the server}": "load of the server",
    r"\unknown x": "unknown x",
}


def name_of(entry: VocabularyEntry) -> str:
    """Return the name of a quantity as test id."""
    return entry.quantity.name


def listed(command, *arguments: str) -> list[str]:
    """Return the names that the command lists."""
    return [entry["name"] for entry in command("quantities", *arguments, "--json").document]


@pytest.mark.parametrize("entry", vocabulary(), ids=name_of)
def test_every_quantity_is_in_order(entry: VocabularyEntry) -> None:
    """Every quantity is public under its name, has a meaning, and its symbol is printed without LaTeX."""
    quantity = entry.quantity
    assert getattr(q, quantity.name) is quantity
    assert quantity.meaning.strip()
    symbol = unicode_math(quantity.latex)
    assert symbol.isprintable()
    assert "\\" not in symbol
    assert symbol.count("{") == symbol.count("}")


def test_names_are_unique() -> None:
    """No quantity is defined in two modules, and none has the name of a module."""
    names = [entry.quantity.name for entry in vocabulary()]
    assert len(set(names)) == len(names)
    assert sorted(names) == sorted(q.__all__)
    assert not set(names) & {entry.chapter for entry in vocabulary()}


def test_every_chapter_says_what_it_is_about() -> None:
    """Every chapter is described by one sentence that fits into a line."""
    for entry in vocabulary():
        assert re.match(r"[A-Z].{10,115}[.:]\n?", f"{entry.module.__doc__}\n"), entry.module.__name__


def test_names_of_the_contract() -> None:
    """The names that external scripts use exist."""
    assert set(CONTRACT.split()) <= {entry.quantity.name for entry in vocabulary()}


def test_quantities_of_claims_are_in_the_vocabulary() -> None:
    """All quantities of claims are in the vocabulary, or derived from it."""
    known = {entry.quantity.name for entry in vocabulary()}
    families = ("gradient_growth_", "mean_")
    for claim in all_claims().values():
        for quantity in claim.notation.values():
            assert quantity.name in known or quantity.name.startswith(families), claim.id


def test_every_assumption_is_public_under_its_name() -> None:
    """Every assumption is in one chapter, and none has the name of a chapter."""
    for name in a.__all__:
        assert isinstance(getattr(a, name), Assumption)
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"fedtheory.language.assumptions.{name}")


def test_constants_know_their_assumptions() -> None:
    """The constant that an assumption bounds is that of the assumption."""
    assert q.gradient_dissimilarity.assumption is a.bounded_dissimilarity
    assert q.noise_deviation.assumption is a.unbiased_bounded_variance
    bounded = {entry for entry in vars(a).values() if isinstance(entry, a.Boundedness)}
    linked = {entry.quantity.assumption for entry in vocabulary() if isinstance(entry.quantity, RunQuantity)}
    assert bounded <= linked


def test_places() -> None:
    """The places of quantities are a whole run, a round, a local step, and a point."""
    places = {entry.quantity.name: entry.quantity.place for entry in vocabulary()}
    assert places["max_drift"] == places["smoothness"] == "run"
    assert places["round_drift"] == places["next_server_model"] == "round"
    assert places["local_iterate"] == places["client_distance_sq"] == places["local_step_index"] == "step"
    assert places["point"] == "points"


def test_json(command) -> None:
    """JSON has every quantity with the documented keys, and its symbol in LaTeX."""
    outcome = command("quantities", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(list(entry) == KEYS for entry in outcome.document)
    by_name = {entry["name"]: entry for entry in outcome.document}
    assert len(by_name) == len(vocabulary())
    found = by_name["gradient_dissimilarity"]
    assert found["symbol"] == r"\zeta"
    assert found["chapter"] == "heterogeneity"
    assert importlib.import_module(found["defined_in"]).gradient_dissimilarity is q.gradient_dissimilarity
    assert found["assumption"] == "bounded gradient dissimilarity"
    assert by_name["max_drift"]["assumption"] is None


@pytest.mark.parametrize(
    ("word", "name"),
    [("MAX_drift", "max_drift"), (r"\zeta", "gradient_dissimilarity"), ("ζ", "gradient_dissimilarity"),
     ("least common multiple", "common_period"), ("Steady_State", "small_step_bias")],
)  # fmt: skip
def test_a_word_filters(command, word: str, name: str) -> None:
    """A word filters by name, symbol as LaTeX or Unicode, meaning and chapter, ignoring case."""
    found = listed(command, word)
    assert name in found
    assert len(found) < 20


@pytest.mark.parametrize(("word", "hint"), [("smothness", "did you mean smoothness"), ("qqqqqqqq", "lists all")])
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_no_match(command, word: str, hint: str, option: tuple[str, ...]) -> None:
    """Without a match there is one line, with similar names if there are some."""
    assert hint in command("quantities", word, *option).complaint()


@pytest.mark.parametrize("width", [80, 120])
def test_tables_say_everything(command, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Tables contain all names, and all parts of all formulas, at every width."""
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = command("quantities")
    assert (outcome.code, outcome.err) == (0, "")
    assert "…" not in outcome.out
    lines = outcome.out.splitlines()
    ruled = {line.split("│")[1].strip() for line in lines if "│" in line}
    of_records = {line.split()[1] for line in lines if line.startswith("name ")}
    names = ruled | of_records
    assert {entry.quantity.name for entry in vocabulary()} <= names


def test_brackets_are_no_markup(command) -> None:
    """Brackets as in E[w_i w_j] are printed."""
    assert "E[w_i(n) w_j(n)]" in command("quantities", "weight_pairing").out.replace("\n", " ")


@pytest.mark.parametrize("latex", SYMBOLS)
def test_symbols_in_unicode(latex: str) -> None:
    """Symbols, accents, indices, fractions and operators are converted to Unicode."""
    assert unicode_math(latex) == SYMBOLS[latex]
