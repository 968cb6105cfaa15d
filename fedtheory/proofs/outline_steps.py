"""Outlines of proofs by local steps: averages, contractions, and recursions of the drift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import sympy as sp

from fedtheory.kernel import Context
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from fedtheory.proofs import rule_labels
from fedtheory.proofs.contraction import Contracting
from fedtheory.proofs.entries import Entry, Group, list_entries
from fedtheory.proofs.induction import k
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.step_sums import find_sampling_variance


def show_steps(claim: Claim, certificate: MeanCertificate | Contracting) -> Iterator[Group]:
    """Yield the slack of the claim about each local step."""
    (at_step,) = use_plain_symbols(find(certificate.step)).relations
    entry = Entry(sp.S.One, "the slack at each local step", at_step.slack, certificate.step)
    yield Group(claim.relations[0].latex, (entry,))


def introduce_mean(claim: Claim, certificate: MeanCertificate) -> str:
    """Introduce a claim as the average of one about each local step."""
    return (
        f"This is the mean, over the local steps of {'a round' if certificate.span == 'round' else 'the run'}, of a "
        "claim about each of them that is proved.  Differences from one step to the next telescope; the rest is the "
        "definition of the quantities." + _describe_potential(claim, certificate.potential)
    )


def _describe_potential(claim: Claim, potential: Expr | None) -> str:
    """Describe the potential of a proof.

    It states the factor of the clients' squared distance, and its value at the end of a round.
    """
    if potential is None:
        return ""
    end = "is zero" if find_sampling_variance(claim) == 0 else "bounds the sampling variance"
    return (
        "  The mean squared distance of the clients from their average is zero where a round starts; what it is "
        f"multiplied by, ${latex(potential)}$, {end} where a round ends."
    )


def introduce_contracting_step(claim: Claim, certificate: Contracting) -> str:
    """Describe what follows for the run from a step that contracts."""
    shown = {one.name: getattr(certificate, one.name) for one in fields(certificate)}
    numbers = {name: f"${latex(value)}$" for name, value in shown.items() if isinstance(value, sp.Basic)}
    overview = certificate.overview.format(**numbers)
    return f"By a proved claim about each local step, {overview}" + _describe_potential(claim, certificate.potential)


def show_recursion(claim: Claim, certificate: Recursion) -> Iterator[Group]:
    """Yield one local step, and the first one if it is shown separately."""
    measure, context = certificate.measure, _build_context(claim, certificate)
    before, after = rule_labels.typeset_measure(measure)
    grown = rf"\left({latex(certificate.factor)}\right){before}+{latex(certificate.offset)}"
    yield Group(rf"{after} \le {grown}", list_entries(certificate.terms, context))
    if certificate.first is not None:
        start, together = latex(certificate.bound.subs(k, 1)), measure.together(claim, context)
        yield Group(rf"{after} \le {start}\quad(k=0)", list_entries(certificate.first, together))


def _build_context(claim: Claim, certificate: Recursion) -> Context:
    numbers = numbers_of(claim)
    known = numbers.symbols | {k, symbols_of(claim)(q.local_steps)}
    first = 0 if certificate.first is None else 1
    return certificate.measure.context(claim, replace(numbers, symbols=known, at_least={**numbers.at_least, k: first}))


def introduce_recursion(claim: Claim, certificate: Recursion) -> str:
    """Describe the measured distance, and the consequences of its bound."""
    measure, clients = certificate.measure, symbols_of(claim)(q.clients)
    is_largest = claim.relations[0].left == symbols_of(claim)(measure.largest) and measure.largest_drift is not None
    share = measure.largest_drift(clients) if is_largest and measure.largest_drift else measure.mean_drift(clients)
    whose = "the drift of a client" if is_largest else "the mean drift"
    return (
        f"{_WHERE_TOGETHER[measure.observes_together]}  One local step takes $x_i$ to $x_i'$, and the inequality "
        "below holds, as its slack is the sum of the coefficients times the terms beside them.  So after $k$ local "
        f"steps {rule_labels.describe_measure(measure)} is in expectation at most ${latex(certificate.bound)}$, which "
        f"satisfies the recursion; and {whose} is at most ${latex(share)}$ times the bounds for the steps of a round."
    )


_WHERE_TOGETHER = {
    True: "All clients start a round at the server's model.",
    False: (
        "Where $t\\bmod K=0$ all clients of the loop step from their average, with gradients at their own iterates, "
        "and k counts their steps from this one on."
    ),
}
