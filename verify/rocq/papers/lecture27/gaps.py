"""Vocabulary of claims about the gaps between intervals of steps; their names in `library/Gaps.v`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr, is_length
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.numbers import SignProofs, name_parts, number
from verify.rocq.papers.lecture27.path_run import NEEDS, PathInRun
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN, RunVocabulary
from verify.rocq.theorem import Binder, Exported, declare_real, project

_START, _END, _NEXT = (
    "interval_gap A x_star n O",
    "interval_gap A x_star n (steps_of A)",
    "server_gap A x_star (S n)",
)
OF_INTERVALS: Mapping[Quantity, str] = {
    q.interval_start_gap: _START,
    q.interval_end_gap: _END,
    q.next_interval_start_gap: _NEXT,
    q.last_interval_gap: "last_interval_gap A x_star",
    q.reciprocal_progress: "reciprocal_progress A x_star",
    q.smallest_gap: "epsilon",
}
_OF_A_ROUND = (q.interval_start_gap, q.interval_end_gap, q.next_interval_start_gap)
_VECTORS = {q.next_average_iterate: "server A (S n)", q.next_centralised_model: "centralised A n (steps_of A)"}
_OPENED = "unfold interval_gap, server_gap in *; lra"
_AT_LEAST = "gaps_at_least A x_star L epsilon {n} size_positive L_positive condition1 smooth_clients_A"
_LAST_STEP = (
    "destruct (last_step A) as [m Hm]",
    "assert (last : (m < steps_of A)%nat) by lia",
    "pose proof ({known}) as fact",
    "rewrite (last_average A n m Hm) in fact",
    "simpl step_space in fact",
    "change (step_size (step_at A n m)) with (size_of A) in fact",
    "change (F (step_at A n m)) with (F_of A) in fact",
    "change (step_clients (step_at A n m)) with (clients_of A) in fact",
    "rewrite (last_centralised A n m Hm) in fact",
    "assert (tau_m : tau A = INR m + 1) by (unfold tau; rewrite <- Hm; apply S_INR)",
    "assert (power_m : forall b, b ^ steps_of A = b * b ^ m) by (intros b; rewrite <- Hm; reflexivity)",
    "rewrite ?power_m, ?tau_m",
)
"""Tactics for a fact about the last step of round n."""


def is_of_gaps(claim: Claim) -> bool:
    """Return whether a claim concerns the gaps between intervals of steps."""
    return any(quantity in OF_INTERVALS for quantity in claim.notation.values())


class GapSigns(SignProofs):
    """Prove signs of numbers by a tactic of the library for gaps."""

    def prepare_conditions(self) -> list[str]:
        """Return tactics that state strict conditions without denominators, since proofs divide by numerators."""
        lines = []
        for place, one in enumerate(self.conditions, start=1):
            if isinstance(one, sp.Lt | sp.Gt):
                gap = one.gts - one.lts
                powers = name_parts((one for one in gap.atoms(sp.Pow) if one.exp.free_symbols), positive=True)
                names = {**self.names, **{symbol: number(power, self.names) for power, symbol in powers.items()}}
                above, below = (number(part, names) for part in sp.fraction(sp.together(gap.xreplace(powers))))
                shown = f"replace ({above}) with (({number(gap, self.names)}) * ({below})) by by_field; positive"
                lines.append(f"assert (above{place} : 0 < {above}) by ({shown}).")
        return lines

    def nonnegative(self, _value: Expr) -> str:
        """Return a tactic for the goal that a number is not negative."""
        return "of_gaps"


class GapsVocabulary(RunVocabulary):
    """The numbers of a claim about the gaps of a run, with their names in Rocq."""

    identity = "first [lra | by_field]"
    has_orderings = True

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.needs = (*NEEDS, "Gaps")
        self.path = PathInRun(claim, tuple(claim.conditions))
        self.names = {**self.names, **self.path.run.names}
        self.names |= {self.symbols(quantity): name for quantity, name in {**OF_INTERVALS, q.lipschitz: "rho"}.items()}
        used = set(claim.notation.values())
        self.of_a_round = bool(used & {*_OF_A_ROUND})
        self.has_least, self.has_price = q.smallest_gap in used, q.mean_divergence in used

    @property
    def known(self) -> str:
        """Return tactics for the start of every proof."""
        lines = [KNOWN, *self.path.known]
        if self.has_price:
            lines.append(
                "pose proof (price_nonneg L (size_of A) (steps_of A) L_positive (Rlt_le _ _ size_positive)) as price. "
                "fold (tau A) in price."
            )
        if self.has_least and self.of_a_round:
            lines.append("pose proof (epsilon_A n Hn) as least.")
            lines.append(f"pose proof ({_AT_LEAST.format(n='n')} least O (Nat.le_0_l _)) as start_least.")
        elif self.has_least:
            lines.append(
                "assert (last_round : (rounds_of A - 1 < rounds_of A)%nat) by (pose proof (some_rounds A); lia)."
            )
            lines.append(
                "assert (last_least : epsilon <= last_interval_gap A x_star) by exact (epsilon_A _ last_round)."
            )
        return "\n".join(lines)

    def number(self, expression: Expr) -> str:
        """Return a number as text; it may contain the distance from the centralised model at the end of a round."""
        names, expression = dict(self.names), sp.sympify(expression)
        lengths = name_parts(one for one in expression.atoms(sp.Pow) if is_length(one))
        names |= {symbol: f"(length ({self._write_vector(one.base.args[0])})%vec)" for one, symbol in lengths.items()}
        return number(expression.xreplace(lengths), names)

    def _write_vector(self, difference: Expr) -> str:
        """Return the difference of the two vectors of an interval; raises `NotExported` for other differences."""
        first, second = (self.symbols(quantity) for quantity in _VECTORS)
        if sp.expand(difference - first + second) != 0:
            raise NotExported(f"the length of {difference} is not in the library")
        return " - ".join(_VECTORS.values())

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Return the facts that proofs of signs may use."""
        return GapSigns(self.names, tuple(conditions), self.least)

    def binders(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the variables and hypotheses of a theorem in which the given symbols occur."""
        parameters = self.path.binders({*used, self.symbols(q.optimum)}, own=False)
        # All gaps are positive because the least gap is.
        left_out = {"k", "Hk", "final_suboptimality_positive", "initial_gap_positive"}
        left_out |= set() if self.of_a_round else {"n", "Hn"}
        yield from (one for one in parameters if one.name not in left_out)
        yield from self._declare_least()

    def _declare_least(self) -> Iterator[Binder]:
        """Yield the positive lower bound on the errors, or that they are not zero."""
        if not self.has_least:
            # The denominators of the statement are not zero.
            each = "forall n m, (n < rounds_of A)%nat -> (m <= steps_of A)%nat -> "
            yield Binder("nonzero", f"{each}interval_gap A x_star n m <> 0")
            return
        yield from declare_real("epsilon", positive=True)
        yield Binder("epsilon_A", f"forall n, (n < rounds_of A)%nat -> epsilon <= {_END}")
        yield Binder("epsilon_final", "epsilon <= final_suboptimality A x_star")

    # Facts about intervals from other claims.

    def derive(self, premise: Derived, export_used: Callable[[str], Exported]) -> tuple[Expr, str]:
        """Return the slack of another claim, and a tactic for its sign."""
        known = export_used(premise.claim)
        claim = known.claim
        found = self.translate(premise.derive(symbols_of(claim), claim.relations), claim)
        match premise.kind:
            case "at the last step":
                fact = self._apply_claim(known, premise.link, {"k": "m", "Hk": "last"})
                return found, f"{'; '.join(_LAST_STEP).format(known=fact)}; {_OPENED}"
            case "summed over rounds":
                return self._prove_sum(premise, known)
            case "telescoped" | "at the next start" | "at the first start":
                raise NotExported(f"a premise at the start or end of another interval is not exported: {claim.id}")
        return found, f"pose proof ({self._apply_claim(known, premise.link, {})}) as fact; {_OPENED}"

    def _prove_sum(self, premise: Derived, known: Exported) -> tuple[Expr, str]:
        """Return the sum over rounds of a relation about each round, and a tactic for it."""
        slack = self.translate(known.claim.relations[premise.link].slack, known.claim)
        start, end, following = (self.symbols(quantity) for quantity in _OF_A_ROUND)
        if slack.has(following):
            each, total = (
                1 / following - 1 / start,
                1 / self.symbols(q.final_suboptimality) - 1 / self.symbols(q.initial_gap),
            )
            then = "rewrite reciprocals_telescope in fact"
        else:
            each, total = 1 / end - 1 / start, self.symbols(q.reciprocal_progress)
            then = "fold (reciprocal_progress A x_star) in fact"
        rest = slack - each
        fact = self._apply_claim(known, premise.link, {"n": "m", "Hn": "Hm"})
        tactic = (
            f"assert (fact : 0 <= sum (rounds_of A) (fun n => {self.number(each)}) + T A * ({self.number(rest)})) by "
            f"(apply sum_over_rounds; intros m Hm; pose proof ({fact}) as each; {_OPENED}); {then}; lra"
        )
        return total + self.symbols(q.rounds) * rest, tactic

    def note_ordering(self, premise: Derived, known: Exported) -> str:
        """Return a tactic that states the relation of another claim at the start of an interval."""
        match premise.kind:
            case "at the next start" if not self.of_a_round:
                return "pose proof epsilon_final as final_least."
            case "at the next start":
                at_next = self._apply_claim(known, premise.link, {"n": "(S n)", "Hn": "later"})
                found = self._write_premise(premise, known)
                return (
                    f"assert ({found}) by (destruct (Nat.eq_dec (S n) (rounds_of A)) as [last | other]; "
                    "[rewrite last; apply Rle_ge; exact epsilon_final | "
                    f"assert (later : (S n < rounds_of A)%nat) by lia; exact ({at_next})])."
                )
            case "at the first start":
                at_first = self._apply_claim(known, premise.link, {"n": "O", "Hn": "(some_rounds A)"})
                return f"assert ({self._write_premise(premise, known)}) by exact ({at_first})."
            case Derived.kind:
                return f"pose proof (fun n Hn => {self._apply_claim(known, premise.link, {})})."
        raise NotExported(f"a premise at the start or end of another interval is not exported: {known.claim.id}")

    def _write_premise(self, premise: Derived, known: Exported) -> str:
        """Return a relation about the start of an interval, for another model."""
        theirs, relation = symbols_of(known.claim), known.claim.relations[premise.link]
        to = q.next_interval_start_gap if premise.kind == "at the next start" else q.initial_gap
        moved = {theirs(q.interval_start_gap): theirs(to)}
        left, right = (
            self.number(self.translate(sp.sympify(side).xreplace(moved), known.claim)) for side in relation.sides
        )
        return f"{left} {relation.operator} {right}"

    def _apply_claim(self, known: Exported, link: int, here: Mapping[str, str]) -> str:
        """Return the statement of another claim for a round."""
        n, below = here.get("n", "n"), here.get("Hn", "Hn")
        if self.has_least:
            positive = f"Rlt_le_trans _ _ _ epsilon_positive ({_AT_LEAST.format(n=n)} (epsilon_A {n} {below}) j Hj)"
            nonzero = f"fun j Hj => Rgt_not_eq _ _ ({positive})"
        else:
            nonzero = f"fun j Hj => nonzero {n} j {below} Hj"
        applied = known.general.apply(**{"nonzero": nonzero, **here})
        return project(applied, link, len(known.claim.relations))
