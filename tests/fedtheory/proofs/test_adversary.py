"""Invalid proofs that earlier versions accepted, and forgeries: each is rejected, and its claim fails on a run."""

from __future__ import annotations

from collections import UserList, deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sympy as sp
from attempts import Attempt, attempt, sums, terms

from fedtheory.kernel import Inequality, InequalityRef, Term, assumption, lipschitz, one, square
from fedtheory.kernel.expressions import Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, Proof, Recursion, check_certificate, facts, prove
from fedtheory.proofs import distances as d
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.links import Nonnegative, Product, Products
from fedtheory.proofs.roots import Root

eta, L, M, T, tau, rho = sp.symbols("eta L M T tau rho", positive=True)
sigma, gap, spread = sp.symbols("sigma g D", nonnegative=True)
E_i = sp.Symbol("E_i", positive=True, integer=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
x, y, F, s, drift = sp.symbols("x y F s d", real=True)
r = sp.Symbol("r", positive=True)
ONE = sp.S.One
AT_X = {"where": {x: q.point, M: q.clients, T: q.rounds, tau: q.local_steps}, "place": "points"}
ONE_CLIENT = {"hessians": [[["1"]]], "linear": [["1"]], "start": ["3"]}
FLAT = {"hessians": [[["0"]], [["0"]]], "linear": [["0"], ["0"]]}
AT_REST = {"hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]}
NOISY = {"hessians": [[["1"]], [["1"]]], "linear": [["0"], ["0"]], "start": ["0"], "noise": "100"}


def imaginary_drift() -> Attempt:
    """Return an attempt with an imaginary multiple of a difference of iterates as the step of a recursion."""
    moved = (d.x_i - eta * (d.SLOPE_I + d.n_i)) - (d.x_j - eta * (d.SLOPE_J + d.n_j))
    parts = {"measure": d.PAIR, "factor": sp.S.Zero, "offset": sp.S.Zero, "bound": sp.S.Zero}
    where = {drift: q.max_drift, eta: q.local_step_size, tau: q.local_steps, M: q.clients}
    made = (a.same_local_work, a.full_participation, a.uniform_shares, a.full_gradients)
    step = {"terms": [Term(ONE, square(sp.I * moved))]}
    return attempt(Recursion, {**parts, **step}, "I has no notation", lhs=drift, rhs=0, where=where, assumptions=made)


POLE = (r**2 - T) / (r**4 - T**2)
ROOT = [Root(r, T, [Part(T, facts.ONE)])]
BY_ZERO = Products(
    scalars={s: norm_sq(x)},
    facts={
        "s": Nonnegative(s, [Term(ONE, square(x))]),
        "zero": Nonnegative(M - 1, [Term(M - 1, one())]),
    },
    divided_by=["zero"],
    parts=[Product(1 - M, ["s"])],
)
BY_X = {"lhs": norm_sq(x), "rhs": 0, **AT_X}
ALONE = {"conditions": [M <= 1], "problem": ONE_CLIENT}
SHARES = {"where": {k: q.local_step_index, E_i: q.client_local_steps, x: q.point}, "algorithm": {"local_steps": [1, 3]}}
AT_BOTH = {"where": {x: q.point, y: q.second_point, F: q.client_objective, rho: q.lipschitz}, "place": "points"}
STEEP = {**AT_BOTH, "assumptions": (a.full_gradients, a.convex_and_smooth, a.lipschitz_losses)}


def far_away(point: Any) -> Attempt:
    """Return an attempt with a Lipschitz constant at points that no run reaches."""
    sides = {"lhs": Value(F, point) - Value(F, y), "rhs": rho * sp.sqrt(norm_sq(point - y))}
    return terms({"links": [[Term(ONE, lipschitz(F, point, y))]]}, "may lie where the constant", **sides, **STEEP)


def symbol_of_a_root() -> Attempt:
    """Return an attempt in which a lemma's deviation of the noise is the root of the number of clients."""
    lemma = find("renard2022:lemma-2.2.proof.variance")
    by = {quantity.name: symbol for symbol, quantity in lemma.where.items()}
    deviation, clients = by["noise_deviation"], by["clients"]
    where = {symbol: quantity for symbol, quantity in lemma.where.items() if symbol != deviation}
    rhs = sp.expand(lemma.rhs).subs(deviation, sp.sqrt(clients))
    claim = replace(lemma, id="t:false", rhs=rhs, where=where, verdict=None)
    parts = {"links": [[Term(ONE, assumption(f"{lemma.id}, relation 1"))]], "lemmas": [lemma.id]}
    roots = [Root(deviation, clients, [Part(clients, facts.ONE)])]
    short = {"rounds": 1, "local_steps": 1}
    return Attempt(
        claim, Certificate(claim=claim.id, roots=roots, **parts), "not a number that the claim defines", NOISY, short
    )


def quiet(number: Any, because: str, rhs: Any = ONE) -> Attempt:
    """Return an attempt with a product of zero and a possibly infinite number."""
    where = {sigma: q.noise_deviation}
    parts = {"links": [[Part(-rhs * number, facts.QUIET)]]}
    return sums(parts, because, lhs=rhs, rhs=0, where=where, assumptions=(a.full_gradients,))


t = sp.Symbol("t", positive=True)
HIDDEN: dict[str, Any] = {
    "a maximum": sp.Max(1 / sigma, 0),
    "an integral": sp.Integral(1 / (2 * sp.sqrt(t)), (t, 0, 1 / sigma**2)),
    "an integral of one": sp.Integral(ONE, (t, 0, 1 / sigma)),
    "a substitution": sp.Subs(1 / t, t, sigma),
    "cases": sp.Piecewise((1 / sigma, sigma > 0), (1 / sigma, True), evaluate=False),
    "a derivative": sp.Derivative(sp.log(sigma), sigma),
}
FLAT_LIMIT = sp.Le(L, 0, evaluate=False)
ATTEMPTS: dict[str, Callable[[], Attempt]] = {
    "an imaginary vector": lambda: terms({"links": [[Term(ONE, square(sp.I * x))]]}, "I has no notation", **BY_X),
    "an imaginary step": imaginary_drift,
    "infinite for one client": lambda: terms(
        {"links": [[Term((1 - M) * (M - 1), square(x / (M - 1)))]]}, "(M - 1) may be zero", **BY_X, **ALONE
    ),
    "the root of what is negative": lambda: terms(
        {"links": [[Term(ONE, square(sp.sqrt(1 - tau) * x))]]},
        "a root of what may be negative",
        **{**BY_X, "lhs": (tau - 1) * norm_sq(x)},
    ),
    "a root with a pole": lambda: sums(
        {"links": [[Part(POLE, facts.ONE)]], "roots": ROOT}, "may be zero", lhs=1, rhs=0, where={T: q.rounds}
    ),
    "a root with a pole, of two": lambda: sums(
        {"links": [[Part(POLE, facts.ONE)]], "roots": ROOT}, "may be zero", lhs=2, rhs=1, where={T: q.rounds}
    ),
    "a root with a pole, of a vector": lambda: terms(
        {"links": [[Term(POLE, square(x))]], "roots": ROOT}, "may be zero", **BY_X
    ),
    "products divided by zero": lambda: terms(
        {"links": [BY_ZERO]}, "the relation does not divide by zero", **BY_X, **ALONE
    ),
    "far away": lambda: far_away(100 * x),
    "beyond both points": lambda: far_away(3 * x - 2 * y),
    "the letter of a root": symbol_of_a_root,
    "flat objectives": lambda: sums(
        {"links": [[Part(1 / L, FLAT_LIMIT)]]},
        "(L) may be zero",
        FLAT,
        lhs=1,
        rhs=0,
        where={L: q.smoothness},
        conditions=[FLAT_LIMIT],
        assumptions=(a.smooth,),
    ),
    "an equation for less": lambda: terms(
        {"links": [BothWays([], [])]}, "proves an equation", **{**BY_X, "relation": "<", "rhs": norm_sq(x)}
    ),
    "steps of a run": lambda: sums(
        {"links": [[Part(ONE, k + 1 <= E_i)]]}, "the condition", lhs=k + 1, rhs=E_i, **SHARES
    ),
    "steps at a point": lambda: terms(
        {"links": [[Term(E_i - k - 1, one())]]}, ">= 0", lhs=k + 1, rhs=E_i, **SHARES, place="points"
    ),
    "without noise, an absolute value": lambda: quiet(sp.Abs(1 / sigma), "(sigma) may be zero"),
    **{f"without noise, {name}": partial(quiet, number, "has no n") for name, number in HIDDEN.items()},
    **{f"an irrational, {name}": partial(quiet, n, "has no n", sp.sqrt(2)) for name, n in HIDDEN.items()},
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_false_claims_are_refused(name: str) -> None:
    """The certificate is rejected for the expected reason, and the claim fails on the run."""
    tried = ATTEMPTS[name]()
    assert_refused(tried.claim, tried.certificate, tried.because)
    assert tried.fails


def assert_refused(claim: Claim, certificate: Any, because: str = "", **prover: Any) -> Proof:
    """Assert that a certificate is rejected, in one line with the reason."""
    proof = check_certificate(claim, certificate, **prover)
    failing = [step.text for step in proof.steps if not step.holds]
    assert proof.verdict == "broken"
    assert any(because in text for text in failing), failing
    assert all("\n" not in text for text in failing)
    return proof


def test_premises_without_their_condition_are_broken() -> None:
    """A premise that falsely drops the condition 1/g >= 0 is broken, and so are claims that use it."""
    where = {gap: q.initial_gap, spread: q.gradient_dissimilarity, sigma: q.noise_deviation}
    scaled = gap * spread <= gap * sigma
    finite = sp.Ge(1 / gap, 0, evaluate=False)
    premise = Claim(id="t:premise", lhs=spread, rhs=sigma, where=where, conditions=[scaled, finite])
    sum_of = Combination(claim=premise.id, links=[[Part(1 / gap, scaled)]], relaxed=[scaled])
    proof = assert_refused(premise, sum_of, "(g) may be zero")
    use = {"links": [[Part(ONE, premise.id)]]}
    tried = sums(use, "is proved", AT_REST, lhs=spread, rhs=sigma, where=where, conditions=[scaled])
    assert_refused(tried.claim, tried.certificate, "t:premise is proved", prover=lambda _id: proof)
    assert tried.fails


def test_a_lemma_says_nothing_where_another_of_its_relations_divides_by_zero() -> None:
    """A lemma with a relation that divides by M - 1 proves nothing for one client, also by its other relation."""
    shrunk = norm_sq(x) / (M - 1) ** 2
    both = (Relation(shrunk, "<=", 2 * shrunk), Relation(norm_sq(x), "<=", sp.S.Zero))
    alone = {**AT_X, "conditions": [M <= 1]}
    lemma = Claim(id="t:lemma", also=both, **alone)
    vanishing = Term((1 - M) * (M - 1), square(x / (M - 1)))
    proof = check_certificate(lemma, Certificate(claim=lemma.id, links=[[Term(ONE, square(x / (M - 1)))], [vanishing]]))
    assert proof.verdict == "proved"
    used = {"links": [[Term(ONE, assumption("t:lemma, relation 2"))]], "lemmas": ["t:lemma"]}
    tried = terms(used, "(M - 1) may be zero", ONE_CLIENT, lhs=norm_sq(x), rhs=0, **alone)
    assert_refused(tried.claim, tried.certificate, tried.because, prover=lambda _id: proof)
    assert tried.fails
    # If the claim divides by M - 1 as well, or has several clients, the lemma may be used.
    several = replace(tried.claim, conditions=[M <= 1, M >= 2])
    assert check_certificate(several, tried.certificate, lambda _id: proof).verdict == "proved"


def test_claims_that_rely_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that use each other in a circle are not proved, nor are claims that use them."""
    names = [f"t:circle-{n}" for n in range(4)]
    claims = {name: Claim(id=name, lhs=T, rhs=0, where={T: q.rounds}) for name in names}
    first, other, above, alone = names
    relies = {above: first, first: other, other: first, alone: alone}
    found = {name: Combination(claim=name, links=[[Part(ONE, on)]]) for name, on in relies.items()}
    monkeypatch.setattr("fedtheory.proofs.checker.recorded_for", found.get)
    monkeypatch.setattr("fedtheory.proofs.checker.find", claims.__getitem__)
    for claim in claims.values():
        proof = prove(claim)
        assert proof.verdict == "broken"
        assert any("is proved" in step.text for step in proof.steps if not step.holds)


# Forgeries that no document can contain.


class OwnDerived(Derived):
    """A derivation from a claim, of a class that the prover does not know."""

    def slack(self, _symbol: Any, _slack: Any) -> Any:
        """Return minus one as a non-negative number."""
        return -ONE


class OwnReason(InequalityRef):
    """A user-defined inequality without proof."""

    def instantiate(self, _context: Any) -> Inequality:
        """Return minus one as a non-negative number."""
        return Inequality("mine", -ONE)


class OwnTerm(Term):
    """A term with another content than declared."""

    def whole(self, _reason: Inequality) -> Any:
        """Return the slack of the claim."""
        return -norm_sq(x)


NEGATIVE: dict[str, tuple[Any, str]] = {
    "an unknown kind": (Term(ONE, InequalityRef("luck", (x,))), "no inequality called 'luck'"),
    "a user-defined kind": (Term(ONE, OwnReason("one")), "expected a reason of the kernel"),
    "a lambda": (Term(ONE, lambda _context: Inequality("mine", -ONE)), "expected a reason of the kernel"),
    "what a reason says": (Term(ONE, Inequality("mine", -ONE)), "expected a reason of the kernel"),
    "a user-defined term": (OwnTerm(ONE, square(x)), "expected Term"),
    "an assumption nobody makes": (Term(ONE, assumption("luck")), "does not assume 'luck'"),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_reasons_of_ones_own(name: str) -> None:
    """User-defined inequalities cannot be in a document, or are read as the inequality of their name."""
    term, because = NEGATIVE[name]
    claim = Claim(id="t:false", **BY_X)
    assert_refused(claim, Certificate(claim=claim.id, links=[[term]]), because)


class OwnFact(facts.Fact):
    """A fact with another slack."""


def test_facts_and_what_follows_of_ones_own() -> None:
    """A fact must be the known object, not one with its name; derivations must be of known kinds."""
    claim = Claim(id="t:false", lhs=1, rhs=0)
    forged = (
        facts.Fact("1 >= 0", -ONE),
        facts.Fact(facts.ONE.name, facts.ONE.number),
        OwnFact("1 >= 0", facts.ONE.number),
    )
    for fact in forged:
        assert_refused(claim, Combination(claim=claim.id, links=[[Part(ONE, fact)]]), "expected one of one, ")
    derived = OwnDerived("liu2022:thm-1")
    assert_refused(claim, Combination(claim=claim.id, links=[[Part(ONE, derived)]]), "OwnDerived has no place")
    assert_refused(claim, Combination(claim=claim.id, links=[[]], known=[derived]), "OwnDerived has no place")


def test_a_measure_of_ones_own() -> None:
    """Recursions accept only the known measures, not copies of them."""
    claim = find("renard2022:lemma-2.3.quiet")
    recursion = Recursion(claim=claim.id, measure=replace(d.PAIR), factor=ONE, offset=sp.S.Zero, bound=ONE, terms=[])
    assert_refused(claim, recursion, "expected one of pair, spread, displacement")


NONE: dict[str, Any] = {
    "an imaginary number": sp.I,
    "infinity": sp.oo,
    "minus infinity": -sp.oo,
    "complex infinity": sp.zoo,
    "nothing": sp.nan,
    "a float": sp.Float("0.5"),
    "pi": sp.pi,
    "the root of a negative number": sp.sqrt(-eta),
    "cases": sp.Piecewise((eta, eta > 1), (ONE, True)),
    "an integral": sp.Integral(eta, (t, 0, 1)),
    "a sum": sp.Sum(eta * t, (t, 1, 2)),
    "a function": sp.Function("f")(eta),
    "a maximum": sp.Max(eta, 1),
    "a minimum": sp.Min(eta, 1),
    "a remainder": sp.Mod(eta, 2),
    "a logarithm": sp.log(eta),
    "a cosine": sp.cos(eta),
    "a sign": sp.sign(sigma - eta),
    "a whole part": sp.floor(eta),
    "a factorial": sp.factorial(eta),
    "a step": sp.Heaviside(sigma - eta),
    "an absolute value": sp.Abs(sigma - eta),
    "an unknown letter": sp.Symbol("unknown", positive=True),
    "a letter of another sign": sp.Symbol("eta", negative=True),
    "a product of matrices": sp.MatrixSymbol("A", 1, 1)[0, 0],
}


@pytest.mark.parametrize("name", NONE)
def test_numbers_that_are_none(name: str) -> None:
    """Coefficients, vectors, conditions and sides may contain only symbols and rationals."""
    number, where = NONE[name], {x: q.point, eta: q.local_step_size, sigma: q.noise_deviation}
    given: dict[str, Any] = {"id": "t:none", "where": where, "place": "points"}
    claim = Claim(**given, lhs=norm_sq(x), rhs=2 * norm_sq(x))
    honest = [Term(ONE, square(x))]
    assert check_certificate(claim, Certificate(claim=claim.id, links=[honest])).verdict == "proved"
    vectors = (
        [] if number.is_Number else [[Term(ONE, square(number * x))], [*honest, Term(ONE, square(x + number * x))]]
    )
    for link in ([Term(number, square(x))], [*honest, Term(number, one())], *vectors):
        assert_refused(claim, Certificate(claim=claim.id, links=[link]))
    own_root = [Root(r, number, [Part(number, facts.ONE)])]
    assert_refused(claim, Certificate(claim=claim.id, links=[honest], roots=own_root))
    scaled = Claim(**given, lhs=number * norm_sq(x), rhs=number * norm_sq(x))
    assert_refused(scaled, Certificate(claim=claim.id, links=[[]]))
    if number.is_comparable is not False and number.is_extended_real is not False:
        bound = sp.Le(eta, number, evaluate=False)
        assert_refused(claim, Certificate(claim=claim.id, links=[honest], relaxed=[bound]))


def stranger(**certificate: Any) -> dict[str, Any]:
    """Return a document by its parts, as from an untrusted author."""
    about = {"claim": "t:false", **certificate}
    return {"format": "fedtheory certificate", "version": 1, "letters": {}, "certificate": about}


@pytest.mark.parametrize(("symbol", "bound"), [("2", 2), ("2*clients", 2 * M), ("clients", M), ("point", ONE)])
def test_symbols_of_products_are_symbols(symbol: str, bound: Any) -> None:
    """A symbol for |x|^2 that is named 2 is not the number 2."""
    link = {"kind": "products", "scalars": {symbol: "inner(point, point)"}, "facts": {}, "parts": []}
    document = stranger(kind="identities", links=[link])
    tried = terms({"links": [[]]}, "", {"start": ["30"]}, **{**BY_X, "rhs": bound})
    assert_refused(tried.claim, document, "a symbol that the document declares")
    assert tried.fails


@pytest.mark.parametrize("symbol", ["local_step_size*local_steps", "2*rounds", "rounds", "1"])
def test_symbols_of_roots_are_symbols(symbol: str) -> None:
    """A symbol for eta tau that names the root of T would prove eta^2 tau = T; used names and expressions are
    rejected.
    """
    parts = [{"kind": "part", "coefficient": "rounds", "premise": {"fact": "one"}}]
    root = {"kind": "root", "letter": symbol, "of": "rounds", "parts": parts}
    document = stranger(kind="combination", links=[[]], roots=[root])
    where, factor = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds}, eta * tau * (tau - 11)
    sides = {"lhs": sp.expand(factor * eta**2), "relation": "==", "rhs": sp.expand(factor * T)}
    tried = sums({"links": [[]]}, "", where=where, **sides)
    assert_refused(tried.claim, document, "a symbol that the document declares")
    assert tried.fails


class TwoNames(str):
    """A text with one value at the first lookup, and another one later."""

    asked = 0

    def __hash__(self) -> int:
        TwoNames.asked += 1
        return hash("divisor" if TwoNames.asked < 3 else "zero")

    def __eq__(self, other: object) -> bool:
        return other == ("divisor" if TwoNames.asked < 3 else "zero")


@pytest.mark.parametrize("before", range(-6, 3))
def test_names_do_not_change(before: int) -> None:
    """A name that changes between lookups cannot exchange the facts of a proof."""
    TwoNames.asked = before
    shown = {
        "divisor": Nonnegative(M, [Term(M, one())]),
        "s": BY_ZERO.facts["s"],
        "zero": BY_ZERO.facts["zero"],
    }
    why = replace(BY_ZERO, facts=shown, divided_by=[TwoNames("zero")], parts=[Product((1 - M) / M, ["s"])])
    tried = terms({"links": [why]}, "", **{**BY_X, "lhs": norm_sq(x) / M}, **ALONE)
    assert_refused(tried.claim, tried.certificate)
    assert tried.fails


def test_a_claim_does_not_change_after_its_proof() -> None:
    """Lists and dictionaries that an author changes later change no claim, of which proofs and numbers are cached."""
    M, c = sp.symbols("M c", positive=True)
    where, assumptions, values, further = {M: q.clients}, [a.several_clients], [ONE], [Relation(ONE, "<=", c + 1)]
    stated: dict[str, Any] = {"where": where, "assumptions": assumptions, "for_all": {c: values}, "also": further}
    claim = Claim(id="t:kept", chain=[ONE, "<=", M - 1, "<=", M], place="points", **stated)
    certificate = Certificate(claim=claim.id, links=[[Term(M - 2, one())], [Term(ONE, one())], [Term(c, one())]])
    assert check_certificate(claim, certificate).verdict == "proved"
    assumptions.clear()
    values.append(-ONE)
    further.clear()
    where[M] = q.local_step_size
    assert (claim.where, claim.assumptions, claim.for_all) == ({M: q.clients}, (a.several_clients,), {c: (ONE,)})
    assert len(claim.relations) == 3
    with pytest.raises(TypeError, match="does not support item assignment"):
        claim.where[M] = q.local_step_size  # type: ignore[index]
    with pytest.raises(AttributeError):
        claim.assumptions.clear()  # type: ignore[attr-defined]
    # The changed lists state a claim that is false, and that the same certificate does not prove.
    changed = replace(claim, assumptions=assumptions)
    assert check_certificate(changed, certificate).verdict == "broken"


@pytest.mark.parametrize("kind", [UserList, deque])
def test_other_sequences_of_a_claim_do_not_change_either(kind: Callable[..., Any]) -> None:
    """A claim copies every kind of sequence, not only lists, also the values of symbols under a quantifier."""
    M, c = sp.symbols("M c", positive=True)
    assumptions, values = kind([a.several_clients]), kind([ONE])
    stated: dict[str, Any] = {"assumptions": assumptions, "for_all": {c: values}, "where": {M: q.clients}}
    claim = Claim(id="t:kept", chain=kind([ONE, "<=", M - 1, "<=", M]), place="points", **stated)
    certificate = Certificate(claim=claim.id, links=[[Term(M - 2, one())], [Term(ONE, one())]])
    assert check_certificate(claim, certificate).verdict == "proved"
    assumptions.clear()
    values.append(-ONE)
    assert (claim.assumptions, claim.for_all, claim.chain[-1]) == ((a.several_clients,), {c: (ONE,)}, M)
    assert check_certificate(replace(claim, assumptions=assumptions), certificate).verdict == "broken"


def test_a_copy_of_a_claim_is_the_claim() -> None:
    """A claim never changes, so that deep copies of what contains it share it."""
    claim = find("renard2022:thm-2.1")
    assert deepcopy([claim]) == [claim]
