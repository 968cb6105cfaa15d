"""Export bounds on the drift: one local step by a certificate, then induction over the steps of a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import distances as pair
from fedtheory.proofs.distances import DISPLACEMENT, PAIR, SPREAD, Measure
from fedtheory.proofs.induction import k
from fedtheory.proofs.proof import conditions_of
from fedtheory.proofs.recursion import Recursion
from fedtheory.proofs.rule_labels import describe_measure
from verify.rocq.hypotheses import binders
from verify.rocq.links import Links
from verify.rocq.names import name_of
from verify.rocq.numbers import SignProofs, number
from verify.rocq.places import AT_STEP, FIRST
from verify.rocq.reading import Reader
from verify.rocq.refusals import NO_RESTARTS, NotExported
from verify.rocq.run import KNOWN, RunVocabulary
from verify.rocq.terms import Atom, Dot, Multiple, Named, Number, Sum, Term
from verify.rocq.theorem import Binder, Theorem
from verify.rocq.vocabulary import Vocabulary


@dataclass(frozen=True)
class Shape:
    """A measure at step k of round n of a run, in Rocq, and tactics for consequences of a bound on it."""

    variables: str
    """Variables of the statement besides rounds and steps."""
    measured: str
    at_start: str
    """A tactic that proves the measure to be zero if all clients have the same model."""
    largest: str | None
    """A tactic for the drift of a client, from the bound on the measure."""
    mean: str | None


_SHAPES: Mapping[Measure, Shape] = {
    PAIR: Shape(
        "(Hi : (i < number (clients_of A))%nat) (Hj : (j < number (clients_of A))%nat) (apart : i <> j)",
        "‖local A (server A n) n k i - local A (server A n) n k j‖²",
        "rewrite minus_self; apply dot_zero",
        "from_pairs",
        None,
    ),
    SPREAD: Shape(
        "",
        "mean (clients_of A) (fun i => ‖local A (server A n) n k i - average_at A n k‖²)",
        "rewrite starts_together; simpl; rewrite (mean_ext _ _ (fun _ => 0)); "
        "[apply mean_const | intros; rewrite minus_self; apply dot_zero]",
        None,
        "right; reflexivity",
    ),
    DISPLACEMENT: Shape(
        "",
        "mean (clients_of A) (fun i => ‖local A (server A n) n k i - server A n‖²)",
        "rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; rewrite minus_self; apply dot_zero]",
        None,
        "apply spread_at_most_displacement",
    ),
}


def write_theorem_of_recursion(claim: Claim, certificate: Recursion) -> Theorem:
    """Return a bound on the drift as a theorem; raises `NotExported` for other measures and conclusions."""
    return _RecursionWriter(claim, certificate).theorem()


class _RecursionWriter:
    def __init__(self, claim: Claim, certificate: Recursion) -> None:
        self.claim, self.certificate, self.name = claim, certificate, name_of(claim.id)
        self.run = RunVocabulary(claim)
        self.conditions = tuple(conditions_of(claim, certificate.relaxed))
        self.first = 0 if certificate.first is None else 1
        if certificate.measure not in _SHAPES:
            raise NotExported(NO_RESTARTS)
        self.shape = _SHAPES[certificate.measure]
        self.quiet = a.full_gradients in claim.assumptions
        self.is_of_own_rounds = self.run.symbols(q.visited_second_moment) in claim.relations[0].free_symbols
        """Whether the bounds hold in the rounds of the run only, because a constant is known there only."""

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        relation = self.claim.relations[0]
        self.tau = self.run.symbols(q.local_steps)
        self.names = {**self.run.names, k: "INR k"}
        lemmas = [self._state_step(self.certificate.terms, together=False)]
        if self.certificate.first is not None:
            lemmas.append(self._state_step(self.certificate.first, together=True))
        signs = self._collect()
        lines = [KNOWN, *signs.prepare_conditions(), self._prove_bounds(lemmas), self._conclude(relation.right)]
        return self.run.state_bound(signs, lines, lemmas)

    def _collect(self, first: int | None = None, *, earlier: bool = False) -> SignProofs:
        """Return the facts on step k for proofs of signs: k >= `first`, and k below the last step if `earlier`."""
        least: list[tuple[sp.Symbol, Expr]] = [] if first is None else [(self.tau, k + 1 if earlier else k)]
        least += [] if first is None else [(k, sp.Integer(first))]
        return SignProofs(self.names, self.conditions, [*least, *self.run.least])

    def _write(self, expression: Expr) -> str:
        """Return a number as text."""
        return number(expression, self.names)

    # The lemma about one step.

    def _state_step(self, terms: Sequence[Part], *, together: bool) -> Theorem:
        """Return the lemma on one step; with `together` on the first one, which all clients start from one model."""
        measure, claim = self.certificate.measure, self.claim
        kind = _PairVocabulary if measure is PAIR else Vocabulary
        vocabulary = kind(replace(claim, place="step"), self.quiet, FIRST if together else AT_STEP)
        if together:
            vocabulary.gather()
            vocabulary.vectors[vocabulary.symbols(q.average_iterate)] = Atom(f"server_model {FIRST.step}")
        symbol = vocabulary.symbols
        vocabulary.numbers |= {k: "k", symbol(q.local_steps): "tau", symbol(q.visited_second_moment): "G_run"}
        least = [(symbol(q.local_steps), k + 1), (k, sp.Integer(self.first))] if not together else []
        signs = SignProofs(vocabulary.numbers, self.conditions, [*least, *vocabulary.least])
        links = Links(Reader(vocabulary), signs)
        after = vocabulary.after() if isinstance(vocabulary, _PairVocabulary) else links.side(measure.after(claim))
        if together:
            before = links.side(self.certificate.bound.subs(k, 1))
        else:
            kept = Multiple(links.reader.number(self.certificate.factor), links.side(measure.before(claim)))
            before = Sum(kept, Number(links.reader.number(self.certificate.offset)))
        links.own = False
        proof = links.inequality(after, before, terms)
        parameters = [*binders(vocabulary, links.used, own=False), *self._declare_counts(together), *vocabulary.more]
        return links.state(f"{self.name}_{'first' if together else 'step'}", (after, before), proof, parameters)

    def _declare_counts(self, together: bool) -> list[Binder]:
        """Return the number of local steps and the step index as real numbers, with their bounds."""
        tau = [Binder("tau", "R"), Binder("tau_large", "1 <= tau")]
        step = [Binder("k", "R"), Binder("k_large", f"{self.first} <= k"), Binder("k_below_tau", "k + 1 <= tau")]
        return tau if together else [*tau, *step]

    # The statement about all steps.

    def _prove_bounds(self, lemmas: Sequence[Theorem]) -> str:
        """Return the induction over the steps of a round."""
        certificate, signs = self.certificate, self._collect(self.first, earlier=True)
        factor, offset, bound = certificate.factor, certificate.offset, certificate.bound
        grown = bound.subs(k, k + 1) - factor * bound - offset
        each = f"forall {self.shape.variables}, " if self.shape.variables else ""
        pairs = "i j " if self.shape.variables else ""
        measured = self.shape.measured
        round_known, intro = ("(n < rounds_of A)%nat -> ", "Hn ") if self.is_of_own_rounds else ("", "")
        arguments = self.run.step_arguments(below="(proj2 Hk)") | {"tau": "tau A", "tau_large": "tau_large"}
        arguments |= {"k": "INR k", "k_large": "k_large", "k_below_tau": "k_below"}
        begun = self._collect().nonnegative(bound.subs(k, 0))
        start = f"apply Rle_trans with 0; [right; {self.shape.at_start} | cbv beta; simpl INR; {begun}]"
        if self.first:
            together = self.run.step_arguments("O", "(some_steps A)") | {"n": "n"}
            start = (
                f"apply Rle_trans with (1 := {lemmas[1].apply(**together)}); right; simpl INR; "
                "try change (step_size (step_at A n O)) with (size_of A); "
                "try change (M (step_at A n O)) with (M_of A); field; nonzero"
            )
        step = lemmas[0].apply(**arguments)
        below = f"pose proof (step_below A k (proj2 Hk)) as k_below; {self._prove_index('(proj1 Hk)')}"
        return "\n".join(
            [
                f"assert (bounds : forall n k {pairs}, {each.replace('forall ', 'forall ')}"
                f"{round_known}({self.first} <= k <= steps_of A)%nat ->",
                f"  {measured} <= {self._write(bound)}).",
                f"{{ intros n k {'i j Hi Hj apart ' if pairs else ''}{intro}Hk.",
                f"  apply (recursion (fun k => {measured}) (fun k => {self._write(bound)})",
                f"    (fun k => {self._write(factor)}) (fun k => {self._write(offset)}) {self.first} (steps_of A));",
                "    [clear k Hk | clear k Hk; intros k Hk; " + below + " .. | exact Hk].",
                f"  - {start}.",
                f"  - {signs.nonnegative(factor)}.",
                f"  - exact ({step}).",
                f"  - rewrite S_INR; apply le_by_slack; {signs.nonnegative(grown)}. }}",
            ]
        )

    def _prove_index(self, known: str) -> str:
        """Return a tactic that states the lower bound on the step index."""
        return f"pose proof (at_least_one k {known}) as k_large" if self.first else "pose proof (pos_INR k) as k_large"

    def _conclude(self, right: Expr) -> str:
        """Return the proof of the claim from the bounds at every step."""
        left = self.claim.relations[0].left
        symbol = self.run.symbols
        if left == symbol(q.max_drift):
            return self._bound_largest(right)
        if left in (symbol(q.round_drift), symbol(q.average_round_drift)):
            return self._bound_average(right, of_round=left == symbol(q.round_drift))
        raise NotExported("the library derives no bound on this quantity from a recursion")

    def _bound_largest(self, right: Expr) -> str:
        """Return the proof of a bound on the largest drift of a client."""
        share = self.certificate.measure.largest_drift
        if share is None or self.shape.largest is None:
            raise NotExported(f"{describe_measure(self.certificate.measure)} does not bound the drift of one client")
        # The library has the factor (1 - 1/M)^2; Rocq rejects the proof if the factor is different.
        drift = share(self.run.symbols(q.clients)) * self.certificate.bound
        later, at_start = self._collect(self.first), self._collect()
        start = (
            f"destruct k as [| k']; [rewrite drift_at_start; {at_start.nonnegative(right)} |]. set (k := S k') in *."
        )
        lines = [
            "apply max_drift_at_most.",
            f"{{ {at_start.nonnegative(right)}. }}",
            "intros n k i Hn Hk Hi.",
            "pose proof (not_above A k Hk) as k_below.",
            *([start + " assert (one : (1 <= k)%nat) by (unfold k; lia)."] if self.first else []),
            f"{self._prove_index('one')}.",
            f"apply Rle_trans with ((1 - 1 / M_of A) ^ 2 * ({self._write(self.certificate.bound)})).",
            "{ apply (from_pairs A (fun i => local A (server A n) n k i) i); [assumption | assumption | |].",
            f"  - intros j Hj apart. apply (bounds n k i j Hi Hj apart{' Hn' if self.is_of_own_rounds else ''}). lia.",
            f"  - {later.nonnegative(self.certificate.bound)}. }}",
            f"apply le_by_slack; {later.nonnegative(right - drift)}.",
        ]
        return "\n".join(lines)

    def _bound_average(self, right: Expr, *, of_round: bool) -> str:
        """Return tactics for a bound on the average drift of a round or of all rounds."""
        share = self.certificate.measure.mean_drift(self.run.symbols(q.clients))
        if self.shape.mean is None:
            raise NotExported(f"the library has no average of {describe_measure(self.certificate.measure)}")
        bound, total = share * self.certificate.bound, self.certificate.total
        whole = "" if of_round else "apply mean_over_rounds_at_most; intros n Hn.\n"
        drift = "mean (clients_of A) (fun i => drift A n k i)"
        at_zero = "rewrite (mean_ext _ _ (fun _ => 0)) by (intros; apply drift_at_start); rewrite mean_const"
        each = [
            f"assert (each : forall k, (k < steps_of A)%nat -> {drift} <= {self._write(bound)}).",
            "{ intros k Hk. pose proof (step_below A k Hk) as k_below.",
            *(
                [f"  destruct k as [| k']; [{at_zero}; simpl INR; {self._collect().nonnegative(bound.subs(k, 0))} |]."]
                if self.first
                else []
            ),
            *(["  set (k := S k') in *. assert (one : (1 <= k)%nat) by (unfold k; lia)."] if self.first else []),
            f"  {self._prove_index('one')}.",
            f"  apply Rle_trans with (2 := bounds n k {'Hn ' if self.is_of_own_rounds else ''}ltac:(lia)).",
            f"  {self.shape.mean}. }}",
        ]
        end = self._bound_each(right, bound) if total is None else self._bound_sum(right, bound, share * total)
        return whole + "\n".join([*each, *end])

    def _bound_each(self, right: Expr, bound: Expr) -> list[str]:
        """Return tactics that bound an average by a number that is at least the bound of every step."""
        below = self._collect(0, earlier=True).nonnegative(right - bound)
        return [
            "apply mean_over_steps_at_most. intros k Hk. apply Rle_trans with (1 := each k Hk).",
            "pose proof (step_below A k Hk) as k_below. pose proof (pos_INR k) as k_large.",
            f"apply le_by_slack; {below}.",
        ]

    def _bound_sum(self, right: Expr, bound: Expr, total: Expr) -> list[str]:
        """Return tactics that bound an average by the sum of the bounds, whose closed form is `total`."""
        summed = total.subs(k, self.tau) / self.tau
        names = {**self.names, k: "INR m"}
        return [
            f"assert (sums : forall m, sum m (fun k => {self._write(bound)}) = {number(total, names)}).",
            "{ induction m; cbn [sum]; [simpl INR; field; nonzero | rewrite IHm, S_INR; field; nonzero]. }",
            f"apply Rle_trans with ({self._write(summed)}).",
            f"{{ apply Rle_trans with (1 / tau A * sum (steps_of A) (fun k => {self._write(bound)})).",
            "  - apply Rmult_le_compat_l; [apply quotient_nonneg; lra | apply sum_le; exact each].",
            "  - rewrite sums. fold (tau A). right. field. nonzero. }",
            f"apply le_by_slack; {self._collect().nonnegative(right - summed)}.",
        ]


class _PairVocabulary(Vocabulary):
    """The symbols of two clients i and j."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.more = [
            Binder("i", "nat"),
            Binder("j", "nat"),
            Binder("Hi", f"(i < number {self.place.clients})%nat"),
            Binder("Hj", f"(j < number {self.place.clients})%nat"),
            Binder("apart", "i <> j"),
        ]
        self._name_clients(*(f"local_iterate {self.place.step} {client}" for client in "ij"))

    def gather(self) -> None:
        """Set both clients to the server's model."""
        model = f"server_model {self.place.step}"
        self._name_clients(model, model)

    def after(self) -> Term:
        """Return the squared distance of both after a step."""
        moved, name = [], self.place.step
        for client, iterate, noise, own in (("i", pair.x_i, pair.n_i, pair.F_i), ("j", pair.x_j, pair.n_j, pair.F_j)):
            slope = self.place.gradient(self.objectives[own], self.vectors[iterate], opaque=True)
            sample = Named(f"stochastic_gradient {name} {client}", Sum(slope, self.vectors[noise]))
            step = Multiple(f"step_size {name}", sample)
            moved.append(Named(f"next_iterate {name} {client}", Sum(self.vectors[iterate], step, "-")))
        between = Sum(moved[0], moved[1], "-")
        return Dot(between, between)

    def _name_clients(self, *iterates: str) -> None:
        """Name the objectives, iterates and noise of the two clients i and j."""
        name = self.place.step
        own = {pair.F_i: f"client_objective {name} i", pair.F_j: f"client_objective {name} j"}
        self.objectives |= {pair.F: self.place.mean, **own}
        self.opaque = True
        clients = zip((pair.x_i, pair.x_j), (pair.n_i, pair.n_j), "ij", iterates, strict=True)
        for iterate, noise, client, place in clients:
            self.vectors[iterate] = Atom(place)
            self.vectors[noise] = Atom(f"gradient_noise {name} {client}", noisy=self.is_random, zero=self.quiet)
