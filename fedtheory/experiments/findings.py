"""What fraboni2022 says its figures show, and whether the digits show it too.

Nothing is decided here beforehand: each finding is read off the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fedtheory.arithmetic import NEAR_TIE, Array
from fedtheory.experiments.curves import Curve, last
from fedtheory.experiments.figure_2 import WeightsCompared
from fedtheory.experiments.figure_3 import LocalWorkCompared
from fedtheory.experiments.figure_4 import SchemesCompared, SplitCompared

_FIRST, _HALF = 0.75, 0.5
"""Parts of the initial excess loss that are left when a run is compared "at first"."""
_TWICE = (1.5, 3.0)
"""What counts as "twice as large"."""


@dataclass(frozen=True)
class Finding:
    """One sentence of the source about a figure."""

    figure: str
    """Id of the claim."""
    statement: str
    reproduces: bool
    evidence: str
    """The numbers, in a sentence."""


def findings_2(iid: WeightsCompared, dirichlet: WeightsCompared) -> tuple[Finding, ...]:
    """Figure 2: identical against time-based weights."""
    both = (iid, dirichlet)
    return (
        _lower_everywhere(both, "Time-based reaches a lower loss of problem (2) than Identical", _excess),
        _lower_everywhere(both, "the losses of the clients differ less with Time-based than with Identical", _spread),
        _faster_at_first(both),
        *_gaps(iid, dirichlet),
        _lower_everywhere(
            both, "Identical is better than Time-based on the surrogate problem (10)", _surrogate_excess, swapped=True
        ),
        _lower_everywhere(both, "the weighted spread is always worse for Identical", _weighted_spread),
    )


Measure = Callable[[WeightsCompared, Curve], float]


def _excess(result: WeightsCompared, curve: Curve) -> float:
    return curve.final_loss - result.minimum


def _spread(result: WeightsCompared, curve: Curve) -> float:
    return _final(curve.spread(result.importance))


def _surrogate_excess(result: WeightsCompared, curve: Curve) -> float:
    return _final(curve.weighted_loss(result.shares)) - result.surrogate_minimum


def _weighted_spread(result: WeightsCompared, curve: Curve) -> float:
    return _final(curve.spread(result.shares))


def _final(values: Array) -> float:
    return float(last(values).mean())


def _lower_everywhere(
    results: Sequence[WeightsCompared], statement: str, measure: Measure, *, swapped: bool = False
) -> Finding:
    """That a number is lower at the end with time-based weights, or with identical ones if `swapped`, on all splits."""
    pairs = [(measure(result, result.identical), measure(result, result.time_based)) for result in results]
    holds = all(identical < timed if swapped else timed < identical for identical, timed in pairs)
    texts = [
        f"{result.split}: {identical:.3g} with Identical, {timed:.3g} with Time-based"
        for result, (identical, timed) in zip(results, pairs, strict=True)
    ]
    return Finding("fraboni2022:fig-2", statement, holds, f"At the end, {'; '.join(texts)}.")


def _faster_at_first(results: Sequence[WeightsCompared]) -> Finding:
    times = {}
    for result in results:
        initial = float(result.identical.loss[0]) - result.minimum
        levels = [result.minimum + part * initial for part in (_FIRST, _HALF)]
        times[result.split] = [(result.identical.first_below(at), result.time_based.first_below(at)) for at in levels]
    texts = [
        f"{split}: a quarter of the excess loss is gone at $t={first[0]:.3g}$ with Identical and ${first[1]:.3g}$ with "
        f"Time-based, half of it at ${half[0]:.3g}$ and ${half[1]:.3g}$"
        for split, (first, half) in times.items()
    ]
    holds = all(first[0] < first[1] for first, _ in times.values())
    return Finding("fraboni2022:fig-2", "Identical is faster than Time-based at first", holds, f"{'; '.join(texts)}.")


def _gaps(iid: WeightsCompared, dirichlet: WeightsCompared) -> tuple[Finding, Finding]:
    ratio = dirichlet.gap / iid.gap
    evidence = (
        f"The final losses differ by {dirichlet.gap:.3g} on the Dirichlet split and by {iid.gap:.3g} on the IID one: "
        f"{ratio:.3g} times as much. At the two minimisers themselves the losses of (2) differ by "
        f"{dirichlet.identical_limit - dirichlet.minimum:.3g} and {iid.identical_limit - iid.minimum:.3g}."
    )
    larger = dirichlet.gap > max(iid.gap, 0.0)
    twice = iid.gap > 0 and _TWICE[0] <= ratio <= _TWICE[1]
    return (
        Finding("fraboni2022:fig-2", "data heterogeneity widens the gap between the two weightings", larger, evidence),
        Finding("fraboni2022:fig-2", "the gap is twice as large on the split with label skew", twice, evidence),
    )


def findings_3(result: LocalWorkCompared) -> tuple[Finding, ...]:
    """Figure 3: the amount of local work."""
    return (
        _falls_then_rises(result),
        _variance_increases(result),
        _more_sensitive(result),
        _identical_ahead(result),
        _weights_by_speed(result),
    )


def _by_weighting(result: LocalWorkCompared) -> dict[str, dict[int, Curve]]:
    return {"Identical": result.identical, "Time-based": result.time_based}


def _falls_then_rises(result: LocalWorkCompared) -> Finding:
    texts, holds = [], True
    for name, curves in _by_weighting(result).items():
        losses = {steps: curve.final_loss for steps, curve in curves.items()}
        fewest, best, most = min(losses), min(losses, key=losses.__getitem__), max(losses)
        holds = holds and fewest < best < most
        excess = {steps: _number_or_divergence(losses[steps] - result.minimum) for steps in (fewest, best, most)}
        texts.append(
            f"{name}: excess loss {excess[fewest]} with $K={fewest}$, the smallest, {excess[best]}, with $K={best}$, "
            f"{excess[most]} with $K={most}$"
        )
    statement = "with more local work the loss first falls, then rises"
    return Finding("fraboni2022:fig-3", statement, holds, f"{'; '.join(texts)}.")


def _number_or_divergence(value: float) -> str:
    """A number of a run, or that it diverges."""
    return "divergence" if value == float("inf") else f"{value:.3g}"


def _variance_increases(result: LocalWorkCompared) -> Finding:
    texts, holds = [], True
    for name, curves in _by_weighting(result).items():
        stable = [curve for curve in curves.values() if not curve.diverges]
        for measure in ("fluctuation", "final_model_variance"):
            values = [getattr(curve, measure) for curve in stable]
            holds = holds and all(a < b for a, b in pairwise(values))
            words = "deviation of the loss" if measure == "fluctuation" else "variance of the model"
            texts.append(f"{name}: {words} from {values[0]:.3g} to {values[-1]:.3g}")
    statement = "the variance strictly increases with the amount of local work"
    return Finding("fraboni2022:fig-3", statement, holds, f"Over the last 5% of the updates, {'; '.join(texts)}.")


def _more_sensitive(result: LocalWorkCompared) -> Finding:
    """Sensitive is who diverges first; else whose loss increases more, up to the most local steps of both."""
    fewest, most = min(result.identical), max(_stable_in_both(result))
    increase, failing, texts = {}, {}, []
    for name, curves in _by_weighting(result).items():
        increase[name] = curves[most].final_loss - curves[fewest].final_loss
        failing[name] = min((steps for steps, curve in curves.items() if curve.diverges), default=float("inf"))
        texts.append(
            f"{name}: from $K={fewest}$ to $K={most}$ the loss increases by {increase[name]:.3g}, divergence with "
            + (f"$K={failing[name]}$" if failing[name] < float("inf") else "no $K$")
        )
    holds = (-failing["Time-based"], increase["Time-based"]) > (-failing["Identical"], increase["Identical"])
    evidence = f"{'; '.join(texts)}. Time-based has the larger deviation of the loss {_overtaking(result)}."
    statement = "Time-based is more sensitive to an increase of local work than Identical"
    return Finding("fraboni2022:fig-3", statement, holds, evidence)


def _stable_in_both(result: LocalWorkCompared) -> list[int]:
    return [
        steps
        for steps, curve in result.identical.items()
        if steps in result.time_based and not (curve.diverges or result.time_based[steps].diverges)
    ]


def _overtaking(result: LocalWorkCompared) -> str:
    """At which numbers of local steps time-based weights have the larger deviation of the loss."""
    shared = [steps for steps in result.identical if steps in result.time_based]
    ahead = [k for k in shared if result.time_based[k].fluctuation > result.identical[k].fluctuation]
    return f"with $K={', '.join(map(str, ahead))}$" if ahead else "with no $K$"


def _identical_ahead(result: LocalWorkCompared) -> Finding:
    shared = [steps for steps in result.identical if steps in result.time_based]
    ahead = [k for k in shared if result.identical[k].final_loss < result.time_based[k].final_loss]
    where = f"with $K={', '.join(map(str, ahead))}$" if ahead else "with no $K$"
    evidence = f"Of $K={', '.join(map(str, shared))}$, Identical has the lower loss {where}."
    statement = "Identical outperforms Time-based at the step size that is best for Identical"
    return Finding("fraboni2022:fig-3", statement, ahead == shared, evidence)


def _weights_by_speed(result: LocalWorkCompared) -> Finding:
    fastest, slowest = float(result.weights[0]), float(result.weights[-1])
    below = int((result.weights < 1).sum())
    evidence = (
        f"$d_i$ goes from {fastest:.3g} to {slowest:.3g}; {below} of {len(result.weights)} clients are below one."
    )
    statement = "fast clients have $d_i<1$, slow ones $d_i>1$"
    return Finding("fraboni2022:fig-3", statement, fastest < 1 < slowest, evidence)


def findings_4(results: Sequence[SplitCompared]) -> tuple[Finding, ...]:
    """Figure 4: the three schemes, each at its best step size."""
    everywhere = [compared for result in results for compared in result.by_hardware]
    alike = [compared for compared in everywhere if compared.slower == 0]
    unlike = [compared for compared in everywhere if compared.slower > 0]
    return (
        _ordered("FedFix-0.5 always outperforms synchronous FedAvg", everywhere, ("FedFix-0.5", "synchronous")),
        _ordered(
            "synchronous FedAvg always outperforms asynchronous FedAvg when all clients are alike (F0)",
            alike,
            ("synchronous", "asynchronous"),
        ),
        _ordered(
            "even with heterogeneous hardware (F80) synchronous FedAvg can outperform asynchronous FedAvg",
            unlike,
            ("synchronous", "asynchronous"),
            always=False,
        ),
        _half_interval(results),
    )


def _ordered(
    statement: str, compared: Sequence[SchemesCompared], schemes: tuple[str, str], *, always: bool = True
) -> Finding:
    """That the first scheme has the lower loss at its best step size: in all cases, or in one."""
    better, worse = schemes
    losses = [each.best_losses for each in compared]
    outcomes = [loss[better] < loss[worse] for loss in losses]
    texts = [
        f"{each.split}, {each.hardware}: {loss[better] - each.minimum:.3g} {better}, "
        f"{loss[worse] - each.minimum:.3g} {worse}"
        for each, loss in zip(compared, losses, strict=True)
    ]
    holds = all(outcomes) if always else any(outcomes)
    return Finding("fraboni2022:fig-4", statement, holds, f"Excess loss at the end: {'; '.join(texts)}.")


def _half_interval(results: Sequence[SplitCompared]) -> Finding:
    gap = max(result.f0_gap for result in results)
    return Finding(
        "fraboni2022:fig-4.F0",
        "under F0 FedFix-0.5 is synchronous FedAvg with twice the server step size",
        gap <= NEAR_TIE,
        f"The squared differences of all first and second moments of the models add up to {gap:.1g}.",
    )


def findings_5_to_7(results: Sequence[SplitCompared]) -> tuple[Finding, ...]:
    """Figures 5 to 7: heterogeneous hardware, at each step size."""
    unlike = [compared for result in results for compared in result.by_hardware if compared.slower > 0]
    return (_order_at_small_steps(unlike), _instability(unlike), _asynchronous_fails(unlike))


def _order_at_small_steps(compared: Sequence[SchemesCompared]) -> Finding:
    texts, holds = [], True
    for each in compared:
        curves = {name: tuned.curves[0] for name, tuned in each.schemes.items()}
        losses = {name: curve.final_loss for name, curve in curves.items()}
        holds = holds and losses["asynchronous"] < losses["FedFix-0.5"] < losses["synchronous"]
        excess = ", ".join(f"{loss - each.minimum:.3g} {name}" for name, loss in losses.items())
        texts.append(f"{each.split}: {excess} at $\\eta_l={curves['synchronous'].step_size:.2g}$")
    statement = "with a small enough step size asynchronous FedAvg outperforms FedFix, which outperforms synchronous"
    return Finding("fraboni2022:fig-5-7", statement, holds, f"Excess loss at the end: {'; '.join(texts)}.")


def _instability(compared: Sequence[SchemesCompared]) -> Finding:
    """Read off the variance of the model from the best step size on: at small ones the runs are still on their way."""
    texts, holds = [], True
    for each in compared:
        for name, tuned in each.schemes.items():
            beyond = [curve for curve in tuned.curves if curve.step_size >= tuned.best.step_size]
            values = [curve.final_model_variance for curve in beyond]
            holds = holds and len(values) > 1 and all(a < b for a, b in pairwise(values))
            texts.append(
                f"{each.split}, {name}: {values[0]:.2g} at $\\eta_l={beyond[0].step_size:.2g}$, "
                f"{_number_or_divergence(values[-1])} at ${beyond[-1].step_size:.2g}$"
            )
    statement = "the instability grows with the step size"
    evidence = f"Variance of the model at the end, from the best step size on: {'; '.join(texts)}."
    return Finding("fraboni2022:fig-5-7", statement, holds, evidence)


def _asynchronous_fails(compared: Sequence[SchemesCompared]) -> Finding:
    """That there is a step size at which only the asynchronous scheme diverges."""
    stable = [{name: tuned.largest_stable for name, tuned in each.schemes.items()} for each in compared]
    holds = any(each["asynchronous"] < min(each["FedFix-0.5"], each["synchronous"]) for each in stable)
    texts = [
        f"{each.split}: " + ", ".join(f"{name} {largest:.2g}" for name, largest in limits.items())
        for each, limits in zip(compared, stable, strict=True)
    ]
    statement = "larger step sizes can prevent asynchronous FedAvg from converging where the others converge"
    return Finding("fraboni2022:fig-5-7", statement, holds, f"Largest stable step size: {'; '.join(texts)}.")
