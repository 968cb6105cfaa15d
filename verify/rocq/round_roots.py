"""The square root of a number of a round in a claim; it is a separate symbol, as in the kernel.

In an identity, the square of this symbol replaces the number: a symbol in which the number is linear is expressed by
the root and the other symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language.claim import Relation
from fedtheory.proofs.roots import Root, name_roots
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import RoundReader

_NAME = "root"


class Roots:
    """The roots of one claim, at most one."""

    def __init__(self, roots: Sequence[Root], reader: RoundReader) -> None:
        if len(roots) > 1:
            raise NotExported("claims about rounds with client sampling are exported with at most one root")
        self.roots, self.reader = roots, reader
        self.under = ""
        for root in roots:
            reader.vocabulary.files.add("Curvature")
            self.under = reader.number(reader.with_names(root.of))
            reader.vocabulary.numbers[root.letter] = f"sqrt ({self.under})"

    def substitute(self, relation: Relation) -> Relation:
        """Replace the root in a relation by its symbol."""
        return name_roots(self.roots, relation)

    def opening(self) -> Iterator[str]:
        """Yield tactics that state the known facts on the root, and remove its definition."""
        for root in self.roots:
            whole = f"sqrt ({self.under})"
            yield f"assert (root_square : {whole} ^ 2 = {self.under}) by (apply pow2_sqrt; lra)."
            yield f"assert (root_positive : 0 < {whole}) by (apply sqrt_lt_R0; lra)."
            if root.least != 0:
                least = self.reader.number(sp.sqrt(root.least))
                yield f"assert (root_above : {least} <= {whole}) by (apply root_at_least; lra)."
            yield f"try assert (root_below : {whole} < 1) by (apply root_below_one; lra)."
            yield f"set ({_NAME} := {whole}) in *; clearbody {_NAME}."
            yield f"try assert (root_square_below : {_NAME} ^ 2 < 1) by nra."
            self.reader.vocabulary.numbers[root.letter] = _NAME
            symbol, value = self._eliminate(root)
            known = self.reader.number(value)
            yield f"assert (by_root : {self.reader.number(symbol)} = {known})."
            yield "{ rewrite root_square; field; nonzero. }"

    def rewriting(self, relation: Relation) -> str:
        """Return tactics that write sums by the root."""
        tactics = ""
        for root in self.roots:
            symbol, value = self._eliminate(root)
            for base in _list_divisors(relation):
                named = self.reader.with_names(base)
                by_root = self.reader.number(sp.factor(named.xreplace({symbol: value})))
                tactics += (
                    f"replace ({self.reader.number(named)}) with ({by_root}) by (rewrite by_root; field; nonzero); "
                )
            tactics += "rewrite by_root; "
        return tactics

    def _eliminate(self, root: Root) -> tuple[sp.Symbol, Expr]:
        """Return a symbol in which the number under a root is linear, and its expression by the root's square."""
        under = self.reader.with_names(root.of)
        for symbol in sorted(under.free_symbols & root.of.free_symbols, key=str):
            slope = sp.diff(under, symbol)
            if not slope.has(symbol) and slope.free_symbols <= root.of.free_symbols:
                return symbol, sp.together((root.letter**2 - under.subs(symbol, 0)) / slope)
        raise NotExported("the number under a root is linear in none of its symbols")


def _list_divisors(relation: Relation) -> list[Expr]:
    """Return the denominators that are sums with averages over the clients."""
    powers = sp.Tuple(relation.left, relation.right).atoms(sp.Pow)
    return sorted({one.base for one in powers if one.exp.is_negative and one.base.has(Average)}, key=str)
