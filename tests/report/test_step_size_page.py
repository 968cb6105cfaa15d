"""The page of plans agrees with the planner, with complete figures and links."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from fedtheory.language.registry import all_claims, all_sources, find
from fedtheory.language.typesetting import latex
from fedtheory.planner import bound_of_numbers, regime_map
from report import drawing, step_size_page, website
from report.pages import name_page
from verify.check import check
from verify.claim_verdict import ClaimVerdict

CLAIMS = (
    "renard2022:thm-2.1",
    "renard2022:thm-2.1.quiet",
    "renard2022:thm-2.1.sharp",
    "renard2022:thm-2.1.halved",
    "renard2022:thm-2.1.any-point",
    "liu2022:thm-1",
    "liu2022:thm-1.sharp",
    "liu2022:thm-3",
    "liu2022:thm-3.sharp",
)
"""Claims that the page compares, selected by their kind."""


@pytest.fixture(scope="module")
def page() -> step_size_page.PlanPage:
    """Return the page with one small data set and a few members of one family."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_size_page, "_DATA", (("diabetes", None),))
        patch.setattr(step_size_page, "_FAMILY_MEMBERS", {"small quadratics": 4})
        for cached in (step_size_page.plan_data_sets, step_size_page.compare_families):
            cached.cache_clear()
        made = step_size_page.make_plan_page()
        for cached in (step_size_page.plan_data_sets, step_size_page.compare_families):
            cached.cache_clear()
    return made


def test_rows(page: step_size_page.PlanPage) -> None:
    """Every claim has a row for each split, with ratios of the numbers next to them."""
    assert [(name, claim) for name, claim, _ in page.rows] == [
        (f"diabetes, {split}", claim) for split in ("iid", "dirichlet") for claim in CLAIMS
    ]
    for _, _, values in page.rows:
        assert len(values) == len(step_size_page.COLUMNS)
        step, best, ratio, error, smallest, error_ratio = map(float, values)
        assert ratio == pytest.approx(step / best, rel=0.01)
        assert error_ratio == pytest.approx(error / smallest, rel=0.01)
        assert error_ratio >= 1
    for _, _, values in page.families:
        members, *ratios = map(float, values)
        assert 1 <= members <= 4
        assert ratios[:3] == sorted(ratios[:3])
        assert 1 <= ratios[3] <= ratios[4] <= ratios[5]


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_claims_hold_at_their_best_step_sizes(claim_id: str) -> None:
    """At the step size of the page each claim covers the run of the data, and holds."""
    run = step_size_page.make_data_run("diabetes", "iid", None)
    found = step_size_page.compare_step_sizes(run)[claim_id]
    checked = check(find(claim_id), run.with_step_factor(found.ratio * found.exact.step_size * 8 * run.smoothness))
    assert checked.holds
    assert checked.worst.lhs == pytest.approx(found.error_at_choice, rel=1e-9)


def test_rendered(page: step_size_page.PlanPage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page stands on its own and links to the claims; without scikit-learn there is no page."""
    monkeypatch.setattr(drawing, "make_plan_page", lambda: page)
    text = drawing.PlanTask().draw(drawing.load_templates(())).files[step_size_page.PLAN_PAGE]
    assert set(re.findall(r'href="([^"#]+\.html)"', text)) >= {name_page(find(claim)) for claim in CLAIMS}
    assert text.count("<svg") == len(page.figures) == 3
    assert "src=" not in text
    assert "$" not in re.sub(r"<svg.*?</svg>|<pre>.*?</pre>", "", text, flags=re.DOTALL)


def test_pages_of_several_papers() -> None:
    """The page of plans belongs to several papers, a paper's own pages to all of its claims."""
    everything = [_untried(claim.id) for claim in all_claims().values()]
    kinds = Counter(
        type(task)
        for task in website._list_tasks(
            everything, website.list_groups([website.ClaimRow.from_verdict(v) for v in everything]), ()
        )
    )
    assert kinds[drawing.PlanTask] == 1
    assert kinds[drawing.PaperTask] == len(all_sources())
    one = [_untried(CLAIMS[0])]
    kinds = Counter(
        type(task)
        for task in website._list_tasks(one, website.list_groups([website.ClaimRow.from_verdict(v) for v in one]), ())
    )
    assert kinds == {drawing.ErrataTask: 1, drawing.SlackTask: 1, drawing.ClaimTask: 1}


def _untried(claim_id: str) -> ClaimVerdict:
    return ClaimVerdict(claim_id, "supported", 0, 0, 0, 0, None, None, None, 0.0)


def test_map_names_the_terms_it_shows() -> None:
    """The caption of a map names each dominating term, and no other."""
    claim = find("renard2022:thm-2.1")
    regimes = regime_map(bound_of_numbers(claim, step_size_page._CONSTANTS), "eta", "tau", points=9)
    caption = step_size_page.draw_regimes(claim, regimes).caption
    dominating = {f"${latex(regimes.terms[number])}$" for number in set(regimes.dominating.ravel().tolist())}
    assert set(re.findall(r"\$[^$]+\$", caption)) == dominating


def test_the_middle_of_a_spread_is_the_median() -> None:
    """The middle of a spread is the median, which one large ratio does not change."""
    assert step_size_page._summarise_values([9.0, 1.0, 2.0]) == (1.0, 2.0, 9.0)
    assert step_size_page._summarise_values([1.0, 2.0, 4.0, 100.0]) == (1.0, 3.0, 100.0)


def test_cases_are_named_by_data_split_and_batches() -> None:
    """The name of a case with full gradients has no batch size."""
    assert step_size_page._name_case("breast_cancer", "iid", None) == "breast cancer, iid"
    assert step_size_page._name_case("breast_cancer", "dirichlet", 8) == "breast cancer, dirichlet, batches of 8"
