"""Relations that are typed: read by a whitelist, and written so that they are read again."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.exercises import CLASS, BoundQuestion
from fedtheory.language.registry import find
from verify.grade import assignments
from verify.grade.typed_relation import read_relation, write_relation


def test_a_relation_is_read() -> None:
    """Each name in a typed relation is the quantity with that name."""
    claim = read_relation("max_drift <= 4*local_steps*local_step_size**2*noise_deviation**2")
    assert claim.lhs == sp.Symbol("max_drift", real=True)
    assert set(claim.where.values()) == {q.max_drift, q.local_steps, q.local_step_size, q.noise_deviation}
    assert claim.relation == "<="


def test_quantities_that_are_typeset_alike_stay_apart() -> None:
    """Rounds and iterations, which are both typeset as T, stay different."""
    claim = read_relation("rounds == iterations")
    assert set(claim.where.values()) == {q.rounds, q.iterations}


@pytest.mark.parametrize("assignment", assignments())
def test_written_bounds_are_read_again(assignment: str) -> None:
    """All bounds of questions are read again as written."""
    for question in assignments()[assignment].copy(CLASS).questions:
        if isinstance(question, BoundQuestion):
            text = write_relation(question.claim)
            assert text is not None
            again = read_relation(text)
            values = {symbol: quantity.symbol for symbol, quantity in again.where.items()}
            expected = {symbol: quantity.symbol for symbol, quantity in question.claim.notation.items()}
            assert again.rhs.xreplace(values) == sp.sympify(question.claim.relations[0].right).xreplace(expected)


def test_a_claim_about_steps_is_not_written() -> None:
    """A claim about local steps is not written, since its vectors have no names."""
    assert write_relation(replace(find("renard2022:lemma-2.3"), place="step")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_drif <= 3", "max_drif is not a quantity; is it max_drift"),
        ("max_drift <= 3 <= 4", "expected one of <=, >=, ==, < and >"),
        ("max_drift = 3", "expected one of <=, >=, ==, < and >"),
        ("max_drift <= __import__('os')", "__import__ is not a quantity"),
        ("max_drift <= (", "cannot read"),
        ("max_drift <= ", "cannot read"),
    ],
)
def test_text_that_is_no_relation_is_refused(text: str, message: str) -> None:
    """Text that is not a relation is refused with the wrong word, and nothing is executed."""
    with pytest.raises(InputError, match=message):
        read_relation(text)
