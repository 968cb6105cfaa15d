"""Relations between products of scalars at a local step, as statements with proofs."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Relation
from fedtheory.proofs.products import Products, Shown
from verify.rocq.links import Links
from verify.rocq.numbers import number
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Number

SIGN = {"<=": "<=", ">=": ">="}


def said_of_products(links: Links, relation: Relation, why: Products) -> tuple[str, str]:
    """What a relation says, and its proof: the slack is a sum of products of what is not negative."""
    if why.divided_by or relation.operator not in SIGN:
        raise NotExported("quotients of scalars are not exported")
    names = {**links.reader.vocabulary.numbers, **_names(links, why)}
    letters = {expression: letter for letter, expression in why.scalars.items()}
    lines = [line for place, name in enumerate(why.facts) for line in _fact(links, why, name, names, place)]
    texts = {name: f"({number(fact.slack, names)})" for name, fact in why.facts.items()}
    members = []
    for place, part in enumerate(why.parts):
        member = " * ".join([f"({number(part.coefficient, names)})", *(texts[name] for name in part.facts)])
        signs = [links.signs.nonnegative(part.coefficient), *("assumption" for _ in part.facts)]
        lines.append(f"assert (part{place} : 0 <= {member}).\n{{ {_product(signs)}. }}")
        members.append(member)
    left, right = (number(side.xreplace(letters), names) for side in (relation.left, relation.right))
    smaller, larger = (left, right) if relation.operator == "<=" else (right, left)
    lines.append(f"assert (identity : {larger} - ({smaller}) = {' + '.join(members)}) by by_field.")
    flip = "apply Rle_ge; " if relation.operator == ">=" else ""
    lines.append(f"{flip}apply (nonneg_by_identity _ _ _ identity); lra.")
    return f"{left} {SIGN[relation.operator]} {right}", "\n".join(lines)


def _names(links: Links, why: Products) -> dict[sp.Symbol, str]:
    """What the letters of a proof stand for, as text."""
    return {letter: f"({links.text(links.side(expression))})" for letter, expression in why.scalars.items()}


def _fact(links: Links, why: Products, name: str, names: Mapping[sp.Symbol, str], place: int) -> list[str]:
    fact = why.facts[name]
    if not isinstance(fact, Shown):
        raise NotExported("products of inner products are not exported")
    slack: Expr = fact.slack.xreplace(dict(why.scalars))
    proof = links.inequality(Number("0"), links.side(slack), fact.terms)
    return [
        f"assert (linear{place} : 0 <= {links.text(links.side(slack))}).\n{{ {proof} }}",
        f"assert (fact{place} : 0 <= {number(fact.slack, names)}) by lra.",
    ]


def _product(tactics: list[str]) -> str:
    """A tactic for a product of factors, left to right, none of which is negative."""
    *first, last = tactics
    return f"apply Rmult_le_pos; [{_product(first)} | {last}]" if first else last
