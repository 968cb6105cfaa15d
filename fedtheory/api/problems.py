"""Problems and runs in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedtheory.api.inputs import run_of

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.federation.problem import Problem


def run_on(problem: Problem, **keys: Any) -> Run:
    """An algorithm on a problem; `keys` are those of ``[algorithm]`` in a run file, numbers or rational strings.

    >>> import fedtheory as ft
    >>> problem = ft.problem_from([[1.0], [2.0]], [1.0, 0.0], client=["a", "b"])
    >>> ft.run_on(problem, local_step_size=0.1, local_steps=5, rounds=20)
    <Run fedavg, 20 rounds, on least squares on given rows: 2 clients in 1 dimension>
    """
    from fedtheory.runfile import run_with

    return run_with(problem, keys)


def problem_from(
    inputs: Any,
    outputs: Any = None,
    *,
    client: Any = None,
    clients: int | None = None,
    split: str = "iid",
    concentration: float = 0.1,
    seed: int = 0,
    start: Any = "zeros",
    **keys: Any,
) -> Problem:
    """Least squares on data, ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2``, split over clients.

    `inputs` are (n, d): an array, a data frame, a tensor, or what scikit-learn's loaders return, which brings its
    outputs.  `outputs` are (n,), or the name of a column.  `client` says whose each row is, (n,), or names a column;
    without it the rows are split over `clients`: "iid", or "dirichlet" with a `concentration`, by the `seed`.
    Further `keys` are those of a least-squares problem in a run file, such as ``batch=8``.
    Raises `InputError` where the shapes do not fit, or rows have no client.

    >>> import fedtheory as ft
    >>> ft.problem_from([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 2.0, 5.0], clients=2)
    <Problem least squares on given rows: 2 clients in 1 dimension>
    """
    from fedtheory.api.rows import rows_of, rows_of_clients

    rows = rows_of(inputs, outputs, client)
    parts = rows_of_clients(rows, clients, split, concentration, seed)
    table = {"kind": "least-squares", "start": start if isinstance(start, str) else [*map(float, start)], **keys}
    table["inputs"] = [rows.inputs[part].tolist() for part in parts]
    table["outputs"] = [rows.outputs[part].tolist() for part in parts]
    return run_of({"problem": table, "algorithm": {"local_step_size": 1, "rounds": 1}}, None).problem
