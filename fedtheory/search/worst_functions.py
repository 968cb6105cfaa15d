"""Proposes functions that satisfy the named inequalities and violate a statement about points or a step.

If no sum of inequalities proves the statement at some sample, the dual program gives Gram matrices of points and
gradients.  Their largest eigenvectors are values in one dimension, for two clients with opposite deviations from their
average.  Such values are a proposal for a counterexample and refute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.errors import InputError
from fedtheory.kernel import Context, Rejected, scalar, vector
from fedtheory.kernel.expressions import Average, Expr, Gradient, Value
from fedtheory.kernel.work import Exhausted
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities.quantity import Quantity
from fedtheory.proofs.certificate import build_known_context
from fedtheory.proofs.document import with_quantities
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search.blocks import DEVIATIONS, SHARED, Block, split_form
from fedtheory.search.candidates import find_candidates
from fedtheory.search.certificate_terms import draw_inner_samples, find_sign_facts, list_unnamed_quantities
from fedtheory.search.conic import Programs, make_programs
from fedtheory.search.samples import Samples, add_edges

_SAMPLES = 8
"""Number of samples inside the conditions."""
_MOST = 3
"""Limit on the functions that are returned."""
_VIOLATED = 1e-6
"""Violation relative to the largest coefficient of a statement, above which it is not rounding."""
_ALIKE = 1e-6
"""Relative difference of entries of an eigenvector up to which they count as equal."""
_PLACES = ("points", "path", "step")


@dataclass(frozen=True)
class SampledGradient:
    """A point and the gradient there, of two clients, in one dimension."""

    name: Quantity | None
    """The quantity that the point is, or whose client average it is; None for other points."""
    is_average: bool
    """Whether the point is a client average."""
    points: tuple[float, float]
    gradients: tuple[float, float]
    value: float | None
    """Client average of the objectives at the points, up to a constant; None if no inequality contains it."""


@dataclass(frozen=True)
class WorstFunction:
    """Numbers, points and gradients for which a statement fails and the named inequalities hold."""

    numbers: Mapping[Quantity, float]
    """Values of the quantities that are numbers."""
    gradients: Sequence[SampledGradient]
    constant: float
    """Weight of the number one, relative to squares of points."""
    violation: float
    """Amount by which the statement fails, relative to its largest coefficient."""


def find_worst_functions(claim: Claim) -> list[WorstFunction]:
    """Return functions that violate the claim most at a few sampled numbers, the largest violation first.

    The list is empty for claims about runs and rounds, and if the inequalities show the claim at every sample.
    """
    if claim.place not in _PLACES or claim.rate is not None:
        return []
    found: list[WorstFunction] = []
    with suppress(Rejected, InputError, Exhausted):
        plain = use_plain_symbols(with_quantities(claim, {"quantities": list_unnamed_quantities(claim)}))
        for relation in plain.relations:
            for smaller, larger in _list_sides(relation):
                found += _violate(plain, Relation(smaller, "<=", larger))
    return sorted(found, key=lambda each: -each.violation)[:_MOST]


def _list_sides(relation: Relation) -> list[tuple[Expr, Expr]]:
    """Return the smaller and the larger side of a relation; an equation has both orders."""
    if relation.operator == "==":
        return [relation.sides, relation.sides[::-1]]
    return [relation.ordered]


def _violate(claim: Claim, relation: Relation) -> list[WorstFunction]:
    """Return the functions that violate one inequality in plain symbols, at most one for each sample."""
    context = build_known_context(claim, relation, (), ())
    written = write_out(claim, relation)
    form = scalar(written.slack, context)
    goal, signs = split_form(form, context), find_sign_facts(claim, context)
    candidates = list(find_candidates(context, form, written, False))
    inside = draw_inner_samples(goal, candidates, context, signs, _SAMPLES)
    if not candidates or not inside.at.shape[1]:
        return []
    samples = add_edges(inside, context.numbers, signs.conditions)
    programs = make_programs(samples, goal, [each.blocks for each in candidates], inside.at.shape[1])
    found = (_decode(claim, programs, samples, sample, context) for sample in range(programs.count))
    return [each for each in found if each is not None]


def _decode(claim: Claim, programs: Programs, samples: Samples, sample: int, context: Context) -> WorstFunction | None:
    """Return the worst function at one sample; None if there is no violation."""
    scale = float(np.abs(programs.goals[sample]).max())
    found = programs.find_worst(sample) if scale > 0 else None
    if found is None or found[0] <= _VIOLATED * scale:
        return None
    violation, entries = found
    values = dict(zip(programs.keys, entries, strict=True))
    numbers = dict(zip(samples.symbols, samples.at[:, sample], strict=True))
    shared, deviations = _find_coordinates(values, SHARED), _find_coordinates(values, DEVIATIONS)
    names = {**claim.where, **claim.notation}
    sampled = [
        _decode_gradient(part, names, values, _Coordinates(shared, deviations, numbers, context))
        for part in _list_gradients(values, context)
    ]
    known = {names[symbol]: float(number) for symbol, number in numbers.items() if symbol in names}
    return WorstFunction(known, sampled, float(values.get(sp.S.One, 0.0)), violation / scale)


def _find_coordinates(values: Mapping[Expr, float], block: Block) -> dict[Expr, float]:
    """Return values of the vectors of one Gram matrix in one dimension: its largest eigenvector."""
    entries = {key[1:]: number for key, number in values.items() if isinstance(key, tuple) and key[0] == block}
    vectors = sorted({side for pair in entries for side in pair}, key=sp.default_sort_key)
    places = {each: place for place, each in enumerate(vectors)}
    gram: NDArray[np.float64] = np.zeros((len(vectors), len(vectors)))
    for (one, other), number in entries.items():
        gram[places[one], places[other]] = gram[places[other], places[one]] = number
    if not vectors:
        return {}
    sizes, directions = np.linalg.eigh(gram)
    column = directions[:, -1] * np.sqrt(max(sizes[-1], 0.0))
    # The sign of an eigenvector is arbitrary; entries that differ by rounding count as equal.
    large = np.abs(column) >= (1 - _ALIKE) * np.abs(column).max()
    column = column if column[np.argmax(large)] > 0 else -column
    return {each: float(column[place]) for each, place in places.items()}


@dataclass(frozen=True)
class _Coordinates:
    """Values of vectors in one dimension."""

    shared: Mapping[Expr, float]
    """Values of the vectors that clients share."""
    deviations: Mapping[Expr, float]
    """Deviations of the first client's vectors from the client average; those of the second client are opposite."""
    numbers: Mapping[sp.Symbol, float]
    context: Context

    def evaluate(self, part: Expr, client: int) -> float:
        """Return the value of a vector of one client, 0 or 1."""
        total = 0.0
        for basis, coefficient in vector(part, self.context).items():
            factor = float(coefficient.expression.xreplace(self.numbers))
            mean = self.shared.get(basis, self.shared.get(Average(basis), 0.0))
            total += factor * (mean + (-1) ** client * self.deviations.get(basis, 0.0))
        return total


def _list_gradients(values: Mapping[Expr, float], context: Context) -> list[Expr]:
    """Return the gradients among the vectors, and those at points with a value.

    They are those of the clients' objectives if there are any.
    """
    sides = [side for key in values if isinstance(key, tuple) for side in key[1:]]
    inside = [side.args[0] if isinstance(side, Average) else side for side in (*sides, *values)]
    found = [Gradient(*part.args) for part in inside if isinstance(part, Gradient | Value)]
    of_clients = [part for part in found if part.args[0] in context.client_objectives]
    return list(dict.fromkeys(of_clients or found))


def _decode_gradient(
    part: Expr, names: Mapping[sp.Symbol, Quantity], values: Mapping[Expr, float], at: _Coordinates
) -> SampledGradient:
    """Return a point and the gradient there."""
    objective, point = part.args
    inside = point.args[0] if isinstance(point, Average) else point
    value = values.get(Average(Value(objective, point)), values.get(Value(objective, point)))
    points = at.evaluate(point, 0), at.evaluate(point, 1)
    gradients = at.evaluate(part, 0), at.evaluate(part, 1)
    return SampledGradient(names.get(inside), isinstance(point, Average), points, gradients, value)
