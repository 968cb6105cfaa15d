"""Edges of the grader: files of one student, encodings without a mark, runs that cannot be made shorter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.grade import bound
from verify.grade.submission import decode_text
from verify.grade.submitted_files import SubmittedFile, _rename_duplicate


def _files(*called: str, student: str = "ana") -> list[SubmittedFile]:
    submission: Any = SimpleNamespace(assignment="class")
    return [SubmittedFile(Path(one), student, f"{one}.py", one, submission) for one in called]


def test_other_files_of_a_student_are_listed() -> None:
    """The message lists up to three other files of a student; a file with her name stays hers."""
    (alone,) = _files("bob")
    assert _rename_duplicate(alone, [alone]) is alone
    for count in range(2, 7):
        group = _files(*(f"f{place}" for place in range(count - 1)), "ana")
        named = [_rename_duplicate(file, group) for file in group]
        assert [one.student for one in named] == [*(f"f{place}" for place in range(count - 1)), "ana"]
        listed = [f"f{place}.py" for place in range(count - 1)]
        shown = ", ".join(listed) if len(listed) <= 4 else ", ".join(listed[:3]) + f" and {len(listed) - 3} more files"
        assert named[-1].troubles == (f"also handed in as the copy of ana: {shown}",)
    group = _files("f0", "f1")
    assert [_rename_duplicate(file, group).student for file in group] == ["ana", "f1"]
    group = _files("ana", "f1", "f1")
    assert [_rename_duplicate(file, group).student for file in group] == ["ana", "f1.py", "f1.py"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["a = 1\n", "L = 4*eta\n" * 9])
def test_encodings_of_plain_text(encoding: str, text: str) -> None:
    assert decode_text(text.encode(encoding)) == text


def test_zeros_on_both_sides_are_no_wide_text() -> None:
    """Zero bytes at both even and odd positions are not the encoding of ASCII letters."""
    assert decode_text(b"\0\0ab" * 4) == "\0\0ab" * 4
    assert decode_text(b"ab\x93") == "ab\u201c"


def test_a_bound_serves_where_all_its_conditions_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tightened bound may add neither conditions nor assumptions."""
    monkeypatch.setattr(bound, "prove", lambda _: SimpleNamespace(verdict="proved"))
    eta, L, mu = sp.symbols("eta L mu", positive=True)
    where = {eta: q.local_step_size, L: q.smoothness, mu: q.strong_convexity}
    claim = Claim(id="t:bound", lhs=q.final_distance_sq, rhs=eta * mu, where=where, conditions=[eta <= 1 / (4 * L)])
    known, new = eta <= 1 / (2 * L), eta * mu <= sp.Rational(1, 9)
    for conditions, serves in (
        ([known], True),
        ([known, new], False),
        ([new, known], False),
        ([new], False),
        ([], True),
    ):
        assert bound._implies_bound(claim, replace(claim, conditions=conditions)) is serves
    assert not bound._implies_bound(claim, replace(claim, assumptions=[a.full_participation]))
    assert bound._implies_bound(replace(claim, assumptions=[a.full_participation]), claim)
