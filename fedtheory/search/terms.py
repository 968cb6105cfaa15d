"""Terms of one step: named inequalities and squares that add up to the slack of a statement.

At a few points of the conditions a semidefinite program says which inequalities are needed.  Their coefficients are
solved again over the rational functions of the numbers: values have to cancel, and where a vector has no square, so
have its inner products.  What is still free takes the simplest monomial between its bounds at all points.  The rest is
a sum of squares by elimination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import sympy as sp

from fedtheory.kernel import Context, InequalityRef, Term, one, scalar
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.quotients import ZERO
from fedtheory.kernel.work import spend
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Place, Relation
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.certificate import BothWays, build_link_context, write_out
from fedtheory.proofs.document import document_of, with_quantities
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import paper_step_conditions
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.blocks import Blocks, split_form, squares_of
from fedtheory.search.candidates import CandidateInequality, find_candidates, squares_as_written, weighted_squares
from fedtheory.search.conic import least_support, programs_at
from fedtheory.search.dimensions import Dimensions
from fedtheory.search.exact import Candidates, System, solve_exactly, units_of
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.positivity import SignFacts
from fedtheory.search.premises import supposable
from fedtheory.search.samples import draw_edges, draw_generic

Link = list[Term] | BothWays
_MOST_CANDIDATES = 120
_SAMPLES = 5
_SPARE = 8
"""Samples beyond the number of factors, at which products of powers are recognised."""
_ATTEMPTS = 4
"""Supports that are tried: which candidates are left out first differs."""


def search_terms(claim: Claim) -> Found | NotFound:
    """A certificate for a statement about points or a local step: as it stands first, then with what it may mean."""
    found: Found | NotFound = NotFound("no relation to show")
    for missing in ((), *((each,) for each in supposable(claim))):
        found = _search(claim, missing)
        if isinstance(found, Found):
            return found
    return found


def _search(claim: Claim, missing: Sequence[Assumption]) -> Found | NotFound:
    supposing = replace(claim, assumptions=(*claim.assumptions, *missing)) if missing else claim
    own = {quantity.name for quantity in {**claim.where, **claim.notation}.values()}
    unnamed = _UNNAMED_AT.get(claim.place, _UNNAMED)
    added = [quantity.name for quantity in unnamed if quantity.name not in own]
    plain = use_plain_symbols(with_quantities(supposing, {"quantities": added}))
    links: list[Link] = []
    for relation in plain.relations:
        link = find_link(plain, relation)
        if link is None:
            return NotFound("no sum of named inequalities and squares shows it")
        links.append(link)
    certificate = Certificate(claim=plain.id, links=links)
    document = document_of(plain, certificate)
    terms = [term for link in links for term in _terms_of(link)]
    symbols = {symbol for term in terms for symbol in _symbols_in(term)}
    named = [quantity.name for symbol, quantity in plain.where.items() if quantity.name in added and symbol in symbols]
    proof = check_certificate(supposing, document | ({"quantities": named} if named else {}))
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        failing = next((step.text for step in proof.steps if not step.holds), "")
        return NotFound(f"the sum that was found is not accepted: {failing:.200}")
    names = [term.reason.kind.replace("_", " ") for term in terms]
    return Found(proof, list(dict.fromkeys(names)), missing, 0)


_UNNAMED = (q.objective, q.client_objective, q.optimum, q.gradient_noise)
"""Quantities that a proof of a step needs, and a statement need not name."""
_UNNAMED_AT: Mapping[Place, Sequence[Quantity]] = {
    "points": (q.objective,),
    "round": (*_UNNAMED, q.client_optimum),
}


def _symbols_in(term: Term) -> set[sp.Symbol]:
    about = (sp.sympify(each) for each in term.reason.about if not isinstance(each, str))
    found: set[sp.Symbol] = term.coefficient.free_symbols.union(*(each.free_symbols for each in about))
    return found


def _terms_of(link: Link) -> list[Term]:
    return [*link.at_most, *link.at_least] if isinstance(link, BothWays) else link


def find_link(claim: Claim, relation: Relation) -> Link | None:
    """Why a relation in plain symbols holds: an equation that is no identity both ways; None where nothing is found."""
    if relation.operator == "==":
        at_most, at_least = (
            find_terms(claim, Relation(one, "<=", other)) for one, other in (relation.sides, relation.sides[::-1])
        )
        if at_most is None or at_least is None:
            return None
        return BothWays(at_most, at_least) if at_most or at_least else []
    return find_terms(claim, relation) if relation.operator in ("<=", ">=") else None


def find_terms(claim: Claim, relation: Relation) -> list[Term] | None:
    """Terms that add up to the slack of an inequality between plain symbols; None where none do."""
    context = build_link_context(claim, relation, (), ())
    terms = _find_terms(claim, relation, context)
    return None if terms is None else _write_in_quantities(terms, claim, context)


def _write_in_quantities(terms: Sequence[Term], claim: Claim, context: Context) -> list[Term]:
    """Write parts of a defined vector that no quantity names as the vector without its other parts."""
    known = {**claim.where, **claim.notation}.keys()
    parts = {
        part: whole - (definition - part)
        for whole, definition in context.definitions.items()
        for part in sp.Add.make_args(definition)
        if whole in known and part.is_Symbol and part not in known
    }

    def rewrite(part: Expr | str) -> Expr | str:
        return part if isinstance(part, str) else sp.sympify(part).xreplace(parts)

    return [
        replace(each, reason=InequalityRef(each.reason.kind, tuple(rewrite(part) for part in each.reason.about)))
        for each in terms
    ]


def _find_terms(claim: Claim, relation: Relation, context: Context) -> list[Term] | None:
    written = write_out(claim, relation)
    form = scalar(written.slack, context)
    if not form:
        return []
    signs = SignFacts(
        context.numbers, (*claim.conditions, *list_known_conditions(claim), *paper_step_conditions(claim))
    )
    goal = split_form(form, context)
    alone = _shown_alone(goal, context, signs)
    if alone is not None:
        return alone
    tried: list[CandidateInequality] = []
    for nearby, left_out in ((True, "interpolation"), (False, "interpolation"), (True, ""), (False, "")):
        known = find_candidates(context, form, written, nearby)
        classical = [each for each in known if each.pattern.reason.kind != left_out]
        squares = [
            *weighted_squares(context, goal, signs.conditions),
            *squares_as_written(context, written, signs.conditions),
        ]
        candidates = [*classical, *squares][:_MOST_CANDIDATES]
        if candidates and candidates != tried:
            terms = _sum_to(goal, candidates, context, signs, Dimensions(claim))
            if terms is not None:
                return terms
        tried = candidates
    return None


def _sum_to(
    goal: Blocks, candidates: Sequence[CandidateInequality], context: Context, signs: SignFacts, dimensions: Dimensions
) -> list[Term] | None:
    """Multiples of candidates and squares with a sum; None where none are found."""
    known = context.numbers.symbols | context.numbers.of_clients
    numbers = _numbers([goal, *(each.blocks for each in candidates)])
    symbols = sorted(set().union(*(number.free_symbols for number in numbers)) & known, key=str)
    of_one = not any(number.atoms(Average) for number in numbers)
    samples = draw_generic(symbols, context.numbers, signs.conditions, _SAMPLES, of_one)
    if samples.at.shape[1] < 2:
        return None
    edges = draw_edges(samples, context.numbers, signs.conditions)
    programs = programs_at(edges, goal, [each.blocks for each in candidates], samples.at.shape[1])
    units = units_of(goal, signs.conditions)
    many = draw_generic(symbols, context.numbers, signs.conditions, len(symbols) + len(units) + _SPARE, of_one)
    attempts = (least_support(programs, attempt) for attempt in range(_ATTEMPTS))
    tried = set[tuple[int, ...]]()
    for support in takewhile(lambda found: found is not None, attempts):
        # Attempts that end with the same candidates are one.
        if tuple(support or ()) in tried:
            continue
        tried.add(tuple(support or ()))
        chosen = [candidates[place] for place in support or ()]
        choice = Candidates(chosen, samples, dimensions, many, units)
        found = solve_exactly(System(goal, chosen, {}), choice, context, signs)
        if found is not None:
            return found
    return None


def _shown_alone(goal: Blocks, context: Context, signs: SignFacts) -> list[Term] | None:
    """Squares and a number, where nothing else is needed."""
    if goal.rows.keys() - {sp.S.One}:
        return None
    number = goal.rows.get(sp.S.One, ZERO)
    squares = squares_of(goal.matrices, context, signs)
    if squares is None or not signs.is_nonnegative(number.expression):
        return None
    return [*squares, *([Term(number.expression, one())] if number else [])]


def _numbers(blocks: Sequence[Blocks]) -> list[Expr]:
    return [number.expression for each in blocks for number in (*each.rows.values(), *each.matrices.values())]
