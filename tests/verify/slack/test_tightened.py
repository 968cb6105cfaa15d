"""Smaller constants of proved bounds: stored with certificates, which the kernel checks again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sympy as sp

from fedtheory import Claim, InputError
from fedtheory import quantities as q
from fedtheory.language.registry import find, papers
from verify.slack import compute_shares
from verify.slack.bound_parts import select_lowerable_parts, with_constants
from verify.slack.tightened_constants import check_constants, locate_tightened_file, read_tightened_constants
from verify.slack.tightening import regenerate_tightened

eta, sigma, zeta, tau = sp.symbols("eta sigma zeta tau", positive=True)
THEOREM = find("renard2022:thm-2.1")
STORED = sorted(
    claim.id
    for paper in papers().values()
    for claim in paper.source.claims
    if (file := locate_tightened_file(claim)) is not None and file.is_file()
)


def _bound(right: sp.Expr) -> Claim:
    where = {eta: q.local_step_size, sigma: q.noise_deviation, zeta: q.gradient_dissimilarity, tau: q.local_steps}
    return Claim(id="mine:drift", lhs=q.max_drift, rhs=right, where=where)


def test_other_constants() -> None:
    """Those that are named, of terms and of single right sides; what is subtracted stays."""
    several = _bound(18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2 - eta * zeta**2)
    names = {part.constant: part.name for part in select_lowerable_parts(several)}
    assert set(names) == {18, 4}
    lowered = with_constants(several, {names[sp.Integer(18)]: sp.Rational(1, 3)})
    expected = tau**2 * eta**2 * zeta**2 / 3 + 4 * tau * eta**2 * sigma**2 - eta * zeta**2
    assert sp.expand(lowered.relations[0].right - expected) == 0
    single = _bound(3 * zeta**2)
    assert with_constants(single, {"whole": sp.S.One}).relations[0].right == zeta**2
    assert with_constants(single, {}).relations[0].right == 3 * zeta**2


@pytest.mark.parametrize("name", ["renard2022:lemma-2.3.mean", "liu2022:thm-3.sharp", "comparator:sampled.last-model"])
def test_products_are_sums_of_their_terms(name: str) -> None:
    """A factor whose summands have different symbols is multiplied out, so that each term has its own number."""
    claim = find(name)
    parts = [part.expression for part in select_lowerable_parts(claim)]
    right = with_constants(claim, {}).relations[0].right
    assert len(parts) > 1
    assert set(parts) <= set(sp.Add.make_args(right))
    assert sp.simplify(right - claim.relations[0].right) == 0


def test_a_theorem_is_stored() -> None:
    """The constants that a search found for it are a quarter of the published ones, or less."""
    assert THEOREM.id in STORED
    stated = {part.name: part.constant for part in select_lowerable_parts(THEOREM)}
    found = read_tightened_constants(THEOREM)
    assert found.keys() == stated.keys()
    assert min(found[name] / stated[name] for name in stated) < sp.Rational(1, 4)


@pytest.mark.parametrize("name", STORED)
def test_stored_constants_are_proved_and_not_refuted(name: str) -> None:
    """Stored constants are at most the stated ones, one is smaller, and no stored run exceeds a proved constant."""
    claim = find(name)
    found, stated = (
        read_tightened_constants(claim),
        {part.name: part.constant for part in select_lowerable_parts(claim)},
    )
    assert found
    assert all(number <= stated[part] for part, number in found.items())
    assert any(number < stated[part] for part, number in found.items())
    for share in compute_shares(claim):
        if share.part.name in found:
            needed = sp.Rational(int(share.value.p), int(share.value.q)) * share.part.constant
            assert needed <= found[share.part.name]


def _change(tmp_path: Path, **changes: object) -> Path:
    file = locate_tightened_file(THEOREM)
    assert file is not None
    changed = tmp_path / "thm.json"
    changed.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return changed


def test_constants_without_a_proof_are_refused(tmp_path: Path) -> None:
    """Smaller ones than those of the certificate, another bound's, and a certificate that is none."""
    own = {name: str(number) for name, number in read_tightened_constants(THEOREM).items()}
    for name, number in own.items():
        smaller = own | {name: str(sp.Rational(number) / 2)}
        with pytest.raises(InputError, match="expected a certificate"):
            check_constants(THEOREM, _change(tmp_path, constants=smaller))
        check_constants.cache_clear()
    with pytest.raises(InputError, match="expected a certificate"):
        check_constants(find("renard2022:lemma-2.3"), _change(tmp_path))
    check_constants.cache_clear()
    with pytest.raises(InputError, match="expected a certificate"):
        check_constants(THEOREM, _change(tmp_path, certificate={"format": "fedtheory certificate"}))


def test_bounds_of_users_are_not_stored() -> None:
    """There is no paper's folder to write to."""
    mine = _bound(3 * zeta**2)
    assert locate_tightened_file(mine) is None
    assert read_tightened_constants(mine) == {}
    regenerate_tightened(mine, pytest.fail)
