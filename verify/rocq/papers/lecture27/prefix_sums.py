"""Export sums of numbers over the previous local steps, by induction."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Average, Inner, PastSum, Value
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.rocq.hypotheses import binders
from verify.rocq.names import name_of, name_quantities
from verify.rocq.numbers import SignProofs, number
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, Theorem
from verify.rocq.vocabulary import Vocabulary


def write_theorem_of_total(claim: Claim) -> Theorem:
    """Return the theorem on a sum over the steps 0 .. k for every k; raises `NotExported` for other sums."""
    relation = claim.relations[0]
    totals = relation.left.atoms(PastSum)
    is_equation = len(claim.relations) == 1 and relation.operator == "=="
    if not is_equation or len(totals) != 1 or relation.left.has(Inner, Value, Average):
        raise NotExported("expected one equation with one sum of numbers")
    (total,) = totals
    factor = sp.cancel(relation.left / total)
    vocabulary = Vocabulary(claim)
    index, steps = vocabulary.symbols(q.local_step_index), sp.Symbol("n", integer=True, positive=True)
    names = {**vocabulary.numbers, index: "INR k"}
    member = number(total.args[0], {**names, index: "INR j"})
    # Closed form of the sum over n steps; Rocq checks it by induction.
    whole = number(relation.right.xreplace({index: steps - 1}) / factor, {**names, steps: "INR n"})
    statement = f"({number(factor, names)}) * sum (k + 1) (fun j => {member}) = {number(relation.right, names)}"
    proof = "\n".join(
        [
            f"assert (sums : forall n, sum n (fun j => {member}) = {whole}).",
            "{ induction n; cbn [sum]; [simpl; field; nonzero | rewrite IHn, S_INR; simpl pow; field; nonzero]. }",
            "rewrite sums, plus_INR. simpl (INR 1). field; nonzero.",
        ]
    )
    used = relation.free_symbols - {index}
    conditions = SignProofs(names, tuple(claim.conditions)).hypotheses()
    parameters = [*binders(vocabulary, used, own=False), *conditions, Binder("k", "nat")]
    return Theorem(name_of(claim.id), parameters, statement, proof, names=name_quantities(vocabulary.symbols, names))
