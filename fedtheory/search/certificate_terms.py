"""Proofs of one step: named inequalities and squares that add up to the slack of a statement.

At a few samples of the symbols a semidefinite program selects inequalities.  Their coefficients are solved again as
rational functions of the symbols: function values must cancel, and so must inner products of vectors that have no
square.  Coefficients that remain free are tried with the simplest monomials between their bounds at all samples.
Elimination writes the remainder as a sum of squares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np
import sympy as sp

from fedtheory.kernel import Context, InequalityRef, Term, one, scalar
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.quotients import ONE, ZERO
from fedtheory.kernel.work import spend
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Place, Relation
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.certificate import BothWays, build_known_context
from fedtheory.proofs.document import document_of, with_quantities
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.numbers import list_known_conditions
from fedtheory.proofs.paper_contexts import list_paper_step_conditions
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.run_terms import is_unfolded
from fedtheory.search.blocks import NOTHING, Blocks, find_squares, list_weights, move_to_weights, split_form
from fedtheory.search.candidates import (
    CandidateInequality,
    find_candidates,
    list_squares_as_written,
    list_weighted_squares,
)
from fedtheory.search.coefficients import Selection, System, list_units, solve_exactly
from fedtheory.search.conditions import derive_conditions
from fedtheory.search.conic import find_least_support, make_programs
from fedtheory.search.constants import split_constants
from fedtheory.search.dimensions import Dimensions
from fedtheory.search.lemmas import find_lemmas
from fedtheory.search.multiples import divides_by_sum, solve_by_multiples
from fedtheory.search.positivity import SignFacts
from fedtheory.search.premises import list_supposable
from fedtheory.search.proof_outcome import Found, NotFound
from fedtheory.search.samples import Samples, add_edges, draw_inner_points

Link = list[Term] | BothWays
_MOST_CANDIDATES = 120
_SAMPLES = 5
_SPARE = 8
"""Number of samples beyond the number of factors, at which products of powers are identified."""
_MOST_LEMMAS = 3
"""Limit on the lemmas that are tried one by one, if each suffices at a sample."""
_INEQUALITY_COST = 1e-3
"""Cost of an inequality in a program, relative to that of a lemma."""
_ZERO_WEIGHT = 1e-6
"""Weights of programs up to this size count as zero."""
_ATTEMPTS = 4
"""Number of attempts, each of which leaves out candidates in another order."""


@dataclass(frozen=True)
class Additions:
    """Additions to a search for the terms of a relation."""

    blocks: Blocks = NOTHING
    """A scalar that is added to the slack."""
    candidates: Sequence[CandidateInequality] = ()
    """Further candidates, which come first."""
    evaluations: Sequence[Expr] = ()
    """Gradients of objectives at points that inequalities may use, besides those in the slack."""
    left_out: Sequence[str] = ()
    """Kinds of inequalities that are not used."""


NO_ADDITIONS = Additions()


def search_terms(claim: Claim) -> Found | NotFound:
    """Search for a certificate of a statement about points or a local step.

    The claim is tried as stated, then with added assumptions, and then by other proved claims.
    """
    found: Found | NotFound = NotFound("no relation to show")
    for missing in ((), *((each,) for each in list_supposable(claim))):
        found = _search(claim, missing)
        if isinstance(found, Found):
            return found
    by_lemmas = _search_by_lemmas(claim)
    return by_lemmas if isinstance(by_lemmas, Found) else found


def _search(claim: Claim, missing: Sequence[Assumption]) -> Found | NotFound:
    """Search for a proof with some assumptions added."""
    extended = replace(claim, assumptions=(*claim.assumptions, *missing)) if missing else claim
    plain = use_plain_symbols(with_quantities(extended, {"quantities": list_unnamed_quantities(claim)}))
    return _certify(extended, missing, plain, ())


def _search_by_lemmas(claim: Claim) -> Found | NotFound:
    """Search for a proof that uses lemmas."""
    plain = use_plain_symbols(with_quantities(claim, {"quantities": list_unnamed_quantities(claim)}))
    lemmas = find_lemmas(plain)
    return _certify(claim, (), plain, lemmas) if lemmas else NotFound("no other proved claim applies")


def list_unnamed_quantities(claim: Claim) -> list[str]:
    """Return the names of quantities that a proof may need and the claim does not name."""
    named = set({**claim.where, **claim.notation}.values())
    wanted = list(_UNNAMED_AT.get(claim.place, _UNNAMED))
    if claim.place in ("step", "points") and q.gradient_dissimilarity in named:
        wanted.append(q.mean_dissimilarity)
    if claim.place == "points" and q.client_objective not in named and _BOUNDED_GRADIENTS & named:
        wanted.append(q.client_objective)
    if claim.place == "step":
        wanted += [q.local_iterate, q.average_iterate]
        wanted += [q.local_step_size] if {q.next_local_iterate, q.next_average_iterate} & named else []
        # A claim about a single client does not need the number of clients.
        wanted += [] if a.one_client in claim.assumptions else [q.clients]
    numbers = (quantity for quantity in claim.notation.values() if isinstance(quantity, RunQuantity))
    terms = [number.term for number in numbers if is_unfolded(number, claim)]
    wanted += [quantity for term in terms if term is not None for _, quantity in term.where]
    return [quantity.name for quantity in dict.fromkeys(wanted) if quantity not in named]


def _certify(claim: Claim, missing: Sequence[Assumption], plain: Claim, lemmas: Sequence[Claim]) -> Found | NotFound:
    """Search for a proof of a claim, also given in plain symbols; each relation may use some of the lemmas."""
    derived = derive_conditions(plain)
    plain = replace(plain, conditions=(*plain.conditions, *derived)) if derived else plain
    links = _find_links(plain, lemmas)
    if links is None:
        return NotFound("no sum of named inequalities and squares shows it")
    terms = [term for link in links for term in _list_terms(link)]
    used = _list_used_lemmas(terms, lemmas)
    relaxed = plain.conditions if derived else None
    document = document_of(plain, Certificate(claim=plain.id, links=links, relaxed=relaxed, lemmas=used))
    symbols = {symbol for term in terms for symbol in _list_symbols(term)}
    unnamed = list_unnamed_quantities(claim)
    added = [
        quantity.name for symbol, quantity in plain.where.items() if quantity.name in unnamed and symbol in symbols
    ]
    proof = check_certificate(claim, document | ({"quantities": added} if added else {}))
    spend(sum(proof.work.values()))
    if proof.verdict != "proved":
        failing = next((step.text for step in proof.steps if not step.holds), "")
        return NotFound(f"the sum that was found is not accepted: {failing:.200}")
    names = [term.reason.kind.replace("_", " ") for term in terms]
    return Found(proof, list(dict.fromkeys([*used, *names])), missing, 0)


def _find_links(plain: Claim, lemmas: Sequence[Claim]) -> list[Link] | None:
    """Return a proof of each relation, by lemmas only if there is none without them; None if a relation has none."""
    links: list[Link] = []
    for relation in plain.relations:
        link = find_link(plain, relation)
        if link is None and lemmas:
            attempts = (find_link(plain, relation, chosen) for chosen in choose_lemmas(plain, relation, lemmas))
            link = next((each for each in attempts if each is not None), None)
        if link is None:
            return None
        links.append(link)
    return links


def _list_used_lemmas(terms: Sequence[Term], lemmas: Sequence[Claim]) -> list[str]:
    """Return the ids of the lemmas that terms use."""
    used = {str(part).partition(", relation ")[0] for term in terms for part in term.reason.about}
    return [lemma.id for lemma in lemmas if lemma.id in used]


_UNNAMED = (q.objective, q.client_objective, q.optimum, q.gradient_noise)
"""Quantities that a proof of a step needs, and a statement need not name."""
_UNNAMED_AT: Mapping[Place, Sequence[Quantity]] = {
    "points": (q.objective,),
    "round": (*_UNNAMED, q.client_optimum),
}


_BOUNDED_GRADIENTS = {q.gradient_dissimilarity, q.mean_dissimilarity, q.second_moment}
"""Constants of bounds on the gradients of clients."""


def _list_symbols(term: Term) -> set[sp.Symbol]:
    """Return the symbols of a term."""
    about = (sp.sympify(each) for each in term.reason.about if not isinstance(each, str))
    found: set[sp.Symbol] = term.coefficient.free_symbols.union(*(each.free_symbols for each in about))
    return found


def _list_terms(link: Link) -> list[Term]:
    """Return the terms of a link."""
    return [*link.at_most, *link.at_least] if isinstance(link, BothWays) else link


def find_link(claim: Claim, relation: Relation, lemmas: Sequence[Claim] = ()) -> Link | None:
    """Return a proof of a relation in plain symbols.

    An equation is proved in both directions.  Returns None if nothing is found.
    """
    if relation.operator == "==":
        at_most, at_least = (
            find_terms(claim, Relation(one, "<=", other), lemmas)
            for one, other in (relation.sides, relation.sides[::-1])
        )
        if at_most is None or at_least is None:
            return None
        return BothWays(at_most, at_least) if at_most or at_least else []
    return find_terms(claim, relation, lemmas) if relation.operator in ("<=", ">=") else None


def certify_step(claim: Claim, relation: Relation) -> Certificate | None:
    """Return a certificate of the only relation of a lemma in plain symbols; None if not found."""
    derived = derive_conditions(claim)
    conditions = (*claim.conditions, *derived)
    terms = find_terms(replace(claim, conditions=conditions) if derived else claim, relation)
    if terms is None:
        return None
    return Certificate(claim=claim.id, links=[terms], relaxed=conditions if derived else None)


def find_terms(claim: Claim, relation: Relation, lemmas: Sequence[Claim] = ()) -> list[Term] | None:
    """Return terms that add up to the slack of an inequality in plain symbols; None if not found."""
    context = build_known_context(claim, relation, (), lemmas)
    terms = find_terms_in_context(claim, write_out(claim, relation), context)
    return None if terms is None else _write_in_quantities(terms, claim, context)


def _write_in_quantities(terms: Sequence[Term], claim: Claim, context: Context) -> list[Term]:
    """Return terms in which every vector has a name that the claim knows.

    A part of a defined vector that no quantity names becomes the vector minus its other parts.
    """
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


def find_terms_in_context(
    claim: Claim, written: Relation, context: Context, more: Additions = NO_ADDITIONS
) -> list[Term] | None:
    """Return terms that add up to the slack of a relation between vectors; None if not found.

    Squares are tried alone unless there are additions, then with inequalities, and then with weighted averages.
    """
    form = scalar(written.slack, context)
    goal = split_form(form, context).plus(more.blocks, ONE)
    if not goal.rows and not goal.matrices:
        return []
    signs = find_sign_facts(claim, context)
    alone = _show_alone(goal, context, signs) if more is NO_ADDITIONS else None
    if alone is not None:
        return alone
    find = partial(_try_candidates, goal, claim=claim, written=written, more=more, context=context, signs=signs)
    found = find(weights=())
    weights = list_weights(goal, context) if found is None else []
    return find(weights=weights) if weights else found


def _try_candidates(
    goal: Blocks,
    *,
    weights: Sequence[Expr],
    claim: Claim,
    written: Relation,
    more: Additions,
    context: Context,
    signs: SignFacts,
) -> list[Term] | None:
    """Return terms that add up to the slack of a relation, from few candidates first; None if not found.

    With `weights`, shared products times averages of weights are part of the weighted Gram matrices.
    """
    form = scalar(written.slack, context)
    tried: list[CandidateInequality] = []
    for only_named, left_out in ((True, "interpolation"), (False, "interpolation"), (True, ""), (False, "")):
        known = find_candidates(
            context, form, written, only_named, more_weights=weights, more_evaluations=more.evaluations
        )
        classical = [each for each in known if each.pattern.reason.kind != left_out]
        squares = _find_squares(context, goal, written, signs)
        candidates = [*more.candidates, *classical, *squares][:_MOST_CANDIDATES]
        if candidates and candidates != tried:
            moved = [replace(each, blocks=_move(each.blocks, weights, context)) for each in candidates]
            whole = _move(goal, weights, context)
            for parts, listed in filter(None, (split_constants(whole, moved, signs), (whole, moved))):
                chosen = [each for each in listed if each.pattern.reason.kind not in more.left_out]
                terms = _find_sum(parts, chosen, context, signs, Dimensions(claim))
                if terms is not None:
                    return terms
        tried = candidates
    return None


def _move(blocks: Blocks, weights: Sequence[Expr], context: Context) -> Blocks:
    """Return the blocks moved to other weights; unchanged if there are no weights."""
    return move_to_weights(blocks, weights, context) if weights else blocks


def find_sign_facts(claim: Claim, context: Context) -> SignFacts:
    """Return the numbers of a context, and the conditions of the claim with those that are known without it."""
    return SignFacts(
        context.numbers, (*claim.conditions, *list_known_conditions(claim), *list_paper_step_conditions(claim))
    )


def _find_squares(context: Context, goal: Blocks, written: Relation, signs: SignFacts) -> Iterator[CandidateInequality]:
    """Yield squares that elimination does not find."""
    yield from list_weighted_squares(context, goal, signs.conditions)
    yield from list_squares_as_written(context, written, signs.conditions)


def choose_lemmas(claim: Claim, relation: Relation, lemmas: Sequence[Claim]) -> Iterator[list[Claim]]:
    """Yield sets of lemmas with which a sum exists at one sample: single lemmas, else several together."""
    context = build_known_context(claim, relation, (), lemmas)
    written = write_out(claim, relation)
    form = scalar(written.slack, context)
    signs, goal = find_sign_facts(claim, context), split_form(form, context)
    candidates = [*find_candidates(context, form, written, True), *_find_squares(context, goal, written, signs)]
    named = [set(_list_used_lemmas([each.pattern], lemmas)) for each in candidates]
    samples = draw_inner_samples(goal, candidates, context, signs, 1)
    if not samples.at.shape[1]:
        return
    programs = make_programs(samples, goal, [each.blocks for each in candidates], 1)
    costs = np.array([1.0 if each else _INEQUALITY_COST for each in named])

    def find_used(allowed: set[str]) -> set[str] | None:
        """Return the allowed lemmas that a sum at the sample uses; None if there is no sum."""
        places = [place for place, each in enumerate(named) if each <= allowed]
        weights = programs.solve(0, places, costs)
        if weights is None:
            return None
        return {
            name
            for place, weight in zip(places, weights, strict=True)
            if weight > _ZERO_WEIGHT
            for name in named[place]
        }

    used = find_used({lemma.id for lemma in lemmas})
    if not used:
        return
    alone = [lemma for lemma in lemmas if lemma.id in used and find_used({lemma.id}) is not None]
    yield from ([lemma] for lemma in alone[:_MOST_LEMMAS])
    if not alone:
        yield [lemma for lemma in lemmas if lemma.id in used]


def _find_sum(
    goal: Blocks, candidates: Sequence[CandidateInequality], context: Context, signs: SignFacts, dimensions: Dimensions
) -> list[Term] | None:
    """Return multiples of candidates, and squares, with a given sum; None if not found."""
    samples = draw_inner_samples(goal, candidates, context, signs, _SAMPLES)
    if samples.at.shape[1] < 2:
        return None
    edges = add_edges(samples, context.numbers, signs.conditions)
    programs = make_programs(edges, goal, [each.blocks for each in candidates], samples.at.shape[1])
    units = list_units(goal, signs.conditions)
    many = draw_inner_samples(goal, candidates, context, signs, len(samples.symbols) + len(units) + _SPARE)
    attempts = (find_least_support(programs, attempt) for attempt in range(_ATTEMPTS))
    tried = set[tuple[int, ...]]()
    for support in takewhile(lambda found: found is not None, attempts):
        places = tuple(support or ())
        if places in tried:
            continue
        tried.add(places)
        chosen = [candidates[place] for place in places]
        selection = Selection(chosen, samples, dimensions, many, units)
        system = System(goal, chosen, {})
        # With a potential, products of powers are a long search in vain.
        solvers = (solve_by_multiples, solve_exactly) if divides_by_sum(goal) else (solve_exactly,)
        for solve in solvers:
            found = solve(system, selection, context, signs)
            if found is not None:
                return found
    return None


def draw_inner_samples(
    goal: Blocks, candidates: Sequence[CandidateInequality], context: Context, signs: SignFacts, count: int
) -> Samples:
    """Return samples inside the conditions, in the symbols of a goal and its candidates."""
    known = context.numbers.symbols | context.numbers.of_clients
    numbers = _list_numbers([goal, *(each.blocks for each in candidates)])
    symbols = sorted(set().union(*(number.free_symbols for number in numbers)) & known, key=str)
    single_client = not any(number.atoms(Average) for number in numbers)
    return draw_inner_points(symbols, context.numbers, signs.conditions, count, single_client)


def _show_alone(goal: Blocks, context: Context, signs: SignFacts) -> list[Term] | None:
    """Return squares and a number with the given sum, without further inequalities; None if not found."""
    if goal.rows.keys() - {sp.S.One}:
        return None
    number = goal.rows.get(sp.S.One, ZERO)
    squares = find_squares(goal.matrices, context, signs)
    if squares is None or not signs.is_nonnegative(number.expression):
        return None
    return [*squares, *([Term(number.expression, one())] if number else [])]


def _list_numbers(blocks: Sequence[Blocks]) -> list[Expr]:
    """Return the coefficients in the blocks."""
    return [number.expression for each in blocks for number in (*each.rows.values(), *each.matrices.values())]
