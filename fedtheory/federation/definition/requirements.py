"""Requirements of a definition on a run, which its moments and the proofs about it need.

Every constructed run is checked, not only runs from files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from fedtheory.arithmetic import RATIONAL, Array, Number
from fedtheory.errors import InputError
from fedtheory.federation.definition.algorithm import FederatedAlgorithm, Parameter
from fedtheory.federation.definition.language import Compressed, Mixed, Participants, Weighted, eta_g
from fedtheory.federation.definition.linear import evaluate_number
from fedtheory.federation.definition.stale_vectors import require_clock
from fedtheory.federation.participation import Full
from fedtheory.kernel.expressions import Expr

if TYPE_CHECKING:
    from fedtheory.federation.clock import Clock
    from fedtheory.federation.policies import Aggregation, LocalWork
    from fedtheory.federation.problem import Problem


def require_numbers(found: FederatedAlgorithm, given: Mapping[Expr, Number], mixing: Array | None) -> None:
    """Raise `InputError` if a parameter, the probability of a coin or the graph is invalid."""
    values = {parameter.letter: _require_parameter(found, given, parameter) for parameter in found.parameters}
    for coin, chance in found.coins.items():
        value = evaluate_number(chance, values, RATIONAL, f"algorithm {found.name}")
        if not 0 < value <= 1:
            expected = f"expected a probability in (0, 1] for {coin}, got {value}"
            raise InputError("algorithm.name", f"{expected} with {found.name}")
    if found.uses(Mixed):
        _require_doubly_stochastic(mixing, f"with {found.name}")


def _require_parameter(found: FederatedAlgorithm, given: Mapping[Expr, Number], parameter: Parameter) -> Number:
    """Return the value of a parameter, exactly."""
    key = f"algorithm.{parameter.key}"
    if parameter.letter not in given:
        raise InputError(key, f"is missing: {found.name} needs it")
    value = RATIONAL.number(given[parameter.letter], key)
    if not _contains(parameter.allowed, sp.Rational(int(value.p), int(value.q))):
        raise InputError(key, f"expected a number in {_describe_range(parameter)}, got {given[parameter.letter]}")
    return value


@lru_cache(maxsize=256)
def _contains(allowed: sp.Set, value: sp.Rational) -> bool:
    """Return whether a number is in a set; cached, because SymPy takes as long as a small run."""
    return bool(allowed.contains(value))


def _describe_range(parameter: Parameter) -> str:
    """Return the admissible numbers as text for a message."""
    allowed = parameter.allowed
    if not isinstance(allowed, sp.Interval):
        return f"{allowed.inf}, {allowed.inf + 1}, ..." if allowed.sup == sp.oo else str(allowed)
    left, right = "(" if allowed.left_open else "[", ")" if allowed.right_open else "]"
    return f"{left}{allowed.start}, {'infinity' if allowed.end == sp.oo else allowed.end}{right}"


def _require_doubly_stochastic(mixing: Array | None, purpose: str) -> None:
    """Raise `InputError` unless a matrix is non-negative, with rows and columns that sum to one."""
    key = "algorithm.mixing"
    if mixing is None:
        raise InputError(key, f"is missing {purpose}")
    if mixing.ndim != 2 or mixing.shape[0] != mixing.shape[1]:
        raise InputError(key, f"expected a square matrix, got {' x '.join(map(str, mixing.shape))} numbers")
    if (mixing < 0).any():
        raise InputError(key, f"expected numbers that are not negative, got {mixing.min()}")
    rounding = 0 if mixing.dtype == object else 1e-9
    for axis, what in ((1, "row"), (0, "column")):
        for number, total in enumerate(mixing.sum(axis=axis)):
            if abs(total - 1) > rounding:
                raise InputError(key, f"expected a doubly stochastic matrix; {what} {number} sums to {total}")


def require_problem(
    found: FederatedAlgorithm, values: Mapping[Expr, Number], mixing: Array | None, problem: Problem
) -> None:
    """Raise `InputError` if a client would send more coordinates than there are, or the graph has another size."""
    clients = problem.clients
    if mixing is not None and len(mixing) != clients:
        got = " x ".join(map(str, mixing.shape))
        raise InputError("algorithm.mixing", f"expected {clients} x {clients} numbers, got {got}")
    for node in found.nodes(Compressed):
        if problem.span is not None:
            expected = "expected a problem with a coordinate for each feature, as expand_to_all_dimensions makes it"
            raise InputError("algorithm.name", f"{found.name} keeps some coordinates: {expected}")
        symbol = node.args[1]
        kept = evaluate_number(symbol, values, problem.arithmetic, f"algorithm {found.name}")
        if not (kept == int(kept) and 1 <= kept <= problem.dimension):
            key = next((p.key for p in found.parameters if p.letter == symbol), "name")
            expected = f"expected a whole number of coordinates from 1 to {problem.dimension}"
            raise InputError(f"algorithm.{key}", f"{expected}, got {kept}")


def require_setting(found: FederatedAlgorithm, work: LocalWork, aggregation: Aggregation, clock: Clock) -> None:
    """Raise `InputError` for local work, aggregation or a clock that the definition does not allow."""
    longest = max(work.steps)
    if found.steps_are_rounds and longest > 1:
        expected = f"expected 1 with {found.name}, whose rounds are single steps, got {longest}"
        raise InputError("algorithm.local_steps", expected)
    _require_clock(found, work, clock)
    _require_use(found, aggregation)
    _require_participation(found, aggregation, clock)


def _require_clock(found: FederatedAlgorithm, work: LocalWork, clock: Clock) -> None:
    """Raise `InputError` for a clock under which the moments of the definition are unknown."""
    if clock.is_random:
        raise InputError("algorithm.clock", f"expected update times that are not random with {found.name}")
    if clock.starts_from_newest:
        return
    require_clock(found)
    if work.schedule is not None:
        expected = "expected numbers with this clock: local work can begin and end in different rounds"
        raise InputError("algorithm.local_step_size", expected)


def _require_use(found: FederatedAlgorithm, aggregation: Aggregation) -> None:
    """Raise `InputError` for a key that the definition does not use."""
    server_step = aggregation.server_step_size
    if server_step != 1 and not found.uses(eta_g):
        raise InputError("algorithm.server_step_size", f"expected none with {found.name}, got {server_step}")
    if aggregation.chosen is not None and not found.uses(Weighted):
        expected = f'expected "importance" with {found.name}, whose server does not weight clients'
        raise InputError("algorithm.aggregation", expected)


def _require_participation(found: FederatedAlgorithm, aggregation: Aggregation, clock: Clock) -> None:
    """Raise `InputError` if clients are sampled or take turns, and the definition needs all of them in each round."""
    if isinstance(aggregation.participation.of_clients, Full) and not clock.policy.is_in_turn:
        return
    expected = f"expected full participation with {found.name}"
    if found.needs_all_clients:
        raise InputError("algorithm.participation", f"{expected}: its clients receive from all others")
    if not (found.uses(Weighted) or found.uses(Participants)):
        raise InputError("algorithm.participation", expected)
