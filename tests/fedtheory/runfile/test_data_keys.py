"""Keys of a least-squares problem: columns by name, client weights, and preparation of columns."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flint import fmpq
from pyarrow import parquet

import fedtheory as ft
from fedtheory import fedavg, quadratic
from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation.problem.least_squares import describe_weights, list_data_notes
from fedtheory.runfile import parse_run, run_table

ALGORITHM = {"local_step_size": "1/50", "local_steps": 2, "rounds": 3}
INPUTS = [[["1", "1/2"], ["0", "2"], ["-1", "1"]], [["2", "1"]]]
OUTPUTS = [["1", "0", "3"], ["-1/3"]]


def _given(arithmetic: Arithmetic = RATIONAL, **problem: Any) -> Run:
    """Return the run of rows that are inside the run file."""
    rows = {"kind": "least-squares", "inputs": INPUTS, "outputs": OUTPUTS}
    return parse_run({"problem": {**rows, **problem}, "algorithm": ALGORITHM}, arithmetic)


def test_shares_by_rows() -> None:
    """With shares = "samples" the objective is exactly the average over all rows; with "equal", clients have equal
    weights.
    """
    problem = _given(shares="samples").problem
    assert problem.weights.tolist() == [fmpq(3, 4), fmpq(1, 4)]
    at = RATIONAL.array(["2/3", "-1"])
    inputs, outputs = (RATIONAL.array([*first, *second]) for first, second in (INPUTS, OUTPUTS))
    assert problem.value(at) == ((inputs @ at - outputs) ** 2).sum() / 4
    assert describe_weights([3, 1], problem.weights) is None
    for equal in (_given(), _given(shares="equal")):
        assert equal.problem.weights.tolist() == [fmpq(1, 2)] * 2
        assert "1 to 3 rows" in str(describe_weights([3, 1], equal.problem.weights))


def test_half_of_the_loss_needs_twice_the_step_size() -> None:
    """Half of the loss with twice the step size gives the same models, as the note on the loss says."""
    ours = _given()
    assert list_data_notes(ours.problem)[0].startswith("F_i is the average of (y - x'w)^2")
    half = quadratic(ours.problem.hessians / 2, ours.problem.linear / 2, ours.problem.start)
    sizes = 2 * ours.algorithm.work.step_sizes[0]
    theirs = Run(half, fedavg(half, rounds=2, local_step_size=sizes, local_steps=ours.algorithm.work.steps[0]))
    means = theirs.trajectory.server_mean
    assert len(means) == 3
    assert (means == ours.with_rounds(2).trajectory.server_mean).all()


def test_weights_of_ones_own_are_no_shares() -> None:
    """Either shares or weights may be given, and shares are one of two words."""
    with pytest.raises(InputError, match=r"problem\.shares: expected either shares or weights"):
        _given(shares="samples", weights=["1/2", "1/2"])
    with pytest.raises(InputError, match=r"problem\.shares: expected one of equal, samples"):
        _given(shares="rows")


def test_a_ridge_is_half_its_square_for_every_client() -> None:
    """The ridge adds to values, gradients, Hessians and the optimum of every client, as equal rationals."""
    plain, run = _given(shares="samples").problem, _given(shares="samples", ridge="2/7").problem
    ridge, at = fmpq(2, 7), RATIONAL.array(["2/3", "-1"])
    assert run.value(at) == plain.value(at) + ridge * (at @ at) / 2
    everywhere = np.tile(at, (2, 1))
    assert (run.gradients(everywhere) == plain.gradients(everywhere) + ridge * at).all()
    assert (run.hessians - plain.hessians == ridge * RATIONAL.identity(2)).all()
    assert (plain.hessian @ run.optimum + ridge * run.optimum == plain.mean_linear).all()
    assert run.optimal_value == run.value(run.optimum)
    # Away from the data's optimum in its own coordinates, the ridge is not centred there.
    assert run.centred.optimum.tolist() == [0, 0]


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
def test_a_ridge_is_in_the_constants_of_the_run(arithmetic: Arithmetic) -> None:
    """Curvatures of clients and samples increase by the ridge; noise at a given point does not change."""
    plain, run = (_given(arithmetic, batch=1, ridge=ridge) for ridge in (0, "2/7"))
    two_sevenths = arithmetic.number("2/7", "ridge")
    for name in ("smoothness", "strong_convexity", "sample_smoothness"):
        assert getattr(run, name) - getattr(plain, name) == pytest.approx(two_sevenths)
    moments = np.stack([np.outer(v, v) for v in [arithmetic.array([1, 2, "-1/3"])] * 2])
    covariances = [given.problem.noise_covariances(moments) for given in (run, plain)]
    assert np.abs(covariances[0] - covariances[1]).max() <= (0 if arithmetic is RATIONAL else 1e-12)


def test_a_ridge_is_written_into_run_files() -> None:
    """A ridge is written and read back; without one the key is absent."""
    table = run_table(_given(ridge="1/3", shares="samples"))
    assert table["problem"]["ridge"] == "1/3"
    assert table["problem"]["weights"] == ["3/4", "1/4"]
    assert run_table(parse_run(table, RATIONAL)) == table
    assert "ridge" not in run_table(_given())["problem"]


@pytest.mark.parametrize("ridge", ["-1/3", "much", [1]])
def test_a_ridge_is_a_number_that_is_not_negative(ridge: object) -> None:
    """A ridge that is not a non-negative number is rejected with its key."""
    with pytest.raises(InputError, match=r"problem\.ridge"):
        _given(ridge=ridge)


def _with_ones(arithmetic: Arithmetic, **keys: Any) -> Run:
    """Return the run with an intercept as the last column."""
    inputs = [[[*row, "1"] for row in rows] for rows in INPUTS]
    return _given(arithmetic, inputs=inputs, shares="samples", ridge="2/7", **keys)


def test_an_intercept_without_penalty() -> None:
    """Only the last coefficient is excluded from the ridge, as equal rationals of values, gradients and the optimum."""
    full, run = (_with_ones(RATIONAL, penalize_intercept=flag).problem for flag in (True, False))
    ridge, at = fmpq(2, 7), RATIONAL.array(["2/3", "-1", "5"])
    assert full.value(at) - run.value(at) == ridge * 25 / 2
    everywhere = np.tile(at, (2, 1))
    assert (full.gradients(everywhere) - run.gradients(everywhere) == ridge * RATIONAL.array([0, 0, 5])).all()
    difference = full.hessians - run.hessians
    assert difference[:, -1, -1].tolist() == [ridge] * 2
    assert (difference != 0).sum() == 2
    assert run.optimal_value == run.value(run.optimum)
    assert (run.hessian @ run.optimum == run.mean_linear).all()


def test_an_intercept_without_penalty_in_floats() -> None:
    """Floats agree with rationals: the optimum from the rows, curvatures, gradients, noise, and a whole run."""
    floats, exact = (_with_ones(arithmetic, penalize_intercept=False, batch=1) for arithmetic in (FLOAT, RATIONAL))
    for name in ("smoothness", "strong_convexity", "sample_smoothness", "initial_gap"):
        assert float(getattr(floats, name)) == pytest.approx(float(getattr(exact, name)), abs=1e-12)
    for name in ("optimum", "client_optima"):
        assert getattr(floats.problem, name) == pytest.approx(np.array(getattr(exact.problem, name), float))
    ours, theirs = (run.trajectory.server_suboptimality for run in (floats, exact))
    assert ours == pytest.approx(np.array(theirs, float))
    centred = floats.problem.centred
    assert centred.value(centred.optimum) == pytest.approx(float(exact.problem.optimal_value))


def test_an_intercept_without_penalty_in_many_dimensions() -> None:
    """Few rows in many columns with mini-batches agree with the recursion over all dimensions in rationals."""
    generator = np.random.default_rng(4)
    inputs = [np.column_stack([generator.integers(-2, 3, (2, 17)), np.ones(2)]).tolist() for _ in range(2)]
    rows = {"inputs": inputs, "outputs": generator.integers(-2, 3, (2, 2)).tolist()}
    keys = {**rows, "ridge": "1/2", "penalize_intercept": False, "batch": 1}
    ours, theirs = (_given(arithmetic, **keys).with_rounds(2) for arithmetic in (FLOAT, RATIONAL))
    expected = np.array(theirs.trajectory.server_suboptimality, float)
    assert ours.trajectory.server_suboptimality == pytest.approx(expected)


def test_ridge_of_scikit_learn() -> None:
    """scikit-learn's alpha is n ridge/2, for clients weighted by rows and an unpenalised intercept."""
    from sklearn.linear_model import Ridge

    generator = np.random.default_rng(2)
    inputs, client = generator.normal(1, 2, (40, 3)), np.repeat([0, 1, 2], [5, 15, 20])
    outputs = inputs @ [1.0, -2.0, 0.5] + 30 + generator.normal(size=40)
    keys = {"intercept": True, "shares": "samples", "ridge": 0.3}
    problem = ft.problem_from(inputs, outputs, client=client, penalize_intercept=False, **keys)
    fitted = Ridge(alpha=40 * 0.3 / 2).fit(inputs, outputs)
    assert problem.optimum == pytest.approx([*fitted.coef_, fitted.intercept_])
    assert ft.problem_from(inputs, outputs, client=client, **keys).optimum[-1] < fitted.intercept_ - 1


