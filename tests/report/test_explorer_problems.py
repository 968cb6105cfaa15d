"""Problems of runs in explorers: best points for all run lengths, and averages over clients as numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from fedtheory.language.typesetting import latex
from fedtheory.planner import comparators
from report.explorer import make_explorer_section
from report.explorer.comparator_problems import ExploredProblem, find_length_factors, list_problems
from report.explorer.ranges import Range, make_range_around
from report.explorer.subject import ExploredLink, find_subject
from report.user_runs import UserRun

RUN = """[problem]
kind = "quadratic"
hessians = [[[2, 0], [0, 1]], [[1, 0], [0, "1/2"]], [[1, 0], [0, "1/4"]]]
linear = [[1, 1], [2, -1], [0, "1/2"]]
start = [3, -2]
noise = "1/4"

[algorithm]
local_step_size = "1/50"
local_steps = 3
rounds = 10
"""
OWN_CURVATURES = "comparator:curvatures.rounds"


@pytest.fixture
def own(tmp_path: Path) -> UserRun:
    """Return a run of clients with unequal Hessians."""
    (tmp_path / "mine.toml").write_text(RUN, encoding="utf-8")
    return UserRun(str(tmp_path / "mine.toml"))


def explored(claim_id: str) -> ExploredLink:
    """Return the subject of the explorer of a claim."""
    subject = find_subject(find(claim_id))
    assert subject is not None
    return subject


def problem(claim_id: str, *runs: UserRun) -> ExploredProblem:
    """Return the only problem that the explorer of a claim uses."""
    (found,) = list_problems(find(claim_id), explored(claim_id), runs)
    return found


def squares_at_y(run: Run) -> dict[str, Any]:
    """Return the numbers of the comparator of a run, squared for roots, in its arithmetic."""
    y, factors = run.comparator, run.client_smoothness
    return {
        q.comparator_suboptimality.name: y.suboptimality,
        q.comparator_distance.name: y.distance_sq,
        q.comparator_noise.name: y.noise_sq,
        q.comparator_dissimilarity.name: y.dissimilarity_sq,
        q.comparator_curved_noise.name: y.noise_sq_with(factors),
        q.comparator_curved_dissimilarity.name: y.dissimilarity_sq_with(factors),
    }


@pytest.mark.parametrize("claim_id", [OWN_CURVATURES, "comparator:shares.average-error"])
def test_tables_are_those_of_the_exact_comparator(own: UserRun, claim_id: str) -> None:
    """Table entries agree with rationals in all digits; twenty notches are ten times as many rounds."""
    found, subject, exact = problem(claim_id, own), explored(claim_id), own.convert_to_rationals()
    quantities = {place: subject.notation[subject.symbols[place]] for place in found.tables}
    assert found.length == pytest.approx(0.6)
    assert len(quantities) > 3
    for notches, run in {0: exact, 20: exact.with_rounds(100), 60: exact.with_rounds(10_000)}.items():
        squares = squares_at_y(run)
        for place, quantity in quantities.items():
            is_root = isinstance(quantity, q.RunQuantity) and quantity.root
            number = plain_float(squares[quantity.name]) ** (0.5 if is_root else 1)
            assert found.tables[place][notches - found.first] == pytest.approx(number, rel=5.1e-5), quantity.name


def test_sliders_start_at_the_numbers_of_the_run_and_tables_reach_as_far_as_they_do(own: UserRun) -> None:
    """Tables reach from one step of one round to the longest run."""
    found, subject = problem(OWN_CURVATURES, own), explored(OWN_CURVATURES)
    numbers = dict(zip(map(str, subject.symbols), (span.first for span in found.ranges), strict=True))
    assert [numbers[symbol] for symbol in ("eta", "tau", "T", "L")] == [0.02, 3, 10, 2]
    assert numbers["p_max"] == pytest.approx(1 / 3)
    assert numbers[latex(Average(sp.Symbol("L_i")))] == pytest.approx(4 / 3)
    assert all(span.values[span.place] == span.first for span in found.ranges)
    ends = [span.values for span in (found.ranges[place] for place in find_length_factors(subject))]
    shortest, longest = (float(sp.prod(values[end] for values in ends)) for end in (0, -1))
    lengths = [found.length * 10 ** ((found.first + n) / 20) for n in (0, 1, -2, -1)]
    lengths[2:] = [length * 10 ** (len(next(iter(found.tables.values()))) / 20) for length in lengths[2:]]
    assert lengths[0] <= shortest < lengths[1]
    assert lengths[2] < longest <= lengths[3]


def test_a_number_that_a_symbol_cannot_have_leaves_its_slider_where_it_was() -> None:
    """A slider accepts zero if the symbol may be zero, positive numbers, and integers for counts."""
    usual, count = Range(-60, 60, 0, whole=False, zero=True), Range(0, 74, 14, whole=True, zero=False)
    assert (make_range_around(0.0, usual).first, make_range_around(0.0, count).first) == (0, 5)
    assert [make_range_around(float(number), usual).first for number in ("-2", "nan", "inf")] == [1, 1, 1]
    assert (make_range_around(7.5, count).first, make_range_around(7.0, count).first) == (5, 7)
    far = make_range_around(12_345.6, usual)
    assert far.values[far.place] == 12_345.6
    assert (far.values[1], far.values[-1]) == (12.6, 1.26e7)


def has_point(claim: Claim) -> bool:
    """Return whether numbers at a comparator are among the symbols of an explorer, and none that a whole run makes."""
    subject = find_subject(claim)
    names = [] if subject is None else [subject.notation[s].name for s in subject.symbols if s in subject.notation]
    return bool(comparators.NAMES & {*names}) and q.total_comparator_progress.name not in names


@pytest.mark.long
def test_every_bound_for_any_point_has_a_problem_and_all_other_explorers_are_as_they_were(own: UserRun) -> None:
    """If the figures have a run, the best point of a bound on it is known, without a run of the reader's own.

    Steps of proofs with the progress of a run towards y have none: y is another one for each length.
    """
    assert not has_point(find("comparator:all-steps"))
    for claim in all_claims().values():
        section = make_explorer_section(claim)
        if section is not None and has_point(claim):
            assert section.best is not None, claim.id
        elif section is not None:
            assert section.best is None
            assert section == make_explorer_section(claim, [own])
            keys = {"notches", "sliders", "relation", "operators", "undecided", "nearTie"}
            assert json.loads(section.data.replace("\\u003c", "<").replace("\\u003e", ">")).keys() == keys


def test_a_run_that_a_claim_is_not_about_is_left_out(own: UserRun) -> None:
    """Runs to which a claim does not apply, such as noisy ones for lecture27, are skipped."""
    for claim_id, name in {OWN_CURVATURES: own.name, "lecture27:thm-2.any-point": "four clients without noise"}.items():
        section = make_explorer_section(find(claim_id), [own])
        assert section is not None
        assert section.best is not None
        assert section.best.problems == [name]
    losses = Path(own.file).with_name("losses.toml")
    losses.write_text(LOSSES, encoding="utf-8")
    assert problem("comparator:average-error", UserRun(str(losses))).name == "ten clients with noise"


LOSSES = """[problem]
kind = "huber"
terms = [[{coordinate = 0, width = 1}], [{coordinate = 0, centre = 1, width = 1}]]
start = [2]

[algorithm]
local_step_size = 0.1
local_steps = 2
rounds = 3
"""


def test_means_of_a_constant_of_the_clients_have_a_slider() -> None:
    """The page shows the average as in the claim; formulas use a symbol for it."""
    subject, section = explored(OWN_CURVATURES), make_explorer_section(find(OWN_CURVATURES))
    (mean,) = subject.means
    assert section is not None
    assert subject.link.right.atoms(Average) == set()
    assert subject.restore_averages(subject.link.right) == find(OWN_CURVATURES).relations[0].right
    assert [subject.restore_averages(c) for c in subject.conditions] == [*find(OWN_CURVATURES).conditions]
    slider = section.sliders[subject.symbols.index(mean)]
    assert slider.meaning == "mean of Lᵢ over the clients"
    assert slider.range.values[slider.range.place] == 1
