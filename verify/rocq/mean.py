"""Means over the local steps of a round or a run of what holds at each of them."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Gradient, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import letters_of
from verify.rocq.links import NUMBERS_KNOWN, Links
from verify.rocq.numbers import Signs
from verify.rocq.reading import Reader
from verify.rocq.run import CONSTANTS, KNOWN, RunVocabulary
from verify.rocq.terms import Multiple, Number, Sum, Term
from verify.rocq.theorem import Binder, Theorem, name_of
from verify.rocq.vocabulary import Vocabulary


def theorem_of_mean(claim: Claim, certificate: MeanCertificate, step: Claim, of_step: Theorem) -> Theorem:
    """A claim about a round or a run, from a theorem about each local step; `NotExported` for quantities unknown."""
    run = RunVocabulary(claim)
    conditions = claim.conditions if certificate.relaxed is None else certificate.relaxed
    relation = claim.relations[0]
    shares = _shares(run, relation.slack, certificate.span)
    weights = [_in_letters_of(run, step, share) for share in shares]
    lemma = _at_step(claim, step, of_step, weights)
    used = relation.left.free_symbols | relation.right.free_symbols
    has_optimum = any("x_star" in run.names.get(symbol, "") for symbol in used)
    signs = run.signs(conditions)
    told = [*run.binders(used), *signs.hypotheses()]
    optimum = "x_star" if has_optimum else "(start A)"
    numbers = " ".join(f"({run.number(share)})" for share in shares)
    arguments = run.at_step
    if not has_optimum:
        arguments |= {"x_star": "start A", "past_x_star": "past_start A past unbiased_A n k"}
    applied = f"exact ({lemma.applied(**arguments)})"
    if certificate.span == "round":
        shown = f"pose proof (mean_of_round A {optimum} n {numbers}) as H."
        start = "assert (K := H (fun k Hk => ltac:(" + applied + ")))."
    else:
        shown = f"pose proof (mean_of_run A {optimum} {numbers}) as H."
        each = f"fun n Hn => mean_of_round A {optimum} n {numbers} (fun k Hk => ltac:({applied}))"
        start = f"assert (K := H ({each}))."
    finish = (
        "apply le_by_slack. match type of K with 0 <= ?known => match goal with |- 0 <= ?slack => "
        "replace slack with known; [exact K | field; nonzero] end end."
    )
    proof = "\n".join([KNOWN, shown, start, finish])
    statement = f"{run.number(relation.left)} <= {run.number(relation.right)}"
    return Theorem(name_of(claim.id), told, statement, proof, (lemma,))


def _shares(run: RunVocabulary, slack: Expr, span: str) -> list[Expr]:
    """How much of each mean the slack has, and what is left: a number."""
    letter = run.letters
    steps, rounds = letter(q.local_steps), letter(q.rounds)
    if run.claim.notation and letter(q.iterations) in slack.free_symbols:
        slack = slack.xreplace({letter(q.iterations): steps * rounds})
    if span == "round":
        quantities = [
            (letter(q.round_suboptimality), sp.S.One),
            (letter(q.server_distance_sq), steps),
            (letter(q.round_drift), sp.S.One),
        ]
    else:
        quantities = [
            (letter(q.average_suboptimality), sp.S.One),
            (letter(q.total_progress), steps * rounds),
            (letter(q.average_round_drift), sp.S.One),
            (letter(q.average_local_gradient_sq), sp.S.One),
            (letter(q.total_descent), steps * rounds),
        ]
    found = [sp.cancel(sp.diff(slack, quantity) * times) for quantity, times in quantities]
    found += [sp.S.Zero] * (5 - len(found))
    rest = sp.expand(slack - sum(sp.diff(slack, quantity) * quantity for quantity, _ in quantities))
    if span == "round":
        rest = sp.expand(rest + found[1] / steps * letter(q.next_server_distance_sq))
    return [*found, sp.cancel(rest)]


def _at_step(claim: Claim, step: Claim, of_step: Theorem, weights: list[Expr]) -> Theorem:
    """The sum of what the means are taken of, which is not negative at any step."""
    vocabulary = Vocabulary(step, quiet=a.full_gradients in step.assumptions)
    links = Links(Reader(vocabulary), Signs(vocabulary.numbers))
    (relation,) = step.relations
    smaller, larger = relation.ordered
    slack = Sum(links.side(larger), links.side(smaller), "-")
    total = _weighted(links.reader, vocabulary, weights)
    binders = list(of_step.binders)
    if not any(binder.name == "x_star" for binder in binders):
        binders += [Binder("x_star", "step_space S"), Binder("past_x_star", "past x_star")]
    proof = "\n".join(
        [
            NUMBERS_KNOWN,
            f"pose proof ({of_step.applied()}) as known.",
            f"assert (identity : {links.text(total)} = {links.text(slack)}).",
            f"{{ {links.identity(total, slack)} }}",
            "rewrite identity; lra.",
        ]
    )
    return Theorem(f"{name_of(claim.id)}_at_step", binders, f"0 <= {links.text(total)}", proof)


def _weighted(reader: Reader, vocabulary: Vocabulary, weights: list[Expr]) -> Term:
    letter = vocabulary.letters
    before, after, best = (letter(n) for n in (q.average_iterate, q.next_average_iterate, q.optimum))
    objective, local = letter(q.objective), letter(q.local_iterate)
    members = [
        (Value(objective, after), Value(objective, best)),
        (norm_sq(before - best), norm_sq(after - best)),
        (Average(norm_sq(local - before)), None),
        (norm_sq(Gradient(objective, before)), None),
        (Value(objective, before), Value(objective, after)),
    ]
    total: Term | None = None
    for weight, (first, second) in zip(weights, members, strict=False):
        member = reader.scalar(first) if second is None else Sum(reader.scalar(first), reader.scalar(second), "-")
        part = Multiple(reader.number(weight), member)
        total = part if total is None else Sum(total, part)
    assert total is not None
    return Sum(total, Number(reader.number(weights[-1])))


def _in_letters_of(run: RunVocabulary, step: Claim, expression: Expr) -> Expr:
    """A number of a run in the letters of a claim about a step."""
    theirs = letters_of(step)
    return sp.sympify(expression).xreplace({run.letters(n): theirs(n) for n in CONSTANTS})
