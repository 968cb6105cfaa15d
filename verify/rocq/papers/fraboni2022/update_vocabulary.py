"""Vocabulary of claims about updates of scheme (6): names and facts of `library/Stale.v`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Average, ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.averages import Averaged
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import divisors, sides_of, symbols_of
from fedtheory.proofs.parts import Part
from verify.rocq.names import list_sides, name_of
from verify.rocq.number_claims import list_used_symbols
from verify.rocq.numbers import SignProofs
from verify.rocq.papers.fraboni2022.averages import KINDS, average_slacks
from verify.rocq.papers.fraboni2022.lemmas import UPDATE_LEMMAS
from verify.rocq.papers.fraboni2022.samples import EVERYBODY, LIBRARY, SignsOfParts, list_assumed
from verify.rocq.papers.fraboni2022.schedule_vocabulary import ScheduleVocabulary, with_sums
from verify.rocq.papers.fraboni2022.updates import (
    SAMPLES,
    TYPES,
    UPDATE_ASSUMED,
    UPDATE_FACTS,
    UPDATES,
    WINDOWS,
)
from verify.rocq.papers.fraboni2022.zero_weights import PARTICIPATION, POSITIVE, SPLIT, without_reports
from verify.rocq.refusals import NotExported
from verify.rocq.step import write_operator
from verify.rocq.theorem import Binder, Theorem, declare_index, declare_real, describe_condition, prove_conjunction

_AT_LEAST_ONE = (q.clients, q.rounds, q.local_steps, q.largest_weight_sum)
_WHATEVER = (
    a.convex_and_smooth,
    a.unbiased_gradients,
    a.finite_answering_time,
    a.weight_covariance,
    a.given_weights,
)
"""Assumptions that these theorems do not need."""
_POINTS = {
    "star": (Binder("star", "space_of A"), Binder("minimiser_star", "minimiser A (federated A) star")),
    "bar": (Binder("bar", "space_of A"), Binder("minimiser_bar", "minimiser A (surrogate A) bar")),
    "y": (Binder("y", "space_of A"),),
    "bar_n": (
        Binder("bar_n", "nat -> space_of A"),
        Binder("minimiser_bar_n", "forall n, (n < updates A)%nat -> minimiser A (round_objective A n) (bar_n n)"),
    ),
    "own": (
        Binder("own", "nat -> space_of A"),
        Binder("minimiser_own", "forall i, minimiser A (objective_of A i) (own i)"),
    ),
    "alpha": (
        Binder("alpha", "R"),
        Binder("d", "nat -> nat -> R"),
        Binder("weights", "covariance A alpha d"),
    ),
    "reporting_excess": (Binder("given", "given_weights A d"),),
    "L": (
        *declare_real("L", positive=True),
        Binder("convex_A", "convex_clients A"),
        Binder("smooth_A", "smooth_clients A L"),
    ),
    "W": (Binder("W", "nat"), Binder("smallest_window_W", "smallest_window A W")),
}
"""The minimisers of the federated problem, the surrogate problem, each update and each client; and the window."""
_OF_ASSUMPTIONS = {"alpha": a.weight_covariance, "reporting_excess": a.given_weights, "L": a.convex_and_smooth}
_IMPLIED = (
    (q.surrogate_optimum_distance, "unique_star", "forall x, minimiser A (federated A) x -> ‖x - star‖² = 0"),
    (q.absences, "positive_importances_A", "positive_importances A"),
)
"""Facts implied by symbols: both optima of a distance exist, and each counted type has a client."""


def is_of_updates(claim: Claim) -> bool:
    """Return whether all quantities of a claim are defined for a server with stale models."""
    symbols = symbols_of(claim)
    return claim.place == "run" and all(symbols.quantity(symbol) in UPDATES for symbol in list_used_symbols(claim))


class UpdateVocabulary(ScheduleVocabulary):
    """The numbers of a claim about updates, with their names in Rocq."""

    library: Sequence[str] = ("Space", "Clients", "Objectives", "Normal", "Run", "Schedule", "Stale", "Weights")

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        self.names = {self.symbols(quantity): text for quantity, text in UPDATES.items()}
        self.of_clients, self.of_updates, self.of_steps = (self._is_of_index(index) for index in "ink")
        self.of_draws, self.parameters = self._uses(*SAMPLES, *TYPES, *WINDOWS), set[str]()
        self.of_windows = self._uses(*WINDOWS)
        self.of_types = self.of_windows or self._uses(*TYPES)
        if self.of_draws:
            self.library = (*self.library, *LIBRARY, *(["Types"] if self.of_types else []))
            self.library = (*self.library, *(["Windows"] if self.of_windows else []))
        if self._uses(q.sample_smoothness) and not self._uses(q.smoothness):
            # Averages of objectives that are smooth with L_xi are smooth with L_xi as well.
            self.names[self.symbols(q.smoothness)] = "L_xi"
        divides = self.symbols(q.weight_sum) in divisors(sides_of(claim))
        self.says_positive = self.of_draws and divides and a.somebody_reports not in claim.assumptions
        """Whether the claim divides by the weights of an update: it says nothing of an update without reports."""

    def _is_of_index(self, index: str) -> bool:
        """Return whether the claim holds for each client, update or step, of which this is the index."""
        sides = list_sides(self.claim)
        if index == "i":
            sides = sides.xreplace({one: sp.Dummy() for one in sides.atoms(ClientSum, Average)})
        free = (re.sub(r"fun \w+ .*", "", self.names.get(symbol, "")) for symbol in sides.free_symbols)
        return any(re.search(rf"\b{index}\b", name) for name in free)

    @property
    def known(self) -> str:
        """Return tactics for the start of every proof."""
        parameters = ["M_at_least_one A", "N_at_least_one A", "K_at_least_one A", "local_size_positive A"]
        parameters += ["server_size_positive A", "at_least_one A", "pos_INR (staleness A)"]
        if self._uses(q.smallest_weight_sum) and self.of_updates:
            parameters.append("no_sum_is_smaller A n Hn")
        if a.one_type in self.claim.assumptions:
            parameters.append("one_type_is_fair A one_type_A somebody_reports")
        parameters += self._list_draw_facts() if self.of_draws else []
        return " ".join(f"pose proof ({one}){' as fair' if 'is_fair' in one else ''}." for one in parameters)

    def _list_draw_facts(self) -> Iterator[str]:
        """Yield the lemmas on weights and on counted types that proofs of signs may use."""
        if self.of_updates:
            yield from ("total_nonneg A n", "weight_sum_below A n Hn")
            yield from ("squares_of_sums A n Hn", "past_moves_nonneg A n")
            if a.somebody_reports in self.claim.assumptions:
                yield "somebody_reports n Hn"
        if self.of_types:
            yield from (
                *(["chi_nonneg A n", "chi_below_largest A n Hn"] if self.of_updates else []),
                "largest_chi_nonneg A",
            )
            if a.somebody_reports in self.claim.assumptions:
                yield "smallest_positive A somebody_reports"
        if EVERYBODY in self.parameters:
            yield from (f"mean_sum_positive A {EVERYBODY}", f"mean_chi_nonneg A {EVERYBODY}")
        if self.of_windows and "W" in self.parameters:
            yield "window_large A W smallest_window_W"
        if "weights" in self.parameters:
            yield from ("pairing_nonneg A alpha d weights", "pairing_at_most_one A alpha d weights")
            yield from ("excess_nonneg A alpha d", "spread_factor_at_least_one A alpha d")

    def substitute_arguments(self, other: Claim) -> dict[str, str]:
        """Return arguments for the hypotheses of another claim that this claim does not have."""
        found = super().substitute_arguments(other)
        if self.of_draws and not self.of_steps:
            found |= {"k": "O", "Hk": "(some_steps A)"}
        if a.somebody_reports in self.claim.assumptions:
            found["weight_sum_positive"] = "(somebody_reports n Hn)"
        if a.given_weights in self.claim.assumptions and a.weight_covariance in self.claim.assumptions:
            found["given_A"] = "(fun n i => proj1 (given n i))"
        if self.names[self.symbols(q.smoothness)] == "L_xi":
            found |= {"L": "L_xi", "L_positive": "L_xi_positive"}
            found |= {f"{one}_A": f"(means_{one} A L_xi draw smooth_draws_A)" for one in ("convex", "smooth")}
        return found

    def may_be_empty(self, parts: Sequence[Part]) -> bool:
        """Return whether a proof divides by the weights of an update that may have no report."""
        says = self.says_positive or a.somebody_reports in self.claim.assumptions
        divides = self.symbols(q.weight_sum) in divisors([part.coefficient for part in parts])
        return self.of_draws and self.of_updates and not says and (divides or POSITIVE in self.required)

    def split_cases(
        self,
        shown: str,
        relation: Relation,
        parts: Sequence[Part],
        find_slack: Callable[[Part], Expr],
        prove: Callable[[Relation, Sequence[Part], str, Expr], str],
    ) -> str:
        """Return the proof of a relation, with another one for updates without reports if these are possible."""
        if not self.may_be_empty(parts):
            return shown
        slacks = [(part, self._find_known_slack(part, find_slack)) for part in parts]
        known, kept, rest = without_reports(self, relation, slacks)
        self.required.discard(POSITIVE)
        return f"{SPLIT}\n{{ {prove(relation, kept, known, rest)} }}\n{PARTICIPATION}\n{shown}"

    def _find_known_slack(self, part: Part, find_slack: Callable[[Part], Expr]) -> Expr | None:
        """Return the slack of a premise; None if it is known only for updates with a participant."""
        required = {*self.required}
        self.required.clear()
        found = find_slack(part)
        needs = POSITIVE in self.required
        self.required |= required
        return None if needs else found

    def list_averaged(self, premise: Derived) -> set[str]:
        """Return the variables of a theorem over which a premise takes an average."""
        kind = KINDS.get(premise.kind)
        return set() if kind is None else {kind.index, f"H{kind.index}"}

    def average(self, premise: Averaged, slack: Expr, applied: str, written: Callable[[Expr], str]) -> Sequence[str]:
        """Return tactics for the goal that an average of non-negative slacks is not negative."""
        return average_slacks(premise, self, slack, applied, written)

    @property
    def _own(self) -> str:
        """Return the tactic of this vocabulary that runs before proofs of signs: none."""
        return "idtac"

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        return [(self.symbols(quantity), sp.S.One) for quantity in _AT_LEAST_ONE]

    def signs(self, conditions: Sequence[Expr]) -> SignProofs:
        """Return the facts that proofs of signs may use."""
        if any(one.has(sp.Min) for one in conditions):
            raise NotExported("conditions with a minimum are not exported for claims about updates")
        kind = SignsOfParts if self.of_draws else SignProofs
        known = (one for one in conditions if not isinstance(one, sp.Eq) and not self.is_of_each(one))
        return kind(self.names, tuple(known), self.least)

    def is_of_each(self, condition: Expr) -> bool:
        """Return whether a condition is that every client participates in some update."""
        return self.of_draws and condition == sp.Gt(self.symbols(q.mean_weight), 0, evaluate=False)

    def number(self, expression: Expr) -> str:
        """Return a number as text; expectations have an order that does not depend on the claim's symbols."""
        if not self.of_draws:
            return super().number(expression)
        plain = {symbol: sp.Symbol(text) for symbol, text in self.names.items()}
        return with_sums(sp.sympify(expression).xreplace(plain), {symbol: symbol.name for symbol in plain.values()})

    def split_sums(self, sums: Mapping[str, Expr]) -> Iterator[str]:
        """Yield tactics that write sums over clients by a few common sums; expectations share these."""
        return iter(()) if self.of_draws else super().split_sums(sums)

    def fact(self, name: str) -> str:
        """Return a tactic for a fact: its slack is non-negative, or zero."""
        if name not in UPDATE_FACTS:
            raise NotExported(f"the fact {name!r} of updates is not in the library")
        ways = (f"(pose proof ({one}) as fact; lra)" for one in UPDATE_FACTS[name])
        return f"first [{' | '.join(ways)}]"

    def close_equation(self, count: int) -> str:
        """Return a tactic that derives an equation from another one, or from premises that are factors."""
        zeros = ", ".join(f"?premise{place}" for place in range(1, count + 1))
        return f"first [lra | rewrite {zeros}; ring]"

    def binders(self, used: set[sp.Symbol]) -> list[Binder]:
        """Return the variables and hypotheses of a theorem in which the given symbols occur."""
        found = list(self._binders(used))
        self.parameters = {binder.name for binder in found}
        goal = " ".join(self.names[symbol] for symbol in used)
        further = list_assumed(self.required | {*re.findall(r"\w+", goal)}, self.parameters, self.claim.assumptions)
        found += further if self.of_draws else ()
        for one in filter(self.is_of_each, self.claim.conditions):
            everybody = "forall i, (i < number (clients_of A))%nat -> 0 < mean_weight A i"
            found.append(Binder(EVERYBODY, everybody, describe_condition(one)))
        if self.says_positive:
            found.append(Binder("weight_sum_positive", "0 < weight_sum A n"))
        self.parameters = {binder.name for binder in found}
        return found

    def _binders(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the variables and hypotheses, except those on weights, which `binders` adds."""
        yield Binder("A", "server")
        yield from self._list_binders()
        yield from self._declare_points(used)
        for quantity, name, type_ in _IMPLIED:
            if self._uses(quantity):
                yield Binder(name, type_)
        if self.of_updates:
            yield from declare_index("n", "updates A")
        if self.of_steps:
            yield from declare_index("k", "steps A")
        yield from self._declare_equations()
        if self.of_clients:
            yield from declare_index("i", "number (clients_of A)")

    def _declare_points(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the points that occur in the used symbols, with their defining properties."""
        goal = " ".join(self.names[symbol] for symbol in used)
        for point, binders in _POINTS.items():
            if re.search(rf"\b{point}\b", goal):
                if point in _OF_ASSUMPTIONS and _OF_ASSUMPTIONS[point] not in self.claim.assumptions:
                    needed = _OF_ASSUMPTIONS[point].name
                    raise NotExported(f"{point} is defined by the assumption {needed!r}, which the claim does not make")
                yield from binders

    def _list_binders(self) -> Iterator[Binder]:
        """Yield the hypotheses that encode the claim's assumptions."""
        for assumption in dict.fromkeys(self.claim.assumptions):
            if assumption in UPDATE_ASSUMED:
                yield Binder(*UPDATE_ASSUMED[assumption])
            elif assumption not in _WHATEVER:
                raise NotExported(f"the assumption {assumption.name!r} has no definition in the library of updates")


_LEMMAS = (
    "selected_square A alpha d weights n k",
    "selected_square_by_parts A alpha d weights n k",
    "step_in_parts A star n k",
    "step_by_weights A alpha d weights star n k",
    "by_largest_share A n k",
    "by_number A n k",
    "alignment_at_least A L bar n convex_A smooth_A",
    "alignment_at_least A L y n convex_A smooth_A",
    "square_weight_below A alpha d weights n i Hi",
    "square_weight_above A alpha d n i Hn Hi",
    "move_at_most A alpha d weights n scheme Hn",
    "stale_models A n i Hn Hi",
    "slope_in_two A n k",
)


def is_by_lemmas(claim: Claim) -> bool:
    """Return whether the library has a lemma for each relation of a claim."""
    return claim.id in UPDATE_LEMMAS


def write_theorem_of_update(claim: Claim) -> Theorem:
    """Return the theorem of a claim about the vectors of an update."""
    run = UpdateVocabulary(claim)
    lemmas = UPDATE_LEMMAS.get(claim.id, ())
    if run.of_draws and not lemmas:
        raise NotExported("the library has no lemma on the participants of an update for its certificate")
    run.required |= {word for lemma in lemmas for word in re.findall(r"\w+", lemma)}
    sides = [(run.number(one.left), run.number(one.right)) for one in claim.relations]
    goal = [f"{left} {write_operator(one)} {right}" for one, (left, right) in zip(claim.relations, sides, strict=True)]
    parameters = run.binders(list_sides(claim).free_symbols)
    proof = f"{run.known}\n{prove_conjunction(_list_ways(lemmas, len(goal)))}"
    return Theorem(
        name_of(claim.id), parameters, " /\\\n  ".join(goal), proof, library=run.library, names=run.quantity_names
    )


def _list_ways(lemmas: Sequence[str], count: int) -> Sequence[str]:
    """Return a proof for each of several relations: by its lemma, or by any lemma on weights."""
    if lemmas:
        return [f"pose proof ({lemma}) as fact; by_bound fact." for lemma in lemmas]
    ways = " | ".join(f"(pose proof ({lemma}) as fact; by_lemma fact)" for lemma in _LEMMAS)
    return [f"first [{ways}]."] * count