def test_there_is_an_intercept_to_leave_out() -> None:
    """Without a last column of ones the key is rejected; otherwise it is written and read back."""
    with pytest.raises(InputError, match=r"problem\.penalize_intercept: expected an intercept"):
        _given(ridge=1, penalize_intercept=False)
    table = run_table(_with_ones(RATIONAL, penalize_intercept=False))
    assert table["problem"]["penalize_intercept"] is False
    assert run_table(parse_run(table, RATIONAL)) == table


HOMES = """age,hospital,price,rooms,note
30,B,1.5,2,new
40,A,2.5,3,old

50,B,3.5,4,old
20,10,0.5,1,new
"""


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    """Return a csv and a Parquet file with the same rows, shuffled columns, and a column of words."""
    (tmp_path / "homes.csv").write_text(HOMES)
    table = {
        "age": [30, 40, 50, 20],
        "hospital": ["B", "A", "B", "10"],
        "price": [1.5, 2.5, 3.5, 0.5],
        "rooms": [2.0, 3.0, 4.0, 1.0],
        "note": ["new", "old", "old", "new"],
    }
    parquet.write_table(pa.table(table), tmp_path / "homes.parquet")
    return tmp_path


NAMED = {"target": "price", "client": "hospital", "features": ["rooms", "age"]}


