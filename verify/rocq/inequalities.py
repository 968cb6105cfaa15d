"""Translate the inequality of a certificate's term: its statement, and the lemma of the library that proves it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import sympy as sp

from fedtheory.kernel import Context, InequalityRef, Numbers
from fedtheory.kernel.expressions import Average, Expr, Gradient, Value
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import comparators
from fedtheory.proofs import distances as pair
from fedtheory.proofs.claim_context import build_step_context
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Mean, Multiple, Sum
from verify.rocq.vocabulary import AT, Constant


def write_inequality(inequality: InequalityRef, reader: Reader) -> KnownSlack:
    """Return the statement and the lemma of an inequality; raises `NotExported` if the library has none."""
    if inequality.kind in _PLAIN:
        return KnownSlack(inequality.instantiate(Context()).expression, _PLAIN[inequality.kind])
    if inequality.kind in _LEMMAS:
        return _apply_lemma(reader, inequality)
    if inequality.kind not in _RULES:
        raise NotExported(f"the library has no lemma for the inequality {inequality.kind!r}")
    return _RULES[inequality.kind](reader, *inequality.about)


_PLAIN = {"square": "apply dot_self", "one": "lra"}
"""Tactics for inequalities that hold for all vectors."""


_CONVEX, _SMOOTH, _CURVED = "convex", "smooth", "strongly_convex"


def _prove_regularity(reader: Reader, objective: Expr, kind: str) -> str:
    """Return the proof that an objective is convex or smooth."""
    name = reader.vocabulary.objectives.get(objective, "")
    if name == reader.vocabulary.place.mean:
        return _OF_MEAN[kind].format(step=reader.vocabulary.place.step)
    client = name[-1:]
    return f"({kind}_clients_S {client} H{client})"


_OF_MEAN = {
    _CONVEX: "(convex_F {step} convex_clients_S)",
    _SMOOTH: "(smooth_F {step} L smooth_clients_S)",
    _CURVED: "(strongly_convex_F {step} mu strongly_convex_clients_S)",
}


def _find_constant(reader: Reader, objective: Expr, kind: str) -> Constant:
    """Return a constant of an objective: the common one, unless each client has its own."""
    vocabulary = reader.vocabulary
    if kind in vocabulary.constants and vocabulary.objectives.get(objective) != reader.vocabulary.place.mean:
        return vocabulary.constants[kind]
    quantity, name = (q.smoothness, "L") if kind == _SMOOTH else (q.strong_convexity, "mu")
    return Constant(vocabulary.symbols(quantity), name, _prove_regularity(reader, objective, kind), f"{name}_positive")


def _rewrite_difference(reader: Reader, at: Expr, around: Expr) -> str:
    """Return a tactic that writes the difference of two points as the statement does, if parts of it cancel."""
    difference = sp.expand(at - around)
    parts = [len(sp.Add.make_args(sp.expand(one))) for one in (at, around, difference)]
    if difference == 0 or parts[2] == parts[0] + parts[1]:
        return ""
    reader.files.add("Definitions")
    one, other, left = (reader.write_vector(side) for side in (at, around, at - around))
    return f"replace (({one}) - ({other}))%vec with ({left})%vec in known by by_linear; "


def _write_points(reader: Reader, at: Expr, around: Expr) -> str:
    """Return two points as arguments of a lemma."""
    sides = (reader.write_vector(side) for side in (at, around))
    return " ".join(f"({side})%vec" for side in sides)


def _apply_lemma(reader: Reader, inequality: InequalityRef) -> KnownSlack:
    """Return an inequality between values and gradients of an objective at two points, as the kernel states it."""
    if reader.vocabulary.constants and "{convex}" in _LEMMAS[inequality.kind]:
        raise NotExported("convexity of the clients of a round is not exported: state their strong convexity")
    objective, at, around = inequality.about
    smooth, curved = (_find_constant(reader, objective, kind) for kind in (_SMOOTH, _CURVED))
    known = Context(
        convex=frozenset({objective}),
        smooth={objective: smooth.symbol},
        strongly_convex={objective: curved.symbol},
    )
    arguments = {
        "step": reader.vocabulary.place.step,
        "f": reader.vocabulary.objectives.get(objective, "?"),
        "points": _write_points(reader, at, around),
        "convex": _prove_regularity(reader, objective, _CONVEX),
    }
    lemma = _LEMMAS[inequality.kind].format(**arguments, smooth=smooth, curved=curved)
    return KnownSlack(
        inequality.instantiate(known).expression, _write_tactic(lemma, _rewrite_difference(reader, at, around))
    )


_LEMMAS = {
    "convexity": "convexity {step} ({f}) {points} {convex}",
    "strong_convexity": "strong_convexity {step} {curved.name} ({f}) {points} {curved.proof}",
    "smoothness": "smoothness {step} ({f}) {smooth.name} {points} {smooth.proof}",
    "cocoercivity": "cocoercivity {step} ({f}) {smooth.name} {points} {smooth.positive} {convex} {smooth.proof}",
    "lipschitz_gradient": "lipschitz {step} ({f}) {smooth.name} {points} {smooth.positive} {smooth.proof}",
}
"""Lemmas of the library by inequality, with their arguments."""


def _write_optimality(reader: Reader, objective: Expr, at: Expr) -> KnownSlack:
    """Return that the value of F at a point is at least the minimum."""
    symbol = reader.vocabulary.symbols
    point = reader.write_vector(at)
    slack = Value(objective, at) - Value(objective, symbol(q.optimum))
    return KnownSlack(
        slack, _write_tactic(f"optimality {reader.vocabulary.place.step} ({point})%vec x_star minimiser_x_star")
    )


def _write_assumption(reader: Reader, name: str) -> KnownSlack:
    """Return an assumption of the claim at one client; raises `NotExported` for an unknown one."""
    if name in reader.known:
        return reader.known[name]
    if (own := reader.vocabulary.find_slack(name)) is not None:
        return KnownSlack(*own)
    found, slacks = _OF_ONE.fullmatch(name), _list_slacks(reader.vocabulary.claim)
    kind, client = (found[1] + (found[3] or ""), found[2]) if found else (name, "i")
    if kind not in _TACTICS or name not in slacks:
        raise NotExported(f"the library has no bound {name!r} on a local step")
    symbol, point = reader.vocabulary.symbols, reader.vocabulary.reference_point
    own = {"i": pair.x_i, "j": pair.x_j}[client] if found else symbol(q.local_iterate)
    points = {"local": own, "average": symbol(q.average_iterate), "centralised": symbol(q.centralised_model)}
    used = {key: reader.write_vector(one) for key, one in points.items() if f"{{{key}}}" in _TACTICS[kind]}
    used |= {"step": reader.vocabulary.place.step, "i": client, "point": point}
    return KnownSlack(slacks[name], _TACTICS[kind].format(at=AT[point], **used))


_OF_ONE = re.compile(r"(.*) of ([ij])( in the run)?")
"""The name of an assumption on one of two clients."""


@lru_cache(maxsize=2**6)
def _list_slacks(claim: Claim) -> Mapping[str, Expr]:
    """Return the slacks of what a claim assumes of a local step, and of two clients at one."""
    return {**build_step_context(claim).assumed, **pair.build_pair_context(claim, Numbers()).assumed}


def _write_tactic(lemma: str, rewritten: str = "") -> str:
    """Return a tactic that proves a sign by a lemma of the library."""
    return f"pose proof ({lemma}) as known; {rewritten}lra"


def _bound_moment(bound: str, hypothesis: str) -> str:
    """Return a tactic for the bound on a client's second moment by a hypothesis."""
    return (
        f"pose proof (second_moment {{step}} {bound} {{i}} {hypothesis} H{{i}}) as known; "
        "first [exact known | unfold stochastic_gradient in known; rewrite plus_comm in known; exact known]"
    )


