"""Page on stationary errors of strongly convex clients, compared with the floors of the bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from fedtheory.arithmetic import FLOAT, plain_float, plain_floats
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import Compiled, compile_expression, whole_run
from fedtheory.language.exhibits import BLUE, GREEN, ORANGE, PURPLE, SKY, Axis, Chart, Level, Line, Page, Table
from fedtheory.language.numbers import format_decimal
from fedtheory.language.quantities import RunQuantity
from fedtheory.runfile import parse_run
from fedtheory.sources.comparator.exhibits.data_sets import evaluate_bound
from fedtheory.sources.comparator.statements import last_model, last_rounds


@dataclass(frozen=True)
class LimitingBound:
    """A bound on the last model, in the limit of infinitely many rounds."""

    claim: Claim
    floor: Expr
    limiting_error: RunQuantity
    """The exact error in the limit of infinitely many rounds."""

    @cached_property
    def _value(self) -> Compiled:
        return compile_expression(self.floor, self.claim.notation)

    def divide_by_error(self, run: Run) -> float | None:
        """Return the floor over the exact error; None if a condition of the bound fails."""
        if evaluate_bound(self.claim, run) is None:
            return None
        return float(plain_floats(self._value(whole_run(run))).ravel()[0] / plain_float(self.limiting_error.on(run)))


LAST_ROUND = LimitingBound(last_rounds.CLAIMS[-1], 25 * last_rounds.COSTS.floor / 24, q.limiting_suboptimality)
LAST_MODEL = LimitingBound(last_model.CLAIMS[-1], last_model.floor, q.limiting_model_suboptimality)

_QUADRATIC: dict[str, Any] = {"kind": "quadratic", "noise": 1}
_RIDGE: dict[str, Any] = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8}
PROBLEMS: dict[str, dict[str, Any]] = {
    "a steep and a flat direction": {
        **_QUADRATIC,
        "hessians": [[[50, 0], [0, 1]]] * 4,
        "linear": [[1, 1], [-1, -1], [1, -1], [-1, 1]],
        "start": [1, 1],
    },
    "clients with other flat directions": {
        **_QUADRATIC,
        "hessians": [[[20, 0], [0, 1]], [[1, 0], [0, 20]], [[5, 4], [4, 5]]],
        "linear": [[1, 0], [0, 1], [-1, -1]],
        "start": [1, 1],
    },
    "ten clients on a line": {
        **_QUADRATIC,
        "hessians": [[[1 + number / 3]] for number in range(10)],
        "linear": [[(-1) ** number] for number in range(10)],
        "start": [1],
    },
    "diabetes, ridge 1/10": {**_RIDGE, "ridge": 0.1},
    "diabetes, ridge 20": {**_RIDGE, "ridge": 20},
}


@dataclass(frozen=True)
class StationaryCase:
    """A setting of FedAvg whose stationary error is compared with the floors of the bounds."""

    problem: str
    length: float
    """Length of a round, eta L tau."""
    local_steps: int
    participants: int | None = None
    """Number of participants in a round; None for all."""

    @property
    def run(self) -> Run:
        """Return a run of one round on the problem; the limits do not depend on the number of rounds."""
        algorithm: dict[str, Any] = {"local_step_size": 1e-3, "local_steps": self.local_steps, "rounds": 1}
        if self.participants is not None:
            algorithm["participation"] = {"kind": "uniform", "clients": self.participants}
        short = parse_run({"problem": PROBLEMS[self.problem], "algorithm": algorithm}, FLOAT)
        wanted = self.length / (plain_float(short.smoothness) * self.local_steps)
        return short.with_step_factor(wanted / 1e-3)


@cache
def compare_floor(case: StationaryCase, bound: LimitingBound = LAST_MODEL) -> float | None:
    """Return the limit of the bound over that of the exact error; None if a condition of the bound fails."""
    return bound.divide_by_error(case.run)


_LENGTH = 0.01
CASES = {
    f"{name}, {words}": StationaryCase(name, _LENGTH, steps, participants)
    for name in PROBLEMS
    for words, steps, participants in (("one local step", 1, None), ("five", 5, None), ("five, two participants", 5, 2))
}
"""Settings of the table with short rounds."""
_IN_TABLE = (0.001, _LENGTH, 0.03, 0.1)
_IN_CHART = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2)
"""Lengths of a round, eta L tau, in the chart."""

_INTRODUCTION = (
    r"With a constant step size a run tends to a stationary error, which is due to noise, dissimilar clients and "
    r"client sampling. A bound on the distance $|x-x^*|^2$ treats all noise as if it were in the flattest direction, "
    r"and divides it by $\mu$; the error $F(x)-F(x^*)$ has equal parts of it in every direction. The bound on the last "
    r"model has a linear rate, and its floor hardly depends on $\mu$. The table has this floor over the exact "
    r"stationary error $\lim_T\mathbb E F(x^T)-F(x^*)$, computed from the fixed point of the second moments. For one "
    r"local step the proof loses a factor of two on quadratics; Young's inequality loses the rest. A dash marks a case "
    r"in which a condition of the bound fails."
)
_PROGRAM = """from fedtheory.sources.comparator.exhibits.floors import CASES, compare_floor

for name, case in CASES.items():
    print(name, compare_floor(case))"""


def make_floors_page() -> Page:
    """Compute the ratios on all problems; raises `MissingExtra` without scikit-learn."""
    return Page(
        name="comparator-floors",
        title="Stationary errors of strongly convex clients",
        occasion="Floors of the last model",
        contents="floor of the bound over the exact error, by the length of a round",
        locator="last models",
        introduction=_INTRODUCTION,
        charts=[_draw_over_lengths()],
        table=Table(
            [rf"$\eta L\tau={format_decimal(length, 3)}$" for length in _IN_TABLE],
            [
                (name, [_format_ratio(replace(case, length=length)) for length in _IN_TABLE])
                for name, case in CASES.items()
            ],
        ),
        program=_PROGRAM,
    )


def _draw_over_lengths() -> Chart:
    """Draw the ratio of floors to exact errors over the length of a round."""
    return Chart(
        name="comparator-floors",
        x=Axis(r"length of a round, $\eta L\tau$", "log"),
        y=Axis("floor over exact error"),
        parts=[*map(_draw_curve, PROBLEMS, (BLUE, ORANGE, GREEN, PURPLE, SKY)), Level(4, "four")],
        caption=(
            "Five local steps, full participation, as far as the conditions go: for long rounds the bounds on the "
            "client drift are loose. The horizontal line is a floor of four times the error."
        ),
    )


def _draw_curve(problem: str, colour: int) -> Line:
    ratios = {length: compare_floor(StationaryCase(problem, length, 5)) for length in _IN_CHART}
    known = {length: ratio for length, ratio in ratios.items() if ratio is not None}
    return Line(list(known), list(known.values()), problem, colour)


def _format_ratio(case: StationaryCase) -> str:
    """Write the ratio with three digits, or a dash."""
    ratio = compare_floor(case)
    return "-" if ratio is None else format_decimal(ratio, 3)