def _read(folder: Path, file: str, arithmetic: Arithmetic = FLOAT, **problem: Any) -> Run:
    table = {"kind": "least-squares", "data": file, **problem}
    return parse_run({"problem": table, "algorithm": ALGORITHM}, arithmetic, folder)


@pytest.mark.parametrize("file", ["homes.csv", "homes.parquet"])
def test_columns_by_name(file: str, homes: Path) -> None:
    """Features in the order in which they are named, clients sorted by their labels."""
    data = _read(homes, file, RATIONAL, **NAMED).problem.data
    assert data is not None
    assert [rows.tolist() for rows in data.inputs] == [[[1, 20]], [[3, 40]], [[2, 30], [4, 50]]]
    assert [column.tolist() for column in data.outputs] == [[fmpq(1, 2)], [fmpq(5, 2)], [fmpq(3, 2), fmpq(7, 2)]]


@pytest.mark.parametrize("file", ["homes.csv", "homes.parquet"])
def test_all_other_columns_are_features(file: str, homes: Path) -> None:
    """Without `features` all other columns are features; a column of words is an error with a suggestion."""
    with pytest.raises(InputError, match=r"column 'note': expected a number, got 'new', as in all rows: leave"):
        _read(homes, file, target="price", client="hospital")
    (homes / "homes.csv").write_text(HOMES.replace("note", "client"))
    data = _read(homes, "homes.csv", target="price", features=["age"]).problem.data
    assert data is not None
    assert [len(rows) for rows in data.inputs] == [2, 2]


