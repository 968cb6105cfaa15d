"""Documents are decoded into a closed set of types; anything else is rejected before the check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Context, Inequality, InequalityRef, Rejected, Step, Term, square, triangle
from fedtheory.kernel.expressions import Inner, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Combination, Part, certificates, check_certificate, checker, facts
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.decoding import decode
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.distances import PAIR
from fedtheory.proofs.examined import Examined
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.links import CauchySchwarz, Nonnegative, Product, Products
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.roots import Root

ONE = sp.S.One
x, y, s = sp.symbols("x y s", real=True)
T, r = sp.symbols("T r", positive=True)
FALSE = Claim(id="t:false", lhs=norm_sq(x), rhs=sp.S.Zero, where={x: q.point, y: q.second_point, T: q.rounds})
POINTS, RUN = replace(FALSE, place="points"), replace(FALSE, lhs=T, place="run")
HONEST = Certificate(claim="t:false", links=[[Term(ONE, square(x))]])


class MyReason(InequalityRef):
    """A user-defined inequality."""

    def instantiate(self, context: Context) -> Inequality:
        """Return the false inequality that minus a square is non-negative."""
        return Inequality("mine", -super().instantiate(context).expression)


class MyTerm(Term):
    """A user-defined term."""

    def whole(self, reason: Inequality) -> Any:
        """Return the negated slack."""
        return -super().whole(reason)


@dataclass(frozen=True)
class MyDerived(Derived):
    """A derivation without premises."""

    def slack(self, _symbol: Any, _slack: Any) -> Any:
        """Return the false inequality that a negative number is non-negative."""
        return -T


class MyKind(Examined):
    """A kind of certificate that accepts every claim."""

    kind = "mine"

    def check(self, _claim: Claim, _prove: Any) -> Iterator[Step]:
        """Yield a step that holds."""
        yield Step("it holds", True)


class MyContraction(MyKind, Contraction):
    """A kind of the list whose check is replaced."""


class MyText(str):
    """A text that is equal to every text."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = str.__hash__


class MySymbol(sp.Symbol):
    """A symbol that is equal to every symbol."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        return True

    __hash__ = sp.Symbol.__hash__


class MyRational(sp.Rational):
    """A number that is equal to another one."""

    __slots__ = ()


def rational(p: int, q: int) -> Any:
    """A user-defined rational."""
    made: Any = sp.Expr.__new__(MyRational)
    made.p, made.q = p, q
    return made


MINE = Fact("no round is taken", -T)


def terms(*found: Any, **parts: Any) -> Certificate:
    """Return a certificate of one link."""
    return Certificate(claim="t:false", links=[list(found)], **parts)


def parts(*found: Any, **known: Any) -> Combination:
    """Return a sum of one link."""
    return Combination(claim="t:false", links=[list(found)], **known)


ODD: dict[str, Any] = {
    "a user-defined reason": terms(Term(ONE, MyReason("square", (x,)))),
    "a user-defined term": terms(MyTerm(ONE, square(x))),
    "a reason that is none": terms(Term(ONE, InequalityRef("luck", (x,)))),
    "a reason by a list": terms(Term(ONE, InequalityRef(["square"], (x,)))),  # type: ignore[arg-type]
    "a reason about too little": terms(Term(ONE, InequalityRef("convexity", (x,)))),
    "a reason about too much": terms(Term(ONE, InequalityRef("square", (x, y)))),
    "a text for a vector": terms(Term(ONE, InequalityRef("square", ("x",)))),
    "a text among vectors": terms(Term(ONE, triangle(x, "-x", y))),
    "a vector for a text": terms(Term(ONE, InequalityRef("assumption", (x,)))),
    "a coefficient as text": terms(Term("-1", square(x))),
    "a coefficient that is a float": terms(Term(sp.Float(-1), square(x))),
    "a coefficient that is complex": terms(Term(ONE, square(sp.I * x))),
    "a coefficient with cases": terms(Term(sp.Piecewise((1, T > 1), (-1, True)), square(x))),
    "a coefficient with a function": terms(Term(sp.Function("f")(T), square(x))),
    "a number of Python": terms(Term(-1, square(x))),
    "a flag that is a number": terms(Term(ONE, square(x), averaged=1)),  # type: ignore[arg-type]
    "a user-defined fact": parts(Part(ONE, MINE)),
    "a copy of a fact": parts(Part(ONE, replace(facts.ONE, number=-T))),
    "a user-defined derivation": parts(Part(ONE, MyDerived("liu2022:thm-1"))),
    "a relation counted backwards": parts(Part(ONE, Derived("liu2022:thm-1", -1))),
    "a relation by a flag": parts(Part(ONE, Derived("liu2022:thm-1", True))),
    "a user-defined text": parts(Part(ONE, MyText("liu2022:thm-1"))),
    "a premise that says it holds": parts(Part(ONE, sp.true)),
    "a condition that is no ordering": terms(relaxed=[sp.Ne(T, 1)]),
    "a condition that says it holds": terms(relaxed=[sp.true]),
    "links by their numbers": Certificate(claim="t:false", links={0: []}),  # type: ignore[arg-type]
    "a user-defined measure": Recursion(
        claim="t:false", measure=replace(PAIR, largest_drift=None), factor=ONE, offset=ONE, terms=[], bound=ONE
    ),
    "a letter with no sign": terms(roots=[Root(sp.Symbol("i", imaginary=True), T, [])]),
    "a letter that is a number": terms(roots=[Root(T + 1, T, [])]),
    "a user-defined symbol of a root": terms(roots=[Root(MySymbol("r", positive=True), T, [])]),
    "a user-defined symbol of a length": Certificate(
        claim="t:false",
        links=[
            Products(
                scalars={s: Inner(x, x)},
                facts={"both": CauchySchwarz(MySymbol("s", real=True), s, s)},
                parts=[Product(ONE, ["both"])],
            )
        ],
    ),
    "a user-defined rational": terms(Term(rational(-1, 1), square(x))),
    "a user-defined kind": MyKind(claim="t:false"),
    "a kind with another check": MyContraction(
        claim="t:false", step="t:step", factor=ONE, potential=ONE, offset=ONE, weight=ONE
    ),
    "no certificate": [Term(ONE, square(x))],
    "another kind": HONEST.links[0],
}


def test_the_base_of_kinds_is_no_certificate() -> None:
    """A kind without a check cannot be created."""
    with pytest.raises(TypeError, match="check"):
        Examined(claim="t:false")  # type: ignore[abstract]


@pytest.fixture
def read_as(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return a function that sets the result of reading documents."""
    return lambda made: monkeypatch.setattr(checker, "certificate_in", lambda _claim, _document: made)


