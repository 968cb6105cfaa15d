"""The rules of proof terms: a file and a class for each."""

from __future__ import annotations

from collections.abc import Mapping

from fedtheory.proofs.terms.rules.antisymmetry import Antisymmetry
from fedtheory.proofs.terms.rules.at import AfterSteps
from fedtheory.proofs.terms.rules.axiom import Axiom
from fedtheory.proofs.terms.rules.cases import FirstAndLater
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.consequence import Consequence
from fedtheory.proofs.terms.rules.draw import Draw
from fedtheory.proofs.terms.rules.hypothesis import Given, Hypothesis
from fedtheory.proofs.terms.rules.induct import InductDrift
from fedtheory.proofs.terms.rules.induct_steps import InductSteps
from fedtheory.proofs.terms.rules.know import Know
from fedtheory.proofs.terms.rules.maximum import BelowMaximum, BoundMaximum
from fedtheory.proofs.terms.rules.name_roots import NameRoots
from fedtheory.proofs.terms.rules.past_total import PastTotal
from fedtheory.proofs.terms.rules.product import Multiply
from fedtheory.proofs.terms.rules.root import Root, Square
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.rules.unfold import Unfold
from fedtheory.proofs.terms.rules.use import Use
from fedtheory.proofs.terms.term import ProofTerm

RULES: Mapping[str, type[ProofTerm]] = {
    made.rule: made
    for made in (
        *(Axiom, Draw, Given, Hypothesis, Sign, Use, Consequence),
        *(Combine, Antisymmetry, SumOver, AfterSteps, Unfold, FirstAndLater, InductDrift, InductSteps),
        *(BoundMaximum, BelowMaximum, Multiply, Root, Square, NameRoots, Know, PastTotal),
    )
}
"""Every rule by its name."""
