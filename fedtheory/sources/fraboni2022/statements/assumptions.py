"""What Theorem 1 assumes beside Assumptions 1 to 5, and what it needs to be true."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import Assumption
from fedtheory.sources.fraboni2022.statements.notation import ASSUMPTIONS


def _model_free_noise(run: Run) -> None:
    if (run.noise_forms[:, 1:] != 0).any():
        raise NotApplicable("the noise of the gradients depends on the model")


model_free_noise = Assumption(
    "noise that does not depend on the model",
    r"$\nabla\mathcal L_i(x,\xi)-\nabla\mathcal L_i(y,\xi)=\nabla\mathcal L_i(x)-\nabla\mathcal L_i(y)$",
    _model_free_noise,
)

THEOREM = (*ASSUMPTIONS, a.theorem_step_size)
"""The assumptions of Theorem 1, its step size among them."""
WITHOUT_CHANCE = (a.given_weights, model_free_noise)
"""What the proof of Theorem 1 uses silently."""
