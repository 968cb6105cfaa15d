"""The page: bounds against exact errors on three data sets, over step sizes and over rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fedtheory.language.exhibits import BLACK, BLUE, DASHED, DOTTED, GREEN, ORANGE, Axis, Chart, Line, Page, Part, Table
from fedtheory.language.numbers import format_decimal
from fedtheory.sources.comparator.exhibits.data_sets import BATCH, DATA, LOCAL_STEPS, ROUNDS, DataSetResults, Point

_INTRODUCTION = (
    r"Published bounds contain $|x^{(0)}-x^*|^2/(2\eta\tau T)$. On real data the optimum $x^*$ is far away, although "
    r"most of the way there hardly lowers $F$. A bound that holds for every comparator $y$ may use a nearer point: "
    r"here the minimiser of $F(y)+|x^{(0)}-y|^2/(2\eta\tau T)$. Noise and dissimilarity are those at $y$. "
    rf"Least squares, batches of {BATCH}, $\tau={LOCAL_STEPS}$ local steps, $T={ROUNDS}$ rounds from zero. "
    r"All constants of the theorem are known before the run; the bound with drift uses the exact drift of the run. In "
    r"every bound of this source clients may have unequal curvatures, of which $L$ is the largest. Where few clients "
    r"have the largest, the bounds in which each client has its own curvature are smaller. There are further bounds "
    r"for unequal weights, for client sampling, and for strongly convex clients."
)
_PROGRAM = """from fedtheory.sources.comparator.exhibits.data_sets import DATA, DataSetResults

for name in DATA:
    best = DataSetResults(name).best
    print(name, best.step_size, best.bound, best.error)"""


def make_data_page() -> Page:
    """Compute the curves on all data sets; raises `MissingExtra` without scikit-learn."""
    found = [DataSetResults(name) for name in DATA]
    charts = [chart for one in found for chart in (_draw_over_step_sizes(one), _draw_over_rounds(one))]
    return Page(
        name="comparator-on-data",
        title="Bounds against a comparator on real data",
        occasion="The bounds on three data sets",
        contents="bound against exact error, over step sizes and over rounds",
        locator="full rounds",
        introduction=_INTRODUCTION,
        charts=charts,
        table=Table([one.name for one in found], [(name, [value(one) for one in found]) for name, value in _ROWS]),
        program=_PROGRAM,
    )


def _draw_over_step_sizes(found: DataSetResults) -> Chart:
    """Draw the exact error and the bounds over step sizes."""
    return Chart(
        name=f"comparator-step-sizes-{_make_slug(found)}",
        x=Axis(r"step size $\eta$", "log"),
        y=Axis(r"average of $F-F^*$", "log"),
        parts=list(_draw_curves(found.over_step_sizes, lambda point: point.step_size)),
        caption=(
            f"{found.name.capitalize()}: the exact error and the theorem over step sizes, as far as its conditions go; "
            "with the drift of the run in place of its bound they hold for longer steps."
        ),
    )


def _draw_over_rounds(found: DataSetResults) -> Chart:
    """Draw the exact error and the bounds over rounds."""
    return Chart(
        name=f"comparator-rounds-{_make_slug(found)}",
        x=Axis("rounds $T$", "log"),
        y=Axis(r"average of $F-F^*$", "log"),
        parts=list(_draw_curves(found.over_rounds, lambda point: point.rounds)),
        caption=f"{found.name.capitalize()}: the same over rounds, at the step size with the smallest bound.",
    )


def _draw_curves(points: Sequence[Point], across: Callable[[Point], float]) -> Iterator[Part]:
    bounded = [point for point in points if point.bound is not None]
    drifting = [point for point in points if point.with_drift is not None]
    yield Line([across(p) for p in points], [p.error for p in points], "exact error", BLACK)
    yield Line([across(p) for p in bounded], [p.bound or 0.0 for p in bounded], "theorem", BLUE)
    yield Line([across(p) for p in drifting], [p.with_drift or 0.0 for p in drifting], "with its drift", ORANGE, DASHED)
    yield Line([across(p) for p in points], [p.first_terms for p in points], "its first two terms", GREEN, DOTTED)


def _make_slug(found: DataSetResults) -> str:
    return found.name.replace(" ", "-")


_OTHERS = ((1, 1), (1, 20), (32, 1), (32, 20))
"""Further combinations of batch size and local steps."""


def _make_ratio_column(batch: int, local_steps: int) -> tuple[str, Callable[[DataSetResults], str]]:
    """Return a column of the table: its heading, and the ratio for other batches and local steps."""

    def format_ratio(found: DataSetResults) -> str:
        point = DataSetResults(found.name, batch, local_steps).smallest_bound
        return _format_value(point.bound, point.error)

    return rf"theorem over exact error for batches of {batch}, $\tau={local_steps}$", format_ratio


def _format_value(value: float | None, over: float = 1) -> str:
    """Write a value with three digits, or a dash."""
    return "-" if value is None else format_decimal(value / over, 3)


_ROWS: Sequence[tuple[str, Callable[[DataSetResults], str]]] = (
    ("clients, split", lambda found: f"{DATA[found.name]['clients']}, {DATA[found.name]['split']}"),
    ("initial gap $F(x^{(0)})-F^*$", lambda found: _format_value(found.base_run.initial_gap)),
    ("smoothness $L$ of the clients", lambda found: _format_value(found.base_run.smoothness)),
    (r"$\ell$, smoothness of the noise", lambda found: _format_value(found.base_run.noise_smoothness)),
    (
        "step size with the smallest bound, of those drawn",
        lambda found: _format_value(found.best.step_size),
    ),
    ("the theorem there", lambda found: _format_value(found.best.bound)),
    ("exact error there", lambda found: _format_value(found.best.error)),
    ("theorem over exact error", lambda found: _format_value(found.best.bound, found.best.error)),
    ("first two terms over exact error", lambda found: _format_value(found.best.first_terms, found.best.error)),
    (
        "with the drift of the run, over exact error",
        lambda found: _format_value(found.best.with_drift, found.best.error),
    ),
    ("step size of the smallest exact error, of those drawn", lambda found: _format_value(found.best_run.step_size)),
    (
        "the theorem's best step size over it",
        lambda found: _format_value(found.best.step_size, found.best_run.step_size),
    ),
    (
        "the same with the drift of the run",
        lambda found: _format_value(found.best_with_drift.step_size, found.best_run.step_size),
    ),
    (
        "bound with the drift of the run there, over exact error",
        lambda found: _format_value(found.best_with_drift.with_drift, found.best_with_drift.error),
    ),
    *(_make_ratio_column(batch, local_steps) for batch, local_steps in _OTHERS),
)
