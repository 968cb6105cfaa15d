"""Documents for enormous numbers are rejected after a bounded amount of work, independent of earlier checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sympy as sp
from endless import NUMBERS, documents, recorded, repeated, with_numbers
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from fedtheory.errors import InputError
from fedtheory.kernel import Rejected, polynomials, sizes
from fedtheory.kernel.context import Context
from fedtheory.kernel.forms import scalar
from fedtheory.kernel.quotients import quotient
from fedtheory.kernel.work import Exhausted, cache_with_work, limit_work, spend
from fedtheory.language.registry import find
from fedtheory.proofs import Proof, certificates, check_certificate, prove
from fedtheory.proofs import missing_assumptions as missing
from fedtheory.proofs.checker import MOST_WORK
from fedtheory.proofs.document import read_document
from fedtheory.proofs.document.reading import LONGEST
from fedtheory.proofs.proof_report import Document

RING = fmpq_mpoly_ctx.get([f"x{place}" for place in range(6)], Ordering.lex)
x, y, z, *others = RING.gens()
ONE = RING.constant(1)


def checked(document: Document) -> Proof:
    """Return the kernel verdict on a document, for the claim that it names."""
    return check_certificate(find(document["certificate"]["claim"]), document)


QUICK = ("brackets", "signs", "integers", "powers of numbers", "means")


@pytest.mark.parametrize("name", QUICK)
def test_large_numbers_are_refused(name: str) -> None:
    """Large coefficients, vectors, conditions and bounds are rejected without another error."""
    found = [checked(document) for full, document in with_numbers() if full.startswith(f"{name} ")]
    assert {proof.verdict for proof in found} == {"broken"}


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in QUICK])
def test_larger_numbers_are_refused(name: str) -> None:
    """Larger numbers are rejected after at most the allowed work."""
    test_large_numbers_are_refused(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _ in repeated()])
def test_much_of_everything_is_refused(name: str) -> None:
    """Very many terms, parts, premises, conditions and keys are rejected; unused symbols change nothing."""
    expected = "proved" if name in {"many letters", "a long name"} else "broken"
    assert checked(dict(documents())[name]).verdict == expected


@pytest.mark.long
def test_work_ends_at_its_limit() -> None:
    """The limit is exceeded by at most one piece of work, and the failing step says so."""
    _, document = next(with_numbers())
    proof = checked(document)
    assert str(MOST_WORK) in proof.steps[-1].text
    assert sum(proof.work.values()) >= MOST_WORK


@pytest.mark.parametrize("claim", ["renard2022:lemma-2.3", "renard2022:lemma-2.3.mean", "renard2022:thm-2.1.sharp"])
def test_work_does_not_depend_on_what_was_checked_before(claim: str) -> None:
    """Cached results count like new ones."""
    once, again = (check_certificate(find(claim), recorded(claim)).work for _ in range(2))
    assert once == again
    assert claim in once


@pytest.mark.long
def test_recorded_certificates_have_room() -> None:
    """Each recorded certificate takes less than half of the allowed work, including its premises."""
    most = {claim: sum(prove(find(claim)).work.values()) for claim in certificates()}
    assert 2 * max(most.values()) < MOST_WORK, max(most, key=most.__getitem__)
    assert max(len(json.dumps(prove(find(claim)).document)) for claim in certificates()) * 10 < LONGEST


@pytest.mark.long
def test_no_assumption_is_tried_for_endless_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing assumptions are not searched for a document that took all of the allowed work."""
    _, document = next(with_numbers())
    proof = checked(document)
    monkeypatch.setattr(missing, "check_certificate", lambda *_: pytest.fail("checked again"))
    assert missing.find_missing_assumptions(proof) == ()


def test_long_documents_are_refused_before_parsing(tmp_path: Path) -> None:
    """A file is read only up to the limit, and documents in memory are measured as well."""
    file = tmp_path / "long.json"
    file.write_text("{" + " " * LONGEST + "}")
    with pytest.raises(InputError, match=f"at most {LONGEST} characters"):
        read_document(file)
    assert "at most" in checked(dict(repeated())["too long"]).steps[0].text


def test_meters() -> None:
    """Work counts in the innermost block, cached results count again, and failures are not cached."""
    calls = []

    @cache_with_work(8)
    def costly(units: int) -> int:
        calls.append(units)
        spend(units)
        return units

    with limit_work(100) as outer:
        assert costly(30) == costly(30) == 30
        with limit_work(10), pytest.raises(Exhausted):
            costly(30)
        assert outer.spent == 60
        with pytest.raises(Exhausted, match="at most 100 units"):
            costly(50)
        with limit_work(None) as free:
            costly(50)
        assert free.spent == 50
    assert calls == [30, 50, 50]
    assert not isinstance(Exhausted(), Rejected), "what is exhausted is no answer, and must not be kept as one"


def test_products_and_powers_of_polynomials() -> None:
    """Products of polynomials are exact, and rejected if they would be large, by terms or by words of coefficients."""
    assert polynomials.multiply(x + y, x - y) == x**2 - y**2
    assert polynomials.raise_fraction((x + 1, y), -2) == (y**2, x**2 + 2 * x + 1)
    with pytest.raises(Rejected, match="divided by zero"):
        polynomials.raise_fraction((x - x, ONE), -1)
    many = sum((gen for gen in RING.gens()), ONE)
    with pytest.raises(Rejected, match="more than 1000000 terms"):
        polynomials.raise_fraction((many, ONE), 60)
    with pytest.raises(Rejected, match="words"):
        polynomials.raise_fraction((x * 3 ** (10**5) + 1, ONE), 100)
    with pytest.raises(Rejected, match="terms"):
        polynomials.multiply(
            polynomials.raise_fraction((many, ONE), 8)[0], polynomials.raise_fraction((many, ONE), 8)[0]
        )


