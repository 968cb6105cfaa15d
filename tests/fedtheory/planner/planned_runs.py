"""Runs and claims that the tests of the planner share."""

from __future__ import annotations

from fedtheory import Run, fedavg, quadratic
from fedtheory.arithmetic import RATIONAL
from fedtheory.language.registry import find

THEOREM, SHARP, LIU, LECTURE = (
    find(claim_id)
    for claim_id in ("renard2022:thm-2.1", "renard2022:thm-2.1.sharp", "liu2022:thm-1", "lecture27:thm-2.explicit")
)


def problem(noise: str = "1", spread: str = "1"):
    """Return two clients in two dimensions with opposite linear terms."""
    array = RATIONAL.array
    hessian = [["2", "0"], ["0", "1"]]
    return quadratic(
        array([hessian, hessian]),
        array([[spread, "0"], ["-" + spread, "0"]]),
        array(["3", "-2"]),
        noise=array([noise, noise]),
    ).as_floats()


def a_run(step_size: float = 0.05, local_steps: int = 5, rounds: int = 50, **keys) -> Run:
    """Return FedAvg on `problem`."""
    setting = problem(**keys)
    return Run(setting, fedavg(setting, rounds=rounds, local_step_size=step_size, local_steps=local_steps))
