"""A definition as block matrices: the expected effect of a local step and of the end of a round, on quadratics.

On ``F_i(x) = x' H_i x / 2 - b_i' x`` a gradient is ``H_i x - b_i``.  Blocks are
polynomials in H_i, so that they commute and are written as scalars.  Inside sums over
clients the index is j: symbols outside belong to the client that receives the sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from fedtheory.federation.definition.algorithm import FederatedAlgorithm
from fedtheory.federation.definition.language import OVER_CLIENTS, Compressed, Gradient
from fedtheory.federation.definition.linear import Parts
from fedtheory.kernel.expressions import Expr

hessian = sp.Symbol("H_i", real=True)
"""H_i, which commutes with all other blocks."""
linear = sp.Symbol("b_i", real=True)
"""b_i: the gradient of F_i at 0 is -b_i."""


@dataclass(frozen=True)
class Blocks:
    """``matrix`` times the vectors of `columns`, inside a sum over clients if `over` names one."""

    matrix: sp.Matrix
    columns: tuple[Expr, ...]
    over: type[Expr] | None = None


@dataclass(frozen=True)
class BlockMap:
    """A linear map of vectors: the sum of its terms."""

    rows: tuple[Expr, ...]
    terms: tuple[Blocks, ...]


def build_local_step(algorithm: FederatedAlgorithm) -> BlockMap:
    """Return the map of a local step on the local vectors; b_i is the last column."""
    rows = tuple(algorithm.local_vectors)
    return _build_block_map(algorithm, rows, [_expect(algorithm, one.vector, one.step) for one in algorithm.steps])


def build_round_end(algorithm: FederatedAlgorithm) -> BlockMap:
    """Return the map of the end of a round on the clients' and the server's vectors."""
    ends = {**algorithm.client_update, **algorithm.server_update}
    return _build_block_map(algorithm, tuple(ends), [_expect(algorithm, vector, end) for vector, end in ends.items()])


def _expect(algorithm: FederatedAlgorithm, vector: Expr, expression: Expr) -> Parts:
    """Return the coefficients of vectors and of sums over clients, in expectation over noise and compression."""
    found: Parts = {}
    for part, scale in algorithm.parts(vector, expression).items():
        for inside, factor in _take_expectation(algorithm, vector, part).items():
            found[inside] = found.get(inside, sp.S.Zero) + scale * factor
    return found


def _take_expectation(algorithm: FederatedAlgorithm, vector: Expr, part: Expr) -> Parts:
    """Return the expectation of a gradient or compressed vector as a sum of vectors."""
    if isinstance(part, Gradient):
        point = _expect(algorithm, vector, part.args[0])
        return {**{at: hessian * factor for at, factor in point.items()}, linear: -sp.S.One}
    return _expect(algorithm, vector, part.args[0]) if isinstance(part, Compressed) else {part: sp.S.One}


def _build_block_map(algorithm: FederatedAlgorithm, rows: tuple[Expr, ...], ends: list[Parts]) -> BlockMap:
    """Return the map from the vectors before to those of `rows` after, whose new values are `ends`."""
    order = [*algorithm.local_vectors, *algorithm.client, *algorithm.server, linear]
    of_client = [{part: scale for part, scale in end.items() if not isinstance(part, OVER_CLIENTS)} for end in ends]
    terms = [_build_blocks(order, of_client, None)]
    terms += [
        _build_blocks(order, [_collect_inside(algorithm, rows, end, kind) for end in ends], kind)
        for kind in OVER_CLIENTS
    ]
    return BlockMap(rows, tuple(term for term in terms if term.columns))


def _collect_inside(algorithm: FederatedAlgorithm, rows: tuple[Expr, ...], end: Parts, kind: type[Expr]) -> Parts:
    """Return the coefficients of the vectors in the sums over clients of one kind."""
    found: Parts = {}
    for node, scale in end.items():
        inside = _expect(algorithm, rows[0], node.args[0]) if isinstance(node, kind) else {}
        for vector, factor in inside.items():
            found[vector] = found.get(vector, sp.S.Zero) + scale * rename_client(factor)
    return found


def rename_client(expression: Expr) -> Expr:
    """Replace symbols of client i by those of client j."""
    expression = sp.sympify(expression)
    renamed = {symbol for symbol in expression.free_symbols if symbol.name.endswith("_i")}
    return expression.xreplace({a: sp.Symbol(f"{a.name[:-1]}j", **a.assumptions0) for a in renamed})


def _build_blocks(order: Iterable[Expr], rows: list[Parts], over: type[Expr] | None) -> Blocks:
    """Return the matrix of coefficients of the vectors that occur in the rows."""
    columns = tuple(vector for vector in order if any(sp.expand(row.get(vector, 0)) != 0 for row in rows))
    entries = [[sp.factor(row.get(vector, sp.S.Zero)) for vector in columns] for row in rows]
    return Blocks(sp.Matrix(entries), columns if over is None else tuple(map(rename_client, columns)), over)
