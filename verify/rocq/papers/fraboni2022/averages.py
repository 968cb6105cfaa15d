"""Averages over clients, local steps and updates of relations of proved claims, by lemmas of `Means.v`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.proofs.averages import Averaged, KnownMean
from verify.rocq.scalar_vocabulary import ScalarVocabulary


@dataclass(frozen=True)
class AverageKind:
    """A kind of average: its index, its text in Rocq, and lemmas of `library/Means.v`."""

    index: str
    mean: str
    each: str
    more: str
    end: str


KINDS: Mapping[str, AverageKind] = {
    "over steps": AverageKind("k", "mean_over_steps A (fun k => {})", "each_step A", "steps_and A", "steps_end A"),
    "over updates": AverageKind(
        "n", "mean_over_updates A (fun n => {})", "each_update A", "updates_and A", "updates_end A"
    ),
    "over clients": AverageKind(
        "i",
        "sum (number (clients_of A)) (fun i => weight_share A n i * ({}))",
        "each_client A n",
        "clients_and A n",
        "clients_end A n",
    ),
}
"""Averages that the library has, by the kinds of premises."""


def average_slacks(
    derived: Averaged, run: ScalarVocabulary, slack: Expr, applied: str, written: Callable[[Expr], str]
) -> Sequence[str]:
    """Return tactics for the goal that an average of non-negative slacks is not negative."""
    kind = KINDS[derived.kind]
    parts, rest = derived.parts(run.symbols, slack)
    whole, means, ends = written(rest), written(rest), f"apply ({kind.end})"
    ends += "; assumption" if kind is KINDS["over clients"] else ""
    for part in reversed(parts):
        factor, of, mean = (written(one) for one in (part.factor, part.of, part.mean))
        whole, means = f"({factor}) * ({of}) + ({whole})", f"({factor}) * ({mean}) + ({means})"
        shown = _prove_average(part, run)
        ends = f"apply ({kind.more} ({factor}) (fun {kind.index} => {of}) ({mean})); [{shown} | {ends}]"
    i = kind.index
    each = f"match goal with |- 0 <= ?goal => replace goal with ({written(slack)}) by by_field end; lra"
    below = f"apply ({kind.each}); intros {i} H{i}; pose proof ({applied}) as fact; {each}"
    return [
        f"match goal with |- 0 <= ?goal => replace goal with ({means}) by by_field end",
        f"apply Rle_trans with ({kind.mean.format(whole)}); [{below} | {ends}]",
    ]


def _prove_average(part: KnownMean, run: ScalarVocabulary) -> str:
    """Return a tactic for one average, which equals its name or is at most that."""
    past = run.symbols(q.past_step_lengths_sq)
    if part.mean == run.symbols(q.unrepresented_gap):
        return "apply (unrepresented_by_clients A own minimiser_own)"
    return "apply by_past; sign" if part.of == past else "is_mean"