def test_rows_without_a_client_column_are_dealt_out(homes: Path) -> None:
    """Rows are distributed over `clients`; a named client column takes precedence, and both together are rejected."""
    rows = {"target": "price", "features": ["age", "rooms"]}
    data = _read(homes, "homes.csv", **rows, clients=2).problem.data
    assert data is not None
    assert [len(column) for column in data.outputs] == [2, 2]
    with pytest.raises(InputError, match=r"problem\.clients: is missing; expected .* rows of homes\.csv over, such as"):
        _read(homes, "homes.csv", **rows)
    with pytest.raises(InputError, match=r"problem\.clients: expected either client"):
        _read(homes, "homes.csv", **rows, client="hospital", clients=2)


def test_without_names_the_last_two_columns_are_y_and_client(homes: Path) -> None:
    """Without names the last two columns are output and client; features may be named."""
    (homes / "old.csv").write_text("a,b,price,site\n1,2,3,x\n4,5,6,y\n")
    for chosen in ({}, {"features": ["a", "b"]}):
        data = _read(homes, "old.csv", **chosen).problem.data
        assert data is not None
        assert [rows.tolist() for rows in data.inputs] == [[[1, 2]], [[4, 5]]]
        assert [column.tolist() for column in data.outputs] == [[3], [6]]


BAD_NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown target": ({"target": "prize"}, r"problem\.target: .*homes.csv has no column 'prize'; is 'price' meant\?"),
    "unknown client": ({"client": "zzz"}, r"problem\.client: .*it has age, hospital, price, rooms, note"),
    "unknown feature": ({"features": ["age", "room"]}, r"problem\.features: .*'room'; is 'rooms' meant\?"),
    "target as a feature": ({"features": ["age", "price"]}, "problem.features: .*'price' as target or client"),
    "a feature twice": ({"features": ["age", "age"]}, r"problem\.features: .*'age' twice"),
    "target as client": ({"client": "price"}, r"problem\.client: expected another column than the target"),
    "no features": ({"features": []}, r"problem\.features: .*at least one column"),
    "features in a word": ({"features": "age"}, r"problem\.features: expected a list of column names"),
    "a number as target": ({"target": 3}, r"problem\.target: expected a string"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_NAMES.values(), ids=[name.replace(" ", "-") for name in BAD_NAMES])
def test_names_that_do_not_fit(changes: dict[str, Any], message: str, homes: Path) -> None:
    """The message has the key, the file, and its columns."""
    with pytest.raises(InputError, match=message):
        _read(homes, "homes.csv", **(NAMED | changes))


def test_names_need_columns_with_names(homes: Path) -> None:
    """Data sets by name and npz files have no column names."""
    np.savez(homes / "homes.npz", X=np.ones((2, 1)), y=np.ones(2), client=np.arange(2))
    for data in ("homes.npz", "diabetes"):
        with pytest.raises(InputError, match=r"problem\.data: columns have names in files"):
            _read(homes, data, target="price")


CELLS: dict[str, tuple[str, str]] = {
    "empty": ("", r"row 5, column 'age': missing value \(''\): fill it in, leave out the row"),
    "nan": ("NaN", r"row 5, column 'age': missing value \('NaN'\)"),
    "not available": ("n/a", r"row 5, column 'age': missing value \('n/a'\)"),
    "a word": ("fifty", r"row 5, column 'age': expected a number, got 'fifty': correct it, leave out the row"),
    "infinity": ("inf", r"row 5, column 'age': expected a finite number, got 'inf'"),
}


@pytest.mark.parametrize(("cell", "message"), CELLS.values(), ids=CELLS)
def test_text_in_place_of_a_number_is_reported(cell: str, message: str, homes: Path) -> None:
    """The message has the row as in an editor, the column's name, and a suggestion."""
    (homes / "homes.csv").write_text(HOMES.replace("50,", f"{cell},"))
    with pytest.raises(InputError, match=message):
        _read(homes, "homes.csv", **NAMED)


