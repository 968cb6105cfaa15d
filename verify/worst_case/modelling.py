"""Convert PEPit's problems to programs of `verify.worst_case.solvers`, with all constraints as rows of two matrices.

A modelling layer needs more time for hundreds of constraints than the solver. PEPit's own conversion would also write
the constraints of all clients where those of one client suffice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PEPit import PEP
from PEPit.constraint import Constraint
from PEPit.expression import Expression
from PEPit.function import Function
from PEPit.point import Point
from PEPit.tools.expressions_to_matrices import expression_to_matrices

from fedtheory.arithmetic import Array
from verify.worst_case.solvers import Program, list_triangle_entries
from verify.worst_case.symmetry import Exchange, find_involution


def convert_to_program(problem: PEP) -> Program:
    """Convert a problem with one metric, which has no constant, and with functions that are all of one class."""
    (metric,), given = problem.list_of_performance_metrics, problem.list_of_constraints
    clients = problem.list_of_functions
    exchange = _exchange(clients)
    if exchange is not None and exchange.keeps(_build_program(metric, given)):
        # By symmetry, the constraints of one client are the image of those of the other.
        return exchange.halve(_build_program(metric, [*given, *_constrain_class(clients[:1])]))
    return _build_program(metric, [*given, *_constrain_class(clients)])


def _exchange(clients: Sequence[Function]) -> Exchange | None:
    """Return the permutation that exchanges points, gradients and values of two clients."""
    known = [client.list_of_points for client in clients]
    if len(known) != 2 or len(known[0]) != len(known[1]):
        return None
    vectors = ([vector for *pair, _ in one for vector in pair] for one in known)
    values = ([value for *_, value in one] for one in known)
    of_vectors = find_involution(*(_compute_coordinates(one, Point.counter) for one in vectors))
    of_values = find_involution(*(_compute_coordinates(one, Expression.counter) for one in values))
    return None if of_vectors is None or of_values is None else Exchange.from_coordinates(of_vectors, of_values)


def _constrain_class(clients: Sequence[Function]) -> list[Constraint]:
    """Return the constraints of the function class on some clients."""
    for client in clients:
        client.set_class_constraints()
    return [constraint for client in clients for constraint in client.list_of_class_constraints]


def _build_program(metric: Expression, constraints: Sequence[Constraint]) -> Program:
    """Build the program with one matrix."""
    objective = _make_row(metric)[:-1]
    rows: dict[str, list[Array]] = {"equality": [], "inequality": []}
    for constraint in constraints:
        rows[constraint.equality_or_inequality].append(_make_row(constraint.expression))
    equations, inequalities = (np.reshape(kind, (-1, len(objective) + 1)) for kind in rows.values())
    return Program(objective, equations, inequalities, (Point.counter,))


def _make_row(expression: Expression) -> Array:
    """Return the coefficients of the function values and of the Gram matrix entries, and the constant."""
    products, values, constant = expression_to_matrices(expression)
    rows, columns, scale = list_triangle_entries(len(products))
    return np.concatenate([values, products[rows, columns] * scale, [constant]])


def _compute_coordinates(combinations: Sequence[Point | Expression], size: int) -> Array:
    """Return the coefficients of points or values in the unknown ones, as rows."""
    found = np.zeros((len(combinations), size))
    for row, combination in zip(found, combinations, strict=True):
        for unknown, weight in combination.decomposition_dict.items():
            row[unknown.counter] = weight
    return found
