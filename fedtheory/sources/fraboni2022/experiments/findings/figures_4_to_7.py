"""Findings on Figures 4 to 7: the three schemes on one split of each kind, at their best step sizes and at each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fedtheory.arithmetic import NEAR_TIE
from fedtheory.language.exhibits import Finding
from fedtheory.sources.fraboni2022.experiments.figure_4 import SchemesCompared, SplitCompared
from fedtheory.sources.fraboni2022.experiments.findings.formatting import format_number_or_divergence


def list_findings_4(results: Sequence[SplitCompared]) -> tuple[Finding, ...]:
    """Return the findings on Figure 4: the three schemes, each at its best step size."""
    everywhere = [compared for result in results for compared in result.by_hardware]
    alike = [compared for compared in everywhere if compared.slower == 0]
    unlike = [compared for compared in everywhere if compared.slower > 0]
    return (
        _check_order("FedFix-0.5 always outperforms synchronous FedAvg", everywhere, ("FedFix-0.5", "synchronous")),
        _check_order(
            "synchronous FedAvg always outperforms asynchronous FedAvg when all clients are alike (F0)",
            alike,
            ("synchronous", "asynchronous"),
        ),
        _check_order(
            "even with heterogeneous hardware (F80) synchronous FedAvg can outperform asynchronous FedAvg",
            unlike,
            ("synchronous", "asynchronous"),
            always=False,
        ),
        _check_half_interval(results),
    )


def _check_order(
    statement: str, compared: Sequence[SchemesCompared], schemes: tuple[str, str], *, always: bool = True
) -> Finding:
    """Test whether the first scheme has the lower loss at its best step size: in all cases, or in one."""
    better, worse = schemes
    losses = [each.best_losses for each in compared]
    outcomes = [loss[better] < loss[worse] for loss in losses]
    texts = [
        f"{each.split}, {each.hardware}: {loss[better] - each.minimum:.3g} {better}, "
        f"{loss[worse] - each.minimum:.3g} {worse}"
        for each, loss in zip(compared, losses, strict=True)
    ]
    holds = all(outcomes) if always else any(outcomes)
    return Finding(statement, holds, f"Excess loss at the end: {'; '.join(texts)}.")


def _check_half_interval(results: Sequence[SplitCompared]) -> Finding:
    """Test whether the moments of both runs agree up to rounding errors."""
    gap = max(result.f0_gap for result in results)
    return Finding(
        "under F0 FedFix-0.5 is synchronous FedAvg with twice the server step size",
        gap <= NEAR_TIE,
        f"The squared differences of all first and second moments of the models add up to {gap:.1g}.",
    )


def list_findings_5_to_7(results: Sequence[SplitCompared]) -> tuple[Finding, ...]:
    """Return the findings on Figures 5 to 7: heterogeneous hardware, at each step size."""
    unlike = [compared for result in results for compared in result.by_hardware if compared.slower > 0]
    return (_check_small_steps(unlike), _check_instability(unlike), _check_divergence(unlike))


def _check_small_steps(compared: Sequence[SchemesCompared]) -> Finding:
    """Test the order of the final losses at the smallest step size of the search."""
    texts, holds = [], True
    for each in compared:
        curves = {name: tuned.curves[0] for name, tuned in each.schemes.items()}
        losses = {name: curve.final_loss for name, curve in curves.items()}
        holds = holds and losses["asynchronous"] < losses["FedFix-0.5"] < losses["synchronous"]
        excess = ", ".join(f"{loss - each.minimum:.3g} {name}" for name, loss in losses.items())
        texts.append(f"{each.split}: {excess} at $\\eta_l={curves['synchronous'].step_size:.2g}$")
    statement = "with a small enough step size asynchronous FedAvg outperforms FedFix, which outperforms synchronous"
    return Finding(statement, holds, f"Excess loss at the end: {'; '.join(texts)}.")


def _check_instability(compared: Sequence[SchemesCompared]) -> Finding:
    """Test whether the variance of the model increases from the best step size on; runs with smaller ones are not
    stationary.
    """
    texts, holds = [], True
    for each in compared:
        for name, tuned in each.schemes.items():
            beyond = [curve for curve in tuned.curves if curve.step_size >= tuned.best.step_size]
            values = [curve.final_model_variance for curve in beyond]
            holds = holds and len(values) > 1 and all(a < b for a, b in pairwise(values))
            texts.append(
                f"{each.split}, {name}: {values[0]:.2g} at $\\eta_l={beyond[0].step_size:.2g}$, "
                f"{format_number_or_divergence(values[-1])} at ${beyond[-1].step_size:.2g}$"
            )
    statement = "the instability grows with the step size"
    evidence = f"Variance of the model at the end, from the best step size on: {'; '.join(texts)}."
    return Finding(statement, holds, evidence)


def _check_divergence(compared: Sequence[SchemesCompared]) -> Finding:
    """Test whether some step size makes only the asynchronous scheme diverge."""
    stable = [{name: tuned.largest_stable for name, tuned in each.schemes.items()} for each in compared]
    holds = any(each["asynchronous"] < min(each["FedFix-0.5"], each["synchronous"]) for each in stable)
    texts = [
        f"{each.split}: " + ", ".join(f"{name} {largest:.2g}" for name, largest in limits.items())
        for each, limits in zip(compared, stable, strict=True)
    ]
    statement = "larger step sizes can prevent asynchronous FedAvg from converging where the others converge"
    return Finding(statement, holds, f"Largest stable step size: {'; '.join(texts)}.")