@pytest.mark.parametrize(("sign", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", ".")])
def test_separators_of_cells(sign: str, decimal: str, homes: Path) -> None:
    """Separators are commas, semicolons or tabs, as in the first line; with semicolons, commas may be decimal."""
    text = HOMES.replace(".", "point").replace(",", sign).replace("point", decimal)
    (homes / "other.csv").write_text(text)
    data = [_read(homes, file, RATIONAL, **NAMED).problem.data for file in ("homes.csv", "other.csv")]
    plain, other = (table for table in data if table is not None)
    for column, expected in zip((*other.inputs, *other.outputs), (*plain.inputs, *plain.outputs), strict=True):
        assert (column == expected).all()


def test_one_decimal_sign_for_a_file(homes: Path) -> None:
    """With decimal commas 1.234 may be a thousand; in a file with tabs a comma is ambiguous."""
    (homes / "mixed.csv").write_text("a;y;client\n1,5;2;u\n1.234;3;v\n")
    with pytest.raises(InputError, match=r"row 3, column 'a': expected decimal commas, as in other rows, got '1\.234'"):
        _read(homes, "mixed.csv")
    (homes / "tabs.csv").write_text("a\ty\tclient\n1,5\t2\tu\n1,234\t3\tv\n")
    with pytest.raises(InputError, match=r"row 2, column 'a': expected a number, got '1,5'"):
        _read(homes, "tabs.csv")


def test_another_encoding(homes: Path) -> None:
    """The message for a wrong encoding names the row, the expected encoding, and a way to it."""
    for text, row in (("größe,y,client\n1,2,3\n", 1), ("a,y,client\n1,2,u\n2,3,Köln\n", 3)):
        (homes / "latin.csv").write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=rf"latin\.csv: row {row} is not text in UTF-8; .*encoding='latin-1'"):
            _read(homes, "latin.csv")
        (homes / "latin.csv.gz").write_bytes(gzip.compress(text.encode("latin-1")))
        with pytest.raises(InputError, match=rf"row {row} is not text in UTF-8"):
            _read(homes, "latin.csv.gz")


def test_missing_cells_of_parquet(homes: Path) -> None:
    """Nulls are missing values; rows are counted from one."""
    parquet.write_table(pa.table({"a": [1.0, None], "y": [1, 2], "client": ["u", None]}), homes / "null.parquet")
    with pytest.raises(InputError, match=r"row 2, column 'a': missing value \('None'\)"):
        _read(homes, "null.parquet")
    parquet.write_table(pa.table({"a": [1.0, 2.0], "y": [1, 2], "client": ["u", None]}), homes / "null.parquet")
    with pytest.raises(InputError, match="row 2, column 'client': missing client"):
        _read(homes, "null.parquet")
    (homes / "broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"is not a readable Parquet file"):
        _read(homes, "broken.parquet")


def test_a_name_for_two_columns(homes: Path) -> None:
    """Two columns of one name are ambiguous."""
    (homes / "twice.csv").write_text("a,a,y,client\n1,2,3,4\n")
    with pytest.raises(InputError, match="got 'a' twice"):
        _read(homes, "twice.csv")


def test_standardised_columns_and_an_intercept(homes: Path) -> None:
    """Columns are standardised over all rows; the column of ones is last, and not changed."""
    data = _read(homes, "homes.csv", **NAMED, standardize=True, intercept=True).problem.data
    assert data is not None
    rows = np.concatenate(data.inputs)
    assert rows.mean(axis=0) == pytest.approx([0, 0, 1])
    assert rows[:, :2].std(axis=0) == pytest.approx([1, 1])
    assert (rows[:, 2] == 1).all()
    (homes / "flat.csv").write_text("a,b,y,client\n1,7,3,4\n2,7,3,4\n")
    flat = _read(homes, "flat.csv", standardize=True).problem.data
    assert flat is not None
    assert flat.inputs[0].tolist() == [[-1, 0], [1, 0]]


def test_data_sets_by_name_have_their_intercept() -> None:
    """The intercept of a data set by name is not added twice, may be omitted, and is not standardised."""
    cases: list[tuple[dict[str, bool], int]] = [({}, 11), ({"intercept": True}, 11), ({"standardize": True}, 11)]
    for changes, columns in [*cases, ({"intercept": False}, 10)]:
        data = _read(Path(), "diabetes", clients=3, **changes).problem.data
        assert data is not None
        assert data.inputs[0].shape[1] == columns
        if columns == 11:
            assert (data.inputs[0][:, -1] == 1).all()
