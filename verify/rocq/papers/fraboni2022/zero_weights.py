"""Proofs for updates without reports: their weights, which are denominators, are zero, and so are most quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.parts import Part
from verify.rocq.scalar_vocabulary import ScalarVocabulary

POSITIVE = "weight_sum_positive"
"""Name of the hypothesis that the weights of an update have a positive sum."""
SPLIT = "destruct (Req_dec (weight_sum A n) 0) as [nobody | somebody]."
PARTICIPATION = f"assert ({POSITIVE} : 0 < weight_sum A n) by (pose proof (total_nonneg A n); lra)."
_NOTHING: Mapping[Quantity, str] = {
    q.weight_sum: "nobody",
    q.round_gap: "(no_gap A n nobody bar_n)",
    q.surrogate_gap: "(no_surrogate_gap A n nobody bar)",
    q.alignment: "(no_alignment A n nobody bar)",
    q.comparator_gap: "(no_surrogate_gap A n nobody y)",
    q.comparator_alignment: "(no_alignment A n nobody y)",
    q.mean_square_gradient: "(no_square A n nobody)",
    q.square_mean_gradient: "(no_mean A n nobody)",
    q.round_optimum_noise: "(no_optimum_noise A n nobody draw bar_n)",
    q.round_optimum_mixed_noise: "(no_mixed_optimum_noise A n nobody draw bar_n)",
}
"""Quantities that are zero, with their lemmas."""


def without_reports(
    run: ScalarVocabulary, relation: Relation, parts: Sequence[tuple[Part, Expr | None]]
) -> tuple[str, list[Part], Expr]:
    """Return a tactic for the zero quantities, the parts that remain known, and the remainder of the relation."""
    zero = {run.symbols(quantity): sp.S.Zero for quantity in _NOTHING}
    smaller, larger = relation.ordered
    # Claims that hold for updates without reports remain.
    kept = [
        (replace(part, coefficient=part.coefficient.xreplace(zero)), known)
        for part, known in parts
        if known is not None and isinstance(part.premise, str)
    ]
    kept = [one for one in kept if one[0].coefficient != 0 and not one[0].coefficient.has(sp.zoo, sp.nan)]
    rest = sp.expand((larger - smaller).xreplace(zero))
    rest -= sp.expand(sp.Add(*(part.coefficient * known.xreplace(zero) for part, known in kept)))
    used = sp.Tuple(larger - smaller, *(known for _, known in kept)).free_symbols
    lemmas = [lemma for quantity, lemma in _NOTHING.items() if run.symbols(quantity) in used]
    return f"rewrite {', '.join(f'?{lemma}' for lemma in lemmas)}", [part for part, _ in kept], sp.expand(rest)
