"""Worst case of one noiseless round over a class of functions, compared with a claim's bound.

A performance-estimation problem (Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017) maximises a left side
over all clients' objectives that are convex and L-smooth, in any dimension: a semidefinite program in the inner
products of the points and gradients of the round. PEPit formulates it and Clarabel solves it; by symmetry, two
exchangeable clients need only half of the program.

An assumption about all x is imposed only at the points of the round, so that the worst case is never too small. L = 1,
the other scales are 1 or 0, and the local step size is the largest that the claim's conditions allow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from time import perf_counter
from typing import Any, Literal

from fedtheory.errors import InputError, MissingExtra, NotApplicable
from fedtheory.language.claim import Claim
from verify import cache
from verify.digests import digest_code
from verify.worst_case.one_round import NoiselessRound, Scalar
from verify.worst_case.solvers import SOLVERS, SolverAnswer
from verify.worst_case.statement import BoundInNumbers, is_convex, is_strongly_convex, iterate_statements, list_scales
from verify.worst_case.vocabulary import MEASURED, MODELLED, OF_ONE_CLIENT, SCALES

Status = Literal["solved", "inaccurate", "unbounded", "failed"]

KNOWN_ASSUMPTIONS: tuple[str, ...] = tuple(assumption.name for assumption in (*MODELLED, *OF_ONE_CLIENT))
"""Names of the assumptions that a claim may make."""
OF_THE_VALUE, OF_THE_BOUND = 1e-4, 1e-5
"""Largest relative gap between the solvers' lower and upper bounds, for the worst case and for the claim's bound."""


@dataclass(frozen=True)
class Case:
    """The worst case for one choice of the constants."""

    constants: Mapping[str, str]
    """Rational values by the names of constants."""
    bound: float
    """Constant part of the right side; its measured terms are moved to the left side."""
    worst_case: float | None
    """The largest left side, to about four digits; None if the solvers are not reliable."""
    status: Status
    seconds: float

    @property
    def ratio(self) -> float | None:
        """Return worst case over bound; None where the bound is zero."""
        return None if self.worst_case is None or self.bound <= 0 else self.worst_case / self.bound


@dataclass(frozen=True)
class WorstCase:
    """Worst case of a claim over the class of functions."""

    claim: Claim
    clients: int
    local_steps: int
    reason: str | None = None
    """Reason why the claim cannot be modelled, or None."""
    cases: tuple[Case, ...] = ()

    @property
    def functions(self) -> str:
        """Describe the class of functions."""
        if is_strongly_convex(self.claim):
            return "strongly convex and L-smooth"
        return "convex and L-smooth" if is_convex(self.claim) else "L-smooth"

    @property
    def relaxed(self) -> list[str]:
        """Return the constants of assumptions about all x, which are imposed only at the visited points."""
        return [quantity.name for quantity in list_scales(self.claim) if SCALES[quantity].for_all_points]

    @property
    def decisive(self) -> Case | None:
        """Return the case with the largest ratio, preferably a solved one."""

        def order(case: Case) -> tuple[bool, float]:
            return case.status == "solved", float("-inf") if case.ratio is None else case.ratio

        return max(self.cases, key=order, default=None)

    @property
    def status(self) -> Status | None:
        """Return the status of all cases: solved, or the reason of the first unsolved one."""
        return next((case.status for case in self.cases if case.status != "solved"), "solved") if self.cases else None


def find_worst_case(
    claim: Claim,
    clients: int = 2,
    local_steps: int = 3,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> WorstCase:
    """Return the worst case of a claim after one round, for each choice of its scales among 0 and 1.

    Raises `InputError` for counts below one and for rounds too large to be solved, `MissingExtra` without PEPit.
    """
    for name, count in (("--clients", clients), ("--local-steps", local_steps)):
        if count < 1:
            raise InputError(name, f"expected at least 1, got {count}")
    try:
        stated = list(iterate_statements(claim, clients, local_steps))
        _require_solvable(max((_count_clients(statement, clients) for statement in stated), default=1), local_steps)
        _require_solvers()
        cases = []
        for done, statement in enumerate(stated):
            on_progress(done, len(stated))
            cases.append(_solve_case(statement, clients, local_steps))
    except NotApplicable as reason:
        return WorstCase(claim, clients, local_steps, str(reason))
    return WorstCase(claim, clients, local_steps, cases=tuple(cases))


def _require_solvers() -> None:
    try:
        import PEPit  # noqa: F401
    except ImportError:
        raise MissingExtra("worst-case", "a worst case over a class of functions") from None


_MOST = 32
"""Largest number of gradients in a round: 24 take minutes, and with 48 a solver needs more than 20 GB."""


def _require_solvable(clients: int, local_steps: int) -> None:
    if clients * local_steps > _MOST:
        raise InputError(
            "--clients",
            f"expected at most {_MOST} local steps of all clients together, got {clients} times {local_steps}; "
            "time and memory grow with the fourth power",
        )


def _count_clients(statement: BoundInNumbers, clients: int) -> int:
    """Return the number of distinct clients; clients with identical gradients everywhere count as one."""
    return 1 if statement.vanishes("clients alike") else clients


def _solve_case(statement: BoundInNumbers, clients: int, local_steps: int) -> Case:
    """Solve for the maximum over all expressions that may be the largest; an unsolved one is reported."""
    begin = perf_counter()
    modelled = _count_clients(statement, clients)
    found: list[tuple[Status, float | None]] = []
    for number in itertools.count():
        status, value, is_last = _maximise(statement, modelled, local_steps, number)
        found.append((status, value))
        if is_last or status != "solved":
            break
    values = [value for _, value in found if value is not None]
    constants = {quantity.name: str(value) for quantity, value in statement.constants.items()}
    worst = max(values) if status == "solved" else None
    return Case(constants, statement.bound, worst, status, perf_counter() - begin)


def _maximise(
    statement: BoundInNumbers, clients: int, local_steps: int, number: int
) -> tuple[Status, float | None, bool]:
    """Return the largest value of the expression of that index, and whether it is the last expression."""
    answers: list[SolverAnswer] = []
    for solver in SOLVERS:
        answer, is_last = _solve_expression(statement, clients, local_steps, number, solver)
        answers.append(answer)
        status, value = _compare_answers(answers, statement.bound)
        if status in ("solved", "unbounded"):
            break
    return status, value, is_last


def _solve_expression(
    statement: BoundInNumbers, clients: int, local_steps: int, number: int, solver: str
) -> tuple[SolverAnswer, bool]:
    """Solve for one expression, with a cache, and return whether it is the last."""
    modelled = (clients, local_steps, number, solver, *statement.modelled)
    key = "worst case", digest_code(), repr(modelled)
    known: tuple[SolverAnswer, bool] | None = cache.find(*key)
    if known is None:
        round_ = _round(statement, clients, local_steps)
        expressions = _list_expressions(round_, statement)
        known = _solve(_build_problem(round_, expressions[number], statement), solver), number + 1 == len(expressions)
        cache.save(known, *key)
    return known


def _round(statement: BoundInNumbers, clients: int, local_steps: int) -> NoiselessRound:
    at_optimum = statement.vanishes("start at the optimum")
    return NoiselessRound(
        clients,
        local_steps,
        statement.step_size,
        convex=statement.convex,
        at_optimum=at_optimum,
        curvature=statement.curvature,
    )


def _list_expressions(round_: NoiselessRound, statement: BoundInNumbers) -> list[Scalar]:
    """Return the left sides that are maximised."""
    terms = [[factor * part for part in MEASURED[quantity](round_)] for quantity, factor in statement.terms.items()]
    return [sum(chosen[1:], chosen[0]) for chosen in itertools.product(*terms)]


def _build_problem(round_: NoiselessRound, expression: Scalar, statement: BoundInNumbers) -> Any:
    """Return the problem of an expression with all constraints of the round."""
    problem = round_.problem
    problem.set_performance_metric(expression)
    for quantity in statement.scales:
        for bounded in SCALES[quantity].not_positive(round_):
            problem.add_constraint(bounded <= 0)
    for bounded in round_.least_value_gaps():
        problem.add_constraint(bounded <= 0)
    return problem


def _compare_answers(answers: Sequence[SolverAnswer], bound: float) -> tuple[Status, float | None]:
    """Return the value on which all successful solvers agree, if one of them is certain of it."""
    if answers[-1].verdict == "unbounded":
        return "unbounded", None
    given = [answer for answer in answers if answer.values]
    if not given:
        return "failed", None
    values = [value for answer in given for value in answer.values]
    allowed = OF_THE_VALUE * abs(max(values)) + OF_THE_BOUND * max(bound, 1)
    if not all(map(isfinite, values)) or max(values) - min(values) > allowed:
        return "inaccurate", None
    if all(answer.verdict != "optimal" for answer in given):
        return "inaccurate", None
    return "solved", max(min(given, key=lambda answer: answer.gap).values)


def _solve(problem: Any, solver: str) -> SolverAnswer:
    from verify.worst_case.modelling import convert_to_program

    return SOLVERS[solver](convert_to_program(problem))
