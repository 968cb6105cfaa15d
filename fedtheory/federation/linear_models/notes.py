"""Notes on a problem of linear models for readers of its numbers."""

from __future__ import annotations

from fedtheory.arithmetic import Array
from fedtheory.federation.linear_models.batches import RowBatches
from fedtheory.federation.linear_models.minimiser import Minimum
from fedtheory.federation.linear_models.model import LinearModel
from fedtheory.federation.oracles import Oracle
from fedtheory.federation.problem.least_squares import describe_batches, describe_columns, describe_weights
from fedtheory.federation.problem.scales import are_uneven, has_constant, measure_columns


def note_on_loss(model: LinearModel, classes: tuple[str, str] | None) -> str:
    """Return the objective of a client in words; `classes` are the names of those labelled -1 and 1."""
    loss, ridge = model.loss, f" + {model.ridge:g}/2 |w|^2" if model.ridge > 0 else ""
    ridge += " (w without its intercept there)" if model.is_intercept_apart else ""
    if classes is None:
        return f"F_i is the average {loss.kind.name} loss of x'w - y, of width {loss.width:g}, over its rows{ridge}"
    low, high = classes
    labels = f"s = -1 for the class {low} and 1 for the class {high}"
    return f"F_i is the average of log(1 + exp(-s x'w)) over a client's rows{ridge}, {labels}"


def note_on_minimum(model: LinearModel, found: Minimum) -> str:
    """Return a sentence on the accuracy of x* and F*."""
    strength = "the ridge" if model.strength > 0 else "a lower bound on the curvature about it"
    return (
        f"x* is known within {found.distance:.2g} and F* within {found.gap:.2g}: Newton's residual over {strength}; "
        "constants are upper bounds, strong convexity a lower one"
    )


def list_notes_on_rows(model: LinearModel, oracle: Oracle, weights: Array) -> list[str]:
    """Return sentences on columns of different scales or no constant one, on small clients, and on equal weights."""
    counts = model.counts.tolist()
    rows = model.inputs * model.labels[:, None]
    batches = describe_batches(oracle.batch, counts) if isinstance(oracle, RowBatches) else None
    columns = describe_columns(are_uneven(measure_columns(model.inputs)), has_constant([rows]))
    return [*columns, *(note for note in (batches, describe_weights(counts, weights)) if note is not None)]
