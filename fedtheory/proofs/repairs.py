"""Finds what repairs a broken sum: another coefficient, a missing square, another point, or a missing condition.

Each repair is checked by the kernel before it is suggested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import sympy as sp

from fedtheory.kernel import (
    Context,
    Form,
    InequalityRef,
    Numbers,
    Term,
    difference,
    remainder,
    scalar,
    square,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, LocalSum, Value, parts_of
from fedtheory.kernel.inequalities import subjects
from fedtheory.kernel.notation import shorten
from fedtheory.kernel.quadratic_forms import collect_squares
from fedtheory.kernel.signs import is_nonnegative
from fedtheory.kernel.work import limit_work
from fedtheory.language.claim import Claim
from fedtheory.proofs.certificate import Certificate, build_known_context
from fedtheory.proofs.checker import MOST_WORK, REFUSALS, check_certificate
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.proof import Proof

_MOST_TERMS = 24
_MOST_POINTS = 12
"""Largest number of other points that are tried in one term."""
_POINTS = ("at", "around")
Repair = tuple[str, Certificate]
"""A description of a change, and the changed certificate."""


def find_repair(proof: Proof) -> str | None:
    """Return the description of a repair of a broken sum of terms; None if none is found.

    All repairs together take at most a quarter of the limit of a check.
    """
    certificate = proof.certificate
    is_tried = isinstance(certificate, Certificate) and proof.own_work <= MOST_WORK // 100
    if proof.verdict != "broken" or not is_tried:
        return None
    with limit_work(MOST_WORK // 4):
        try:
            for link, terms in enumerate(certificate.links):
                if isinstance(terms, list | tuple) and len(terms) <= _MOST_TERMS:
                    found = _find_in_sum(_Sum(proof.claim, certificate, link, tuple(terms)))
                    if found is not None:
                        return found
        except REFUSALS:
            return None
    return None


@dataclass(frozen=True)
class _Sum:
    """The terms of one relation of a claim."""

    claim: Claim
    certificate: Certificate
    link: int
    terms: tuple[Term, ...]

    def with_terms(self, terms: Sequence[Term]) -> Certificate:
        """Return the certificate with other terms for the relation."""
        links = [*self.certificate.links]
        links[self.link] = list(terms)
        return replace(self.certificate, links=links)

    def with_term(self, place: int, term: Term) -> Certificate:
        """Return the certificate with another term at one place."""
        return self.with_terms([*self.terms[:place], term, *self.terms[place + 1 :]])

    def context(self) -> Context:
        """Return the context of the relation, without slacks of other claims."""
        return build_known_context(self.claim, self.claim.relations[self.link], self.certificate.roots, ())


def _find_in_sum(one: _Sum) -> str | None:
    """Return the first repair of a sum that the kernel accepts, else what is known of what is left over."""
    for words, changed in _list_repairs(one):
        if check_certificate(one.claim, changed).verdict == "proved":
            return words
    condition = _find_condition(one)
    return _describe_missing_square(one) if condition is None else condition


def _list_repairs(one: _Sum) -> Iterator[Repair]:
    """Yield changed certificates, the most specific change first."""
    yield from _change_coefficients(one)
    yield from _add_squares(one)
    yield from _change_squares(one)
    yield from _change_points(one)


def _normalise(term: Term, context: Context) -> Form:
    """Return the normal form of a term."""
    return scalar(term.whole(term.reason.instantiate(context)), context)


def _subtract_terms(one: _Sum, context: Context) -> dict[Expr, Expr]:
    """Return the coefficients of the slack minus the terms."""
    left = scalar(write_out(one.claim, one.claim.relations[one.link]).slack, context)
    for term in one.terms:
        left = difference(left, _normalise(term, context))
    return {monomial: number.expression for monomial, number in remainder(left, context.numbers).items()}


def _change_coefficients(one: _Sum) -> Iterator[Repair]:
    """Yield certificates in which the coefficient of a term takes up all that is left over."""
    context = one.context()
    left = _subtract_terms(one, context)
    for place, term in enumerate(one.terms):
        unit = remainder(_normalise(replace(term, coefficient=sp.S.One), context), context.numbers)
        share = _divide_forms(left, {monomial: number.expression for monomial, number in unit.items()})
        if share is not None:
            new = _factorise(term.coefficient + share)
            words = f"the coefficient {shorten(new)} in term {place + 1} ({term.reason.kind})"
            yield words, one.with_term(place, replace(term, coefficient=new))


def _factorise(number: Expr) -> Expr:
    """Return a number as a product, without a minus sign in front of a factor that is a difference."""
    factors = sp.factor(number)
    if not factors.could_extract_minus_sign():
        return factors
    turned = next((factor for factor in sp.Mul.make_args(factors) if factor.is_Add), None)
    return factors if turned is None else sp.Mul(-factors / turned, sp.expand(-turned))


def _divide_forms(form: dict[Expr, Expr], unit: dict[Expr, Expr]) -> Expr | None:
    """Return the number by which one form is a multiple of another; None if it is none."""
    if not form or form.keys() != unit.keys():
        return None
    ratios = [sp.cancel(form[monomial] / unit[monomial]) for monomial in form]
    return ratios[0] if all(sp.cancel(ratio - ratios[0]) == 0 for ratio in ratios) else None


def _add_squares(one: _Sum) -> Iterator[Repair]:
    """Yield the certificate with the squares that are left over, if these are all."""
    added = _collect_left_over(one)
    words = " and ".join(map(_write_term, added))
    if added:
        count = "one more term" if len(added) == 1 else "more terms"
        yield f"{count}, {words}", one.with_terms([*one.terms, *added])


def _change_squares(one: _Sum) -> Iterator[Repair]:
    """Yield certificates with another square in place of one, if it is all that is left over without this one."""
    for place, term in enumerate(one.terms):
        if term.reason.kind == "square":
            rest = [*one.terms[:place], *one.terms[place + 1 :]]
            added = _collect_left_over(replace(one, terms=tuple(rest)))
            if len(added) == 1:
                yield f"{_write_term(added[0])} in place of term {place + 1} (square)", one.with_term(place, added[0])


def _collect_left_over(one: _Sum) -> list[Term]:
    """Return the squares whose sum is left over; empty if it is no sum of squares that terms can state."""
    squares = collect_squares(_subtract_terms(one, one.context()))
    if not squares or any(kind not in (Average, LocalSum) and kind.__name__ != "Inner" for *_, kind in squares):
        return []
    return [
        Term(_factorise(weight), square(vector), averaged=kind is Average, summed=kind is LocalSum)
        for weight, vector, kind in squares
    ]


def _write_term(term: Term) -> str:
    """Return a square as it is written in Python."""
    about = "".join(f", {name}=True" for name in ("averaged", "summed") if getattr(term, name))
    return f"Term({term.coefficient}, square({term.reason.about[0]}){about})"


def _describe_missing_square(one: _Sum) -> str | None:
    """Say that a term is missing, if what is left over is a sum of squares with non-negative weights."""
    context = one.context()
    squares = collect_squares(_subtract_terms(one, context))
    conditions = one.claim.conditions
    if squares and all(_is_nonnegative(weight, context.numbers, conditions) for weight, *_ in squares):
        return "one more term, as what is left over is a square with a coefficient that is not negative"
    return None


def _is_nonnegative(weight: Expr, numbers: Numbers, conditions: Sequence[Expr]) -> bool:
    """Return whether a weight is not negative; the number of clients may have no symbol in the claim."""
    clients = {dummy: sp.Dummy(dummy.name, positive=True) for dummy in weight.atoms(sp.Dummy)}
    return bool(weight.xreplace(clients).is_nonnegative) or is_nonnegative(numbers.known(weight), numbers, conditions)


def _change_points(one: _Sum) -> Iterator[Repair]:
    """Yield certificates in which one term is about another point of the statement."""
    relation = one.claim.relations[one.link]
    gradients = {part for side in relation.sides for part in parts_of(side, Value, Gradient)}
    points = sorted({part.args[1] for part in gradients}, key=sp.default_sort_key)
    for place, term in enumerate(one.terms):
        names = [subject.name for subject in subjects(term.reason.kind)]
        if not set(_POINTS) <= set(names):
            continue
        for name in _POINTS:
            for point in islice(points, _MOST_POINTS):
                about = list(term.reason.about)
                about[names.index(name)] = point
                words = f"{name}={point} in term {place + 1} ({term.reason.kind})"
                changed = InequalityRef(term.reason.kind, tuple(about))
                yield words, one.with_term(place, replace(term, reason=changed))


def _find_condition(one: _Sum) -> str | None:
    """Return the condition under which a certificate with a coefficient of unknown sign is accepted."""
    numbers = one.context().numbers
    for term in one.terms:
        coefficient = sp.factor(term.coefficient)
        if is_nonnegative(numbers.known(coefficient), numbers, one.claim.conditions):
            continue
        open_factors = [
            factor
            for factor in sp.Mul.make_args(coefficient)
            if not is_nonnegative(factor, numbers, one.claim.conditions)
        ]
        needed = _order(sp.Mul(*open_factors))
        changed = replace(one.claim, conditions=[*one.claim.conditions, needed])
        if check_certificate(changed, one.certificate).verdict == "proved":
            return f"the condition {shorten(needed)} in the claim, so that no coefficient is negative"
    return None


def _order(number: Expr) -> Expr:
    """Return the condition that a number is not negative, with its negative terms on the left."""
    terms = sp.Add.make_args(sp.expand(number))
    subtracted = sp.Add(*(-term for term in terms if term.could_extract_minus_sign()))
    return sp.Le(subtracted, sp.Add(*(term for term in terms if not term.could_extract_minus_sign())))