@pytest.mark.parametrize("name", ODD)
def test_unlisted_types_are_refused(name: str, read_as: Callable[[Any], None]) -> None:
    """The decoder rejects a part of another type before it is used."""
    with pytest.raises(Rejected):
        decode(ODD[name])
    read_as(ODD[name])
    for claim in (POINTS, RUN):
        assert check_certificate(claim, HONEST).verdict == "broken"


@pytest.mark.parametrize("symbol", [T, x, r, sp.Symbol("T", real=True)])
def test_symbols_of_a_certificate_stand_for_nothing_else(symbol: Any) -> None:
    """A symbol of the claim cannot be declared as a root in a certificate."""
    made: Any = decode(terms(Term(symbol, square(symbol * y)), roots=[Root(symbol, T, [Part(T, facts.ONE)])]))
    (root,), ((term,),) = made.roots, made.links
    assert root.letter != symbol
    assert root.letter.is_positive == symbol.is_positive
    assert (term.coefficient, term.reason.about) == (root.letter, (root.letter * y,))


def test_symbols_of_products_are_their_own() -> None:
    """Symbols of products denote only these products, and Cauchy-Schwarz has no other premises."""
    facts_of = {"s": Nonnegative(s, [Term(ONE, square(x))]), "both": CauchySchwarz(s, r, r)}
    products = Products(scalars={s: Inner(x, x)}, facts=facts_of, parts=[Product(ONE, ["s"])])
    proof = check_certificate(
        POINTS, Certificate(claim="t:false", links=[products], roots=[Root(r, T, [Part(T, facts.ONE)])])
    )
    assert proof.verdict == "broken"
    assert "is not |u|^2 |v|^2" in " ".join(step.text for step in proof.steps)


@pytest.mark.long
def test_listed_types_are_decoded_unchanged() -> None:
    """A correct certificate is accepted, and decoded fields are equal to the recorded ones."""
    assert check_certificate(replace(POINTS, lhs=sp.S.Zero, rhs=norm_sq(x)), HONEST).verdict == "proved"
    for found in certificates().values():
        made = decode(found)
        assert type(made) is type(found)
        assert repr(made) == repr(decode(made))
