"""Prove relations between products, quotients and squares of scalars at a local step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr, is_length
from fedtheory.language.claim import Relation
from fedtheory.proofs.links import CauchySchwarz, Positive, Products, Squared
from fedtheory.proofs.terms.rules.product import divides_by
from verify.rocq.links import Links
from verify.rocq.numbers import number
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Number


def restate(links: Links, relation: Relation, why: object) -> tuple[str, str] | None:
    """Return statement and proof of a relation that is no sum of terms; None for other links."""
    match why:
        case Products():
            return _prove_by_products(links, relation, why)
        case Squared():
            return _prove_square(links, relation, why)
        case Positive():
            return _prove_by_signs(links, relation)
    return None


def _prove_by_products(links: Links, relation: Relation, why: Products) -> tuple[str, str]:
    """Prove a relation whose slack, times its denominators, is a sum of products of non-negative factors."""
    if relation.operator not in ("<=", ">="):
        raise NotExported("equations between products are not exported")
    names = {**links.reader.vocabulary.numbers, **_name_scalars(links, why)}
    symbols = {expression: symbol for symbol, expression in why.scalars.items()}
    lines = [line for place, name in enumerate(why.facts) for line in _prove_fact(links, why, name, names, place)]
    texts = {name: f"({number(fact.slack, names)})" for name, fact in why.facts.items()}
    below = list(dict.fromkeys(why.divided_by))
    for one in below:
        if not divides_by(relation.slack.xreplace(symbols), why.facts[one].slack):
            raise NotExported(f"the statement does not divide by {one}, which its proof assumes to be positive")
    lines += [_prove_divisors(n, [*why.facts].index(one), texts[one]) for n, one in enumerate(below, start=1)]
    factors = ([f"({number(part.coefficient, names)})", *(texts[name] for name in part.facts)] for part in why.parts)
    members = [" * ".join(each) for each in factors]
    lines += _prove_parts(links, why, members)
    left, right = (number(side.xreplace(symbols), names) for side in relation.sides)
    smaller, larger = (left, right) if relation.operator == "<=" else (right, left)
    lines += _order(f"{larger} - ({smaller})", members, [texts[one] for one in why.divided_by])
    lines[-1] = ("apply Rle_ge; " if relation.operator == ">=" else "") + lines[-1]
    parameters = "".join(f"{texts[one]} <> 0 -> " for one in below)
    opened = "".join(f"intros nonzero{n}.\n" for n, _ in enumerate(below, start=1))
    goal = f"{left} {relation.operator} {right}"
    return f"({parameters}{goal})" if parameters else goal, opened + "\n".join(lines)


def _prove_parts(links: Links, why: Products, members: Sequence[str]) -> Iterator[str]:
    """Yield proofs that the products, given as text, are not negative, by the signs of their factors."""
    for place, (part, member) in enumerate(zip(why.parts, members, strict=True)):
        links.used |= sp.sympify(part.coefficient).free_symbols
        signs = [links.signs.nonnegative(part.coefficient), *("assumption" for _ in part.facts)]
        yield f"assert (part{place} : 0 <= {member}).\n{{ {_prove_product(signs)}. }}"


def _prove_divisors(place: int, fact: int, text: str) -> str:
    """Prove that the denominators of a relation are positive: not negative, and not zero."""
    vanishing = f"exfalso; apply nonzero{place}; symmetry; exact vanishes"
    shown = f"destruct fact{fact} as [larger | vanishes]; [exact larger | {vanishing}]"
    return f"assert (below{place} : 0 < {text}) by ({shown})."


def _order(slack: str, members: list[str], divisors: list[str]) -> list[str]:
    """Prove that a slack is not negative, given that it is a sum of members, possibly times its denominators."""
    total = " + ".join(members)
    if not divisors:
        return [
            f"assert (identity : {slack} = {total}) by by_field.",
            "apply (nonneg_by_identity _ _ _ identity); lra.",
        ]
    below = " * ".join(divisors)
    split = "repeat apply Rplus_le_le_0_compat; assumption"
    return [
        f"assert (identity : ({slack}) * ({below}) = {total}) by by_field.",
        f"apply le_by_slack, (Rmult_le_reg_r ({below})); [positive | rewrite Rmult_0_l, identity; {split}].",
    ]


def _prove_square(links: Links, relation: Relation, why: Squared) -> tuple[str, str]:
    """Prove that squares are ordered, because a norm is at most its bound, which is then non-negative."""
    length, bound = links.side(why.length), links.side(why.bound)
    left, right = links.side(relation.left), links.side(relation.right)
    if relation.operator != "<=":
        raise NotExported("squares are exported if they are bounded from above")
    vectors = [links.text(links.reader.vector(one.base.args[0])) for one in (why.length, *_list_lengths(why.bound))]
    longer, shorter = links.text(bound), links.text(length)
    lines = [f"assert (first : {shorter} <= {longer}).\n{{ {links.inequality(length, bound, why.terms)} }}"]
    lines.append(f"pose proof (length_nonneg ({vectors[0]})%vec) as at_least.")
    lines.append(f"assert (squares : ({shorter}) ^ 2 <= ({longer}) ^ 2) by (apply pow_incr; lra).")
    lines += [f"rewrite <- (length_square ({one})%vec)." for one in dict.fromkeys(vectors)]
    lines.append("lra.")
    return f"{links.text(left)} <= {links.text(right)}", "\n".join(lines)


def _list_lengths(expression: Expr) -> list[Expr]:
    """Return the norms in an expression."""
    return sorted((one for one in expression.atoms(sp.Pow) if is_length(one)), key=sp.default_sort_key)


def _prove_by_signs(links: Links, relation: Relation) -> tuple[str, str]:
    """Prove that a difference of numbers is positive, by the signs of its symbols."""
    left, right = (links.text(links.side(side)) for side in relation.sides)
    flip = "apply Rlt_gt.\n" if relation.operator == ">" else ""
    gap = links.signs.positive(relation.slack)
    return f"{left} {relation.operator} {right}", f"{flip}apply Rminus_gt_0_lt, Rlt_gt.\n{gap}."


def _name_scalars(links: Links, why: Products) -> dict[sp.Symbol, str]:
    """Return the meaning of the symbols of a proof, as text."""
    return {symbol: f"({links.text(links.side(expression))})" for symbol, expression in why.scalars.items()}


def _prove_fact(links: Links, why: Products, name: str, names: Mapping[sp.Symbol, str], place: int) -> list[str]:
    """Return tactics that prove a fact of a certificate by products."""
    fact = why.facts[name]
    if isinstance(fact, CauchySchwarz):
        return [_prove_cauchy_schwarz(links, why, fact, names, place)]
    slack: Expr = fact.slack.xreplace(dict(why.scalars))
    proof = links.inequality(Number("0"), links.side(slack), fact.terms)
    return [
        f"assert (linear{place} : 0 <= {links.text(links.side(slack))}).\n{{ {proof} }}",
        f"assert (fact{place} : 0 <= {number(fact.slack, names)}) by lra.",
    ]


def _prove_cauchy_schwarz(
    links: Links, why: Products, fact: CauchySchwarz, names: Mapping[sp.Symbol, str], place: int
) -> str:
    """Return the assertion of a Cauchy-Schwarz inequality between two numbers."""
    one, other = (f"({links.text(links.reader.vector(side))})%vec" for side in why.scalars[fact.inner].args)
    known = f"pose proof (cauchy_schwarz {one} {other}) as known; lra"
    return f"assert (fact{place} : 0 <= {number(fact.slack, names)}) by ({known})."


def _prove_product(tactics: list[str]) -> str:
    """Return a tactic for a product of non-negative factors, left to right."""
    *first, last = tactics
    return f"apply Rmult_le_pos; [{_prove_product(first)} | {last}]" if first else last
