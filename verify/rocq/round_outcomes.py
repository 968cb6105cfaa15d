"""Prove relations about one round that hold for every outcome of its client sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel import InequalityRef
from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Inner, Selected
from fedtheory.language.claim import Relation
from verify.rocq.inequalities import NonnegativeScalar
from verify.rocq.refusals import NotExported
from verify.rocq.round_changes import split
from verify.rocq.round_scalars import Scalars
from verify.rocq.terms import text
from verify.rocq.vocabulary import CLIENTS


class OfOutcomes(Scalars):
    """Write vectors of an outcome by samples at the start of the round and changes by its steps."""

    def squares(self, relation: Relation, parts: Sequence[Part]) -> Iterator[str]:
        """Yield equations for the squares of participants' vectors."""
        del parts
        products = sp.Tuple(relation.left, relation.right).atoms(Inner)
        drawn = sorted(filter(self.reader.is_drawn, products), key=sp.default_sort_key)
        for place, product in enumerate(drawn, start=1):
            vector, same = product.args
            if vector != same:
                raise NotExported("of what holds for every outcome of a draw, squares are exported")
            whole = split(vector, self.reader.vocabulary).whole
            goal, parted = (text(self.reader.scalar(Inner(one, one)), CLIENTS) for one in (vector, whole))
            yield f"assert (square{place} : {goal} = {parted}).\n{{ apply same_squares. by_changes. }}"

    def list_participant_facts(self, because: InequalityRef) -> NonnegativeScalar | None:
        """Prove that squares of participants' vectors are not negative."""
        if because.kind != "square" or not sp.sympify(because.about[0]).has(Selected):
            return None
        whole = split(sp.sympify(because.about[0]), self.reader.vocabulary).whole
        return NonnegativeScalar(Inner(whole, whole), "apply dot_self")