def test_common_factors_are_divided_out() -> None:
    """A common factor is cancelled if the result has few terms; large computations are not started."""
    below = (x - 1) * (y - 1) * (z - 1)
    above = (x**4 - 1) * (y**4 - 1) * (z**4 - 1)
    assert polynomials.reduce(above * 2, below) == (
        2 * (x**3 + x**2 + x + 1) * (y**3 + y**2 + y + 1) * (z**3 + z**2 + z + 1),
        ONE,
    )
    gens = RING.gens()
    for power, is_small in ((3, True), (20, False)):
        above, below = ONE, ONE
        for gen in gens:
            above, below = above * (gen**power - 1), below * (gen - 1)
        if is_small:
            assert len(polynomials.reduce(above, below)[0]) == power**6
        else:
            with pytest.raises(Rejected, match="terms"):
                polynomials.reduce(above, below)


def test_many_symbols_that_go_together_have_few_terms() -> None:
    """A common factor in products of symbols is no larger than one in a single symbol."""
    together = x * y * z * others[0] * others[1] * others[2]
    factor = together**9 + 3 * together + 1
    assert polynomials.reduce(factor * (together**8 + x), factor * (together + 7))[1] == together + 7


def test_words_count_common_denominators() -> None:
    """The size of coefficients is measured over their common denominator."""
    small = x * fmpq(1, 3) + y
    large = sum((gen * fmpq(1, 2**61 + 2 * n + 1) for n, gen in enumerate(RING.gens())), ONE)
    assert sizes.count_words(small) == 1
    assert sizes.count_words(large) > 4


def test_composition_and_factors() -> None:
    """Substitutions of shifted symbols, and products of denominators, are rejected if they would be large."""
    shifted = [gen + 1 for gen in RING.gens()]
    assert polynomials.substitute(x * y, shifted) == (x + 1) * (y + 1)
    with pytest.raises(Rejected, match="terms"):
        polynomials.substitute(ONE * x**30 * y**30 * z**30 * others[0] ** 30, shifted)
    assert {str(part): power for part, power in polynomials.factorise((x + 1) ** 2 * y)[1]} == {"x0 + 1": 2, "x1": 1}
    with pytest.raises(Rejected, match="terms"):
        polynomials.factorise(x**61 + y**61 * z**61 + 1)


def test_sums_over_steps_of_high_powers() -> None:
    """Powers of an index up to twelve are summed; higher ones are refused."""
    k, n = sp.symbols("k n", positive=True, integer=True)
    from fedtheory.kernel import Numbers
    from fedtheory.kernel.expressions import LocalSum, norm_sq

    v = sp.Symbol("v")
    context = Context(numbers=Numbers(symbols=frozenset({k, n})), vectors=frozenset({v}), local_steps=n, step_number=k)
    (found,) = scalar(LocalSum(k**12 * norm_sq(v)), context).values()
    assert found.expression.subs(n, 3) == 1 + 2**12
    with pytest.raises(Rejected, match="up to 12 under a sum, got 40"):
        scalar(LocalSum(k**40 * norm_sq(v)), context)


def test_quotients_of_sums_of_powers() -> None:
    """Compilation rejects expressions that only SymPy's notation makes short."""
    symbols = {name: sp.Symbol(name) for name in ("local_step_size", "smoothness", "local_steps", "rounds")}
    above = sp.Mul(*(symbol**40 - 1 for symbol in symbols.values()))
    below = sp.Mul(*(symbol - 1 for symbol in symbols.values()))
    with pytest.raises(Rejected, match="terms"):
        quotient(above / below + 1)


def test_degrees_of_a_common_factor() -> None:
    """The polynomials (x + 1)(y + 2) and (x + 1)(y + 3) have a common factor of degree one in x and zero in y."""
    found = sizes._find_common_degrees((x + 1) * (y + 2), (x + 1) * (y + 3), {0: 1, 1: 1})
    assert found == {0: 1}


def test_zero_in_the_place_of_a_symbol() -> None:
    """Substituting zero for a symbol gives no terms, also in powers."""
    zero = ONE - ONE
    assert polynomials.substitute(x**2 * y + z**2 + y + 3, [zero, y, zero, *others]) == y + 3


def test_the_work_of_a_quotient_is_that_of_both_its_parts() -> None:
    """Numbers of a thousand words cost equally in numerator and denominator, and more than small ones."""

    def work(numerator: object, denominator: object) -> int:
        with limit_work(None) as meter:
            polynomials.reduce(numerator, denominator)
        return meter.spent

    large, small = 2**64_000 * x + 1, y + 2
    assert work(large, small) == work(small, large) > 100 * work(x + 1, small)


def test_terms_without_a_common_factor_are_at_least_as_many_as_there_are() -> None:
    """The lower bound on the number of terms after cancelling is 1 for x + 1, and for (x + 1)(1 + x + y + z)^20 23 over
    3.
    """
    pair = (x + 1, (x + 1) * (1 + x + y + z) ** 20)
    for one, other in (pair, pair[::-1]):
        assert sizes._bound_reduced_terms(one, other) >= 1771
