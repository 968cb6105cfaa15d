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
from fedtheory.language.numbers import decimal
from fedtheory.language.quantities import RunQuantity
from fedtheory.runfile import parse_run
from fedtheory.sources.comparator.exhibits.data_sets import evaluate_bound
from fedtheory.sources.comparator.statements import last_model, last_rounds


@dataclass(frozen=True)
class Ending:
    """A bound on the last model, in the limit of infinitely many rounds."""

    claim: Claim
    floor: Expr
    settled: RunQuantity
    """The exact error in the limit of infinitely many rounds."""

    @cached_property
    def _value(self) -> Compiled:
        return compile_expression(self.floor, self.claim.notation)

    def divide_by_error(self, run: Run) -> float | None:
        """Return the floor over the exact error; None if a condition of the bound fails."""
        if evaluate_bound(self.claim, run) is None:
            return None
        return float(plain_floats(self._value(whole_run(run))).ravel()[0] / plain_float(self.settled.on(run)))


LAST_ROUND = Ending(last_rounds.CLAIMS[-1], 25 * last_rounds.COSTS.floor / 24, q.limiting_suboptimality)
LAST_MODEL = Ending(last_model.CLAIMS[-1], last_model.floor, q.limiting_model_suboptimality)

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
class Settling:
    """FedAvg in the limit of infinitely many rounds."""

    problem: str
    length: float
    """Length of a round, eta L tau."""
    local_steps: int
    drawn: int | None = None
    """Number of participants in a round; None for all."""

    @property
    def run(self) -> Run:
        """Return a run of one round on the problem; the limits do not depend on the number of rounds."""
        algorithm: dict[str, Any] = {"local_step_size": 1e-3, "local_steps": self.local_steps, "rounds": 1}
        if self.drawn is not None:
            algorithm["participation"] = {"kind": "uniform", "clients": self.drawn}
        short = parse_run({"problem": PROBLEMS[self.problem], "algorithm": algorithm}, FLOAT)
        wanted = self.length / (plain_float(short.smoothness) * self.local_steps)
        return short.with_step_factor(wanted / 1e-3)


@cache
def compare_floor(settling: Settling, ending: Ending = LAST_MODEL) -> float | None:
    """Return the limit of the bound over that of the exact error; None if a condition fails."""
    return ending.divide_by_error(settling.run)


_LENGTH = 0.01
SETTLING = {
    f"{name}, {words}": Settling(name, _LENGTH, steps, drawn)
    for name in PROBLEMS
    for words, steps, drawn in (("one local step", 1, None), ("five", 5, None), ("five, two clients drawn", 5, 2))
}
"""Settings of the table with short rounds."""
_IN_TABLE = (0.001, _LENGTH, 0.03, 0.1)
_DRAWN = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2)
"""Lengths of a round, eta L tau, in the chart."""

_INTRODUCTION = (
    r"With a constant step size a run does not end at the optimum: it settles at an error that noise, clients that "
    r"differ and the draw of participants keep up. A bound on the distance $|x-x^*|^2$ sees noise as if all of it were "
    r"in the flattest direction, over $\mu$; the error $F(x)-F(x^*)$ has as much of it in every direction. The bound "
    r"on the last model has a linear rate, and its floor has next to no $\mu$ in it: here it is over the "
    r"exact error $\lim_T\mathbb E F(x^T)-F(x^*)$ at which runs settle, computed from the fixed point of the second "
    r"moments. For one local step a factor of two is what the proof loses on quadratics, and the rest is Young's "
    r"inequality. A dash is where a condition of the bound fails."
)
_PROGRAM = """from fedtheory.sources.comparator.exhibits.floors import SETTLING, compare_floor

for name, settling in SETTLING.items():
    print(name, compare_floor(settling))"""


def make_floors_page() -> Page:
    """Compute the ratios on all problems; raises `MissingExtra` without scikit-learn."""
    return Page(
        name="comparator-floors",
        title="Where strongly convex runs settle",
        occasion="Floors of the last model",
        contents="floor of the bound over the exact error, over step sizes",
        locator="last models",
        introduction=_INTRODUCTION,
        charts=[_draw_over_lengths()],
        table=Table(
            [rf"$\eta L\tau={decimal(length, 3)}$" for length in _IN_TABLE],
            [
                (name, [_format_ratio(replace(one, length=length)) for length in _IN_TABLE])
                for name, one in SETTLING.items()
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
            "drift of the clients are loose. The horizontal line is a floor of four times the error."
        ),
    )


def _draw_curve(problem: str, colour: int) -> Line:
    ratios = {length: compare_floor(Settling(problem, length, 5)) for length in _DRAWN}
    known = {length: ratio for length, ratio in ratios.items() if ratio is not None}
    return Line(list(known), list(known.values()), problem, colour)


def _format_ratio(settling: Settling) -> str:
    """Write the ratio with three digits, or a dash."""
    ratio = compare_floor(settling)
    return "-" if ratio is None else decimal(ratio, 3)
