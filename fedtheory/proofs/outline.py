"""Outlines of certificates for readers: the proved statements, and the terms of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from fedtheory.kernel import Context, slack
from fedtheory.kernel.expressions import Average, ClientSum, Expr, LocalSum
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from fedtheory.proofs.cases import Cases, claims_of
from fedtheory.proofs.certificate import BothWays, Certificate, Link, build_known_context
from fedtheory.proofs.certificates_of_papers import document_for
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.contraction import Contracting
from fedtheory.proofs.definitions import definition_of, noisy_rounds_of
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.document import certificate_in
from fedtheory.proofs.entries import Entry, Group, list_entries
from fedtheory.proofs.examined import Outlined
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.induction import POWER, StepIndex, advance_distance, count_from
from fedtheory.proofs.links import Induction, Positive, PrefixSum, Products, Squared
from fedtheory.proofs.lyapunov import Lyapunov, build_start_context
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.outline_steps import (
    introduce_contracting_step,
    introduce_mean,
    introduce_recursion,
    show_recursion,
    show_steps,
)
from fedtheory.proofs.paper_contexts import find_weight
from fedtheory.proofs.parts import Part
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.restatements import Powers, Squares
from fedtheory.proofs.roots import Root


@dataclass(frozen=True)
class Outline:
    """The outline of a certificate, for a page or a terminal."""

    introduction: str
    """Introduction to the entries, in words with LaTeX between dollar signs."""
    groups: tuple[Group, ...]


def outline(claim: Claim) -> Outline | None:
    """Return the outline of a claim's certificate; None if it has none."""
    # The outline shows the certificate after decoding, which is what the kernel checks.
    document = document_for(claim)
    if document is None:
        return None
    claim = use_plain_symbols(claim)
    certificate = certificate_in(claim, document)
    introduction, groups = _describe_kind(certificate)
    with claim.typesetting():
        roots = (_outline_root(claim, root) for root in getattr(certificate, "roots", ()))
        return Outline(introduction(claim, certificate), (*groups(claim, certificate), *roots))


def _describe_kind(certificate: object) -> tuple[Callable[..., str], Callable[..., Iterator[Group]]]:
    """Return the functions that introduce and outline a certificate, by the first class that it belongs to."""
    return next(functions for kind, functions in _KINDS.items() if isinstance(certificate, kind))


def _outline_root(claim: Claim, root: Root) -> Group:
    """Return the group of terms by which the argument of a root is non-negative."""
    statement = rf"{latex(root.letter)}^2={latex(root.of)}\ge {latex(root.least)}"
    return Group(statement, tuple(_describe_part(claim, part) for part in root.parts))


def _outline_links(claim: Claim, certificate: Certificate) -> Iterator[Group]:
    """Yield the outline of each link of a combination."""
    for relation, why in zip(claim.relations, certificate.links, strict=True):
        group = _outline_link(claim, certificate, relation, why)
        yield _use_client_weights(claim, relation, group) if claim.place == "run" else group


class _StepSum(sp.Function):  # type: ignore[misc]
    """A sum over the steps or updates that the claim is about."""

    nargs = 1

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        shown = rf"\sum_l\left[{printer.doprint(self.args[0])}\right]"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"


def _use_client_weights(claim: Claim, relation: Relation, group: Group) -> Group:
    """Return a group of a claim about a run, whose client averages have the weights of its context."""
    share = symbols_of(claim)(find_weight(claim, relation))

    def weigh(expression: Expr) -> Expr:
        """Write averages over clients as sums with client weights."""
        summed = expression.replace(LocalSum, _StepSum)
        return summed.replace(Average, lambda content: ClientSum(share * content))

    entries = (replace(e, coefficient=weigh(e.coefficient), factor=weigh(e.factor)) for e in group.entries)
    return replace(group, entries=tuple(entries))


def _outline_link(claim: Claim, certificate: Certificate, relation: Relation, why: Link) -> Group:
    """Return the outline of one link."""
    if isinstance(why, PrefixSum):
        return Group(relation.latex, ())
    if isinstance(why, Positive):
        return Group(relation.latex, (Entry(sp.S.One, "positive, by the signs of its symbols", relation.slack),))
    if isinstance(why, Products):
        return Group(relation.latex, tuple(_list_products(why)))
    lemmas = [use_plain_symbols(find(name)) for name in certificate.lemmas]
    context = build_known_context(claim, relation, certificate.roots, lemmas)
    if isinstance(why, Induction):
        return _outline_induction(claim, relation, why, context)
    if isinstance(why, Squared):
        rooted = rf"{latex(why.length)}\le {latex(why.bound)}"
        return Group(rf"{relation.latex},\quad {rooted}", list_entries(why.terms, context))
    terms = [*why.at_most, *why.at_least] if isinstance(why, BothWays) else why
    return Group(relation.latex, list_entries(terms, context))


