"""Export bounds on exponentially weighted averages of the error, which follow from a step that contracts."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.contraction import Contracting
from fedtheory.proofs.proof import conditions_of
from verify.rocq.contraction import state_contraction
from verify.rocq.numbers import number
from verify.rocq.run import KNOWN
from verify.rocq.sampled import SampledVocabulary
from verify.rocq.theorem import Exported, Theorem

_AGAINST = "rewrite (discounted_against_another A mu y x_star) in bound by (rewrite forgets_is; assumption)."


def write_theorem_of_exponential_average(
    claim: Claim, certificate: Contracting, multiple: Expr, step: Exported
) -> Theorem:
    """Return a bound on an exponentially weighted average of the errors, from a theorem about each local step.

    Each step decreases the squared distance by a `multiple` of the error.
    """
    run = SampledVocabulary(claim)
    symbol, point, (relation,) = run.symbols, run.reference_point, claim.relations
    power = sp.Dummy("power", positive=True)
    run.names[power] = "power"
    signs = run.signs(conditions_of(claim, certificate.relaxed))
    lemma = state_contraction(claim, certificate, step.claim, step.general, gain=multiple)
    factor, gain, offset = (run.number(n) for n in (certificate.factor, multiple, certificate.offset))
    potential = number(certificate.potential, {**run.names, symbol(q.local_step_index): "k"})
    start = f"initial_distance A {point} ^ 2 * (1 - ({factor})) * power / (({gain}) * (1 - power))"
    distance = symbol(q.comparator_distance if point == "y" else q.initial_distance)
    above = symbol(q.comparator_suboptimality) if point == "y" else sp.S.Zero
    bound = distance**2 * (1 - certificate.factor) * power / (multiple * (1 - power)) + above
    right = relation.right.xreplace({certificate.factor ** symbol(q.iterations): power})
    spare = sp.cancel(right - bound - certificate.offset / multiple)
    at_point = run.point_arguments(point)
    lines = [
        KNOWN,
        *signs.prepare_conditions(),
        f"assert (factor_positive : 0 < {factor}).",
        f"{{ {signs.positive(certificate.factor)}. }}",
        f"assert (apart : {factor} < 1).",
        f"{{ apply Rminus_gt_0_lt; apply Rlt_gt. {signs.positive(1 - certificate.factor)}. }}",
        f"pose proof (power_below_one A ({factor}) (conj factor_positive apart)) as power_known.",
        f"assert (forgets_is : forgets A mu = {factor}) by (unfold forgets; field).",
        f"pose proof (discounted {at_point} (fun k : R => {potential}) mu ({factor}) ({gain}) ({offset})",
        "  forgets_is) as K.",
        f"set (power := ({factor}) ^ (steps_of A * rounds_of A)) in *.",
        f"assert (bound : discounted_suboptimality A mu {point} <= {start} + ({offset}) / ({gain})).",
        "{ apply K; clear K.",
        f"  - {run.prove_end(certificate.potential, sp.S.One, signs)}.",
        "  - assumption.",
        "  - assumption.",
        "  - positive.",
        f"  - {signs.nonnegative(certificate.offset)}.",
        f"  - intros n k Hk. exact ({lemma.apply(**run.step_arguments())}). }}",
        *([_AGAINST] if point == "y" else []),
        f"apply Rle_trans with ({run.number(above)} + ({start} + ({offset}) / ({gain}))); [lra |].",
        f"apply le_by_slack; {signs.nonnegative(spare)}.",
    ]
    return run.state_bound(signs, lines, (lemma,))
