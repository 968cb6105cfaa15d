"""Export bounds on the last model that follow from the contraction of local steps."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.contraction import Contracting, Contraction
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import conditions_of
from verify.rocq.links import Links
from verify.rocq.names import name_of
from verify.rocq.numbers import SignProofs, number
from verify.rocq.reading import Reader
from verify.rocq.run import KNOWN
from verify.rocq.sampled import choose_vocabulary
from verify.rocq.terms import Multiple, Number, Sum, Term
from verify.rocq.theorem import Theorem
from verify.rocq.vocabulary import Vocabulary


def write_theorem_of_contraction(claim: Claim, certificate: Contraction, step: Claim, of_step: Theorem) -> Theorem:
    """Return a bound on the distance of the last model, from a theorem about each local step."""
    run = choose_vocabulary(claim)
    relation = claim.relations[0]
    signs = run.signs(conditions_of(claim, certificate.relaxed))
    lemma = state_contraction(claim, certificate, step, of_step, weight=certificate.weight)
    index = run.symbols(q.local_step_index)
    factor, weight, offset = (run.number(n) for n in (certificate.factor, certificate.weight, certificate.offset))
    potential = number(certificate.potential, {**run.names, index: "k"})
    floor = certificate.offset / (certificate.weight * (1 - certificate.factor))
    power = certificate.factor ** run.symbols(q.iterations)
    spare = sp.cancel(relation.right - power * run.symbols(q.initial_distance) ** 2 - floor)
    remaining = sp.factor(1 - certificate.factor)
    shrunk = f"({factor}) ^ (steps_of A * rounds_of A) * initial_distance A x_star ^ 2"
    bound = f"{shrunk} + ({offset}) / (({weight}) * (1 - ({factor})))"
    parts = f"(fun k : R => {potential}) ({factor}) ({weight}) ({offset})"
    lines = [
        KNOWN,
        *signs.prepare_conditions(),
        f"assert (apart : 0 < 1 - ({factor})).",
        f"{{ replace (1 - ({factor})) with ({run.number(remaining)}) by field; positive. }}",
        f"assert (weight_positive : 0 < {weight}) by positive.",
        f"apply Rle_trans with ({bound}).",
        f"{{ apply (contraction {run.point_arguments('x_star')} {parts}).",
        f"  - {run.prove_end(certificate.potential, certificate.weight, signs)}.",
        f"  - {signs.nonnegative(certificate.factor)}.",
        "  - lra.",
        "  - assumption.",
        f"  - {signs.nonnegative(certificate.offset)}.",
        f"  - intros n k Hk. exact ({lemma.apply(**run.step_arguments())}). }}",
        f"apply le_by_slack; {signs.nonnegative(spare)}.",
    ]
    return run.state_bound(signs, lines, (lemma,))


def state_contraction(
    claim: Claim,
    certificate: Contracting,
    step: Claim,
    of_step: Theorem,
    *,
    weight: Expr | None = None,
    gain: Expr | None = None,
) -> Theorem:
    """Return the statement of the step, with distance and spread of each side combined, and the gain as a further term.

    Distances are measured from the point at which the noise of the step has its bound.
    """
    vocabulary = Vocabulary(step, quiet=a.full_gradients in step.assumptions)
    links = Links(Reader(vocabulary), SignProofs(vocabulary.numbers))
    smaller, larger = step.relations[0].ordered
    slack = Sum(links.side(larger), links.side(smaller), "-")
    kept = Multiple(links.reader.number(certificate.factor), _write_size(links.reader, certificate, weight, "k"))
    before = Sum(kept, Number(links.reader.number(certificate.offset)))
    after = _write_size(links.reader, certificate, weight, "(k + 1)")
    if gain is not None:
        after = Sum(_write_gain(links.reader, gain), after)
    difference = Sum(before, after, "-")
    known = [
        f"pose proof ({of_step.apply()}) as known.",
        f"assert (identity : {links.text(difference)} = {links.text(slack)}).",
        f"{{ {links.identity(difference, slack)} }}",
    ]
    return links.state(f"{name_of(claim.id)}_at_step", (after, before), "lra.", of_step.binders, known)


def _find_point(vocabulary: Vocabulary) -> Expr:
    """Return the point that distances are measured from: the comparator or the optimum."""
    return vocabulary.symbols(q.comparator if vocabulary.reference_point == "y" else q.optimum)


def _write_gain(reader: Reader, gain: Expr) -> Term:
    """Return the excess loss over the point after the step."""
    symbol = reader.vocabulary.symbols
    values = (
        Value(symbol(q.objective), one) for one in (symbol(q.next_average_iterate), _find_point(reader.vocabulary))
    )
    larger, smaller = map(reader.scalar, values)
    return Multiple(reader.number(gain), Sum(larger, smaller, "-"))


def _write_size(reader: Reader, certificate: Contracting, weight: Expr | None, index: str) -> Term:
    """Return the weighted sum of distance and spread before step k or after it."""
    symbol = symbols_of(reader.vocabulary.claim)
    is_before = index == "k"
    local, average = (
        (symbol(q.local_iterate), symbol(q.average_iterate))
        if is_before
        else (symbol(q.next_local_iterate), symbol(q.next_average_iterate))
    )
    names = reader.vocabulary.numbers | {symbol(q.local_step_index): index}
    spread = Multiple(number(certificate.potential, names), reader.scalar(Average(norm_sq(local - average))))
    distance = reader.scalar(norm_sq(average - _find_point(reader.vocabulary)))
    return Sum(distance if weight is None else Multiple(reader.number(weight), distance), spread)
