"""Builds problems and runs in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.federation.problem import Problem


def run_on(problem: Problem, **keys: Any) -> Run:
    """Return the run of an algorithm on a problem; `keys` are those of ``[algorithm]`` in a run file.

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
    features: Sequence[str] | None = None,
    clients: int | None = None,
    split: str = "iid",
    concentration: float = 0.1,
    seed: int = 0,
    start: Any = "zeros",
    **keys: Any,
) -> Problem:
    """Return least squares on data, ``F_i(w) = (1/n_i) sum_j (w'x_ij - y_ij)^2``, split over clients.

    With ``kind="logistic"`` the outputs are two classes, numbers or text; other kinds are those of linear models in a
    run file.

    `inputs` are (n, d): an array, a data frame, a tensor, or the result of a scikit-learn loader, which includes the
    outputs.  `outputs` are (n,), or the name of a column.  `client` is the client of each row, (n,), or names a column;
    without it the rows are split over `clients`: "iid", or "dirichlet" with a `concentration`, by the `seed`.
    `features` names the columns of a data frame to use, by default all others.  Further `keys` are those of a
    problem on data in a run file: ``standardize``, ``intercept``, ``shares``, ``ridge``, ``batch``, ...

    If `outputs` names a column of a data frame, the data are prepared as `fedtheory data` and `fedtheory plan` prepare
    a file: features of very different scales are standardised, a column of ones is added, and client weights are
    proportional to the numbers of rows.  Arrays are used as given, and all clients have equal weight.  Keys overrule
    both defaults.  Raises `InputError` with the row and the column of a value that is no number, if the shapes do not
    match, or if a row has no client.

    >>> import fedtheory as ft
    >>> ft.problem_from([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 2.0, 5.0], clients=2)
    <Problem least squares on given rows: 2 clients in 1 dimension>
    >>> ft.problem_from([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 2.0, 5.0], clients=2, intercept=True, ridge="1/10")
    <Problem least squares on given rows: 2 clients in 2 dimensions>
    """
    from fedtheory.api.rows import describe_rows, is_frame
    from fedtheory.arithmetic import FLOAT
    from fedtheory.errors import InputError
    from fedtheory.runfile.linear_models import LOGISTIC, build_any_problem_on
    from fedtheory.runfile.problems import USUAL
    from fedtheory.runfile.table import TomlTable

    data = describe_rows(inputs, outputs, client, features, has_classes=keys.get("kind") == LOGISTIC)
    if client is not None and clients is not None:
        raise InputError("clients", "expected either client or clients, got both")
    if client is None and clients is None:
        raise InputError("client", "expected the client of each row, or a number of clients")
    usual = USUAL if is_frame(inputs) and isinstance(outputs, str) else {}
    table: dict[str, Any] = {**usual, **keys}
    if "weights" in keys and "shares" not in keys:
        table.pop("shares", None)
    table["start"] = start if isinstance(start, str) else [*map(float, start)]
    if clients is not None:
        table |= {"clients": clients, "split": split, "seed": seed}
        table |= {"concentration": concentration} if split == "dirichlet" else {}
    read = TomlTable(table, "", FLOAT)
    try:
        problem = build_any_problem_on(read, data)
        read.finish()
    except InputError as error:
        raise InputError(error.key.removeprefix("problem."), error.message) from None
    return problem
