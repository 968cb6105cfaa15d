"""Formulas in the texts of quantities are typeset, words are not changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import all_claims
from fedtheory.language.meaning_latex import typeset_meaning


@pytest.mark.parametrize(
    ("text", "typeset"),
    [
        (
            "max over t, k, i of E|x_i^{t,k} - xbar^{t,k}|^2",
            r"max over $t$, $k$, $i$ of $\mathbb{E} \|x_{i}^{t,k}-\bar{x}^{t,k}\|^{2}$",
        ),
        (
            "(1/(tau T)) sum_t sum_{k=1..tau} E F(xbar^{t,k}) - F*",
            r"$(1/(\tau T)) \sum_{t} \sum_{k=1}^{\tau} \mathbb{E} F(\bar{x}^{t,k})-F^{*}$",
        ),
        ("mean over t of round_drift", "mean over $t$ of round_drift"),
        ("sigma_*, sigma_*^2 = 0 at x*", r"$\sigma_{*}$, $\sigma_{*}^{2}=0$ at $x^{*}$"),
        ("E<sum_i g_i, y - x> <= 2 L", r"$\mathbb{E} \langle \sum_{i} g_{i}, y-x\rangle \le 2 L$"),
        ("the client's number from 1 on, see (3)", "the client's number from 1 on, see (3)"),
        ("a rho-Lipschitz F_i for l < k", r"a $\rho$-Lipschitz $F_{i}$ for $l<k$"),
        ("E_k of q~_i and w_bar", r"$E_{k}$ of $\tilde{q}_{i}$ and $\bar{w}$"),
        ("hat delta_k^2, E[w_i(n)^2], max(1, max_n q(n))", None),
        ("max over updates of |s_j(n) - r_j|", "max over updates of $|s_{j}(n)-r_{j}|$"),
        ("ceil(T_i / Delta t), k = 0 .. tau-1", r"$\lceil T_{i}/\Delta t\rceil$, $k=0,\dots,\tau-1$"),
    ],
)
def test_formulas_are_found(text: str, typeset: str | None) -> None:
    """Formulas are found between words; other text keeps its characters."""
    expected = typeset or r"$\hat{\delta}_{k}^{2}$, $\mathbb{E}[w_{i}(n)^{2}]$, $\max(1, \max_{n} q(n))$"
    assert typeset_meaning(text, "$", "$") == expected


def test_no_formula_of_a_quantity_is_left_in_characters() -> None:
    """No power, bar or sum remains untypeset in texts of published claims."""
    meanings = {quantity.meaning for claim in all_claims().values() for quantity in claim.notation.values()}
    left = {text: re.sub(r"\$[^$]*\$", "", typeset_meaning(text, "$", "$")) for text in meanings}
    assert len(left) > 200
    assert not [text for text, words in left.items() if re.search(r"[|^{}]|sum_|grad |E\[|\bE ", words)]


_PIECES = st.sampled_from(["bar", "of", "^{t}", "sum_k", "_i", "^2", "..", *"xE|()<> *'-~1,{}$é"])


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_any_text_is_typeset(text: str) -> None:
    """Formulas have balanced braces and no double powers; the words keep their order."""
    place = 0
    for n, part in enumerate(re.split(r"\x00|\x01", typeset_meaning(text, "\x00", "\x01"))):
        if n % 2:
            assert part.count("{") - part.count(r"\{") == part.count("}")
            assert not re.search(r"\^\{[^{}]*\}\^", part)
        else:
            place = text.index(part, place) + len(part)


@pytest.mark.parametrize("text", ["x<" * 60 + "x", "(" * 2_000 + "x", "x_" * 500])
def test_hostile_texts_take_no_time(text: str) -> None:
    """Deeply nested brackets take no noticeable time."""
    assert typeset_meaning(text)