_TACTICS = {
    "bounded variance": _write_tactic("variance {step} sigma {i} bounded_variance_S H{i}"),
    "bounded dissimilarity": _write_tactic("dissimilarity {step} zeta {i} ({local}) bounded_dissimilarity_S H{i}"),
    "bounded mean dissimilarity": _write_tactic(
        "mean_dissimilarity {step} zeta_mean ({average}) bounded_mean_dissimilarity_S"
    ),
    "bounded second moment": _bound_moment("G", "bounded_second_moment_S"),
    "second moment in the run": _bound_moment("G_run", "second_moment_in_run_S"),
    "divergence at the centralised model": _write_tactic(
        "divergence {step} delta i ({centralised}) own_dissimilarity_S Hi"
    ),
    "nearest start": "lra",
    comparators.SMOOTH_NOISE: _write_tactic("smoothness_of_noise {step} ell {point} noise_there i smooth_noise_S Hi"),
    comparators.NOISE_AT_Y: _write_tactic("noise_bound_there {step} noise_there {at.noise_name} noise_there_S"),
    comparators.DISSIMILARITY_AT_Y: _write_tactic(
        "dissimilarity_there {step} {point} {at.dissimilarity_name} dissimilarity_there_S"
    ),
}
"""Tactics for the assumptions on a local step, by their names for the kernel."""


