"""Each hypothesis of a theorem encodes a part of its claim, and its comment names that part."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from verify.rocq.accepted import load_accepted
from verify.rocq.export import export_id
from verify.rocq.origins import find_origins
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, Exported

THEOREM = "renard2022:thm-2.1.sharp"


OF_VARIABLES = re.compile(
    r"((nat|R|bool|Prop|run|sampled_run|schedule|server|step|round|space_of A|step_space S"
    r"|objective \(space_of A\)|\(objective \(space_of A\)\)|draws \(step_clients S\))( -> )?)+"
)
"""Types of which nothing is said: numbers, indices, vectors, runs, objectives and draws, and what is known."""


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_each_hypothesis_has_an_origin(part: int) -> None:
    """Every non-variable is an assumption, a condition, a definition, or holds in every run."""
    for claim_id in [*load_accepted()][part::4]:
        known = export_id(claim_id)
        for binder in known.theorem.binders:
            assert bool(binder.origin) != bool(OF_VARIABLES.fullmatch(binder.type)), binder
        found = {one.origin for one in known.theorem.binders if one.origin.startswith("assumption: ")}
        assert found <= {f"assumption: {assumption.name}" for assumption in known.claim.assumptions}


def test_the_file_says_what_each_encodes() -> None:
    """A comment beside each hypothesis of the theorem says what it encodes."""
    theorem = render_file(export_id(THEOREM)).rpartition("\nTheorem ")[2]
    for line in (
        "(past : nat -> nat -> space_of A -> Prop)",
        "(size_positive : 0 < size_of A) (* every run: step sizes are positive *)",
        "(uniform_shares_A : uniform (clients_of A)) (* assumption: uniform shares *)",
        "(sigma_nonnegative : 0 <= sigma) (* definition: noise_deviation *)",
        "(minimiser_x_star : minimiser (step_at A O O) x_star) (* definition: optimum *)",
        "(condition1 : size_of A <= 1 / (2 * L)) (* condition: eta <= 1/(2*L) *) :",
    ):
        assert f"  {line}\n" in theorem


def with_hypothesis(known: Exported, *more: Binder) -> Exported:
    """Return the theorem with more hypotheses."""
    return replace(known, theorem=replace(known.theorem, binders=[*known.theorem.binders, *more]))


STRANGE = {
    "a bound on a constant": Binder("small_sigma", "sigma <= 1"),
    "another sign": Binder("some_noise", "0 < sigma"),
    "another assumption": Binder("quiet_A", "always A quiet"),
    "another quantity": Binder("ell_positive", "0 < ell"),
    "no condition of the claim": Binder("condition2", "size_of A <= 1", "condition: eta <= 1"),
    "a condition without a source": Binder("condition2", "size_of A <= 1"),
    "another minimiser": Binder("minimiser_y", "minimiser (step_at A O O) y"),
    "what is false": Binder("absurd", "False"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_hypothesis_without_an_origin_is_refused(name: str) -> None:
    """The export fails if a writer adds a hypothesis without an origin."""
    with pytest.raises(NotExported, match=f"the hypothesis {STRANGE[name].name} encodes no"):
        find_origins(with_hypothesis(export_id(THEOREM), STRANGE[name]))


@pytest.mark.parametrize("dropped", [a.uniform_shares, a.bounded_dissimilarity], ids=lambda one: one.name)
def test_an_assumption_that_the_claim_has_not_is_no_origin(dropped: a.Assumption) -> None:
    """A theorem under more assumptions than its claim is refused."""
    known = export_id(THEOREM)
    wider = replace(known.claim, assumptions=tuple(one for one in known.claim.assumptions if one != dropped))
    with pytest.raises(NotExported, match="encodes no assumption"):
        find_origins(replace(known, claim=wider))


def test_values_of_a_symbol_are_its_bounds() -> None:
    """A symbol that is at least one in the theorem is so in the claim; one that is zero somewhere may not be."""
    known = export_id("fraboni2022:thm-2.mitigated")
    (symbol,) = known.claim.for_all
    assert any(one.origin == f"the values of {symbol}" for one in known.theorem.binders)
    zero = replace(known.claim, for_all={symbol: (sp.S.Zero, sp.S.One)})
    with pytest.raises(NotExported, match="each_1"):
        find_origins(replace(known, claim=zero))


@pytest.mark.parametrize(
    ("claim_id", "hypothesis", "origin"),
    [
        (
            "vlaski2023:lemma-5.1",
            "independent_S",
            "local_result: what noise makes of it is independent between clients",
        ),
        ("vlaski2023:problem-5.2", "given", "the expectation, given what happened before the round"),
        ("vlaski2023:problem-5.2", "past_optimum", "definition: client_optimum"),
        ("vlaski2023:eq-5.26.other-cost", "same_size_S", "assumption: same step size"),
        ("vlaski2023:claim.common-step-bias", "small_step_optimum_S", "definition: small_step_bias"),
        ("vlaski2023:claim.common-step-bias", "nu_positive", "definition: client_strong_convexity"),
        ("fraboni2022:cor-1.noniid", "equation1", "condition: Eq(q_i(n), p_i)"),
        ("landmarks:fedavgm.contraction", "single_step", "condition: tau <= 1"),
    ],
)
def test_origins_that_were_looked_at(claim_id: str, hypothesis: str, origin: str) -> None:
    """Hypotheses whose origin is not obvious were reviewed."""
    found = {one.name: one.origin for one in export_id(claim_id).theorem.binders}
    assert found[hypothesis] == origin


def test_a_quantity_of_a_premise_may_be_spoken_of() -> None:
    """F is smooth with some constant, of which the claims speak that the proof uses."""
    known = export_id("vlaski2023:claim.steady-state-noise")
    origins = {one.name: one.origin for one in known.theorem.binders}
    assert origins["smooth_mean_S"] == f"definition: {q.objective_smoothness.name}"
    assert q.objective_smoothness not in known.claim.notation.values()
    with pytest.raises(NotExported, match="encodes no assumption"):
        find_origins(replace(known, uses=()))
