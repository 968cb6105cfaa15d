"""Searches for Lyapunov functions of algorithms that are given as definitions.

A claim  Q <= q^T v + r  about the last iterate gives the factor q, the value v at the start and the increase
b = (1 - q) r of a round.  The coefficients of  V = V_0 + sum_j c_j V_j  and the multiples of inequalities are solved
together, so that

    E V' <= q V + b,        Q <= V,        V^0 <= v.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Context, Rejected, Term, assumption, is_nonnegative, is_ordering, scalar, square
from fedtheory.kernel.expressions import Average, Expr, Gradient, ends, norm_sq
from fedtheory.kernel.quotients import ONE, quotient
from fedtheory.kernel.work import Exhausted, limit_work, spend
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.definitions import START, Round, names_of
from fedtheory.proofs.document import document_of, with_quantities
from fedtheory.proofs.lyapunov import Lyapunov, build_start_context
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.blocks import NOTHING, SHARED, Blocks, split_form
from fedtheory.search.candidates import CandidateInequality
from fedtheory.search.certificate_terms import Additions, find_terms_in_context
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.templates import RoundOfClaim, Template, list_templates
from fedtheory.search.workspace import le

_BOUNDED = (q.final_distance_sq, q.final_consensus_distance_sq)
"""Quantities that Lyapunov functions bound."""
_PART = "part of the Lyapunov function"
"""Name by which a sum refers to a part, followed by its place."""
_MOST_WORK = 6 * 10**7
"""Limit on the work for one template."""
_MINUS = quotient(sp.S.NegativeOne)


def search_lyapunov(claim: Claim) -> Found | NotFound:
    """Search for a Lyapunov function of the algorithm of a claim."""
    is_single = claim.place == "run" and claim.rate is None and not claim.for_all and len(claim.relations) == 1
    if not is_single or claim.relations[0].operator not in ("<=", ">=") or len(names_of(claim)) != 1:
        return NotFound("it is no bound for one algorithm with a definition")
    plain = use_plain_symbols(with_quantities(claim, {"quantities": _list_unnamed(claim)}))
    if plain.relations[0].ordered[0] not in [symbols_of(plain)(quantity) for quantity in _BOUNDED]:
        return NotFound("it does not bound the last iterate")
    round_of = RoundOfClaim(plain)
    found = (_certify(claim, round_of, template) for template in list_templates(round_of))
    return next(filter(None, found), NotFound("no sum of squared distances contracts by the factor of the claim"))


def _list_unnamed(claim: Claim) -> list[str]:
    """Return the names of quantities that a round has and the claim does not name: the number of clients."""
    is_needed = a.uniform_shares in claim.assumptions and not symbols_of(claim).has(q.clients)
    return [q.clients.name] if is_needed else []


def _certify(claim: Claim, round_of: RoundOfClaim, template: Template) -> Found | None:
    """Return the proof by a function with unknown coefficients; None if no coefficients are found."""
    certificate = None
    with limit_work(_MOST_WORK) as meter, suppress(Rejected, InputError, Exhausted):
        certificate = _solve(round_of, template)
    spend(meter.spent)
    if certificate is None:
        return None
    unnamed = _list_unnamed(claim)
    document = document_of(round_of.claim, certificate) | ({"quantities": unnamed} if unnamed else {})
    proof = check_certificate(claim, document)
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        return None
    kinds = dict.fromkeys(term.reason.kind.replace("_", " ") for term in certificate.round)
    return Found(proof, ["Lyapunov function", *kinds], [], 0)


def _solve(round_of: RoundOfClaim, template: Template) -> Lyapunov | None:
    """Return a certificate with solved coefficients; None if none are found."""
    joint, known = _JointInequality(round_of, template), round_of.known
    contracts = le(round_of.move(template.known), template.factor * template.known + template.offset)
    found = (find_terms_in_context(known, contracts, joint.context, more) for more in joint.list_additions())
    terms = next((each for each in found if each is not None), None)
    if terms is None:
        return None
    parts = {f"{_PART} {place}": part for place, part in enumerate(template.parts)}
    added = [term.coefficient * parts[name] for term in terms if (name := _find_assumption(term)) in parts]
    function = template.known + sp.Add(*added)
    model = find_terms_in_context(known, le(round_of.measured, function), round_of.round.context)
    begins = le(round_of.begin(function), template.level)
    start = find_terms_in_context(known, begins, build_start_context(round_of.round))
    if model is None or start is None:
        return None
    return Lyapunov(
        claim=known.id,
        function=function,
        factor=template.factor,
        offset=template.offset,
        level=template.level,
        least=_find_least(template.factor, round_of),
        round=[term for term in terms if _find_assumption(term) not in parts and not joint.is_separate(term)],
        model=model,
        start=start,
    )


def _list_noise_squares(one: Round) -> Iterator[CandidateInequality]:
    """Yield the average squared deviation of noises from their average, for averages with unknown weights."""
    for noise in sorted(one.context.noise, key=str):
        term = Term(sp.S.One, square(noise - Average(noise)), averaged=True)
        whole = scalar(term.whole(term.reason.instantiate(one.context)), one.context)
        yield CandidateInequality(term, split_form(whole, one.context))


def _find_assumption(term: Term) -> str:
    """Return the name of the assumption that a term uses; empty for other terms."""
    return str(term.reason.about[0]) if term.reason.kind == "assumption" else ""


def _find_least(factor: Expr, round_of: RoundOfClaim) -> Expr:
    """Return a non-negative lower bound of a factor: zero, its value at a larger symbol, or a side of a condition."""
    known, numbers = round_of.known, round_of.round.context.numbers
    sides = [ends(condition) for condition in known.conditions if is_ordering(condition)]
    larger = [factor.xreplace({small: large}) for small, large in sides if small.is_Symbol and large.is_Symbol]
    bounds = (
        least
        for least in (sp.S.Zero, *larger, *(side for pair in sides for side in pair))
        if all(is_nonnegative(each, numbers, known.conditions) for each in (least, factor - least))
    )
    return next(bounds, sp.S.Zero)


class _JointInequality:
    """The three inequalities of a function, added up.

    The bounded quantity and the start have vectors of their own, so that their squares cancel with no others.
    """

    def __init__(self, round_of: RoundOfClaim, template: Template) -> None:
        self._round_of, self._template = round_of, template
        self._symbols: dict[tuple[bool, Expr], sp.Dummy] = {}
        self._added = self._separate(template.known - round_of.measured, template.level, template.known)
        self._parts = [self._make_part(place, part) for place, part in enumerate(template.parts)]
        self._parts += _list_noise_squares(round_of.round)

    @property
    def context(self) -> Context:
        """The context of a round, with separate vectors."""
        context = self._round_of.round.context
        shared, own = (
            {symbol for (of_client, _), symbol in self._symbols.items() if of_client is is_own}
            for is_own in (False, True)
        )
        return replace(context, vectors=context.vectors | shared, client_vectors=context.client_vectors | own)

    def list_additions(self) -> Iterator[Additions]:
        """Yield the other inequalities, and the parts as candidates whose coefficients are those of the function.

        First no constant may remain, as the constants of a claim are often those of its proof.
        """
        for left_out, evaluations in product((("one",), ()), ((), self._round_of.list_evaluations())):
            yield Additions(self._added, self._parts, evaluations, left_out)

    def is_separate(self, term: Term) -> bool:
        """Return whether a term belongs to the bounded quantity or to the start."""
        symbols = set(self._symbols.values())
        return any(not part.free_symbols.isdisjoint(symbols) for part in term.reason.about if isinstance(part, sp.Expr))

    def _make_part(self, place: int, part: Expr) -> CandidateInequality:
        """Return a part as a candidate: what it adds to the slacks, with the opposite sign."""
        context = self._round_of.round.context
        contracts = split_form(scalar(self._template.factor * part - self._round_of.move(part), context), context)
        whole = contracts.plus(self._separate(part, sp.S.Zero, part), ONE)
        return CandidateInequality(Term(sp.S.One, assumption(f"{_PART} {place}")), NOTHING.plus(whole, _MINUS))

    def _separate(self, square: Expr, level: Expr, value: Expr) -> Blocks:
        """Return a quadratic form, and the number `level` minus a function at the start, with separate vectors."""
        context = self._round_of.round.context
        blocks = split_form(scalar(square, context), context)
        if blocks.rows:
            raise Rejected(f"{square} is no quadratic form")
        matrices = {
            (block, *(self._rename(block.averaged, side) for side in pair)): number
            for (block, *pair), number in blocks.matrices.items()
        }
        # A number is non-negative if it is the coefficient of a square.
        unit, rest = self._rename(False, sp.S.One), quotient(self._measure(level - self._bound_start(value)))
        return Blocks({}, matrices | ({(SHARED, unit, unit): rest} if rest else {}))

    def _measure(self, number: Expr) -> Expr:
        """Return a squared distance in units of the initial one, so that dimensions agree."""
        symbol = symbols_of(self._round_of.claim)
        return sp.cancel(number / symbol(q.initial_distance) ** 2) if symbol.has(q.initial_distance) else number

    def _rename(self, of_client: bool, vector: Expr) -> sp.Dummy:
        """Return the separate symbol for a vector."""
        return self._symbols.setdefault((of_client, vector), sp.Dummy(f"s_{len(self._symbols):03}", real=True))

    def _bound_start(self, value: Expr) -> Expr:
        """Return the value of a function at the initial vectors, in the numbers of the claim."""
        symbol, context = symbols_of(self._round_of.claim), build_start_context(self._round_of.round)
        best = symbol(q.optimum)
        at_optimum = Gradient(symbol(q.client_objective), best)
        rest, total = self._round_of.begin(value), sp.S.Zero
        for quantity, squared in (
            (q.initial_distance, norm_sq(START - best)),
            (q.optimum_gradient, Average(norm_sq(at_optimum))),
        ):
            known, form = scalar(squared, context), scalar(rest, context)
            shared = next((monomial for monomial in known if monomial in form), None)
            if shared is not None and symbol.has(quantity):
                number = sp.cancel(form[shared].expression / known[shared].expression)
                rest, total = rest - number * squared, total + number * symbol(quantity) ** 2
        if scalar(rest, context):
            raise Rejected("the start of a function is no sum of distances that the claim names")
        return total
