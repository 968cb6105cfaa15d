"""Which certificates there are, as records of a document: a closed list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedtheory.kernel import Term
from fedtheory.proofs import facts, update_facts
from fedtheory.proofs.at_optimum import AtOptimum
from fedtheory.proofs.averages import OverClients, OverSteps, OverUpdates
from fedtheory.proofs.certificate import BothWays, Certificate
from fedtheory.proofs.combination import Combination, Part
from fedtheory.proofs.contraction import Contraction
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD
from fedtheory.proofs.document.notation import Scope
from fedtheory.proofs.document.shapes import (
    Count,
    Expression,
    Flag,
    Json,
    Letter,
    Many,
    Named,
    OneOf,
    Ordering,
    Reason,
    Record,
    Shape,
    Table,
    Text,
)
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.induction import Induction
from fedtheory.proofs.intervals import AtEnd, AtFirstStart, AtNextStart, Derived, Summed, Telescoped
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.past import PastTotal
from fedtheory.proofs.products import CauchySchwarz, Positive, Product, Products, Shown
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.roots import Root
from fedtheory.proofs.squares import Squared
from fedtheory.proofs.windows import OverWindow, OverWindows

FACTS = {
    name.lower(): fact for module in (facts, update_facts) for name, fact in vars(module).items() if type(fact) is Fact
}
"""Every fact by its name."""
_TEXT, _FLAG, _COUNT, _EXPRESSION, _LETTER = Text(), Flag(), Count(), Expression(), Letter()
_CONDITIONS = Many(Ordering())
_TERM = Record(
    "term",
    Term,
    {"coefficient": _EXPRESSION, "reason": Reason(), "averaged": _FLAG, "summed": _FLAG},
)
TERMS = Many(_TERM)

DERIVED = OneOf(
    tuple(
        Record(kind, made, {"claim": _TEXT, "link": _COUNT})
        for kind, made in {
            "relation": Derived,
            "telescoped": Telescoped,
            "at the last step": AtEnd,
            "summed over rounds": Summed,
            "at the next start": AtNextStart,
            "at the first start": AtFirstStart,
            "over clients": OverClients,
            "over steps": OverSteps,
            "over updates": OverUpdates,
            "over a window": OverWindow,
            "over windows": OverWindows,
            "at the optimum": AtOptimum,
        }.items()
    )
)


class Premise(Shape):
    """What a part multiplies: a fact, a condition, a proved claim, or what follows from one."""

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        if isinstance(document, dict) and len(document) == 1 and document.keys() <= ALONE.keys():
            ((name, one),) = document.items()
            return ALONE[name].read(one, scope, f"{where}.{name}")
        return DERIVED.read(document, scope, where)


ALONE: dict[str, Shape] = {"fact": Named(FACTS), "condition": Ordering(), "claim": _TEXT}
"""Premises that are not derived from a claim, by their only key."""
_PARTS = Many(Record("part", Part, {"coefficient": _EXPRESSION, "premise": Premise()}))
_ROOTS = Many(Record("root", Root, {"letter": _LETTER, "of": _EXPRESSION, "parts": _PARTS, "least": _EXPRESSION}))

LINKS_OF_THEIR_OWN = OneOf(
    (
        Record("both ways", BothWays, {"at_most": TERMS, "at_least": TERMS}),
        Record(
            "induction",
            Induction,
            {
                "measured": _EXPRESSION,
                "factor": _EXPRESSION,
                "offset": _EXPRESSION,
                "terms": TERMS,
                "bound": _EXPRESSION,
                "first": TERMS,
                "start": TERMS,
                "base": _EXPRESSION,
            },
        ),
        Record("squared", Squared, {"length": _EXPRESSION, "bound": _EXPRESSION, "terms": TERMS}),
        Record(
            "products",
            Products,
            {
                "scalars": Table(_EXPRESSION, lettered=True),
                "facts": Table(
                    OneOf(
                        (
                            Record("shown", Shown, {"slack": _EXPRESSION, "terms": TERMS}),
                            Record(
                                "Cauchy-Schwarz",
                                CauchySchwarz,
                                {"left_sq": _LETTER, "right_sq": _LETTER, "inner": _LETTER},
                            ),
                        )
                    )
                ),
                "divided_by": Many(_TEXT),
                "parts": Many(Record("product", Product, {"coefficient": _EXPRESSION, "facts": Many(_TEXT)})),
            },
        ),
        Record("positive", Positive, {}),
        Record("total of the past", PastTotal, {}),
    )
)


class Link(Shape):
    """Why a relation holds: a list of terms, or one of the other ways."""

    def read(self, document: Json, scope: Scope, where: str) -> Any:
        shape = TERMS if isinstance(document, list) else LINKS_OF_THEIR_OWN
        return shape.read(document, scope, where)


AnyCertificate = Certificate | MeanCertificate | Combination | Recursion | Contraction
CERTIFICATE = OneOf(
    (
        Record(
            "identities",
            Certificate,
            {
                "claim": _TEXT,
                "links": Many(Link()),
                "relaxed": _CONDITIONS,
                "lemmas": Many(_TEXT),
                "roots": _ROOTS,
            },
        ),
        Record(
            "combination",
            Combination,
            {
                "claim": _TEXT,
                "links": Many(_PARTS),
                "relaxed": _CONDITIONS,
                "known": Many(DERIVED),
                "roots": _ROOTS,
            },
        ),
        Record(
            "mean",
            MeanCertificate,
            {
                "claim": _TEXT,
                "step": _TEXT,
                "span": Named({"round": "round", "run": "run"}),
                "potential": _EXPRESSION,
                "relaxed": _CONDITIONS,
            },
        ),
        Record(
            "contraction",
            Contraction,
            {
                "claim": _TEXT,
                "step": _TEXT,
                "factor": _EXPRESSION,
                "weight": _EXPRESSION,
                "potential": _EXPRESSION,
                "offset": _EXPRESSION,
                "relaxed": _CONDITIONS,
            },
        ),
        Record(
            "recursion",
            Recursion,
            {
                "claim": _TEXT,
                "measure": Named({"pair": PAIR, "spread": SPREAD, "displacement": DISPLACEMENT}),
                "factor": _EXPRESSION,
                "offset": _EXPRESSION,
                "terms": TERMS,
                "bound": _EXPRESSION,
                "first": TERMS,
                "total": _EXPRESSION,
                "relaxed": _CONDITIONS,
            },
        ),
    )
)
"""A certificate of any kind."""


def declared_letters(certificate: Any) -> Iterator[Any]:
    """The letters that a certificate makes itself: of roots, and of products."""
    yield from (root.letter for root in getattr(certificate, "roots", ()))
    for link in getattr(certificate, "links", ()):
        if type(link) is Products:
            yield from link.scalars
