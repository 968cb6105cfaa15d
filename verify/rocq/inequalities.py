"""Translate the inequality of a certificate's term: its statement, and the lemma of the library that proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, Value
from fedtheory.kernel.inequalities import InequalityRef
from fedtheory.language import quantities as q
from fedtheory.proofs import comparators
from fedtheory.proofs import distances as pair
from verify.rocq.client_step import OwnVocabulary, slack_of
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Mean, Multiple, Sum, Term, text
from verify.rocq.vocabulary import AT, CLIENTS, MEAN, Constant, There


@dataclass(frozen=True)
class NonnegativeScalar:
    """A non-negative scalar, with a tactic that proves its sign."""

    slack: Expr | Term
    tactic: str


def write_inequality(because: InequalityRef, reader: Reader) -> NonnegativeScalar:
    """Return the statement and the lemma of an inequality; raises `NotExported` if the library has none."""
    if because.kind not in _RULES:
        raise NotExported(f"the reason {because.kind!r} has no lemma in the library")
    return _RULES[because.kind](reader, *because.about)


def _square(_reader: Reader, of: Expr) -> NonnegativeScalar:
    return NonnegativeScalar(Inner(of, of), "apply dot_self")


def _one(_reader: Reader) -> NonnegativeScalar:
    return NonnegativeScalar(sp.S.One, "lra")


def _gap(objective: Expr, at: Expr, around: Expr) -> Expr:
    return Value(objective, at) - Value(objective, around) - Inner(Gradient(objective, around), at - around)


_CONVEX, _SMOOTH, _CURVED = "convex", "smooth", "strongly_convex"


def _prove_regularity(reader: Reader, objective: Expr, kind: str) -> str:
    """Return the proof that an objective is convex or smooth."""
    name = reader.vocabulary.objectives.get(objective, "")
    if name == MEAN:
        return _OF_MEAN[kind]
    client = name[-1:]
    return f"({kind}_clients_S {client} H{client})"


_OF_MEAN = {
    _CONVEX: "(convex_F S convex_clients_S)",
    _SMOOTH: "(smooth_F S L smooth_clients_S)",
    _CURVED: "(strongly_convex_F S mu strongly_convex_clients_S)",
}


def _constant(reader: Reader, objective: Expr, kind: str) -> Constant:
    """Return a constant of an objective: the common one, unless each client has its own."""
    vocabulary = reader.vocabulary
    if kind in vocabulary.constants and vocabulary.objectives.get(objective) != MEAN:
        return vocabulary.constants[kind]
    quantity, name = (q.smoothness, "L") if kind == _SMOOTH else (q.strong_convexity, "mu")
    return Constant(vocabulary.symbols(quantity), name, _prove_regularity(reader, objective, kind), f"{name}_positive")


def _by(lemma: str, arguments: str, rewritten: str = "") -> str:
    return f"pose proof ({lemma} {arguments}) as known; {rewritten}lra"


def _rewrite_difference(reader: Reader, at: Expr, around: Expr) -> str:
    """Return a tactic that writes the difference of two points as the statement does, if parts of it cancel."""
    difference = sp.expand(at - around)
    parts = [len(sp.Add.make_args(sp.expand(one))) for one in (at, around, difference)]
    if difference == 0 or parts[2] == parts[0] + parts[1]:
        return ""
    one, other, left = (text(reader.vector(side), CLIENTS) for side in (at, around, at - around))
    return f"replace (({one}) - ({other}))%vec with ({left})%vec in known by {BY_LINEAR}; "


BY_LINEAR = "by_linear"
"""Tactic for an equation of two combinations of vectors, from the library file `Definitions`."""


def _points(reader: Reader, at: Expr, around: Expr) -> str:
    sides = (text(reader.vector(side), CLIENTS) for side in (at, around))
    return " ".join(f"({side})%vec" for side in sides)


def _write_points(reader: Reader, objective: Expr, at: Expr, around: Expr) -> tuple[str, str]:
    return f"S ({reader.vocabulary.objectives.get(objective, '?')})", _points(reader, at, around)


def _convexity(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    f, points = _write_points(reader, objective, at, around)
    moved = _rewrite_difference(reader, at, around)
    arguments = f"{f} {points} {_prove_regularity(reader, objective, _CONVEX)}"
    return NonnegativeScalar(_gap(objective, at, around), _by("convexity", arguments, moved))


def _strong_convexity(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    f, points = _write_points(reader, objective, at, around)
    moved = _rewrite_difference(reader, at, around)
    mu = _constant(reader, objective, _CURVED)
    quadratic_term = mu.symbol / 2 * Inner(at - around, at - around)
    arguments = f"{mu.name} ({f.removeprefix('S ')[1:-1]}) {points} {mu.proof}"
    return NonnegativeScalar(
        _gap(objective, at, around) - quadratic_term,
        _by("strong_convexity S", arguments, moved),
    )


def _smoothness(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    f, points = _write_points(reader, objective, at, around)
    moved = _rewrite_difference(reader, at, around)
    quadratic_term = reader.vocabulary.symbols(q.smoothness) / 2 * Inner(at - around, at - around)
    arguments = f"{f} L {points} {_prove_regularity(reader, objective, _SMOOTH)}"
    return NonnegativeScalar(
        quadratic_term - _gap(objective, at, around),
        _by("smoothness", arguments, moved),
    )


def _cocoercivity(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    f, points = _write_points(reader, objective, at, around)
    moved = _rewrite_difference(reader, at, around)
    apart = Gradient(objective, at) - Gradient(objective, around)
    lost = Inner(apart, apart) / (2 * reader.vocabulary.symbols(q.smoothness))
    known = (
        f"L_positive {_prove_regularity(reader, objective, _CONVEX)} {_prove_regularity(reader, objective, _SMOOTH)}"
    )
    arguments = f"{f} L {points} {known}"
    return NonnegativeScalar(_gap(objective, at, around) - lost, _by("cocoercivity", arguments, moved))


def _lipschitz_gradient(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    f, points = _write_points(reader, objective, at, around)
    moved = _rewrite_difference(reader, at, around)
    apart = Gradient(objective, at) - Gradient(objective, around)
    smoothness = _constant(reader, objective, _SMOOTH)
    bound = smoothness.symbol**2 * Inner(at - around, at - around)
    arguments = f"{f} {smoothness.name} {points} {smoothness.positive} {smoothness.proof}"
    return NonnegativeScalar(bound - Inner(apart, apart), _by("lipschitz", arguments, moved))


def _optimality(reader: Reader, objective: Expr, at: Expr) -> NonnegativeScalar:
    symbol = reader.vocabulary.symbols
    point = text(reader.vector(at), CLIENTS)
    arguments = f"S ({point})%vec x_star minimiser_x_star"
    slack = Value(objective, at) - Value(objective, symbol(q.optimum))
    return NonnegativeScalar(slack, _by("optimality", arguments))


def _assumption(reader: Reader, name: str) -> NonnegativeScalar:
    if name == "bounded mean dissimilarity":
        return _mean_dissimilarity(reader)
    if name in reader.known:
        return NonnegativeScalar(reader.known[name].slack, reader.known[name].tactic)
    if isinstance(reader.vocabulary, OwnVocabulary):
        return NonnegativeScalar(*slack_of(reader.vocabulary, name))
    if name in _THERE:
        return _THERE[name](reader)
    if name.startswith("second moment of ") and name.endswith(" in the run"):
        return _moment_in_run(reader, _one_of_two(name.split()[3]))
    assumed, _, index = name.partition(" of ")
    if assumed not in _OF_CLIENTS:
        raise NotExported(f"what {name!r} says of a step is not in the library")
    return _OF_CLIENTS[assumed](reader, _one_of_two(index) if index else _every_client(reader))


@dataclass(frozen=True)
class _Client:
    """A client, given by its index, with its noise, iterate and objective."""

    index: str
    noise: Expr
    iterate: Expr
    own: Expr
    mean: Expr


def _every_client(reader: Reader) -> _Client:
    symbol = reader.vocabulary.symbols
    quantities = (q.gradient_noise, q.local_iterate, q.client_objective, q.objective)
    return _Client("i", *(symbol(quantity) for quantity in quantities))


def _one_of_two(index: str) -> _Client:
    if index == "i":
        return _Client("i", pair.n_i, pair.x_i, pair.F_i, pair.F)
    return _Client("j", pair.n_j, pair.x_j, pair.F_j, pair.F)


def _variance(reader: Reader, client: _Client) -> NonnegativeScalar:
    symbol, i = reader.vocabulary.symbols, client.index
    tactic = _by("variance", f"S sigma {i} bounded_variance_S H{i}")
    return NonnegativeScalar(symbol(q.noise_deviation) ** 2 - Inner(client.noise, client.noise), tactic)


def _dissimilarity(reader: Reader, client: _Client) -> NonnegativeScalar:
    symbol, i = reader.vocabulary.symbols, client.index
    apart = Gradient(client.own, client.iterate) - Gradient(client.mean, client.iterate)
    place = text(reader.vector(client.iterate), CLIENTS)
    tactic = _by("dissimilarity", f"S zeta {i} ({place}) bounded_dissimilarity_S H{i}")
    return NonnegativeScalar(symbol(q.gradient_dissimilarity) ** 2 - Inner(apart, apart), tactic)


def _mean_dissimilarity(reader: Reader) -> NonnegativeScalar:
    symbol = reader.vocabulary.symbols
    average = symbol(q.average_iterate)
    apart = Gradient(symbol(q.client_objective), average) - Gradient(symbol(q.objective), average)
    place = text(reader.vector(average), CLIENTS)
    tactic = _by("mean_dissimilarity", f"S zeta_mean ({place}) bounded_mean_dissimilarity_S")
    slack = symbol(q.mean_dissimilarity) ** 2 - Average(Inner(apart, apart))
    return NonnegativeScalar(slack, tactic)


def _smooth_noise(reader: Reader) -> NonnegativeScalar:
    symbol, point = reader.vocabulary.symbols, reader.vocabulary.drawn_at
    y, own, local = symbol(_at(reader).point), symbol(q.client_objective), symbol(q.local_iterate)
    changed = symbol(q.gradient_noise) - comparators.noise_at_y
    slack = 2 * symbol(q.noise_smoothness) * _gap(own, y, local) - Inner(changed, changed)
    return NonnegativeScalar(slack, _by("smoothness_of_noise", f"S ell {point} noise_there i smooth_noise_S Hi"))


def _noise_there(reader: Reader) -> NonnegativeScalar:
    bound = reader.vocabulary.symbols(_at(reader).noise)
    noise = comparators.noise_at_y
    slack = bound**2 - Average(Inner(noise, noise))
    return NonnegativeScalar(slack, _by("noise_bound_there", f"S noise_there {_at(reader).noise_name} noise_there_S"))


def _dissimilarity_there(reader: Reader) -> NonnegativeScalar:
    symbol, point = reader.vocabulary.symbols, reader.vocabulary.drawn_at
    bound, y = symbol(_at(reader).dissimilarity), symbol(_at(reader).point)
    apart = Gradient(symbol(q.client_objective), y) - Gradient(symbol(q.objective), y)
    slack = bound**2 - Average(Inner(apart, apart))
    return NonnegativeScalar(
        slack, _by("dissimilarity_there", f"S {point} {_at(reader).dissimilarity_name} dissimilarity_there_S")
    )


def _at(reader: Reader) -> There:
    return AT[reader.vocabulary.drawn_at]


def _second_moment(reader: Reader, client: _Client) -> NonnegativeScalar:
    symbol, i = reader.vocabulary.symbols, client.index
    sample = Gradient(client.own, client.iterate) + client.noise
    return NonnegativeScalar(symbol(q.second_moment) ** 2 - Inner(sample, sample), _moment("G", i))


def _moment_in_run(reader: Reader, client: _Client) -> NonnegativeScalar:
    sample = Gradient(client.own, client.iterate) + client.noise
    bound = reader.vocabulary.symbols(q.visited_second_moment)
    return NonnegativeScalar(bound**2 - Inner(sample, sample), _moment("G_run", client.index))


def _moment(bound: str, i: str) -> str:
    hypothesis = "bounded_second_moment_S" if bound == "G" else "second_moment_in_run_S"
    return (
        f"pose proof (second_moment S {bound} {i} {hypothesis} H{i}) as known; "
        "first [exact known | unfold stochastic_gradient in known; rewrite plus_comm in known; exact known]"
    )


def _triangle(reader: Reader, *vectors: Expr) -> NonnegativeScalar:
    lemma = {2: "triangle", 3: "triangle_of_three"}.get(len(vectors))
    if lemma is None:
        raise NotExported("the library knows the triangle inequality for two or three vectors")
    terms = [reader.vector(one) for one in vectors]
    whole = terms[0]
    for term in terms[1:]:
        whole = Sum(whole, term)
    lengths = [reader.length(one, term) for one, term in zip(vectors, terms, strict=True)]
    total = lengths[0]
    for one in lengths[1:]:
        total = Sum(total, one)
    slack = Sum(total, reader.length(sp.Add(*vectors), whole), "-")
    points = " ".join(f"({text(term, CLIENTS)})%vec" for term in terms)
    rewritten = "".join(reader.lengths.rewriting(term) for term in (whole, *terms))
    return NonnegativeScalar(slack, f"pose proof ({lemma} {points}) as known; {rewritten}lra")


def _bound_norm_of_mean(reader: Reader, of: Expr) -> NonnegativeScalar:
    member = reader.vector(of)
    slack = Sum(Mean(reader.length(of, member)), reader.length(Average(of), Mean(member)), "-")
    point = f"(fun i => ({text(member, CLIENTS)})%vec)"
    rewritten = reader.lengths.rewriting(Mean(member))
    if text(member, CLIENTS) in reader.lengths.same:
        raise NotExported("a mean of lengths of multiples is not exported")
    return NonnegativeScalar(slack, f"pose proof (length_of_mean {CLIENTS} {point}) as known; {rewritten}lra")


def _lipschitz_gradient_length(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    _, points = _write_points(reader, objective, at, around)
    smoothness = _constant(reader, objective, _SMOOTH)
    between = Sum(reader.vector(at), reader.vector(around), "-")
    slopes = [reader.vector(Gradient(objective, point)) for point in (at, around)]
    changed = Sum(slopes[0], slopes[1], "-")
    bound = Multiple(reader.number(smoothness.symbol), reader.length(at - around, between))
    slack = Sum(bound, reader.length(Gradient(objective, at) - Gradient(objective, around), changed), "-")
    rewritten = reader.lengths.rewriting(between) + reader.lengths.rewriting(changed)
    name = reader.vocabulary.objectives.get(objective, "?")
    applied = f"lipschitz_length ({name}) {smoothness.name} {points} {smoothness.positive} {smoothness.proof}"
    return NonnegativeScalar(slack, f"pose proof ({applied}) as known; {rewritten}lra")


def _lipschitz(reader: Reader, objective: Expr, at: Expr, around: Expr) -> NonnegativeScalar:
    if reader.vocabulary.objectives.get(objective) != MEAN:
        raise NotExported("that one client's losses are Lipschitz is not exported")
    between = Sum(reader.vector(at), reader.vector(around), "-")
    rho = reader.number(reader.vocabulary.symbols(q.lipschitz))
    apart = reader.scalar(Value(objective, at) - Value(objective, around))
    slack = Sum(Multiple(rho, reader.length(at - around, between)), apart, "-")
    applied = f"lipschitz_mean S rho {_points(reader, at, around)} lipschitz_clients_S"
    return NonnegativeScalar(slack, f"pose proof ({applied}) as known; {reader.lengths.rewriting(between)}lra")


def _root(reader: Reader, name: str, bound: Expr, of: Expr) -> NonnegativeScalar:
    fact, member = _assumption(reader, name), reader.vector(of)
    number, vector_text = reader.number(bound), text(member, CLIENTS)
    slack = Sum(reader.scalar(bound), reader.length(of, member), "-")
    parameters = (
        text(reader.scalar(fact.slack), CLIENTS) if isinstance(fact.slack, sp.Basic) else text(fact.slack, CLIENTS)
    )
    sign = reader.signs.nonnegative(bound) if reader.signs is not None else "nonnegative"
    return NonnegativeScalar(
        slack,
        "try pose proof (delta_nonnegative i) as delta_known; "
        f"assert (bound_known : 0 <= {number}) by (apply le_by_slack; {sign}); "
        f"assert (fact : 0 <= {parameters}) by ({fact.tactic}); "
        f"assert (square : ({number}) ^ 2 - ‖{vector_text}‖² = {parameters}) by (field; nonzero); "
        f"pose proof (root_of_slack _ _ _ bound_known square fact) as known; {reader.lengths.rewriting(member)}lra",
    )


_OF_CLIENTS: dict[str, Callable[[Reader, _Client], NonnegativeScalar]] = {
    "bounded variance": _variance,
    "bounded dissimilarity": _dissimilarity,
    "bounded second moment": _second_moment,
}


def _divergence(reader: Reader) -> NonnegativeScalar:
    symbol = reader.vocabulary.symbols
    model = symbol(q.centralised_model)
    apart = Gradient(symbol(q.client_objective), model) - Gradient(symbol(q.objective), model)
    place = text(reader.vector(model), CLIENTS)
    slack = symbol(q.client_dissimilarity) ** 2 - Inner(apart, apart)
    return NonnegativeScalar(slack, _by("divergence", f"S delta i ({place}) own_dissimilarity_S Hi"))


def _nearest_start(reader: Reader) -> NonnegativeScalar:
    symbol = reader.vocabulary.symbols
    apart = symbol(q.server_model) - symbol(q.optimum)
    return NonnegativeScalar(1 / symbol(q.nearest_start) - Inner(apart, apart), "lra")


_THERE: dict[str, Callable[[Reader], NonnegativeScalar]] = {
    "divergence at the centralised model": _divergence,
    "nearest start": _nearest_start,
    comparators.SMOOTH_NOISE: _smooth_noise,
    comparators.NOISE_AT_Y: _noise_there,
    comparators.DISSIMILARITY_AT_Y: _dissimilarity_there,
}
_RULES: dict[str, Callable[..., NonnegativeScalar]] = {
    "square": _square,
    "one": _one,
    "convexity": _convexity,
    "strong_convexity": _strong_convexity,
    "smoothness": _smoothness,
    "cocoercivity": _cocoercivity,
    "lipschitz_gradient": _lipschitz_gradient,
    "optimality": _optimality,
    "assumption": _assumption,
    "triangle": _triangle,
    "length_of_mean": _bound_norm_of_mean,
    "lipschitz_gradient_length": _lipschitz_gradient_length,
    "lipschitz": _lipschitz,
    "root": _root,
}
