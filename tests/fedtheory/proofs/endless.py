"""Documents that would take extremely long to check: short texts for enormous numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

from fedtheory.language.registry import find
from fedtheory.proofs import certificates, prove
from fedtheory.proofs.proof_report import Document

SYMBOLS = ("local_step_size", "smoothness", "local_steps", "rounds", "noise_deviation", "gradient_dissimilarity")
eta, L, tau, T, sigma, zeta = SYMBOLS


def fractions(count: int) -> str:
    """Return many fractions with coprime denominators."""
    return "+".join(f"1/({eta}+{n}*{L}+{n * n})" for n in range(1, count))


def fractions_of_all(count: int) -> str:
    """Return fractions in all symbols, with large numbers."""
    parts = (f"{7**n}*{symbol}" for n, symbol in enumerate(SYMBOLS, count))
    one = "+".join(parts)
    return "+".join(f"1/({n}+{one}*{n})" for n in range(1, 19_000 // len(one)))


def powers_of_sums(power: int) -> str:
    """Return a large power of a sum."""
    return f"({'+'.join(SYMBOLS)}+1)**{power}"


def sums_of_powers(power: int) -> str:
    """Return a quotient of few terms that is a sum of very many."""
    above = "*".join(f"({symbol}**{power}-1)" for symbol in SYMBOLS)
    below = "*".join(f"({symbol}-1)" for symbol in SYMBOLS)
    return f"{above}/({below})"


def sums_of_powers_in_turn(power: int) -> str:
    """Return sums of powers, factor by factor."""
    return "*".join(f"(({symbol}**{power}-1)/({symbol}-1))" for symbol in SYMBOLS)


def sums_of_powers_of_products(power: int) -> str:
    """Return sums of powers of products of two symbols."""
    pairs = [f"{one}*{other}" for one, other in pairwise(SYMBOLS)]
    above, below = ("*".join(f"(({pair})**{exponent}-1)" for pair in pairs) for exponent in (power, 1))
    return f"{above}/({below})"


def products_of_sums(count: int) -> str:
    """Return a product of sums."""
    return "*".join(f"({eta}+{n}*{L}+{n + 1}*{tau}+{n * n}*{sigma}+{zeta})" for n in range(1, count))


def continued(depth: int) -> str:
    """Return a continued fraction."""
    return "1/(1+" * depth + eta + ")" * depth


def nested(depth: int) -> str:
    """Return nested brackets."""
    return "(" * depth + eta + ")" * depth


def signs(count: int) -> str:
    """Return many minus signs in a row."""
    return "-" * count + eta


def long_sum(count: int) -> str:
    """Return a sum of different products."""
    return "+".join(f"{eta}**{n % 7}*{L}**{n % 11}*{tau}**{n % 13}" for n in range(count))


def integers(digits: int) -> str:
    """Return large numbers."""
    return f"{'7' * digits}*{eta}+{'3' * digits}"


def powers_of_numbers(power: int) -> str:
    """Return large powers of numbers."""
    return f"7**{power}*{eta}+1/13**{power}"


def large_numbers_squared(digits: int) -> str:
    """Return large numbers in a sum that is squared."""
    return f"({'7' * digits}*{eta}+{'3' * digits}*{L}+1/{'9' * (digits - 1)}1)**60"


def many_primes(count: int) -> str:
    """Return rationals whose common denominator is enormous."""
    return "+".join(f"{eta}**{n % 100}*{L}**{n // 100}/{10**40 + 2 * n + 1}" for n in range(count))


def steep(power: int) -> str:
    """Return exponents with the number of rounds in them."""
    return "+".join(f"(1+{n}*{eta})**({power}*{T}+{n})" for n in range(1, 100))


def means(depth: int) -> str:
    """Return nested averages over clients."""
    return "mean(" * depth + eta + ")" * depth


def roots(count: int) -> str:
    """Return square roots of many numbers."""
    return "+".join(f"({n}*1)**(1/2)*{n}**(1/2)" for n in range(2, count))


def common_factors(count: int) -> str:
    """Return quotients of polynomials with a common factor of many terms."""
    factor = "*".join(f"({'+'.join(SYMBOLS)}+{n})" for n in range(1, 5))
    return "+".join(f"{n}*({factor})/(({factor})*({eta}+{n}))" for n in range(1, count))


NUMBERS: dict[str, list[Callable[[], str]]] = {
    "fractions": [lambda: fractions(319)],
    "fractions of all letters": [lambda: fractions_of_all(1), lambda: fractions_of_all(200)],
    "powers of sums": [lambda: powers_of_sums(9), lambda: powers_of_sums(20), lambda: powers_of_sums(200)],
    "sums of powers": [lambda: sums_of_powers(5), lambda: sums_of_powers(11), lambda: sums_of_powers(30)],
    "sums of powers in turn": [lambda: sums_of_powers_in_turn(6), lambda: sums_of_powers_in_turn(16)],
    "sums of powers of products": [lambda: sums_of_powers_of_products(5), lambda: sums_of_powers_of_products(11)],
    "products of sums": [lambda: products_of_sums(8), lambda: products_of_sums(24), lambda: products_of_sums(199)],
    "continued fractions": [lambda: continued(4), lambda: continued(90)],
    "brackets": [lambda: nested(150), lambda: nested(9000)],
    "signs": [lambda: signs(90), lambda: signs(15_000)],
    "sums": [lambda: long_sum(300)],
    "integers": [lambda: integers(4000), lambda: integers(9000)],
    "powers of numbers": [lambda: powers_of_numbers(1000), lambda: powers_of_numbers(10**9)],
    "large numbers": [lambda: large_numbers_squared(40), lambda: large_numbers_squared(4000)],
    "many primes": [lambda: many_primes(200)],
    "steep powers": [lambda: steep(1), lambda: steep(100)],
    "means": [lambda: means(90)],
    "roots": [lambda: roots(400)],
    "common factors": [lambda: common_factors(20)],
}
"""Expressions of a certificate, by the kind of their size."""


@cache
def recorded(claim: str) -> Document:
    """Return the document of a recorded certificate."""
    document = prove(find(claim)).document
    assert document is not None
    return document


def _with(claim: str, change: Callable[[Any], object]) -> Document:
    document: Document = deepcopy(recorded(claim))
    change(document["certificate"])
    return document


def _places(number: str) -> Iterator[tuple[str, Document]]:
    """Yield documents with a number as a coefficient, in a vector, in a condition, and in a bound of an induction."""
    lemma, theorem = "renard2022:lemma-2.3", "renard2022:thm-2.1.sharp"

    def coefficient(certificate: Any) -> None:
        certificate["terms"][0]["coefficient"] = number

    def vector(certificate: Any) -> None:
        certificate["terms"][0]["reason"]["of"] = f"({number})*(pair.x_i - pair.x_j)"

    def factor(certificate: Any) -> None:
        certificate["factor"] = number

    def part(certificate: Any) -> None:
        certificate["links"][0][0]["coefficient"] = number

    def condition(certificate: Any) -> None:
        certificate["relaxed"] = [f"{number} >= {eta}"]

    for name, change in (
        ("coefficient", coefficient),
        ("vector", vector),
        ("factor", factor),
        ("condition", condition),
    ):
        yield name, _with(lemma, change)
    yield "part", _with(theorem, part)


def with_numbers() -> Iterator[tuple[str, Document]]:
    """Yield documents with one large number, in each place."""
    for name, makers in NUMBERS.items():
        for size, make in enumerate(makers):
            for place, document in _places(make()):
                yield f"{name} {size} as {place}", document


def _repeat(entries: list[Any], count: int) -> None:
    entries *= count


def repeated() -> Iterator[tuple[str, Document]]:
    """Yield documents with very many terms, parts, premises, conditions, symbols and keys."""
    lemma, theorem = "renard2022:lemma-2.3", "renard2022:thm-2.1.sharp"
    yield "many terms", _with(lemma, lambda one: _repeat(one["terms"], 100))
    yield "many different terms", _with(lemma, _different_terms)
    yield "as long as may be", _with(lemma, _small_fractions_in_vectors)
    yield "many parts", _with(theorem, lambda one: _repeat(one["links"][0], 300))
    yield "many links", _with(theorem, lambda one: _repeat(one["links"], 60))
    yield "all claims", _with(theorem, _all_claims)
    yield "the same claim", _with(theorem, lambda one: one.update(links=[[_part("renard2022:lemma-2.3.mean")] * 2000]))
    yield (
        "many conditions",
        _with(lemma, lambda one: one.update(relaxed=[f"{n}*{eta}*{L} <= {n}*{tau}" for n in range(1, 4000)])),
    )
    yield (
        "conditions in any order",
        _with(
            lemma,
            lambda one: one.update(relaxed=[f"{a} <= {n}*{b}" for n in range(1, 40) for a in SYMBOLS for b in SYMBOLS]),
        ),
    )
    symbols = {f"z{n}": {"latex": f"z_{n}", "is": "positive"} for n in range(5000)}
    yield "many letters", recorded(lemma) | {"letters": symbols}
    yield "a long name", recorded(lemma) | {"letters": {"z" * 200_000: {"latex": "z", "is": "positive"}}}
    yield "too long", recorded(lemma) | {"letters": {"z": {"latex": "z" * 10**6, "is": "positive"}}}
    yield "an unknown key", _with(lemma, lambda one: one.update({"z" * 200_000: 1}))
    yield "deep lists", _with(lemma, lambda one: one.update(terms=_deep(400)))


def _different_terms(certificate: Any) -> None:
    (term, *_) = certificate["terms"]
    certificate["terms"] = [term | {"coefficient": f"{n}/({eta}+{n})"} for n in range(1, 700)]


def _small_fractions_in_vectors(certificate: Any) -> None:
    (term, *_) = certificate["terms"]
    vectors = [f"1/({eta}+{n}*{L}+{n * n})*(pair.x_i - pair.x_j)" for n in range(1, 1500)]
    certificate["terms"] = [term | {"reason": term["reason"] | {"of": vector}} for vector in vectors]


def _part(claim: str) -> dict[str, Any]:
    return {"kind": "part", "coefficient": "1", "premise": {"claim": claim}}


def _all_claims(certificate: Any) -> None:
    certificate["links"] = [[_part(claim) for claim in certificates()]]


def _deep(depth: int) -> list[Any]:
    return [_deep(depth - 1)] if depth else []


def documents() -> Iterator[tuple[str, Document]]:
    """Yield all documents, with the name of the large part."""
    yield from with_numbers()
    yield from repeated()
