"""Findings on Figure 3, on one split: the amount of local work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.curves import Curve
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared
from fedtheory.sources.fraboni2022.experiments.findings.formatting import format_number_or_divergence


def list_findings_3(result: LocalWorkCompared) -> tuple[Finding, ...]:
    """Return the findings on Figure 3: the amount of local work."""
    return (
        _check_fall_and_rise(result),
        _check_variance(result),
        _compare_sensitivity(result),
        _compare_with_identical(result),
        _check_weights(result),
    )


def _group_by_weighting(result: LocalWorkCompared) -> dict[str, dict[int, Curve]]:
    return {"Identical": result.identical, "Time-based": result.time_based}


def _check_fall_and_rise(result: LocalWorkCompared) -> Finding:
    """Test whether the smallest loss is at neither the fewest nor the most local steps."""
    texts, holds = [], True
    for name, curves in _group_by_weighting(result).items():
        losses = {steps: curve.final_loss for steps, curve in curves.items()}
        fewest, best, most = min(losses), min(losses, key=losses.__getitem__), max(losses)
        holds = holds and fewest < best < most
        excess = {steps: format_number_or_divergence(losses[steps] - result.minimum) for steps in (fewest, best, most)}
        texts.append(
            f"{name}: excess loss {excess[fewest]} with $K={fewest}$, the smallest, {excess[best]}, with $K={best}$, "
            f"{excess[most]} with $K={most}$"
        )
    statement = "with more local work the loss first falls, then rises"
    return Finding(statement, holds, f"{'; '.join(texts)}.")


def _check_variance(result: LocalWorkCompared) -> Finding:
    """Test whether the deviation of the loss and the variance of the model increase with the local steps."""
    texts, holds = [], True
    for name, curves in _group_by_weighting(result).items():
        stable = [curve for curve in curves.values() if not curve.diverges]
        for measure in ("fluctuation", "final_model_variance"):
            values = [getattr(curve, measure) for curve in stable]
            holds = holds and all(a < b for a, b in pairwise(values))
            words = "deviation of the loss" if measure == "fluctuation" else "variance of the model"
            texts.append(f"{name}: {words} from {values[0]:.3g} to {values[-1]:.3g}")
    statement = "the variance strictly increases with the amount of local work"
    return Finding(statement, holds, f"Over the last 5% of the updates, {'; '.join(texts)}.")


def _compare_sensitivity(result: LocalWorkCompared) -> Finding:
    """Test whether Time-based diverges with fewer local steps; for equal numbers, whether its loss increases more."""
    shared = [steps for steps in result.identical if steps in result.time_based]
    both = [(steps, result.identical[steps], result.time_based[steps]) for steps in shared]
    fewest = min(result.identical)
    most = max(steps for steps, one, other in both if not (one.diverges or other.diverges))
    increase, diverging, texts = {}, {}, []
    for name, curves in _group_by_weighting(result).items():
        increase[name] = curves[most].final_loss - curves[fewest].final_loss
        diverging[name] = min((steps for steps, curve in curves.items() if curve.diverges), default=float("inf"))
        texts.append(
            f"{name}: from $K={fewest}$ to $K={most}$ the loss increases by {increase[name]:.3g}, divergence with "
            + (f"$K={diverging[name]}$" if diverging[name] < float("inf") else "no $K$")
        )
    holds = (-diverging["Time-based"], increase["Time-based"]) > (-diverging["Identical"], increase["Identical"])
    more_variable = [steps for steps, identical, other in both if other.fluctuation > identical.fluctuation]
    evidence = f"{'; '.join(texts)}. Time-based has the larger deviation of the loss {_list_steps(more_variable)}."
    statement = "Time-based is more sensitive to an increase of local work than Identical"
    return Finding(statement, holds, evidence)


def _compare_with_identical(result: LocalWorkCompared) -> Finding:
    """Test whether Identical has the lower loss with every number of local steps."""
    shared = [steps for steps in result.identical if steps in result.time_based]
    ahead = [k for k in shared if result.identical[k].final_loss < result.time_based[k].final_loss]
    evidence = f"Of $K={', '.join(map(str, shared))}$, Identical has the lower loss {_list_steps(ahead)}."
    statement = "Identical outperforms Time-based at the step size that is best for Identical"
    return Finding(statement, ahead == shared, evidence)


def _list_steps(numbers: Sequence[int]) -> str:
    return f"with $K={', '.join(map(str, numbers))}$" if numbers else "with no $K$"


def _check_weights(result: LocalWorkCompared) -> Finding:
    fastest, slowest = float(result.weights[0]), float(result.weights[-1])
    below = int((result.weights < 1).sum())
    evidence = (
        f"$d_i$ goes from {fastest:.3g} to {slowest:.3g}; {below} of {len(result.weights)} clients are below one."
    )
    statement = "fast clients have $d_i<1$, slow ones $d_i>1$"
    return Finding(statement, fastest < 1 < slowest, evidence)
