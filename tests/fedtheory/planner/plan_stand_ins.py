"""Stand-ins for answers, bounds and plans, with the attributes that sentences read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.language import quantities as q
from fedtheory.planner.outcomes import ErrorAtStepSize


def _outcome(rounds: int = 7, error: float = 0.5, *, reached: bool = False, **more: Any) -> ErrorAtStepSize:
    given: dict[str, Any] = {"still_falls": False, **more}
    return ErrorAtStepSize(0.25, rounds, error, reached, **given)


def _answer(**given: Any) -> Any:
    usual: dict[str, Any] = {
        "is_hopeless": False,
        "best": _outcome(),
        "planned": _outcome(),
        "local_steps": (2, 2),
        "time": 7.0,
        "error": q.final_suboptimality,
        "accuracy": None,
        "beside": None,
        "run": SimpleNamespace(
            errors_are="exact",
            initial_gap=1.0,
            algorithm=SimpleNamespace(
                clock=SimpleNamespace(is_synchronous=True),
                work=SimpleNamespace(schedule=None, step_sizes=(0.25, 0.25)),
            ),
        ),
        "reached": SimpleNamespace(diverges_from=2.0, margin=0.1, reason="noise"),
    }
    return SimpleNamespace(**{**usual, **given})
