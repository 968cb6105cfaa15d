"""Describes alternatives to the recommended setting, in sentences and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedtheory.planner.alternatives import Alternative
from fedtheory.planner.setting_in_words import describe_counts, format_error
from fedtheory.shown import short, short_below

if TYPE_CHECKING:
    from fedtheory.planner.recommendation import Answer


def describe_other_settings(answer: Answer) -> list[tuple[str, str]]:
    """Return lines with their headings: more or fewer local steps, and SCAFFOLD."""
    others = answer.others
    if others is None or others.planned is None or answer.is_hopeless:
        return []
    planned, accuracy = others.planned, answer.accuracy
    lines = [("local steps:", _describe_steps(planned, others.better_steps, accuracy, tried=others.has_tried_steps))]
    if others.scaffold is not None:
        lines.append(("scaffold:", _describe_scaffold(planned, others.scaffold, accuracy)))
    return lines


def _describe_steps(planned: Alternative, better: Alternative | None, accuracy: float | None, *, tried: bool) -> str:
    """Return the sentence about other numbers of local steps."""
    if not tried:
        return f"other values than {planned.local_steps} take long to try: --vary steps tries them, with their costs"
    if better is None:
        return f"none tried is clearly better than {planned.local_steps} by rounds; --vary steps,batch shows others"
    way = "more" if better.local_steps > planned.local_steps else "fewer"
    return (
        f"{way} help: {better.local_steps} at step size {short_below(better.outcome.step_size)} "
        f"{_describe_result(better, accuracy)} ({planned.local_steps}: {_describe_result(planned, accuracy)}); "
        "--vary steps,batch shows others"
    )


def _describe_result(one: Alternative, accuracy: float | None) -> str:
    """Describe the result of a setting."""
    rounds = describe_counts((one.outcome.rounds,), "round")
    if accuracy is not None and one.outcome.reached:
        return f"needs {rounds}"
    never = "" if accuracy is None else f"misses {short(accuracy)}: "
    return f"{never}reaches {format_error(one.outcome)} in {rounds}"


def _describe_scaffold(planned: Alternative, other: Alternative, accuracy: float | None) -> str:
    """Return the sentence about SCAFFOLD."""
    before, after = planned.rank(accuracy), other.rank(accuracy)
    rounds_alone = accuracy is not None and planned.outcome.reached and other.outcome.reached
    if rounds_alone and other.outcome.rounds < planned.outcome.rounds:
        verdict = "worth it by rounds and vectors" if after < before else "fewer rounds, and more vectors"
    else:
        verdict = "worth it" if after < before else "not worth it"
    return (
        f"{verdict}: SCAFFOLD at step size {short_below(other.outcome.step_size)} {_describe_result(other, accuracy)}, "
        f"{planned.name} {_describe_result(planned, accuracy)}; SCAFFOLD sends twice the vectors a round"
    )


def tabulate_settings(varied: Sequence[Alternative], accuracy: float | None) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows, the best setting marked with a star, the planned one with a p."""
    columns = ["algorithm", "local steps", "batch", "step size", "rounds", "error", "cost"]
    best = min(varied, key=lambda one: one.rank(accuracy))
    rows = []
    for one in varied:
        mark = " *" if one is best else " p" if one.is_planned else ""
        outcome = one.outcome
        rounds = str(outcome.rounds) if accuracy is None or outcome.reached else "never"
        batch = "all rows" if one.batch is None else str(one.batch)
        step, error = short_below(outcome.step_size), format_error(outcome)
        rows.append([one.name + mark, str(one.local_steps), batch, step, rounds, error, short(one.cost)])
    return columns, rows
