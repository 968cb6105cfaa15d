"""Pictures for papers: lines agree with checks and the engine, and files have the requested format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from fedtheory.runfile import parse_run
from report import bound_figure, error_figure, save_figure
from report.figures.formulas import estimate_width, measure_width, shorten_for_legend
from report.showcases import make_showcase
from verify.check import check

COLUMN = 3.5
"""Width of a column in inches."""


@pytest.fixture(scope="module")
def run() -> Run:
    """Return a synchronous run of ten rounds."""
    return make_showcase(local_steps=5)


def test_the_exact_error_over_rounds(run: Run) -> None:
    """The line is the engine's E F(theta^n) - F* for n = 0 .. T, on a canvas as wide as a column."""
    figure = error_figure(run)
    (line,) = figure.axes[0].lines
    assert np.array_equal(np.asarray(line.get_ydata()), run.trajectory.server_suboptimality)
    assert len(np.asarray(line.get_xdata())) == run.algorithm.rounds + 1
    assert figure.get_size_inches()[0] <= COLUMN


def test_an_asynchronous_run_is_drawn_over_clock_time(run: Run) -> None:
    """The positions are the exact times of the server's updates."""
    times = tuple(fmpq(n, 3) for n in range(1, 11))
    stale = replace(run, algorithm=replace(run.algorithm, clock=Clock(Asynchronous(), times)))
    (line,) = error_figure(stale).axes[0].lines
    assert np.asarray(line.get_xdata())[1] == pytest.approx(1 / 3)


def test_a_run_at_its_optimum_has_a_picture() -> None:
    """An error that is zero throughout is drawn on a linear axis."""
    at_optimum = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["1"]], "start": ["1"]}
    quiet = parse_run({"problem": at_optimum, "algorithm": {"local_step_size": "1/2", "rounds": 3}}, RATIONAL)
    assert error_figure(quiet).axes[0].get_yscale() == "linear"


def test_a_bound_with_its_terms(run: Run) -> None:
    """At the run's own horizon the lines are the right side, its terms and the left side of the check."""
    claim = find("renard2022:thm-2.1")
    figure, worst = bound_figure(claim, run), check(claim, run).worst
    assert worst is not None
    last = {str(line.get_label()): np.asarray(line.get_ydata())[-1] for line in figure.axes[0].lines}
    assert last["bound"] == pytest.approx(float(worst.rhs))
    assert last["exact left side"] == pytest.approx(float(worst.lhs))
    for term in worst.terms:
        assert last[shorten_for_legend(term.latex)] == pytest.approx(float(term.value))


def test_a_run_of_one_round_has_marks_in_place_of_lines(run: Run) -> None:
    """The bound and its terms are single points, which a line between points would not show."""
    claim = find("renard2022:thm-2.1")
    figure = bound_figure(claim, replace(run, algorithm=replace(run.algorithm, rounds=1)))
    curves = [line for line in figure.axes[0].lines if len(np.asarray(line.get_xdata())) == 1]
    assert len(curves) > 1
    assert all(line.get_marker() not in ("None", "") for line in curves)
    longer = bound_figure(claim, run)
    assert "_" not in {line.get_marker() for line in longer.axes[0].lines}


def test_notebooks_have_the_same_figures(run: Run) -> None:
    """The public functions accept the same arguments as the other commands."""
    import fedtheory as ft

    (line,) = ft.error_figure(run).axes[0].lines
    assert np.array_equal(np.asarray(line.get_ydata()), run.trajectory.server_suboptimality)
    labels = [line.get_label() for line in ft.bound_figure("renard2022:thm-2.1", run).axes[0].lines]
    assert "exact left side" in labels


def test_a_rate_has_its_ladder(run: Run) -> None:
    """The measured values are drawn with the claimed order."""
    labels = [line.get_label() for line in bound_figure(find("renard2022:goal-rate"), run).axes[0].lines]
    assert "exact" in labels


def test_a_claim_that_does_not_apply_has_no_picture(run: Run) -> None:
    """For a claim that does not apply the reason is given instead."""
    with pytest.raises(NotApplicable, match="does not apply"):
        bound_figure(find("renard2022:thm-2.1"), run.with_step_factor(FLOAT.number(100, "factor")))


def test_a_definition_has_no_picture(run: Run) -> None:
    """A definition has no sides to draw."""
    with pytest.raises(NotApplicable, match="expected positive sides on this run"):
        bound_figure(find("renard2022:toy-problem"), run)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_formats(run: Run, tmp_path: Path, ending: str) -> None:
    """Each file has the format of its suffix, and equal runs give equal bytes."""
    first, second = (save_figure(error_figure(run), str(tmp_path / f"a.{ending}")).read_bytes() for _ in range(2))
    assert {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending] in first[:2000]
    assert first == second


def test_files_that_cannot_be(run: Run, tmp_path: Path) -> None:
    """An unknown format, and a missing folder, give a sentence."""
    with pytest.raises(InputError, match=r"ends in \.svg, \.png or \.pdf"):
        save_figure(error_figure(run), "picture.gif")
    with pytest.raises(InputError, match="cannot be written"):
        save_figure(error_figure(run), str(tmp_path / "nowhere" / "a.svg"))


LONG = (
    "fraboni2022:thm-2",
    "fraboni2022:thm-3.loss.given-weights",
    "lecture27:thm-2.explicit",
    "renard2022:thm-2.1.sharp",
)


@pytest.mark.parametrize("name", LONG)
def test_legends_show_formulas(name: str) -> None:
    """Terms of a bound have different labels, with dots for wide formulas."""
    terms = [latex(term) for term in find(name).relations[0].right.as_ordered_terms()]
    labels = [shorten_for_legend(term) for term in terms]
    assert len(set(labels)) == len(terms)
    assert any(r"\cdots" in label for label in labels) == (max(map(len, terms)) > 250)


@pytest.mark.parametrize(
    "formula",
    [
        *map(latex, find("comparator:last-model.error").relations[0].right.args),
        *(latex(term) for term in find("renard2022:thm-2.1").relations[0].right.as_ordered_terms()),
        *(
            "iiii",
            "l[l]l[l]",
            "(1)",
            "1+1-1=1",
            r"\frac1N x",
            r"\frac{il}{M}",
            r"x^2_i",
            r"\tau\eta\rho",
            r"\bar{x}\,y",
            r"\sum_i\frac\nu{\tau_i}-\frac1{\tau_j}",
            r"\sum_{k\le K-2} k\frac{a}2",
        ),
    ],
)
def test_formulas_are_no_narrower_than_estimated(formula: str) -> None:
    """Formulas that are estimated as too wide are too wide when typeset."""
    assert 0 < estimate_width(formula) <= measure_width(formula)
