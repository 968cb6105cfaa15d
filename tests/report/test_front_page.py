"""The front page and the pages of sources: reading order, main theorems, graphs, and search data."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest

from fedtheory.language.registry import all_claims, all_sources, find
from fedtheory.proofs import certificate_of
from report.drawing import load_templates
from report.figures.dependency_graph import DependencyGraph, Node, draw_dependency_graph
from report.listing import ClaimCounts, ClaimRow, SourceGroup, list_groups
from report.statement_premises import list_dependencies, list_premises
from verify.claim_verdict import ClaimVerdict


def recorded(ids: list[str]) -> list[ClaimRow]:
    """Return rows with the recorded verdicts of the claims."""
    found = []
    for claim in map(find, ids):
        assert claim.verdict is not None
        found.append(ClaimRow.from_verdict(ClaimVerdict(claim.id, claim.verdict, 1, 1, 0, 0, 0.5, None, None, 0.0)))
    return found


@pytest.fixture(scope="module")
def groups() -> list[SourceGroup]:
    """Return the groups of all claims."""
    return list_groups(recorded(list(all_claims())))


def test_sources_stand_in_reading_order(groups: list[SourceGroup]) -> None:
    """Sources have unique positions, and a main theorem that is one of their claims."""
    places = [group.source.reading for group in groups if group.source is not None]
    assert len(places) == len(all_sources())
    assert all(first < second for first, second in pairwise(places))
    for group in groups:
        assert group.is_whole
        assert group.main is not None


def test_a_main_theorem_says_what_became_of_it(groups: list[SourceGroup]) -> None:
    """A refuted main theorem is shown with corrections, a proved one with tightened forms."""
    main = {group.key: group.main for group in groups}
    printed = main["vlaski2023"]
    assert printed is not None
    assert printed.row.verdict == "refuted"
    assert {row.claim.corrects for row in printed.corrections} == {printed.row.claim.id}
    proved = main["renard2022"]
    assert proved is not None
    assert "renard2022:thm-2.1.sharp" in [row.claim.id for row in proved.tightened]


def test_three_numbers() -> None:
    """The numbers are those of statements, proofs, refutations, and corrected refutations."""
    ids = ["renard2022:thm-2.1", "renard2022:lemma-2.2", "renard2022:lemma-2.2.fixed", "renard2022:assumption-1"]
    assert ClaimCounts.from_rows(recorded(ids)) == ClaimCounts(4, 2, 1, 1)


def test_premises_are_those_of_certificates_and_printed_proofs() -> None:
    """Premises come from the certificate of the corrected theorem, and from the published proof."""
    assert certificate_of("renard2022:thm-2.1") is not None
    premises = list_premises(find("renard2022:thm-2.1"))
    assert {"renard2022:lemma-2.2", "renard2022:lemma-2.3", "renard2022:thm-2.1.proof.assemble"} <= set(premises)
    assert "renard2022:thm-2.1" not in premises
    assert len(premises) == len(set(premises))
    assert list_premises(find("renard2022:assumption-1")) == []


@pytest.mark.parametrize("key", sorted(all_sources()))
def test_a_graph_shows_every_dependency_once(groups: list[SourceGroup], key: str) -> None:
    """The graph has the boxes of all arrows without overlap, and equals the text."""
    group = next(group for group in groups if group.key == key)
    graph, arrows = group.graph(), list_dependencies([row.claim for row in group.rows])
    assert (graph is None) == (not arrows)
    if graph is None:
        return
    assert len(graph.boxes) == len({end for arrow in arrows for end in arrow})
    assert (
        sum(len(premises) for _, premises in graph.words) == len(arrows) == sum(arrives for _, arrives in graph.arrows)
    )
    assert not any(_overlap(graph, a, b) for (_, a), (_, b) in combinations(graph.boxes, 2))
    for _, (x, y) in graph.boxes:
        assert 0 <= x <= graph.width - graph.box[0]
        assert 0 <= y <= graph.height - graph.box[1]


def _overlap(graph: DependencyGraph, a: tuple[float, float], b: tuple[float, float]) -> bool:
    return abs(a[0] - b[0]) < graph.box[0] and abs(a[1] - b[1]) < graph.box[1]


def test_arrows_lead_from_left_to_right() -> None:
    """A premise is left of every claim that rests on it, and components do not mix."""
    nodes = [Node(name, name, "proved", f"{name}.html") for name in "abcdxy"]
    graph = draw_dependency_graph(nodes, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)])
    across = {node.name: place[0] for node, place in graph.boxes}
    assert across["a"] < across["b"] < across["c"] < across["d"]
    assert across["x"] < across["y"]
    assert graph == draw_dependency_graph(nodes, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)])


def test_the_page_has_the_data_of_the_search(groups: list[SourceGroup]) -> None:
    """Each statement has a row with its verdict, kind, formula and symbol names in the file itself."""
    environment = load_templates(tuple((row.claim.id, row.file) for group in groups for row in group.rows))
    rows = [row for group in groups for row in group.rows]
    values = {"groups": groups, "found": ClaimCounts.from_rows(rows), "runs": [], "plan": None, "others": []}
    text = environment.get_template("index.html").render(**values, miniatures={}, verdicts=["proved"], kinds=["bound"])
    assert text.count("<tr data-verdict") + text.count('<tr class="repair" data-verdict') == len(rows)
    row = re.search(
        r'<tr data-verdict="proved" data-kind="bound" data-text="([^"]*)">\s*<td><a href="renard2022-thm-2-1.html', text
    )
    assert row is not None
    assert "zeta" in row[1]
    assert "local step size" in row[1]
    assert "<script src" not in text
