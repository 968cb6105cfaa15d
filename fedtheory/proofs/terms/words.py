"""The rules of proof terms in words; no verdict depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fedtheory.kernel.inequalities import INEQUALITIES, subjects
from fedtheory.kernel.notation import shorten
from fedtheory.proofs.decoding import DERIVED, FACTS

_BEFORE = {
    "objective": "of",
    "of": "of",
    "at": "at",
    "around": "around",
    "bound": "by",
    "weight": "with the weight",
    "number": "and the number",
    "vectors": "of",
    "name": "of",
}
"""Words before the arguments of an inequality, by the names of its parameters."""
_DISTANCES = {
    "pair": "two clients",
    "spread": "the clients from their average",
    "displacement": "the clients from the model of the round's start",
    "loop pair": "two clients of the loop",
}
"""Distances whose bounds are shown by induction, by their names."""
_LABELS = {law.kind: law.label for law in DERIVED}


def _describe_axiom(term: Any) -> str:
    """State an inequality with its arguments, or a fact in words."""
    if term.kind == "fact" and term.about and term.about[0] in FACTS:
        return FACTS[term.about[0]].name
    expected = [one.name for one in subjects(term.kind)] if term.kind in INEQUALITIES else []
    before = map(_BEFORE.get, expected) if len(expected) == len(term.about) else ("of", *len(term.about) * (",",))
    about = (f"{word} {shorten(one)}" for word, one in zip(before, term.about, strict=False))
    return " ".join([term.kind.replace("_", " "), *about]).replace(" ,", ",")


def _describe_roots(term: Any) -> str:
    squares = ", ".join(f"{one.symbol}^2 = {one.square}" for one in term.roots)
    return f"with {squares}, which is not negative"


def _describe_products(term: Any) -> str:
    times = f", times {', '.join(term.divided_by)}," if term.divided_by else ""
    return f"{term.goal} >= 0{times} as a sum of products"


_WORDS: Mapping[str, str | Callable[[Any], str]] = {
    "after the last step": "after the last step",
    "antisymmetry": "neither side is larger",
    "axiom": _describe_axiom,
    "below the maximum": "no value is larger than {0.maximum}, the largest",
    "bound the maximum": "{0.maximum} <= {0.bound}, for it bounds each client after any number of steps",
    "combine": lambda term: (
        f"{term.goal} {term.comparison} 0" + (", as the sum of" if term.parts else ", by definitions alone")
    ),
    "consequence": lambda term: f"{term.claim}: {_LABELS.get(term.law, term.law)}",
    "draw participants": (
        "the average of the participants is farther from {0.point} than that of all clients "
        "by at most the sampling variance times the drift"
    ),
    "first and later": "without a local step, and after at least one",
    "given": "the condition {0.condition}",
    "hypothesis": "the hypothesis of the {0.name}",
    "induct on the drift": lambda term: (
        f"by induction over the local steps, the squared distance of {_DISTANCES[term.measure]} is at most {term.bound}"
    ),
    "induct on the steps": "by induction over the local steps, {0.measured} <= {0.bound}",
    "know": "first the numbers by which signs are decided, then the rest",
    "multiply": _describe_products,
    "name roots": _describe_roots,
    "total of the past": "{0.factor} times the sum of {0.member} over the past steps is {0.total}",
    "root": "|{0.vector}| <= {0.bound}, for so are the squares",
    "sign": lambda term: f"{term.number} {'>' if term.is_strict else '>='} 0 under the conditions",
    "square": "the square of {0.length} is at most that of {0.bound}",
    "sum": lambda term: f"summed over {term.over}" + ("" if term.weight == 1 else f", with the weight {term.weight}"),
    "unfold": "{0.smaller} <= {0.larger}, in vectors",
    "use": lambda term: f"the claim {term.claim}" + (f", relation {term.link + 1}" if term.link else ""),
}
"""Descriptions of rules by their names: formats of their fields, or functions of the term."""


def explain(term: Any) -> str:
    """Describe the step of a proof term in words, without its parts."""
    words = _WORDS.get(term.rule, term.rule)
    return words.format(term) if isinstance(words, str) else words(term)
