"""Tactics for averages: from a statement about each client, local step or update to its average."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.proofs.averages import Averaged, KnownMean
from fedtheory.proofs.derived_relation import Derived
from verify.rocq.scalar_vocabulary import Spoken


@dataclass(frozen=True)
class _Kind:
    """A kind of average: its index, its number of terms, its text in Rocq, and lemmas of `library/Means.v`."""

    index: str
    count: str
    mean: str
    each: str
    more: str
    end: str


_KINDS: Mapping[str, _Kind] = {
    "over steps": _Kind("k", "steps A", "mean_over_steps A (fun k => {})", "each_step A", "steps_and A", "steps_end A"),
    "over updates": _Kind(
        "n", "updates A", "mean_over_updates A (fun n => {})", "each_update A", "updates_and A", "updates_end A"
    ),
    "over clients": _Kind(
        "i",
        "number (clients_of A)",
        "sum (number (clients_of A)) (fun i => weight_share A n i * ({}))",
        "each_client A n",
        "clients_and A n",
        "clients_end A n",
    ),
}


def bound_by(derived: Derived) -> set[str]:
    """Return the variables of a theorem over which an average is taken."""
    index = _KINDS[derived.kind].index if isinstance(derived, Averaged) else ""
    return {index, f"H{index}"} if index else set()


def tactics(derived: Averaged, run: Spoken, slack: Expr, applied: str, written: Callable[[Expr], str]) -> Sequence[str]:
    """Return tactics for the goal that an average of non-negative slacks is not negative."""
    kind = _KINDS[derived.kind]
    parts, rest = derived.parts(run.symbols, slack)
    whole, means, ends = written(rest), written(rest), f"apply ({kind.end})"
    ends += "; assumption" if kind is _KINDS["over clients"] else ""
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


def _prove_average(part: KnownMean, run: Spoken) -> str:
    """Return a tactic for one average, which equals its name or is at most that."""
    past = run.symbols(q.past_step_lengths_sq)
    if part.mean == run.symbols(q.unrepresented_gap):
        return "apply (unrepresented_by_clients A own minimiser_own)"
    return "apply by_past; sign" if part.of == past else "is_mean"
