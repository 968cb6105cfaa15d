"""Export bounds on the last round of algorithms given by definitions, from Lyapunov functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.federation.definition import start
from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Average, Expr, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.definitions import MIXING, NOISE, state
from fedtheory.proofs.lyapunov import START_DISTANCE, Lyapunov
from verify.rocq.algorithms import ZERO, Algorithm
from verify.rocq.fixed_point import write_round
from verify.rocq.hypotheses import binders
from verify.rocq.lyapunov_symbols import MIXING_NAME, LyapunovSymbols
from verify.rocq.names import name_of
from verify.rocq.places import AT_STEP, Place
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN
from verify.rocq.terms import Atom, Dot, Mean, Multiple, Number, Sum, Term
from verify.rocq.theorem import Binder, Theorem, describe_condition

_NOWHERE = Atom("(@zero (step_space S))", zero=True)


def write_theorem_of_lyapunov(claim: Claim, certificate: Lyapunov) -> Theorem:
    """Return the theorem of a bound on the last round."""
    return _LyapunovWriter(claim, certificate).theorem()


class _LyapunovWriter:
    def __init__(self, claim: Claim, certificate: Lyapunov) -> None:
        self.claim, self.certificate, self.known = claim, certificate, Algorithm(claim)
        self.plain, self.proof = (LyapunovSymbols(claim, self.known, in_proof=one) for one in (False, True))
        self.run, self.run_proof = (
            LyapunovSymbols(claim, self.known, in_proof=one, at_step=False) for one in (False, True)
        )
        if certificate.function.has(NOISE):
            raise NotExported("expected a Lyapunov function of the vectors at the start of a round")
        symbol = self.plain.symbols
        self.is_curved = a.strongly_convex_clients in claim.assumptions
        self.is_of_distance = claim.relations[0].left == symbol(q.final_distance_sq)
        self.has_optimum = self.is_of_distance or certificate.function.has(symbol(q.optimum))
        self.is_mixed = any(part.reason.about == (MIXING,) for part in certificate.round)
        self.own = [one for one in self.known.own if one.name != "mixing"]
        self.name = name_of(claim.id)

    # Lemmas about one step.

    def _state_round(self) -> Theorem:
        """Return the lemma on the Lyapunov function after a round."""
        certificate = self.certificate
        terms = [part for part in certificate.round if part.reason.about != (MIXING,)]
        sides = []
        for notation in (self.plain, self.proof):
            states = {one: notation.vocabulary.vectors[state(one)] for one in self._vectors}
            after = notation.move_states(certificate.function, write_round(self.known, states, notation.place))
            after = (
                Multiple(notation.links.reader.number(self._find_contraction(notation) ** 2), after)
                if self.is_mixed
                else after
            )
            before = notation.links.side(certificate.function)
            kept = Multiple(notation.links.reader.number(certificate.factor), before)
            sides.append((after, Sum(kept, Number(notation.links.reader.number(certificate.offset)))))
        return self._state_lemma("round", sides, terms, self._states)

    def _find_contraction(self, notation: LyapunovSymbols) -> sp.Symbol:
        """Return the symbol of the contraction factor of mixing; raises `NotExported` for other Lyapunov functions."""
        one = next(iter(self.known.definition.client))
        spread = Average(norm_sq(state(one) - Average(state(one))))
        if self.certificate.function != spread or [*self.known.definition.client_update] != [one]:
            raise NotExported("only the distance between clients is known of mixtures of neighbours' vectors")
        return notation.symbols(q.mixing_contraction)

    def _state_measure(self) -> Theorem:
        """Prove that the measured quantity is at most the Lyapunov function."""
        sides = []
        for notation in (self.plain, self.proof):
            states = {one: notation.vocabulary.vectors[state(one)] for one in self._vectors}
            model = self.known.term(sp.Symbol("model"), self.known.definition.model, states, notation.place)
            sides.append((self._write_potential(notation, model), notation.links.side(self.certificate.function)))
        return self._state_lemma("model", sides, self.certificate.model, self._states)

    def _write_potential(self, notation: LyapunovSymbols, model: Term) -> Term:
        """Return the left side of the claim for a model: a squared distance from the optimum or between clients."""
        (relation,) = self.claim.relations
        if relation.left == notation.symbols(q.final_distance_sq):
            deviation = Sum(model, Atom("x_star"), "-")
            return Dot(deviation, deviation)
        if relation.left == notation.symbols(q.final_consensus_distance_sq) and isinstance(model, Mean):
            deviation = Sum(model.of, model, "-")
            return Mean(Dot(deviation, deviation))
        raise NotExported(
            "Lyapunov functions bound the distance of the last model, or that between the clients' models"
        )

    def _state_start(self) -> Theorem:
        """Return the lemma on the Lyapunov function at the start."""
        sides, more = [], [Binder("start_model", "step_space S")]
        begun = {**self.known.definition.server, **self.known.definition.client}
        for notation in (self.plain, self.proof):
            at = {start: Atom("start_model")}
            found = {one: self.known.term(one, where, at, notation.place) for one, where in begun.items()}
            states = {one: _NOWHERE if term == ZERO else term for one, term in found.items()}
            level = Number(notation.links.reader.number(self.certificate.level))
            sides.append((notation.move_states(self.certificate.function, states), level))
        reader = self.plain.links.reader
        if self.claim.relations[0].right.has(self.plain.symbols(q.initial_distance)):
            slack = self.plain.links.text(reader.scalar(reader.known[START_DISTANCE].slack))
            more += [Binder("D", "R"), Binder("start_known", f"0 <= {slack}")]
        return self._state_lemma("start", sides, self.certificate.start, more)

    def _state_lemma(
        self, what: str, sides: Sequence[tuple[Term, Term]], terms: Sequence[Part], more: Sequence[Binder]
    ) -> Theorem:
        """Return a lemma with one inequality, proved by the terms of the certificate."""
        (smaller, larger), shown = sides
        statement = f"{self.plain.links.text(smaller)} <= {self.plain.links.text(larger)}"
        proof = self.proof.links.inequality(*shown, terms)
        lines = [self.proof.links.opening, *self.proof.ratio_tactics(), *self.proof.signs.prepare_conditions(), proof]
        return Theorem(f"{self.name}_{what}", [*self._list_binders(), *more], statement, "\n".join(lines))

    @property
    def _vectors(self) -> list[Expr]:
        """Return the vectors of the server and of the clients."""
        return [*self.known.definition.server, *self.known.definition.client]

    @property
    def _states(self) -> list[Binder]:
        """Return variables for the vectors of a state, which depend on the past only."""
        found = []
        for one in self.known.definition.server:
            found += [Binder(str(one), "step_space S"), Binder(f"past_{one}", f"past {one}")]
        for one in self.known.definition.client:
            found += [Binder(str(one), "nat -> step_space S"), Binder(f"past_{one}", f"forall i, past ({one} i)")]
        return found

    def _list_facts(self, place: Place) -> list[Binder]:
        """Return the hypotheses that encode the assumptions on a step, and those about numbers."""
        symbol = self.plain.symbols
        certificate = self.certificate
        numbers = sp.Tuple(certificate.function, certificate.factor, certificate.offset, certificate.level)
        used = numbers.free_symbols | ({symbol(q.optimum)} if self.has_optimum else set())
        parameters = binders(self.plain.vocabulary.at_place(place), used, own=False)
        return [*parameters, *self.own, *self.known.bounds(), *self._bind_numbers(place)]

    def _list_binders(self) -> list[Binder]:
        """Return the hypotheses of all lemmas about a step."""
        curvature = [Binder("curvature_known", "mu <= L")] if self.is_curved else []
        return [*self._list_facts(AT_STEP), *curvature, *self.plain.signs.hypotheses()]

    def _bind_numbers(self, place: Place) -> list[Binder]:
        """Return the constants that only some claims have, with their hypotheses."""
        symbol, claim = self.plain.symbols, self.claim
        found = []
        if symbol(q.mixing_contraction) in claim.notation:
            found += [Binder(MIXING_NAME, "R"), Binder(f"{MIXING_NAME}_nonnegative", f"0 <= {MIXING_NAME}")]
        if symbol(q.optimum_gradient) in claim.notation:
            slopes = f"mean {place.clients} (fun i => ‖grad ({place.own}) (x_star)‖²)"
            found += [Binder("G_star", "R"), Binder("optimum_gradient_known", f"0 <= G_star ^ 2 - ({slopes})")]
        return found

    # The theorem about a run.

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        (relation,) = self.claim.relations
        if relation.operator != "<=":
            raise NotExported("Lyapunov functions prove upper bounds")
        lemmas = (self._state_round(), self._state_measure(), self._state_start())
        parameters = [*self._list_run_binders()]
        statement = f"{self._name_final(self.known.applied)} <= {self.run.links.reader.number(relation.right)}"
        definitions = f"{self.known.text()}{self.known.run()}{self._define_function()}{self._define_final()}"
        proof = "\n".join(self._write_proof(relation.right, lemmas))
        measured = self.run.symbols.quantity(relation.left)
        assert measured is not None
        names = {**self.run.vocabulary.quantity_names, measured: self._name_final(self.known.applied)}
        return Theorem(self.name, parameters, statement, proof, lemmas, ("Definitions",), (), names, definitions)

    def _define_function(self) -> str:
        """Return the Lyapunov function in the terms of a step."""
        states = [one for one in self._states if not one.name.startswith("past_")]
        point = [Binder("x_star", "step_space S")] if self.has_optimum else []
        parameters = " ".join(map(str, [Binder("S", "step"), *self.own, *states, *point]))
        return f"Definition lyapunov_function {parameters} : R := {self.plain.links.text(self._value)}.\n"

    @property
    def _value(self) -> Term:
        """Return the Lyapunov function as a term."""
        return self.plain.links.side(self.certificate.function)

    def _define_final(self) -> str:
        """Return the definition of the left side after the last round."""
        parameters = " ".join(map(str, [Binder("A", "run"), *self.known.own]))
        state_of, model = f"(after {self.known.applied} (rounds_of A))", f"model {self.known.applied}"
        if self.is_of_distance:
            text = f"‖{model} {state_of} - x_star‖²"
            return f"Definition final_distance_sq {parameters} (x_star : space_of A) : R := {text}.\n"
        one = next(iter(self.known.definition.client))
        text = f"mean (clients_of A) (fun i => ‖{one} {state_of} i - {model} {state_of}‖²)"
        return f"Definition final_consensus_distance_sq {parameters} : R := {text}.\n"

    def _name_final(self, applied: str) -> str:
        """Return the measured quantity with the arguments of the algorithm's functions."""
        return (
            f"final_distance_sq {applied} x_star" if self.is_of_distance else f"final_consensus_distance_sq {applied}"
        )

    def _list_run_binders(self) -> Iterator[Binder]:
        """Yield the variables and hypotheses of the run: the assumptions hold in every round."""
        yield from (Binder("A", "run"), Binder("size_positive", "0 < size_of A"), *self.known.own)
        yield from self._lift_assumptions()
        for one in self._vectors:
            index, each = (" i", "n i") if one in self.known.definition.client else ("", "n")
            yield Binder(f"past_{one}", f"forall {each}, past n ({one} (after {self.known.applied} n){index})")
        if self.is_mixed:
            yield Binder("mixes_A", f"mixes (space_of A) (clients_of A) mixing {MIXING_NAME}")
        if self.is_curved:
            yield Binder("some_points", "exists u w : space_of A, 0 < ‖u - w‖²")
        if self._counts_steps:
            (one_step,) = (
                one for one in self.claim.conditions if self.plain.symbols(q.local_steps) in one.free_symbols
            )
            yield Binder("single_step", "tau A <= 1", describe_condition(one_step))
        yield from self.run.signs.hypotheses()

    def _lift_assumptions(self) -> Iterator[Binder]:
        """Yield what the assumptions say of every round."""
        replaced = {"step_size_positive", *(one.name for one in self.own)}
        each, first = (self._list_facts(self._find_round(n)) for n in ("n", "O"))
        for one, at_start in zip(each, first, strict=True):
            if one.name == "past":
                yield Binder("past", "nat -> space_of A -> Prop")
            elif one.name == "minimiser_x_star":
                yield at_start
            elif one.name.endswith("_S") or one.name == "past_x_star":
                yield Binder(self._state_at_run(one.name), f"forall n, {one.type}")
            elif one.name not in replaced:
                yield one

    def _find_round(self, n: str) -> Place:
        """Return the names of the single step of a round."""
        step = f"(step_of_round {self.known.applied} {n})"
        return Place(step, "space_of A", "(clients_of A)", "objective_of A i", past=f"(past {n})")

    @property
    def _counts_steps(self) -> bool:
        """Return whether a round of the definition has local steps."""
        return not self.known.definition.steps_are_rounds

    @staticmethod
    def _state_at_run(name: str) -> str:
        """Return the name of a hypothesis about a run in place of a step."""
        return f"{name.removesuffix('_S')}_A" if name.endswith("_S") else name

    def _write_proof(self, right: Expr, lemmas: Sequence[Theorem]) -> Iterator[str]:
        """Yield the proof of the theorem from the lemmas about a round, the model and the start."""
        notation, certificate = self.run_proof, self.certificate
        number_of, signs = notation.links.reader.number, notation.signs
        factor, offset, level = map(number_of, (certificate.factor, certificate.offset, certificate.level))
        of_round, of_model, of_start = lemmas
        states = " ".join(f"({one} (after {self._applied} n))" for one in self._vectors)
        point = " x_star" if self.has_optimum else ""
        own = "".join(f" ({self.run_proof.goal.get(one.name, one.name)})" for one in self.own)
        yield KNOWN
        if self._counts_steps:
            yield "assert (single : steps_of A = 1%nat) by (apply only_step; exact single_step)."
        yield from notation.ratio_tactics()
        if self.is_curved:
            at = f"(step_of_round {self._applied} O)"
            smooth, curved = (
                f"smooth_F {at} L (smooth_clients_A O)",
                f"strongly_convex_F {at} mu (strongly_convex_clients_A O)",
            )
            yield "assert (curvature_known : mu <= L)."
            yield "{ destruct some_points as [u [w apart]]."
            yield f"  exact (curvatures (F {at}) L mu u w ({smooth}) ({curved}) apart). }}"
        yield from signs.prepare_conditions()
        yield f"pose (V := fun n => lyapunov_function (step_of_round {self._applied} O){own} {states}{point})."
        yield f"assert (shrinks : forall n, V (S n) <= ({factor}) * V n + ({offset}))."
        steps = "1" if self.known.definition.steps_are_rounds else "(steps_of A)"
        yield f"{{ intros n. unfold V. cbn [after].{' rewrite single.' if self._counts_steps else ''}"
        applied = of_round.apply(**self._arguments("n"))
        if self.is_mixed:
            (local,) = self.known.definition.steps
            heard = f"(fun i => {local.vector} {self._applied} (after {self._applied} n) n {steps} i)"
            applied = f"Rle_trans _ _ _ (mixes_A {heard}) ({applied})"
        yield f"  exact ({applied}). }}"
        yield f"assert (begins : V O <= {level})."
        yield f"{{ exact ({of_start.apply(**self._arguments('O'))}). }}"
        yield f"assert (measures : {self._name_final(self._applied)} <= V (rounds_of A))."
        yield f"{{ exact ({of_model.apply(**self._arguments('(rounds_of A)'))}). }}"
        yield f"assert (factor_nonnegative : 0 <= {factor}) by ({signs.nonnegative(certificate.factor)})."
        yield f"assert (factor_small : {factor} < 1)."
        yield f"{{ apply Rminus_gt_0_lt; apply Rlt_gt. {signs.positive(1 - certificate.factor)}. }}"
        yield f"assert (offset_nonnegative : 0 <= {offset}) by ({signs.nonnegative(certificate.offset)})."
        yield "apply Rle_trans with (1 := measures)."
        given = "factor_nonnegative factor_small offset_nonnegative begins shrinks (rounds_of A)"
        yield f"apply Rle_trans with (1 := shrinks_to V _ _ _ {given})."
        remaining = number_of(sp.factor(sp.cancel(sp.together(signs.substitute_ratios(1 - certificate.factor)))))
        yield f"assert (apart : 1 - ({factor}) = {remaining}) by by_field. rewrite apart."
        yield from self._compare_bounds(right, factor)

    def _compare_bounds(self, right: Expr, factor: str) -> Iterator[str]:
        """Prove that the derived bound is at most the claim's."""
        notation, certificate = self.run_proof, self.certificate
        rounds, power = notation.symbols(q.rounds), sp.Symbol("power", nonnegative=True)
        powers = [one for one in sp.sympify(right).atoms(sp.Pow) if one.exp == rounds]
        for one in powers:
            base = notation.links.reader.number(one.base)
            if base != factor:
                yield f"replace ({base}) with ({factor}) by by_field."
        yield f"pose proof (pow_le ({factor}) (rounds_of A) factor_nonnegative) as power_known."
        yield f"set (power := ({factor}) ^ rounds_of A) in *."
        notation.vocabulary.numbers[power] = "power"
        bound = power * certificate.level + certificate.offset / (1 - certificate.factor)
        spare = sp.cancel(sp.together(right.xreplace(dict.fromkeys(powers, power)) - bound))
        yield f"apply le_by_slack; {notation.signs.nonnegative(spare)}."

    @property
    def _applied(self) -> str:
        """Return the arguments of functions in proofs."""
        ratios = {name: f"({ratio})" for name, ratio in self.run_proof.goal.items()}
        return " ".join(["A", *(ratios.get(one.name, one.name) for one in self.known.own)])

    def _arguments(self, n: str) -> dict[str, str]:
        """Return the arguments for a lemma's variables and hypotheses in round n."""
        found = {
            one.name: f"{self._state_at_run(one.name)} {n}" for one in self._list_binders() if one.name.endswith("_S")
        }
        found |= {"S": f"step_of_round {self._applied} {n}", "past": f"past {n}", "past_x_star": f"past_x_star {n}"}
        found |= {str(one): f"{one} (after {self._applied} {n})" for one in self._vectors}
        found |= {f"past_{one}": f"past_{one} {n}" for one in self._vectors}
        found |= {"step_size_positive": "size_positive", "D": "initial_distance A x_star", "start_model": "start A"}
        return found | {"start_known": "start_distance A x_star"} | self.run_proof.goal
