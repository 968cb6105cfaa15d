"""Export averages over the local steps of a round or a run, from relations that hold at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import conditions_of
from verify.rocq.links import Links
from verify.rocq.names import name_of, translate
from verify.rocq.numbers import SignProofs, number
from verify.rocq.reading import Reader
from verify.rocq.run import KNOWN, RunVocabulary
from verify.rocq.terms import Multiple, Number, Sum, Term
from verify.rocq.theorem import Binder, Theorem
from verify.rocq.vocabulary import Vocabulary


def write_mean(claim: Claim, certificate: MeanCertificate, step: Claim, of_step: Theorem) -> Theorem:
    """Return a claim about a round or a run, from a theorem about each local step; raises `NotExported` for others."""
    run = RunVocabulary(claim)
    (relation,) = claim.relations
    shares = find_coefficients(run, relation.slack, certificate.span)
    at_each = list_step_terms(run, step, certificate)
    lemma = write_at_each(run, step, of_step, shares, at_each)
    numbers = " ".join(f"({run.number(share)})" for share in shares)
    signs = run.signs(conditions_of(claim, certificate.relaxed))
    given = {binder.name for binder in (*run.binders(relation.free_symbols), *signs.hypotheses())}
    optimum = run.reference_point if run.reference_point in given else "(start A)"
    arguments = run.step_arguments()
    if "x_star" not in given:
        arguments |= {"x_star": "start A", "past_x_star": "past_start A past unbiased_A n k"}
    lines = [
        KNOWN,
        *_prove_rounds(
            run, translate_terms(run, step, at_each), optimum, numbers, f"ltac:(exact ({lemma.apply(**arguments)}))"
        ),
    ]
    if certificate.span == "run":
        each = "sum (steps_of A) rest / tau A"
        lines.append(f"assert (K := mean_of_run A {optimum} {numbers} ({each}) (fun n _ => each_round n)).")
    else:
        lines.append("pose proof (each_round n) as K.")
    return run.state_bound(signs, [*lines, *conclude(optimum)], (lemma,))


def conclude(point: str) -> list[str]:
    """Return tactics that derive the claim from a non-negative average K."""
    return [
        "unfold rest in K at 1. rewrite sums in K. change (INR (steps_of A)) with (tau A) in K.",
        *(["rewrite (against_another A y x_star) in K."] if point == "y" else []),
        "apply le_by_slack. match type of K with 0 <= ?known => match goal with |- 0 <= ?slack => "
        "replace slack with known; [exact K | field; nonzero] end end.",
    ]


@dataclass(frozen=True)
class AtEach:
    """Functions of the step index k that occur next to the averaged terms."""

    index: sp.Symbol
    potential: Expr
    rest: Expr

    def text(self, value: Expr, run: RunVocabulary, step: str) -> str:
        """Return a function of the step index, in the symbols of a run."""
        return number(value, {**run.names, self.index: step})


def list_step_terms(run: RunVocabulary, step: Claim, certificate: MeanCertificate) -> AtEach:
    """Return the further terms of a step, in its own symbols."""
    index = {run.symbols(q.local_step_index): symbols_of(step)(q.local_step_index)}
    potential = translate(certificate.potential or sp.S.Zero, run.symbols, symbols_of(step)).xreplace(index)
    plain = sp.sympify(step.relations[0].slack)
    for kind in (Expectation, Average):
        plain = plain.replace(kind, lambda inner: inner)
    rest = plain.replace(lambda part: isinstance(part, Inner | Value), lambda *_: sp.S.Zero)
    return AtEach(symbols_of(step)(q.local_step_index), potential, sp.cancel(rest))


def translate_terms(run: RunVocabulary, step: Claim, at: AtEach) -> AtEach:
    """Return the further terms of a step in the symbols of a run."""
    return AtEach(at.index, run.translate(at.potential, step), run.translate(at.rest, step))


def prove_rest(run: RunVocabulary, at: AtEach) -> list[str]:
    """Return tactics for the sum of the terms that depend on the step index only."""
    # The sum over the steps 0 .. m-1 is extended by step m; Rocq checks this by induction.
    total = sp.summation(sp.expand(at.rest), (at.index, 0, at.index - 1))
    each = at.text(at.rest, run, "(INR k)")
    return [
        f"pose (rest := fun k : nat => {each}).",
        f"assert (sums : forall m, sum m (fun k : nat => {each}) = {at.text(total, run, '(INR m)')}).",
        "{ induction m; cbn [sum]; [simpl INR; field; nonzero | rewrite IHm, ?S_INR; field; nonzero]. }",
    ]


def _prove_rounds(run: RunVocabulary, at: AtEach, optimum: str, numbers: str, applied: str) -> list[str]:
    """Return tactics for the average over the steps of each round."""
    return [
        *prove_rest(run, at),
        f"assert (each_round := fun n => mean_of_round A {optimum} n {numbers}",
        f"  (fun k : R => {at.text(at.potential, run, 'k')}) rest "
        f"ltac:(cbv beta; field; nonzero) (fun k Hk => {applied})).",
    ]


def find_coefficients(run: RunVocabulary, slack: Expr, span: str) -> list[Expr]:
    """Return the coefficient of each average in the slack."""
    symbol = run.symbols
    steps, rounds = symbol(q.local_steps), symbol(q.rounds)
    if run.claim.notation and symbol(q.iterations) in slack.free_symbols:
        slack = slack.xreplace({symbol(q.iterations): steps * rounds})
    if span == "round":
        quantities = [
            (symbol(q.round_suboptimality), sp.S.One),
            (symbol(q.server_distance_sq), steps),
            (symbol(q.round_drift), sp.S.One),
        ]
    else:
        progress = q.total_comparator_progress if run.reference_point == "y" else q.total_progress
        quantities = [
            (symbol(q.average_suboptimality), sp.S.One),
            (symbol(progress), steps * rounds),
            (symbol(q.average_round_drift), sp.S.One),
            (symbol(q.average_local_gradient_sq), sp.S.One),
            (symbol(q.total_descent), steps * rounds),
        ]
    found = [sp.cancel(sp.diff(slack, quantity) * times) for quantity, times in quantities]
    return found + [sp.S.Zero] * (5 - len(found))


def write_at_each(run: RunVocabulary, step: Claim, of_step: Theorem, shares: Sequence[Expr], at: AtEach) -> Theorem:
    """Return the sum of the averaged terms, which is non-negative at every step."""
    vocabulary = Vocabulary(step, quiet=a.full_gradients in step.assumptions)
    links = Links(Reader(vocabulary), SignProofs(vocabulary.numbers))
    (relation,) = step.relations
    smaller, larger = relation.ordered
    slack = Sum(links.side(larger), links.side(smaller), "-")
    weights = [translate(share, run.symbols, symbols_of(step)) for share in shares]
    total = _write_weighted(links.reader, vocabulary, weights, at)
    binders = list(of_step.binders)
    if not any(binder.name == vocabulary.reference_point for binder in binders):
        binders += [Binder("x_star", "step_space S"), Binder("past_x_star", "past x_star")]
    known = [
        f"pose proof ({of_step.apply()}) as known.",
        f"assert (identity : {links.text(total)} = {links.text(slack)}).",
        f"{{ {links.identity(total, slack)} }}",
    ]
    name = f"{name_of(run.claim.id)}_at_step"
    return links.state(name, (Number("0"), total), "rewrite identity; lra.", binders, known)


def _write_weighted(reader: Reader, vocabulary: Vocabulary, weights: Sequence[Expr], at: AtEach) -> Term:
    """Return the weighted sum of gap, distance, spread and squared gradients at a step."""
    symbol = vocabulary.symbols
    before, after, best = (symbol(n) for n in (q.average_iterate, q.next_average_iterate, q.optimum))
    best = symbol(q.comparator) if vocabulary.reference_point == "y" else best
    objective, local, moved = symbol(q.objective), symbol(q.local_iterate), symbol(q.next_local_iterate)
    spread, later = Average(norm_sq(local - before)), Average(norm_sq(moved - after))
    members = [
        (Value(objective, after), Value(objective, best)),
        (norm_sq(before - best), norm_sq(after - best)),
        (spread, None),
        (norm_sq(Gradient(objective, before)), None),
        (Value(objective, before), Value(objective, after)),
    ]

    total: Term | None = None
    for weight, (first, second) in zip(weights, members[: len(weights)], strict=True):
        member = reader.scalar(first) if second is None else Sum(reader.scalar(first), reader.scalar(second), "-")
        part = Multiple(reader.number(weight), member)
        total = part if total is None else Sum(total, part)
    assert total is not None
    names = vocabulary.numbers
    now, after_step = (
        Multiple(number(at.potential, names | {at.index: index}), reader.scalar(spread_sq))
        for index, spread_sq in (("k", spread), ("(k + 1)", later))
    )
    return Sum(Sum(total, Sum(now, after_step, "-")), Number(reader.number(at.rest)))
