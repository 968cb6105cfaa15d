"""Arbitrary run files give a valid answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fuzzing import INLINE, QUADRATIC, Raw, answer, changed, document, fuzz, places, torn, variant
from hypothesis import given
from hypothesis import strategies as st

TIMED = variant(QUADRATIC, rounds=None, time="12", participation={"kind": "uniform", "clients": 1})
ASYNCHRONOUS = variant(
    QUADRATIC,
    rounds=None,
    time=6,
    clock={"policy": "async", "times": [1, "3/2"], "ties": "one-by-one"},
    aggregation="time-based",
)
EXPONENTIAL = variant(QUADRATIC, clock={"policy": "fedbuff", "buffer": 1, "times": [1, 2], "law": "exponential"})
FIXED_INTERVALS = variant(
    QUADRATIC, clock={"policy": "fedfix", "interval": "1/2", "times": [1, 2]}, aggregation=[1, "1/2"]
)
LOSSES: dict[str, Any] = {
    "problem": {
        "kind": "huber",
        "start": ["3"],
        "terms": [
            [{"coordinate": 0, "weight": "1", "centre": "2", "width": "1/2"}],
            [{"coordinate": 0, "weight": "2", "centre": "-1", "width": 1}],
        ],
        "noise": ["1", "0"],
    },
    "algorithm": {"local_step_size": "1/20", "local_steps": 2, "rounds": 2},
}
VALID = {
    "quadratic": QUADRATIC,
    "timed": TIMED,
    "asynchronous": ASYNCHRONOUS,
    "exponential": EXPONENTIAL,
    "fixed intervals": FIXED_INTERVALS,
    "losses": LOSSES,
    "inline": variant(INLINE, local_steps=[2, 1], participation={"kind": "multinomial", "clients": 2}),
}

HUGE = [10**9, 10**12, 10**15, 2**63, 10**400, -(10**15)]
TEXTS = [
    "1e400", "-1e400", "1e-400", "1e60", "1e-60", "inf", "nan", "1/0", "0/0", "1/3", "-1/7", "0", "1e999", "1_0",
    "٣", "²", "", " ", "\x00", "☃", "💥" * 9, "7" * 4001, "1/" + "9" * 300, "__import__('os')", "zeros", "full",
    "uniform", "multinomial", "fixed", "quadratic", "huber", "softplus", "log-cosh", "async", "fedfix", "exponential",
    "identical", "time-based", "sgd", "distributed-gd", "two-sided-fedavg", "least-squares", "digits:3-8", "x.csv",
]  # fmt: skip
WRITTEN = [
    "nan", "inf", "-inf", "1e308", "-1e308", "5e-324", "1e60", "1e-60", "0.0", "-0.0", "0x10", "1_1", "0o17", "true",
    "false", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "'''x\ny'''", "[" * 150 + "]" * 150, "{ a = { b = 1 } }",
]  # fmt: skip

leaves = (
    st.sampled_from(HUGE)
    | st.integers(-3, 12)
    | st.sampled_from(TEXTS)
    | st.sampled_from([*map(Raw, WRITTEN)])
    | st.text(max_size=4).filter(str.isprintable)
)
harmless = st.sampled_from(["1/3", "1/7", "1/100", "7/2", "1e-9", "1e9", 1, 2, 3, 12])
"""Values that are often as good as the replaced ones."""
junk = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "clients", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@st.composite
def run_files(draw: st.DrawFn) -> str:
    """Generate a good run file with one or two parts replaced, removed or added, sometimes with a damaged text."""
    content = VALID[draw(st.sampled_from(sorted(VALID)))]
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.sampled_from(places(content)))
        new = draw(st.none() | leaves | harmless | harmless | junk)
        content = changed(content, at, new)
    if draw(st.integers(0, 9)) == 0:
        key = draw(st.sampled_from(["speed", "", "ключ", "kind ", "a.b"]))
        tables = [name for name, table in content.items() if isinstance(table, dict)]
        content = changed(content, (draw(st.sampled_from(tables)), key), draw(leaves)) if tables else content
    text = document(content)
    return draw(torn(text)) if draw(st.integers(0, 4)) == 0 else text


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of one file, which is rewritten for each case."""
    return tmp_path_factory.mktemp("fuzz") / "run.toml"


def written(path: Path, text: str) -> Path:
    """Write a text to the file."""
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return path


def names_the_place(complaint: str, path: Path) -> bool:
    """Return whether an error message names the file or one of its keys."""
    return str(path) in complaint or "algorithm." in complaint or "problem." in complaint


@pytest.mark.parametrize("name", VALID)
def test_starting_points_are_answered(name: str, run_file: Path) -> None:
    """The run files that are mutated below are valid."""
    assert answer("simulate", written(run_file, document(VALID[name])), "--json").code == 0


@pytest.mark.long
@fuzz(max_examples=250)
@given(run_files())
def test_simulate(run_file: Path, text: str) -> None:
    """The answer is a JSON document without NaN, or one line that names the place."""
    outcome = answer("simulate", written(run_file, text), "--json", "--schedules", 2)
    if outcome.code == 0:
        assert set(outcome.document) >= {"constants", "server"}
    else:
        assert names_the_place(outcome.err, run_file)


@pytest.mark.long
@fuzz(max_examples=187)
@given(run_files())
def test_simulate_in_rationals_for_people(run_file: Path, text: str) -> None:
    """Simulation in exact arithmetic is printed as a table."""
    outcome = answer("simulate", written(run_file, text), "--arithmetic", "rational")
    assert outcome.code == 0 or names_the_place(outcome.err, run_file)


CLAIMS = ["renard2022:thm-2.1", "renard2022:lemma-2.3", "renard2022:property-2.4", "liu2022:thm-1", "fraboni2022:thm-1"]


@pytest.mark.long
@fuzz(max_examples=150)
@given(run_files(), st.sampled_from(CLAIMS))
def test_check_never_holds_wrongly(run_file: Path, text: str, claim: str) -> None:
    """A comparison that holds in floats is not violated in rationals; a claim that does not apply has no verdict."""
    path = written(run_file, text)
    outcome = answer("check", claim, path, "--json")
    if outcome.code == 2:
        assert names_the_place(outcome.err, run_file)
        return
    found = outcome.document
    assert found["applicable"] or found["holds"] is None
    exact = answer("check", claim, path, "--json", "--arithmetic", "rational")
    if found["holds"] is True and exact.code == 0:
        assert exact.document["holds"] is not False


@pytest.mark.long
@fuzz(max_examples=125)
@given(run_files())
def test_plan(run_file: Path, text: str) -> None:
    """The answer is a plan, or one line."""
    outcome = answer("plan", written(run_file, text), "--claim", "renard2022:thm-2.1", "--target", "0.1", "--json")
    if outcome.code == 0:
        assert set(outcome.document) >= {"claims"}
    else:
        assert names_the_place(outcome.err, run_file)
