"""Vocabulary of claims about runs: their names in `library/Run.v`, and the hypotheses of theorems about runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs import facts
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import divisors, sides_of
from verify.rocq.hypotheses import OF_STEPS, state_at
from verify.rocq.names import list_sides
from verify.rocq.numbers import SignProofs
from verify.rocq.refusals import NotExported
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.theorem import Binder, declare_index, declare_real
from verify.rocq.vocabulary import AT, OF_POINTS, choose_reference_point, find_bounds_at_point

CONSTANTS: Mapping[Quantity, str] = {
    q.clients: "M_of A",
    q.local_step_size: "size_of A",
    q.local_steps: "tau A",
    q.rounds: "T A",
    q.iterations: "tau A * T A",
    q.smoothness: "L",
    q.noise_deviation: "sigma",
    q.gradient_dissimilarity: "zeta",
    q.mean_dissimilarity: "zeta_mean",
    q.second_moment: "G",
    q.visited_second_moment: "G_run",
    q.largest_importance: "p_max",
    q.strong_convexity: "mu",
    q.noise_smoothness: "ell",
    **OF_POINTS,
    q.sampling_variance: "rho_of_draws",
    q.model_size: "b",
    q.parameter_server_load: "server_load A b",
    q.ring_worker_load: "sent_in_ring A b w",
    q.gradient_growth(1): "G_one",
}
QUANTITIES: Mapping[Quantity, str] = {
    q.max_drift: "max_drift A",
    q.average_round_drift: "average_round_drift A",
    q.average_suboptimality: "average_suboptimality A x_star",
    q.final_distance_sq: "final_distance_sq A x_star",
    q.final_suboptimality: "final_suboptimality A x_star",
    q.initial_distance: "initial_distance A x_star",
    q.initial_gap: "initial_gap A x_star",
    q.total_progress: "total_progress A x_star",
    q.total_descent: "total_descent A",
    q.average_local_gradient_sq: "average_local_gradient_sq A",
    q.comparator_distance: "initial_distance A y",
    q.final_comparator_distance_sq: "final_distance_sq A y",
    q.total_comparator_progress: "total_progress A y",
    q.comparator_suboptimality: "comparator_suboptimality A y x_star",
}
OF_ROUNDS: Mapping[Quantity, str] = {
    q.round_drift: "round_drift A n",
    q.round_suboptimality: "round_suboptimality A x_star n",
    q.server_distance_sq: "server_distance_sq A x_star n",
    q.next_server_distance_sq: "next_server_distance_sq A x_star n",
}
TABLE: Mapping[Quantity, str] = {**CONSTANTS, **QUANTITIES, **OF_ROUNDS}
"""All names in claims about runs."""
_IN_FILES: Mapping[Quantity, str] = {
    q.parameter_server_load: "Messages",
    q.ring_worker_load: "Messages",
    q.gradient_growth(1): "Growth",
}
"""Files of the library that symbols need, in addition to the base."""
STEP_SIZES: Mapping[Assumption, Fact] = {
    assumption: fact for fact in (FACTS["speedup_step"], FACTS["plain_speedup_step"]) for assumption in fact.needs
}
"""Step sizes that are functions of other numbers."""
NEEDED = (a.same_local_work, a.unit_server_step, a.full_participation)
"""Properties that the runs of the library have by definition."""
_THERE = tuple(
    f"{name}_S"
    for name in (
        "drawn_there",
        "smooth_noise",
        "noise_there",
        "dissimilarity_there",
        "largest_share",
    )
)
STEP_OF_RUN = (
    *(Binder("n", "nat"), Binder("k", "nat")),
    *(Binder("Hn", "(n < rounds_of A)%nat"), Binder("Hk", "(k < steps_of A)%nat")),
)
"""Step k of round n of a run."""
KNOWN = (
    "pose proof (M_at_least_one A) as M_large. pose proof (tau_at_least_one A) as tau_large. "
    "pose proof (T_at_least_one A) as T_large."
)
"""Tactics for the start of every proof about a run."""

_GAP = (
    "assert (gap_known : 0 <= initial_gap A x_star) by "
    "(pose proof (proj2 minimiser_x_star (start A)) as least; unfold initial_gap; cbn in *; lra)."
)
"""Tactic for the fact that no start is below the minimum."""
_FACTS = {
    facts.ONE.name: "lra",
    facts.FINAL_DISTANCE.name: "apply final_distance_nonneg",
    facts.TELESCOPED_PROGRESS.name: "rewrite progress_telescopes; ring",
    facts.TELESCOPED_FROM_COMPARATOR.name: "rewrite progress_telescopes; ring",
    facts.TELESCOPED_WITH_PARTICIPANTS.name: "rewrite progress_telescopes; ring",
    facts.FINAL_COMPARATOR_DISTANCE.name: "apply final_distance_nonneg",
    facts.DESCENT.name: "pose proof (descent_at_most_gap A x_star (proj2 minimiser_x_star)) as fact; lra",
    facts.MEAN_DRIFT.name: "pose proof (mean_drift_at_most_largest A) as fact; lra",
    facts.ROUND_DRIFT.name: "pose proof (round_drift_at_most_largest A n Hn) as fact; lra",
    facts.QUIET.name: "reflexivity",
    facts.ITERATIONS.name: "ring",
    FACTS["server_messages"].name: "pose proof (server_messages A b) as fact; lra",
    FACTS["ring_messages"].name: "pose proof (ring_messages A b w Hw) as fact; lra",
    FACTS["growth"].name: ("pose proof (least_growth A G_one zeta_mean least_growth_A least_zeta_A) as fact; lra"),
}
"""A tactic for each fact: its slack is non-negative, or zero."""


class RunVocabulary(ScalarVocabulary):
    """The numbers of a claim about a run, with their names in Rocq."""

    needed: Sequence[Assumption] = NEEDED
    kind: str = "run"
    """The type of its runs."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(claim)
        # A claim about constants of a run holds for any server and any participation.
        needed = self.needed if self._is_of_runs else self.needed[:1]
        if claim.place != "run" or any(assumption not in claim.assumptions for assumption in needed):
            raise NotExported("the library has runs of FedAvg with full participation and equal local work")
        self.quiet = a.full_gradients in claim.assumptions
        each = {symbol: f"each_{n}" for n, symbol in enumerate(claim.for_all, start=1)}
        known = {**TABLE} | ({q.noise_deviation: "0"} if self.quiet else {})
        self.names = {self.symbols(n): text for n, text in known.items()} | each
        self.needs = tuple(dict.fromkeys(file for n, file in _IN_FILES.items() if n in claim.notation.values()))

    @property
    def least(self) -> Sequence[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        return [(self.symbols(quantity), sp.S.One) for quantity in (q.clients, q.local_steps)]

    @property
    def _is_of_runs(self) -> bool:
        """Return whether the claim involves more than the constants of a run."""
        known = {self.symbols(quantity) for quantity in (*QUANTITIES, *OF_ROUNDS)}
        return bool(list_sides(self.claim).free_symbols & known)

    @property
    def known(self) -> str:
        """Return tactics for the start of every proof about a run."""
        return f"{KNOWN}\n{_GAP}" if sp.Tuple(*sides_of(self.claim)).has(self.symbols(q.initial_gap)) else KNOWN

    def fact(self, name: str) -> str:
        """Return a tactic for a fact: its slack is non-negative, or zero."""
        return _FACTS[name] if name in _FACTS else super().fact(name)

    def binders(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the variables and hypotheses of a theorem in which the given symbols occur."""
        yield Binder("A", self.kind)
        yield Binder("size_positive", "0 < size_of A")
        assumptions = self.claim.assumptions
        is_random = not self.quiet and any(one in assumptions for one in (a.unbiased_bounded_variance, a.smooth_noise))
        if is_random:
            yield Binder("past", "nat -> nat -> space_of A -> Prop")
            yield Binder("unbiased_A", "unbiased_run A past")
        for assumption in assumptions:
            if not (assumption == a.unbiased_bounded_variance and self.quiet):
                yield from _state_assumption(assumption)
        if any("x_star" in self.names.get(symbol, "") for symbol in used):
            yield from _declare_optimum(is_random=is_random)
        yield from self._declare_reference(used, is_random=is_random)
        yield from self._declare_constants(used)
        yield from self._declare_models(used)
        yield from self._declare_step_sizes()
        yield from self._declare_divisors()
        if any(self.names.get(symbol, "").endswith(" n") for symbol in used):
            yield from declare_index("n", "rounds_of A")

    def _declare_reference(self, used: set[sp.Symbol], *, is_random: bool) -> Iterator[Binder]:
        """Yield a point other than the optimum with which a run is compared, and hypotheses on gradients there."""
        symbol, point = self.symbols, self.reference_point
        each = "forall n k, {}"
        at, (_, has_dissimilarity) = AT[point], find_bounds_at_point(symbol, point, used)
        if point == "y":
            yield Binder("y", "space_of A")
            if is_random:
                yield Binder("past_y", "forall n k, past n k y")
        if a.smooth_noise in self.claim.assumptions:
            yield Binder("noise_there", "nat -> nat -> nat -> space_of A")
            drawn = "drawn_at (step_at A n k) (past n k) (noise_there n k)"
            yield Binder("drawn_there_A", each.format(drawn))
            yield from declare_real("ell", positive=True)
            smooth = f"smooth_noise (step_at A n k) ell {point} (noise_there n k)"
            yield Binder("smooth_noise_A", each.format(smooth))
            yield from declare_real(at.noise_name)
            bound = f"noise_at (step_at A n k) (noise_there n k) {at.noise_name}"
            yield Binder("noise_there_A", each.format(bound))
        if has_dissimilarity:
            yield from declare_real(at.dissimilarity_name)
            bound = f"dissimilarity_at (step_at A n k) {point} {at.dissimilarity_name}"
            yield Binder("dissimilarity_there_A", each.format(bound))
        if symbol(q.largest_importance) in used:
            yield from declare_real("p_max")
            yield Binder("largest_share_A", "always A (fun S => largest_share S p_max)")

    def _declare_divisors(self) -> Iterator[Binder]:
        """Yield hypotheses that denominators are not zero: the claim excludes zeros, while 1/0 is 0 in Rocq."""
        below = divisors(sides_of(self.claim))
        for quantity, written in QUANTITIES.items():
            if self.symbols(quantity) in below:
                yield Binder(f"{quantity.name}_positive", f"0 < {written}")

    def _declare_step_sizes(self) -> Iterator[Binder]:
        """Yield the formula of the step size, if the claim assumes one."""
        for fact in (fact for assumption, fact in STEP_SIZES.items() if assumption in self.claim.assumptions):
            size = self.symbols(q.local_step_size)
            yield Binder("step_size_A", f"{self.number(size)} = {self.number(size - fact.slack(self.symbols))}")

    @property
    def reference_point(self) -> str:
        """Return the reference point at which the noise of a step has its bound."""
        return choose_reference_point(self.claim, self.symbols)

    def _declare_models(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield the dimension of a model, a worker of the ring, and a constant that is the least of its kind."""
        symbol = self.symbols
        if symbol(q.model_size) in used:
            yield Binder("b", "R")
        if symbol(q.ring_worker_load) in used:
            yield from declare_index("w", "number (clients_of A)")
        if symbol(q.gradient_growth(1)) in used:
            yield Binder("G_one", "R")
            yield Binder("least_growth_A", "least (growth_at_most A 1) G_one")
            yield Binder("least_zeta_A", "least (dissimilarity_at_most A) zeta_mean")

    def _declare_constants(self, used: set[sp.Symbol]) -> Iterator[Binder]:
        """Yield constants without an assumption: any number of their sign."""
        if self.symbols(q.visited_second_moment) in used:
            yield Binder("G_run", "R")
            in_run = "forall n k, (n < rounds_of A)%nat -> (k < steps_of A)%nat -> "
            yield Binder("second_moment_in_run_A", f"{in_run}bounded_second_moment (step_at A n k) G_run")
        is_smooth = a.smooth in self.claim.assumptions or a.convex_and_smooth in self.claim.assumptions
        if self.symbols(q.smoothness) in used and not is_smooth:
            yield from declare_real("L", positive=True)
        for symbol in self.claim.for_all:
            yield Binder(self.names[symbol], "R")
            if symbol.is_positive:
                yield Binder(f"{self.names[symbol]}_positive", f"0 < {self.names[symbol]}")

    def prove_end(self, _potential: Expr, _weight: Expr, _signs: SignProofs) -> str:
        """Return a tactic that proves the potential zero after the last step of a round."""
        return "cbv beta; field; nonzero"

    def equation(self, _premise: Expr) -> str:
        """Return a tactic for an equation that the claim assumes: it is a hypothesis."""
        return "lra"

    def point_arguments(self, point: str) -> str:
        """Return the first arguments of a lemma about the distance of a run from a point."""
        return f"A {point}"

    def step_arguments(self, k: str = "k", below: str = "Hk") -> dict[str, str]:
        """Return the arguments for a step theorem's variables and hypotheses, at step k of round n.

        `below` proves that k is below the number of steps, and Hn that n is below the number of rounds.
        """
        found = {
            "S": f"step_at A n {k}",
            "step_size_positive": "size_positive",
            "past": f"past n {k}",
            "unbiased_S": f"steps_unbiased A past unbiased_A n {k}",
            "past_x_star": f"past_x_star n {k}",
            "uniform_shares_S": "uniform_shares_A",
            "tau": "tau A",
            "tau_at_least_one": "tau_large",
            "past_y": f"past_y n {k}",
            "noise_there": f"noise_there n {k}",
            "k": "INR k",
            "k_large": "pos_INR k",
            "k_below_tau": "step_below A k Hk",
        }
        of_steps = {one.name for one in chain(*OF_STEPS.values()) if one.name.endswith("_S")} - found.keys()
        found |= {name: f"{name.removesuffix('_S')}_A n {k}" for name in (*_THERE, *of_steps)}
        # The constant of a run bounds the moments of its own steps only.
        found["second_moment_in_run_S"] = f"second_moment_in_run_A n {k} Hn {below}"
        return found | (self.drop_noise("n", k) if self.quiet else {})

    def substitute_arguments(self, other: Claim) -> dict[str, str]:
        """Return arguments for the hypotheses of another claim that this claim does not have."""
        return self.drop_noise() if self.quiet and not RunVocabulary(other).quiet else {}

    def drop_noise(self, *at: str) -> dict[str, str]:
        """Return the arguments of a theorem with noise for a run without noise."""
        here = " ".join(at)
        end = "S" if at else "A"
        step = "steps_unbiased A _ (quiet_unbiased A quiet_A) " if at else "quiet_unbiased A quiet_A"
        return {
            "past": "fun _ => True" if at else "fun _ _ _ => True",
            f"unbiased_{end}": f"{step}{here}",
            "past_x_star": "I" if at else "fun _ _ => I",
            "sigma": "0",
            "sigma_nonnegative": "Rle_refl 0",
            f"bounded_variance_{end}": f"quiet_variance A quiet_A {here}".strip(),
        }


def _declare_optimum(*, is_random: bool) -> Iterator[Binder]:
    """Yield the minimiser of the objective, which does not depend on the noise."""
    yield Binder("x_star", "space_of A")
    yield Binder("minimiser_x_star", "minimiser (step_at A O O) x_star")
    if is_random:
        yield Binder("past_x_star", "forall n k, past n k x_star")


def _state_assumption(assumption: Assumption) -> Iterator[Binder]:
    """Yield the hypotheses that encode an assumption on a run."""
    if assumption == a.uniform_shares:
        yield Binder("uniform_shares_A", "uniform (clients_of A)")
    elif assumption in OF_STEPS:
        yield from map(_lift, OF_STEPS[assumption])
    elif assumption not in (*NEEDED, a.averaged_participants, a.smooth_noise, *STEP_SIZES):
        raise NotExported(f"the assumption {assumption.name!r} has no definition in the library")


def _lift(one: Binder) -> Binder:
    """Return a hypothesis at a step S for every step of a run; variables stay the same."""
    if not one.name.endswith("_S"):
        return one
    plain = one.type.removesuffix(" {step}")
    always = plain if plain.isidentifier() else f"(fun S => {state_at(one, 'S').type})"
    return Binder(f"{one.name.removesuffix('_S')}_A", f"always A {always}")
