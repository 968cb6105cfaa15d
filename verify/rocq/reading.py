"""Translate the formal language of claims and certificates to terms for Rocq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import sympy as sp

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, Value, is_length
from fedtheory.kernel.forms import Form, vector
from fedtheory.language.claim import Claim
from fedtheory.proofs.claim_context import build_context
from verify.rocq.numbers import SignProofs, number
from verify.rocq.places import Place
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Dot, Mean, Multiple, Named, Number, Sum, Term, is_own
from verify.rocq.vocabulary import Vocabulary


@dataclass(frozen=True)
class Same:
    """Equality of a vector's norm with a positive multiple of another norm, by which both are written."""

    name: str
    of: Term
    factor: Expr
    written: Term

    @property
    def fact(self) -> str:
        """Return the name of the fact, for client i if each client has one."""
        return f"({self.name} i Hi)" if is_own(self.of) else self.name


@dataclass
class Lengths:
    """The norms in a proof."""

    claim: Claim
    place: Place
    same: dict[str, Same] = field(default_factory=dict)
    """Equalities of norms that are written by another norm, by the text of the vector."""
    used: set[str] = field(default_factory=set)
    """The names of those that proofs use."""
    _known: list[tuple[Form, Term]] = field(default_factory=list)

    def factor_out(self, expression: Expr, term: Term) -> tuple[Expr, Term]:
        """Return the factor between the norms of two parallel vectors, and the other vector."""
        form = vector(expression, self._context)
        factor, written = next(self._find_multiples(form), (None, None))
        if factor is None or written is None:
            self._known.append((form, term))
            return sp.S.One, term
        name = self.place.text(term)
        if name != self.place.text(written) and name not in self.same:
            self.same[name] = Same(f"same{len(self.same) + 1}", term, factor, written)
        return factor, written

    def rewriting(self, term: Term) -> str:
        """Return a tactic that rewrites the norm of a vector by the fact `known`."""
        found = self.same.get(self.place.text(term))
        if found is None:
            return ""
        self.used.add(found.name)
        return f"rewrite {found.fact} in known; "

    @property
    def _context(self) -> Context:
        """Return the context of the claim."""
        return build_context(self.claim)

    def _find_multiples(self, form: Form) -> Iterator[tuple[Expr, Term]]:
        """Yield the known norms of which a vector is a multiple, with the absolute value of the factor."""
        for other, term in self._known:
            ratios = _divide_forms(form, other)
            if len(ratios) == 1:
                (ratio,) = ratios
                yield (-ratio if ratio.could_extract_minus_sign() else ratio), term


def _divide_forms(form: Form, other: Form) -> set[Expr]:
    """Return the ratios of two vectors' coefficients; empty if they combine different vectors."""
    if form.keys() != other.keys():
        return set()
    return {sp.cancel(form[basis].expression / other[basis].expression) for basis in form}


@dataclass(frozen=True)
class KnownSlack:
    """A non-negative scalar, with a tactic that proves its sign."""

    slack: Expr | Term
    tactic: str


