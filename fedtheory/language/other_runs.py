"""Quantities of a second run on the same problem, for claims that compare two algorithms or two settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.language.weighted_sums import require_new_name
from fedtheory.runfile import parse_run, run_table
from fedtheory.runfile.loading import report_mistakes

_TABLES = ("problem", "algorithm")


@dataclass(frozen=True)
class _OnAnother:
    """Measures a quantity on the run with some keys of its run file changed."""

    of: RunQuantity
    changes: tuple[tuple[str, Any], ...]

    def __call__(self, run: Run) -> Any:
        return self.of.on(run.compute_once(self._build_other_run))

    def _build_other_run(self, run: Run) -> Run:
        """Build the other run from the changed run file; raise `NotApplicable` if there is none."""
        table: dict[str, Any] = run_table(run)
        for key, value in self.changes:
            part, _, name = key.partition(".")
            table[part] = {**table[part], name: _evaluate_on(value, run)}
        try:
            return parse_run(table, run.arithmetic)
        except InputError as reason:
            raise NotApplicable(f"the other run is invalid: {reason}") from None


def _evaluate_on(value: Any, run: Run) -> Any:
    """Return the value, or its result on the run if it is a function of the run."""
    if not callable(value):
        return value
    with report_mistakes(value):
        return value(run)


def on_another_run(name: str, of: RunQuantity, changes: Mapping[str, Any]) -> RunQuantity:
    """Return a quantity of another run, which differs from the given run in some keys of its run file.

    `changes` maps keys such as ``"algorithm.local_steps"`` to values of run files, or to functions of the run that
    return them: ``on_another_run("one_step_error", q.final_suboptimality, {"algorithm.local_steps": 1})``.
    """
    require_new_name(name)
    if not isinstance(of, RunQuantity) or of.root or of.place != "run":
        expected = "a quantity with one value for the whole run, such as quantities.final_suboptimality"
        raise InputError(name, f"expected {expected}, got {getattr(of, 'name', of)!r}")
    for key in changes:
        part, _, rest = key.partition(".")
        if part not in _TABLES or not rest:
            raise InputError(name, f"expected keys such as algorithm.local_steps or problem.noise, got {key!r}")
    given = tuple(changes.items())
    changed = ", ".join(f"{key} = {'a function of the run' if callable(value) else value}" for key, value in given)
    latex = rf"{of.latex}\Big|_{{\text{{{name.replace('_', ' ')}}}}}"
    return RunQuantity(name, latex, f"{of.name} of the same run with {changed}", _OnAnother(of, given))
