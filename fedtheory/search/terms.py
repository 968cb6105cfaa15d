"""Terms of one step: named inequalities and squares that add up to the slack of a statement.

At a few points of the conditions a semidefinite program says which inequalities are needed.  Their coefficients are
solved again over the rational functions of the numbers: values have to cancel, and where a vector has no square, so
have its inner products.  What is still free takes the simplest monomial between its bounds at all points.  The rest is
a sum of squares by elimination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import sympy as sp

from fedtheory.kernel import Context, Term, one, scalar
from fedtheory.kernel.quotients import ZERO
from fedtheory.kernel.work import spend
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.certificate import build_link_context
from fedtheory.proofs.document import document_of, with_quantities
from fedtheory.proofs.numbers import known_conditions
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.blocks import Blocks, split_form, squares_of
from fedtheory.search.candidates import find_candidates
from fedtheory.search.conic import least_support, programs_at
from fedtheory.search.dimensions import Dimensions
from fedtheory.search.exact import Candidates, System, solve_exactly
from fedtheory.search.outcome import Found, NotFound
from fedtheory.search.positivity import Signs
from fedtheory.search.premises import supposable
from fedtheory.search.samples import draw_generic

_MOST_CANDIDATES = 80
_SAMPLES = 5
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
    added = [quantity.name for quantity in _UNNAMED if quantity.name not in own] if claim.place != "points" else []
    plain = use_plain_symbols(with_quantities(supposing, {"quantities": added}))
    links: list[list[Term]] = []
    for relation in plain.relations:
        terms = find_terms(plain, relation)
        if terms is None:
            return NotFound("no sum of named inequalities and squares shows it")
        links.append(terms)
    certificate = Certificate(claim=plain.id, links=links)
    document = document_of(plain, certificate)
    symbols = {symbol for terms in links for term in terms for symbol in _symbols_in(term)}
    named = [quantity.name for symbol, quantity in plain.where.items() if quantity.name in added and symbol in symbols]
    proof = check_certificate(supposing, document | ({"quantities": named} if named else {}))
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        failing = next((step.text for step in proof.steps if not step.holds), "")
        return NotFound(f"the sum that was found is not accepted: {failing:.200}")
    names = [term.reason.kind.replace("_", " ") for terms in links for term in terms]
    return Found(proof, list(dict.fromkeys(names)), missing, 0)


_UNNAMED = (q.client_objective, q.gradient_noise)
"""Quantities that a proof of a step needs, and a statement need not name."""


def _symbols_in(term: Term) -> set[sp.Symbol]:
    about = (sp.sympify(each) for each in term.reason.about if not isinstance(each, str))
    found: set[sp.Symbol] = term.coefficient.free_symbols.union(*(each.free_symbols for each in about))
    return found


def find_terms(claim: Claim, relation: Relation) -> list[Term] | None:
    """Terms that add up to the slack of a relation about points or a step, in plain symbols; None where none do."""
    context = build_link_context(claim, relation, (), ())
    form = scalar(relation.slack, context)
    if not form:
        return []
    if relation.operator not in ("<=", ">="):
        return None
    signs = Signs(context.numbers, (*claim.conditions, *known_conditions(claim)))
    goal = split_form(form, context)
    alone = _shown_alone(goal, context, signs)
    if alone is not None:
        return alone
    candidates = list(find_candidates(context, [*form], relation))[:_MOST_CANDIDATES]
    symbols = sorted(_symbols([goal, *(each.blocks for each in candidates)]) & context.numbers.symbols, key=str)
    samples = draw_generic(symbols, context.numbers, signs.conditions, _SAMPLES)
    if not candidates or samples.at.shape[1] < 2:
        return None
    programs = programs_at(samples, goal, [each.blocks for each in candidates])
    attempts = (least_support(programs, attempt) for attempt in range(_ATTEMPTS))
    for support in takewhile(lambda found: found is not None, attempts):
        chosen = [candidates[place] for place in support or ()]
        choice = Candidates(chosen, support or (), programs, samples, Dimensions(claim))
        found = solve_exactly(System(goal, chosen, {}), choice, context, signs)
        if found is not None:
            return found
    return None


def _shown_alone(goal: Blocks, context: Context, signs: Signs) -> list[Term] | None:
    """Squares and a number, where nothing else is needed."""
    if goal.rows.keys() - {sp.S.One}:
        return None
    number = goal.rows.get(sp.S.One, ZERO)
    squares = squares_of(goal.matrices, context, signs)
    if squares is None or not signs.is_nonnegative(number.expression):
        return None
    return [*squares, *([Term(number.expression, one())] if number else [])]


def _symbols(blocks: Sequence[Blocks]) -> set[sp.Symbol]:
    found: set[sp.Symbol] = set()
    for each in blocks:
        for number in (*each.rows.values(), *each.matrices.values()):
            found |= number.expression.free_symbols
    return found