class Reader:
    """Translate the expressions of one claim."""

    def __init__(self, vocabulary: Vocabulary, known: Mapping[str, KnownSlack] | None = None) -> None:
        self.vocabulary = vocabulary
        self.known = known or {}
        """Hypotheses of the theorem as slacks with tactics, by the names of claims."""
        self.files: set[str] = set()
        """The files of the library that proofs need besides those of every step."""
        self.lengths = Lengths(vocabulary.claim, vocabulary.place)
        self.signs: SignProofs | None = None
        """Signs that proofs may use, where there are any."""

    @property
    def _place(self) -> Place:
        """Return the names of the step that the vocabulary uses."""
        return self.vocabulary.place

    def text(self, term: Term) -> str:
        """Return a term as text."""
        return self._place.text(term)

    def write_scalar(self, expression: Expr) -> str:
        """Return a scalar as text."""
        return self.text(self.scalar(expression))

    def write_vector(self, expression: Expr) -> str:
        """Return a vector as text."""
        return self.text(self.vector(expression))

    def number(self, expression: Expr) -> str:
        """Return a number as text."""
        return number(expression, self.vocabulary.numbers)

    def scalar(self, expression: Expr) -> Term:
        """Return a scalar, linear in inner products and objective values."""
        expression = sp.sympify(expression)
        match expression:
            case Expectation():
                return self.scalar(expression.args[0])
            case Average():
                return Mean(self.scalar(expression.args[0]))
            case Inner():
                left, right = expression.args
                return Dot(self.vector(left), self.vector(right))
            case Value():
                objective, point = expression.args
                return self.vocabulary.value(objective, self.vector(point))
            case sp.Pow() if is_length(expression):
                return self.length(expression.base.args[0])
        return self._read_number(expression) or self._combine(expression, self.scalar)

    def _read_number(self, expression: Expr) -> Term | None:
        """Return a number; None for a sum or product with numbers of a client."""
        own = self.vocabulary.scalars
        if expression in own:
            return own[expression]
        is_whole = expression.is_Pow or not expression.free_symbols & own.keys()
        return Number(self.number(expression)) if _is_number(expression) and is_whole else None

    def read_slack(self, known: KnownSlack) -> Term:
        """Return a non-negative scalar as a term."""
        return self.scalar(known.slack) if isinstance(known.slack, sp.Basic) else known.slack

    def length(self, of: Expr, term: Term | None = None) -> Term:
        """Return the norm of a vector in terms of previous norms."""
        factor, written = self.lengths.factor_out(of, self.vector(of) if term is None else term)
        found = Atom(f"length ({self._place.text(written)})%vec", kind="S", own=is_own(written))
        return found if factor == 1 else Multiple(self.number(factor), found)

    def vector(self, expression: Expr) -> Term:
        """Return a vector."""
        expression = sp.sympify(expression)
        match expression:
            case Expectation():
                raise NotExported("the expectation of a vector is not exported")
            case Average():
                return self._prefer_name(Mean(self.vector(expression.args[0])))
            case Gradient():
                objective, point = expression.args
                return self.vocabulary.gradient(objective, self.vector(point))
        if expression.is_Symbol:
            return self.vocabulary.vector(expression)
        return self._combine(expression, self.vector)

    def _prefer_name(self, mean: Mean) -> Term:
        """Return an average under its name in the vocabulary, so that Rocq recognises gradients there, if any."""
        known = self.vocabulary.vectors.values()
        return next((one for one in known if isinstance(one, Named) and one.body == mean), mean)

    def _combine(self, expression: Expr, read: Callable[[Expr], Term]) -> Term:
        """Read a sum or a product; `read` reads the parts that are no numbers."""
        if expression.is_Add:
            return self._sum(expression.args, read)
        if expression.is_Mul:
            numbers = [factor for factor in expression.args if self._is_free_number(factor)]
            inside = [factor for factor in expression.args if factor not in numbers]
            if len(inside) > 1:
                # A number of the client that a theorem concerns is treated like every other number.
                numbers += [factor for factor in inside if factor in self.vocabulary.scalars]
                inside = [factor for factor in inside if factor not in numbers]
            if len(inside) == 1:
                return Multiple(self.number(sp.Mul(*numbers)), read(inside[0])) if numbers else read(inside[0])
        raise NotExported("an expression is not linear in the vectors and values of the library", expression)

    def _is_free_number(self, factor: Expr) -> bool:
        """Return whether a factor is a number that does not depend on the client."""
        known = self.vocabulary.numbers.keys() - self.vocabulary.scalars.keys()
        return _is_number(factor) and factor.free_symbols <= known

    def _sum(self, parts: Iterable[Expr], read: Callable[[Expr], Term]) -> Term:
        """Return the sum of parts, with negative ones last."""
        ordered = sorted(parts, key=lambda part: (_is_negative(part), sp.default_sort_key(part)))
        total = read(ordered[0])
        for part in ordered[1:]:
            total = Sum(total, read(-part), "-") if _is_negative(part) else Sum(total, read(part))
        return total


def _is_number(expression: Expr) -> bool:
    """Return whether an expression has no vectors, objectives or averages."""
    return not expression.atoms(Inner, Value, Gradient, Average, Expectation)


def _is_negative(expression: Expr) -> bool:
    """Return whether the rational coefficient of an expression is negative."""
    return bool(expression.as_coeff_Mul()[0].is_negative)