def _outline_induction(claim: Claim, relation: Relation, why: Induction, context: Context) -> Group:
    """Return the outline of an induction over local steps."""
    grown = _write_power(claim, why, why.factor * why.measured + why.offset)
    step = rf"{latex(advance_distance(claim, why.measured))}\le {latex(grown)}"
    entries = list_entries(why.terms, count_from(StepIndex(claim, why.base), context, 0))
    shown = (
        replace(e, coefficient=_write_power(claim, why, e.coefficient), factor=_write_power(claim, why, e.factor))
        for e in entries
    )
    return Group(rf"{relation.latex},\quad {step}", tuple(shown))


def _write_power(claim: Claim, induction: Induction, expression: Expr) -> Expr:
    """Return an expression of an induction with the power of its base written out."""
    if induction.base is None:
        return expression
    return expression.xreplace({POWER: induction.base ** symbols_of(claim)(q.local_step_index)})


def _list_products(why: Products) -> Iterator[Entry]:
    """Yield the products of facts that a link sums."""
    for part in why.parts:
        slacks = (why.facts[name].slack.xreplace(dict(why.scalars)) for name in part.facts)
        yield Entry(sp.sympify(part.coefficient), ", ".join(part.facts), sp.Mul(*slacks))


def _introduce_links(claim: Claim, certificate: Certificate) -> str:
    """Introduce the table of a certificate whose terms show the slack of each relation."""
    return (
        "The slack of each relation, right side minus left side, is the sum of these coefficients times the terms "
        "beside them; all expectations are over fresh, unbiased noise.  Under the conditions each coefficient is "
        "non-negative, and so is each term, for the stated reason.  Therefore the relation holds for any number of "
        "clients, dimensions and steps, and for all objectives that satisfy the assumptions, not only quadratics."
        + "".join(words for kind, words in _ABOUT_KINDS.items() if any(isinstance(x, kind) for x in certificate.links))
        + (_ABOUT_UPDATES if claim.place == "run" else "")
    )


_ABOUT_UPDATES = (
    "  The quantities are written out in the vectors of an update: $n_i$, $m_i$, $e_i$ are the noise of one sample at "
    r"$\theta_i^{\rho_i,k}$, $\theta^{n,k}$ and $\bar\theta^n$; "
    r"$d_i=q(n)[\omega_i(n)/q_i(n)-1]g_i$ is what the random weights add, and $u_i=\mathbb E[\omega_i^2(n)]/q_i(n)$."
)


_ABOUT_KINDS: dict[type, str] = {
    Induction: (
        "  Where two statements stand side by side, the first follows from the second by induction over the local "
        "steps, and the coefficients are those of the second."
    ),
    Squared: (
        "  Where an inequality between norms stands beside another one, the other one is its square, and the "
        "coefficients are those of the inequality between norms."
    ),
    Products: (
        "  A relation between quotients is multiplied by its denominators first; its slack is then a sum of products "
        "of the facts that are named."
    ),
    PrefixSum: (
        "  Sums of numbers over past local steps are zero where there are none, and each step adds what the other side "
        "grows by."
    ),
}


def _outline_sums(claim: Claim, certificate: Combination) -> Iterator[Group]:
    """Yield the outline of each sum over the run."""
    for relation, parts in zip(claim.relations, certificate.links, strict=True):
        yield Group(relation.latex, tuple(_describe_part(claim, part) for part in parts))


def _describe_part(claim: Claim, part: Part) -> Entry:
    """Describe a part of a combination: its coefficient, its name and its slack."""
    coefficient = sp.sympify(part.coefficient)
    if isinstance(part.premise, Fact):
        return Entry(coefficient, part.premise.name, part.premise.slack(symbols_of(claim)))
    if not isinstance(part.premise, str | Derived):
        return Entry(coefficient, "a condition", slack(part.premise))
    derived = Derived(part.premise) if isinstance(part.premise, str) else part.premise
    premise = use_plain_symbols(find(derived.claim))
    derived_slack = derived.derive(symbols_of(premise), premise.relations)
    return Entry(coefficient, derived.label, derived_slack, derived.claim)


def _introduce_sums(_claim: Claim, _certificate: Combination) -> str:
    """Introduce the table of a sum of proved claims and facts."""
    return (
        "The slack of each relation, right side minus left side, is the sum of these coefficients times the terms "
        "beside them: slacks of proved claims, and facts about the quantities of every run."
    )


def _list_fixed_points(claim: Claim, _certificate: FixedPoint) -> Iterator[Group]:
    """Yield the fixed points of the vectors."""
    for vector, where in definition_of(claim).at_optimum.items():
        yield Group(rf"{latex(vector)}={latex(where)}", ())


