"""Vocabulary of claims about schedules: names and facts of `library/Schedule.v`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.names import list_sides
from verify.rocq.number_claims import list_used_symbols
from verify.rocq.numbers import SignProofs, name_parts, number
from verify.rocq.papers.fraboni2022.schedules import (
    CYCLE_FACTS,
    SCHEDULE_ASSUMED,
    SCHEDULE_FACTS,
    SCHEDULES,
    TIE_FACTS,
)
from verify.rocq.refusals import NotExported
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.theorem import Binder, declare_index, describe_condition

_SUM = "sum (number (clients_of A))"
CLOCKS = (a.asynchronous, a.fixed_intervals)
_WHATEVER = (a.aggregation_scheme,)
"""Assumptions about the models, which statements on schedules do not need."""
_OF_PERIODS = (a.asynchronous, a.one_at_a_time, a.whole_cycles)
"""Conditions under which all times have a common period."""


def with_sums(expression: Expr, known: Mapping[sp.Symbol, str]) -> str:
    """Return a number as text; it may contain sums over the clients."""
    expression = sp.sympify(expression)
    names, sums = dict(known), name_parts(expression.atoms(ClientSum, Average))
    for one, symbol in sums.items():
        kind = _SUM if isinstance(one, ClientSum) else "mean (clients_of A)"
        names[symbol] = f"({kind} (fun i => {number(one.args[0], known)}))"
    return number(expression.xreplace(sums), names)


class ScheduleVocabulary(ScalarVocabulary):
    """The numbers of a claim about a schedule, with their names in Rocq."""

    library: Sequence[str] = ("Space", "Clients", "Objectives", "Normal", "Schedule")

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.names = {self.symbols(quantity): text for quantity, text in SCHEDULES.items()}
        self.claim_symbols = list_used_symbols(claim)
        self.of_clients = self._is_indexed(" i")
        self.of_updates = self._is_indexed(" n")

    def _is_indexed(self, index: str) -> bool:
        """Return whether the claim holds for each client, or update."""
        sides = list_sides(self.claim)
        sums = {one: sp.Dummy() for one in sides.atoms(ClientSum, Average)}
        return any(self.names.get(symbol, "").endswith(index) for symbol in sides.xreplace(sums).free_symbols)

    @property
    def known(self) -> str:
        """Return tactics for the start of every proof."""
        parameters = ["(M_at_least_one A)", "(N_at_least_one A)", "(rate_positive A)", "(slowest_positive A)"]
        parameters += ["(fastest_positive A)"]
        assumptions = self.claim.assumptions
        if a.asynchronous in assumptions and a.one_at_a_time in assumptions and a.whole_cycles in assumptions:
            parameters.append("(time_has_passed A one_at_a_time_A whole_cycles_A)")
        if self._uses(q.common_period, q.reports_in_a_period):
            parameters += [
                "(proj1 (proj1 least_period_nu))",
                "(period_reports_positive A nu (proj1 (proj1 least_period_nu)))",
            ]
        if a.fixed_intervals in assumptions:
            parameters.append("(interval_positive A interval fixed_intervals_A)")
        lines = [f"pose proof {one}." for one in parameters]
        if self.witnesses:
            self._needs("Cycles", "Ties")
            exists = "least_period_exists A asynchronous_A one_at_a_time_A whole_cycles_A"
            lines.append(f"destruct ({exists}) as [nu least_period_nu].")
            if a.whole_times in assumptions:
                lines.append("pose proof (slowest_at_least_one A whole_times_A).")
        return " ".join([*lines, *([f"{self._own}."] if self.of_clients else [])])

    @property
    def _own(self) -> str:
        """Return the facts on client i."""
        if a.fixed_intervals in self.claim.assumptions:
            return "pose proof (report_interval_at_least_one A interval fixed_intervals_A i Hi)"
        return "pose proof (times_positive A i Hi)"

    @property
    def introduce_client(self) -> str:
        """Return a tactic that proceeds to client i."""
        return f"{'clear dependent i; ' if self.of_clients else ''}intros i Hi; {self._own}"

    def write_sum(self, member: str) -> str:
        """Return a sum over the clients as text."""
        return f"{_SUM} (fun i => {member})"

    def split_sums(self, sums: Mapping[str, Expr]) -> Iterator[str]:
        """Yield tactics that write sums over the clients as combinations of a few common sums."""
        own = [symbol for symbol, name in self.names.items() if re.search(r"\bi\b", name)]
        for text, one in sums.items():
            products = [
                part.as_independent(*own, as_Add=False)
                for part in sp.Add.make_args(sp.expand(one.args[0], power_exp=False))
            ]
            spread = " + ".join(f"({self.number(c)}) * {self.write_sum(number(m, self.names))}" for c, m in products)
            yield f"replace ({text}) with ({spread}) by (by_each_client; {self.introduce_client}; field; nonzero)"
        yield f"rewrite ?(sum_of_ones A : {_SUM} (fun i => 1) = M_of A)"

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        return [(self.symbols(quantity), sp.S.One) for quantity in (q.clients, q.rounds)]

    def number(self, expression: Expr) -> str:
        """Return a number as text; it may contain sums over the clients."""
        return with_sums(expression, self.names)

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Return the facts that proofs of signs may use."""
        orderings = [one for one in conditions if not isinstance(one, sp.Eq)]
        if orderings:
            raise NotExported("orderings of numbers of schedules are not exported")
        return SignProofs(self.names, (), self.least)

    def fact(self, name: str) -> str:
        """Return a tactic for a fact: its slack is non-negative, or zero."""
        # The fact that a multiple is not smaller holds for periods and for intervals.
        if name in CYCLE_FACTS and (name not in SCHEDULE_FACTS or self._uses(q.common_period)):
            self._needs("Cycles")
            return self._follow_lemma(CYCLE_FACTS[name])
        if name in TIE_FACTS:
            self._needs("Cycles", "Ties")
            return self._follow_lemma(TIE_FACTS[name])
        if name not in SCHEDULE_FACTS:
            raise NotExported(f"the fact {name!r} of schedules is not in the library")
        return self._follow_lemma(SCHEDULE_FACTS[name], "unfold update_rate in *; ")

    def _follow_lemma(self, lemma: str, before: str = "") -> str:
        """Return a tactic that derives a fact from a lemma; a period in the lemma becomes a required input."""
        self.required |= {"nu", "least_period_nu"} & {*lemma.split()}
        return f"pose proof ({lemma}) as fact; {before}lra"

    def _needs(self, *files: str) -> None:
        """Add files to the required files of the library."""
        self.library = (*self.library, *(name for name in files if name not in self.library))

    @property
    def witnesses(self) -> set[str]:
        """Return the existential witnesses of a proof: a least common period, if a used claim needs it."""
        exists = all(one in self.claim.assumptions for one in _OF_PERIODS) and not self._uses(q.common_period)
        return {"nu", "least_period_nu"} & self.required if exists else set()

    def substitute_arguments(self, other: Claim) -> dict[str, str]:
        """Return arguments for the hypotheses of another claim; raises `NotExported` if these are not assumed."""
        if any(one not in self.claim.assumptions for one in other.assumptions if one not in _WHATEVER):
            raise NotExported(f"{other.id} is about other schedules")
        if symbols_of(other).has(q.common_period) and not self._uses(q.common_period):
            # Powers of the number of clients are bounded by those of the least period.
            self.identity = "(rewrite ?(power_of_number A); by_field)"
        return {} if self.of_clients else {"i": "O", "Hi": "(several (clients_of A))"}

    def equation(self, premise: Expr) -> str:
        """Return a tactic for an assumption on each client's numbers."""
        place = [one for one in self.claim.conditions if isinstance(one, sp.Eq)].index(premise) + 1
        return f"pose proof (equation{place} i Hi); lra"

    def binders(self, used: set[sp.Symbol]) -> Iterable[Binder]:
        """Yield the variables and hypotheses of a theorem in which the given symbols occur."""
        yield Binder("A", "schedule")
        if a.fixed_intervals in self.claim.assumptions:
            yield Binder("interval", "R")
            yield Binder("fixed_intervals_A", "fixed_intervals A interval")
        for assumption in dict.fromkeys(self.claim.assumptions):
            yield from self._declare_assumed(assumption)
        if self._uses(q.window):
            yield Binder("W", "nat")
            yield Binder("smallest_window_W", "smallest_window A W")
        if self._uses(q.common_period, q.reports_in_a_period):
            yield Binder("nu", "R")
            yield Binder("least_period_nu", "least_period A nu")
        yield from self._declare_equations()
        if self.of_updates:
            yield Binder("n", "nat")
        if self.of_clients:
            yield from declare_index("i", "number (clients_of A)")
        unknown = [symbol for symbol in used if symbol not in self.names]
        if unknown:
            raise NotExported(f"{unknown[0]} has no name in the library")

    def _uses(self, *quantities: Quantity) -> bool:
        """Return whether the claim names one of these quantities."""
        return any(self.symbols(quantity) in self.claim_symbols for quantity in quantities)

    def _declare_assumed(self, assumption: Assumption) -> Iterator[Binder]:
        """Yield the hypothesis of an assumption on the schedule."""
        if assumption in [*SCHEDULE_ASSUMED]:
            yield Binder(*SCHEDULE_ASSUMED[assumption])
        elif assumption == a.whole_cycles:
            is_fixed = a.fixed_intervals in self.claim.assumptions
            yield Binder("whole_cycles_A", f"whole_cycles A ({'heard_after A interval' if is_fixed else 'time_of A'})")
        elif assumption not in (a.fixed_intervals, *_WHATEVER):
            raise NotExported(f"the assumption {assumption.name!r} has no definition in the library of schedules")

    def _declare_equations(self) -> Iterator[Binder]:
        """Yield the assumptions on each client's numbers."""
        for place, one in enumerate((one for one in self.claim.conditions if isinstance(one, sp.Eq)), start=1):
            goal = f"{self.number(one.lhs)} = {self.number(one.rhs)}"
            each = "forall i, (i < number (clients_of A))%nat -> "
            yield Binder(f"equation{place}", f"{each}{goal}", describe_condition(one))