def _write_triangle(reader: Reader, *vectors: Expr) -> KnownSlack:
    """Return the triangle inequality of two or three vectors."""
    lemma = {2: "triangle", 3: "triangle_of_three"}.get(len(vectors))
    if lemma is None:
        raise NotExported("the library has the triangle inequality for two or three vectors")
    terms = [reader.vector(one) for one in vectors]
    whole = terms[0]
    for term in terms[1:]:
        whole = Sum(whole, term)
    lengths = [reader.length(one, term) for one, term in zip(vectors, terms, strict=True)]
    total = lengths[0]
    for one in lengths[1:]:
        total = Sum(total, one)
    slack = Sum(total, reader.length(sp.Add(*vectors), whole), "-")
    points = " ".join(f"({reader.text(term)})%vec" for term in terms)
    rewritten = "".join(reader.lengths.rewriting(term) for term in (whole, *terms))
    return KnownSlack(slack, f"pose proof ({lemma} {points}) as known; {rewritten}lra")


def _bound_norm_of_mean(reader: Reader, of: Expr) -> KnownSlack:
    """Return that the norm of an average is at most the average of the norms."""
    member = reader.vector(of)
    slack = Sum(Mean(reader.length(of, member)), reader.length(Average(of), Mean(member)), "-")
    point = f"(fun i => ({reader.text(member)})%vec)"
    rewritten = reader.lengths.rewriting(Mean(member))
    if reader.text(member) in reader.lengths.same:
        raise NotExported("the average norm of multiples is not exported")
    clients = reader.vocabulary.place.clients
    return KnownSlack(slack, f"pose proof (length_of_mean {clients} {point}) as known; {rewritten}lra")


def _write_gradient_length(reader: Reader, objective: Expr, at: Expr, around: Expr) -> KnownSlack:
    """Return that gradients at two points differ by at most the smoothness times the distance of the points."""
    points, smoothness = _write_points(reader, at, around), _find_constant(reader, objective, _SMOOTH)
    between = Sum(reader.vector(at), reader.vector(around), "-")
    slopes = [reader.vector(Gradient(objective, point)) for point in (at, around)]
    changed = Sum(slopes[0], slopes[1], "-")
    bound = Multiple(reader.number(smoothness.symbol), reader.length(at - around, between))
    slack = Sum(bound, reader.length(Gradient(objective, at) - Gradient(objective, around), changed), "-")
    rewritten = reader.lengths.rewriting(between) + reader.lengths.rewriting(changed)
    name = reader.vocabulary.objectives.get(objective, "?")
    applied = f"lipschitz_length ({name}) {smoothness.name} {points} {smoothness.positive} {smoothness.proof}"
    return KnownSlack(slack, f"pose proof ({applied}) as known; {rewritten}lra")


def _write_lipschitz(reader: Reader, objective: Expr, at: Expr, around: Expr) -> KnownSlack:
    """Return that values of F at two points differ by at most the Lipschitz constant times the distance."""
    if reader.vocabulary.objectives.get(objective) != reader.vocabulary.place.mean:
        raise NotExported("the Lipschitz constant is exported for F, not for one client")
    between = Sum(reader.vector(at), reader.vector(around), "-")
    rho = reader.number(reader.vocabulary.symbols(q.lipschitz))
    change = reader.scalar(Value(objective, at) - Value(objective, around))
    slack = Sum(Multiple(rho, reader.length(at - around, between)), change, "-")
    applied = (
        f"lipschitz_mean {reader.vocabulary.place.step} rho {_write_points(reader, at, around)} lipschitz_clients_S"
    )
    return KnownSlack(slack, f"pose proof ({applied}) as known; {reader.lengths.rewriting(between)}lra")


def _write_root(reader: Reader, name: str, bound: Expr, of: Expr) -> KnownSlack:
    """Return the bound on a norm that an assumption on its square gives."""
    fact, member = _write_assumption(reader, name), reader.vector(of)
    number, vector_text = reader.number(bound), reader.text(member)
    slack = Sum(reader.scalar(bound), reader.length(of, member), "-")
    parameters = reader.text(reader.read_slack(fact))
    sign = reader.signs.nonnegative(bound) if reader.signs is not None else "nonnegative"
    return KnownSlack(
        slack,
        "try pose proof (delta_nonnegative i) as delta_known; "
        f"assert (bound_known : 0 <= {number}) by (apply le_by_slack; {sign}); "
        f"assert (fact : 0 <= {parameters}) by ({fact.tactic}); "
        f"assert (square : ({number}) ^ 2 - ‖{vector_text}‖² = {parameters}) by (field; nonzero); "
        f"pose proof (root_of_slack _ _ _ bound_known square fact) as known; {reader.lengths.rewriting(member)}lra",
    )


_RULES: dict[str, Callable[..., KnownSlack]] = {
    "optimality": _write_optimality,
    "assumption": _write_assumption,
    "triangle": _write_triangle,
    "length_of_mean": _bound_norm_of_mean,
    "lipschitz_gradient_length": _write_gradient_length,
    "lipschitz": _write_lipschitz,
    "root": _write_root,
}