def _introduce_fixed_point(claim: Claim, certificate: FixedPoint) -> str:
    """Introduce the proof that vectors are a fixed point of a round."""
    local = (
        "a local step leaves the local vectors where they are, and so do all of them"
        if certificate.local_step == "idle"
        else "a round has a single local step"
    )
    return (
        f"From the definition of {definition_of(claim).name}, with its vectors as below: {local}; the end of a round "
        "leaves every vector where it is.  The mean of the clients' gradients at the optimum is zero."
    )


def _outline_lyapunov(claim: Claim, certificate: Lyapunov) -> Iterator[Group]:
    """Yield the round, the bounded quantity, and the start."""
    one = next(noisy_rounds_of(claim))
    factor, offset = latex(certificate.factor), latex(certificate.offset)
    measured = latex(claim.relations[0].ordered[0])
    yield Group(rf"\mathbb E\,V'\le\left({factor}\right)V+{offset}", list_entries(certificate.round, one.context))
    yield Group(rf"{measured}\le \mathbb E\,V^T", list_entries(certificate.model, one.context))
    yield Group(rf"V^0\le {latex(certificate.level)}", list_entries(certificate.start, build_start_context(one)))


def _introduce_lyapunov(claim: Claim, certificate: Lyapunov) -> str:
    """Introduce the tables of a proof by a Lyapunov function."""
    return (
        f"From the definition of {definition_of(claim).name}: a prime stands for what its local step and the end of "
        "the round make of the vectors, in the mean over coins and noise.  The slack of each inequality below is the "
        "sum of the coefficients times the terms beside them, with "
        f"$V={latex(certificate.function)}$; over all rounds this is a geometric series."
    )


def _outline_cases(claim: Claim, certificate: Cases) -> Iterator[Group]:
    """Yield the outlines of the cases."""
    for supposed, case in zip(claims_of(claim, certificate), certificate.cases, strict=True):
        role = "suffices" if certificate.is_single else f"is {case.name}"
        where = rf",\quad\text{{where }}{latex(case.argument)}\text{{ {role}}}"
        _, describe = _describe_kind(case.why)
        yield from (replace(group, statement=group.statement + where) for group in describe(supposed, case.why))


def _outline_restatement(claim: Claim, certificate: Powers | Squares) -> Iterator[Group]:
    """Yield the outline of the proof of the restated claim."""
    _, describe = _describe_kind(certificate.why)
    yield from describe(certificate.restate(claim), certificate.why)


def _introduce_powers(claim: Claim, certificate: Powers) -> str:
    """Introduce a proof with smaller powers."""
    introduce, _ = _describe_kind(certificate.why)
    count = rf"${latex(certificate.count)}$"
    base = "1 - a in place of exp(-a n)" if certificate.base is None else rf"${latex(certificate.base)}$"
    shown = f"  With n = {count}, larger powers and exponentials are at least the n-th power of {base}."
    return introduce(certificate.restate(claim), certificate.why) + shown


def _introduce_squares(claim: Claim, certificate: Squares) -> str:
    """Introduce a proof between squares."""
    introduce, _ = _describe_kind(certificate.why)
    shown = "  The larger side is non-negative, so that the bound follows from that between the squares."
    return introduce(certificate.restate(claim), certificate.why) + shown


def _introduce_cases(claim: Claim, certificate: Cases) -> str:
    """Introduce a proof by cases as that of the first case."""
    first = certificate.cases[0].why
    introduce, _ = _describe_kind(first)
    return introduce(claims_of(claim, certificate)[0], first)


_KINDS: dict[type, tuple[Callable[..., str], Callable[..., Iterator[Group]]]] = {
    Certificate: (_introduce_links, _outline_links),
    MeanCertificate: (introduce_mean, show_steps),
    Combination: (_introduce_sums, _outline_sums),
    Recursion: (introduce_recursion, show_recursion),
    Contracting: (introduce_contracting_step, show_steps),
    FixedPoint: (_introduce_fixed_point, _list_fixed_points),
    Lyapunov: (_introduce_lyapunov, _outline_lyapunov),
    Cases: (_introduce_cases, _outline_cases),
    Powers: (_introduce_powers, _outline_restatement),
    Squares: (_introduce_squares, _outline_restatement),
    Outlined: (lambda claim, of: of.introduce(claim), lambda claim, of: of.outline(claim)),
}


def document(found: Outline) -> list[dict[str, Any]]:
    """Return the entries as JSON: LaTeX of each coefficient and of its factor, link by link."""
    return [
        {
            "link": number,
            "statement": group.statement,
            "coefficient": latex(entry.coefficient),
            "reason": entry.reason,
            "not_negative": latex(entry.factor),
            "premise": entry.premise,
        }
        for number, group in enumerate(found.groups)
        for entry in group.entries
    ]
