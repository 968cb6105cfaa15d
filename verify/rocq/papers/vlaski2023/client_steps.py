"""Export claims about every local step of a client in a round, proved by induction over its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import advance_distance
from fedtheory.proofs.links import Induction
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import conditions_of
from verify.rocq.links import Links
from verify.rocq.names import name_of, translate
from verify.rocq.numbers import SignProofs
from verify.rocq.papers.vlaski2023.client_step import OwnVocabulary
from verify.rocq.places import AT_STEP, name_step
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import RoundReader, RoundVocabulary
from verify.rocq.rounds import LIBRARY
from verify.rocq.step import write_operator
from verify.rocq.terms import Atom, Multiple, Named, Sum
from verify.rocq.theorem import (
    Binder,
    Exported,
    Theorem,
    declare_index,
    list_relations,
    project,
    prove_conjunction,
)

STEPS = (*LIBRARY, "Run", "RoundSteps")
"""The files of the library that these theorems need."""
_AT_STEP = (q.local_iterate, q.gradient_noise, q.stochastic_gradient)
_EACH = "forall i, "
STEP_FACTS = (
    Binder("past_steps", "nat -> step_space S -> Prop"),
    Binder("unbiased_steps_S", "forall e, unbiased (step_of S e) (past_steps e)"),
    Binder("past_optimum_steps", "forall e i, past_steps e (optimum i)"),
    Binder("nu", "nat -> R"),
    Binder("nu_positive", f"{_EACH}0 < nu i"),
    Binder("own_strongly_convex_S", "own_strongly_convex S nu"),
    Binder("own_variance_steps_S", "forall e, variance_at_iterates (step_of S e) optimum beta sigma"),
)
"""Facts about the steps of a round, apart from the first."""
_OF_ROUND = (
    Binder("S", "round"),
    Binder("step_size_positive", "0 < step_size S"),
    Binder("uniform_shares_S", "uniform_shares S"),
    Binder("normalised_S", "normalised_steps S"),
    Binder("several_clients_S", "2 <= M S"),
    Binder("optimum", "nat -> step_space S"),
    Binder("client_minimisers_S", f"{_EACH}grad (client_objective S i) (optimum i) = zero"),
    Binder("beta", "nat -> R"),
    Binder("beta_sign", f"{_EACH}0 <= beta i"),
    Binder("sigma", "nat -> R"),
    Binder("sigma_sign", f"{_EACH}0 <= sigma i"),
    Binder("delta", "nat -> R"),
    Binder("delta_sign", f"{_EACH}0 < delta i"),
    Binder("own_smooth_S", "own_smooth S delta"),
)
_FIRST = name_step("(step_of S O)", _OF_ROUND[0])
"""The first step of a round."""
_CLIENT = declare_index("i", "number (step_clients S)")
_STEP = declare_index("e", "steps_of_client S i")


def is_of_steps(claim: Claim, certificate: Certificate) -> bool:
    """Return whether a claim about a round is proved by induction over the steps of each client."""
    return claim.place == "round" and any(isinstance(why, Induction) for why in certificate.links)


def write_theorem_of_steps(
    claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return the theorem about each step, and the claims that its proof uses."""
    writer = _ClientStepsWriter(claim, certificate, [export_id(name) for name in certificate.lemmas])
    return writer.theorem(), writer.uses


@dataclass
class StepVocabulary(OwnVocabulary):
    """The symbols of a claim about local step e of client i."""

    first: int = 0
    """The least index of a step in the claim."""
    gathered: bool = False
    """Whether the client still has the server's model."""

    def __post_init__(self) -> None:
        """Read the claim's symbols."""
        super().__post_init__()
        self.index = self.symbols(q.local_step_index)
        self.numbers[self.index] = "e"
        if self.gathered:
            server = self.vectors[self.symbols(q.server_model)]
            start = self._vectors(self.symbols, server)
            sample = start[self.symbols(q.stochastic_gradient)]
            name = self.place.step
            step = Multiple(f"step_size {name} / E i", sample)
            moved = Named(f"own_next_iterate {name} E i", Sum(server, step, "-"))
            self.vectors |= {self.symbols(quantity): start[self.symbols(quantity)] for quantity in _AT_STEP}
            self.vectors[self.symbols(q.next_local_iterate)] = moved
            self.folded = f"change (local_iterate {name} i) with (server_model {name}) in *; "

    @property
    def least(self) -> list[tuple[sp.Symbol, Expr]]:
        """Return lower bounds of the symbols of counts."""
        steps = self.symbols(q.client_local_steps)
        return [(steps, self.index + 1), (self.index, sp.Integer(self.first)), *super().least]

    @property
    def step_binders(self) -> Iterator[Binder]:
        """Yield the index of the step as a variable."""
        yield Binder("e", "R")
        yield Binder("e_large", f"{self.first} <= e")
        yield Binder("e_below", "e + 1 <= E i")


class _ClientStepsWriter:
    def __init__(self, claim: Claim, certificate: Certificate, uses: list[Exported]) -> None:
        self.claim, self.certificate, self.uses = claim, certificate, uses
        self.conditions = tuple(conditions_of(claim, certificate.relaxed))
        self.lemmas: list[Theorem] = []

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        relations = list(zip(self.claim.relations, self.certificate.links, strict=True))
        goal = [
            f"{self._write_at('e', r.left)} {write_operator(r)} {self._write_at('e', r.right)}" for r, _ in relations
        ]
        proofs = [self._prove_link(place, relation, why) for place, (relation, why) in enumerate(relations, start=1)]
        parameters = [*_OF_ROUND, *STEP_FACTS, *_CLIENT, *_STEP, *self._collect_signs("e").hypotheses()]
        start = ["pose proof (clients_at_least_one S) as M_large. pose proof (E_large S i) as E_known."]
        start += ["pose proof (nu_positive i) as nu_known. pose proof (delta_sign i) as delta_known."]
        start += ["pose proof (before_last S e i He) as e_below. pose proof (pos_INR e) as e_large."]
        proof = "\n".join([*start, prove_conjunction(proofs)])
        name, names = name_of(self.claim.id), self._build_vocabulary("e").quantity_names
        return Theorem(name, parameters, " /\\\n  ".join(goal), proof, tuple(self.lemmas), library=STEPS, names=names)

    def _build_vocabulary(self, step: str) -> RoundVocabulary:
        """Return the names at a local step of client i."""
        vocabulary = RoundVocabulary(self.claim)
        symbol = vocabulary.symbols
        vocabulary.numbers |= {symbol(q.local_step_index): f"INR {step}", symbol(q.client_strong_convexity): "nu i"}
        vocabulary.vectors[symbol(q.local_iterate)] = Atom(f"iterate S {step} i", own=True)
        return vocabulary

    def _write_at(self, step: str, expression: Expr) -> str:
        """Return a scalar at a step of the round as text."""
        return RoundReader(self._build_vocabulary(step)).write_scalar(expression)

    def _collect_signs(self, step: str) -> SignProofs:
        """Return the proofs of signs at a local step of client i."""
        return SignProofs(self._build_vocabulary(step).numbers, self.conditions)

    # The following facts hold at every step.

    def _prove_link(self, place: int, relation: Relation, why: object) -> str:
        """Return the proof of an upper bound, by induction or from a lemma on one step."""
        if relation.operator != "<=":
            raise NotExported("claims about the steps of a round are exported if they are upper bounds")
        if isinstance(why, Induction):
            return self._prove_induction(place, relation, why)
        assert isinstance(why, Sequence)
        lemma = self._state_step(f"at_step_{place}", relation.left, relation.right, why)
        known = lemma.apply(**self._list_arguments("e"))
        return f"first [exact ({known}) | apply Rle_trans with (1 := {known}); right; by_field]."

    def _state_step(
        self, name: str, left: Expr, right: Expr, parts: Sequence[Part], first: int = 0, *, gathered: bool = False
    ) -> Theorem:
        """Return a lemma about one step."""
        place = _FIRST if gathered else AT_STEP
        vocabulary = StepVocabulary(self.claim, place=place, first=first, gathered=gathered)
        signs = SignProofs(vocabulary.numbers, self.conditions, vocabulary.least)
        known, hypotheses = self._write_facts(vocabulary)
        links = Links(Reader(vocabulary, known), signs)
        smaller, larger = links.side(left), links.side(right)
        proof = links.inequality(smaller, larger, parts)
        everything = {vocabulary.symbols(quantity) for quantity in (q.client_optimum, q.absolute_noise)}
        parameters = [*vocabulary.binders(everything), *vocabulary.step_binders, *hypotheses]
        name = f"{name_of(self.claim.id)}_{name}"
        found = links.state(name, (smaller, larger), proof, parameters, vocabulary.known)
        self.lemmas.append(found)
        return found

    def _list_arguments(self, step: str, large: str = "e_large", below: str = "e_below") -> Mapping[str, str]:
        """Return the arguments for the variables and hypotheses of a lemma about one step, at a step of the round."""
        given = {
            "S": f"step_of S {step}",
            "past": f"past_steps {step}",
            "unbiased_S": f"unbiased_steps_S {step}",
            "past_optimum": f"past_optimum_steps {step}",
            "own_variance_S": f"own_variance_steps_S {step}",
            "E": "E_of S",
            "E_large": "E_large S",
            "beta_nonnegative": "beta_sign",
            "sigma_nonnegative": "sigma_sign",
            "delta_positive": "delta_sign",
            "e": f"INR {step}",
            "e_large": large,
            "e_below": below,
        }
        at_step = {"e": "He", "k": "(proj2 Hk)", "O": "(some_steps_of_client S i)"}[step]
        for place, (used, link, _) in enumerate(self._premises(), start=1):
            applied = used.general.apply(e=step, He=at_step)
            given[f"known{place}_S"] = project(applied, link, len(used.claim.relations))
        return given

    def _premises(self) -> Iterator[tuple[Exported, int, str]]:
        """Yield the relations of other claims that are used, with their names."""
        named = str(self.certificate.links)
        return ((used, link, name) for name, used, link in list_relations(self.uses) if f"'{name}'" in named)

    def _write_facts(self, vocabulary: StepVocabulary) -> tuple[dict[str, KnownSlack], list[Binder]]:
        """Return the relations of used claims: slacks by name, and the hypotheses of a lemma that state them."""
        known, parameters = dict[str, KnownSlack](), list[Binder]()
        reader = Reader(vocabulary)
        for place, (used, link, name) in enumerate(self._premises(), start=1):
            sides = used.claim.relations[link].sides
            left, right = (translate(side, symbols_of(used.claim), vocabulary.symbols) for side in sides)
            smaller, larger = (reader.write_scalar(side) for side in (left, right))
            parameters.append(Binder(f"known{place}_S", f"{smaller} <= {larger}"))
            known[name] = KnownSlack(right - left, f"pose proof known{place}_S as hypothesis; lra")
        return known, parameters

    # Induction from step to step.

    def _prove_induction(self, place: int, relation: Relation, why: Induction) -> str:
        """Prove a bound at every step; raises `NotExported` for bounds with powers."""
        if why.base is not None or why.start:
            raise NotExported("claims about the steps of a round are exported for bounds without powers")
        index = symbols_of(self.claim)(q.local_step_index)
        first = 0 if why.first is None else 1
        after = advance_distance(self.claim, why.measured)
        stepped = why.factor * why.measured + why.offset
        step = self._state_step(f"step_{place}", after, stepped, why.terms, first)
        later, goal = self._write_at("(Datatypes.S k)", why.measured), self._write_at("k", stepped)
        measured, bound, factor, offset = (
            self._write_at("k", one) for one in (why.measured, why.bound, why.factor, why.offset)
        )
        large = "from_one k (proj1 Hk)" if first else "pos_INR k"
        known = f"pose proof (before_last S k i (proj2 Hk)) as k_below; pose proof ({large}) as k_large"
        applied = step.apply(**self._list_arguments("k", "k_large", "k_below"))
        start = "cbn [iterate]; simpl INR; right; by_field"
        if why.first is not None:
            begin = why.bound.subs(index, 1)
            once = self._state_step(f"first_{place}", after, begin, why.first, gathered=True)
            begun = "(before_last S O i (some_steps_of_client S i))"
            arguments = {**self._list_arguments("O", "Rle_refl 0", begun), "S": "S"}
            stated_once = f"{self._write_at('1', why.measured)} <= {self._write_at('O', begin)}"
            start = (
                f"pose proof ({once.apply(**arguments)}) as known; rewrite (own_next S O i normalised_S) in known; "
                f"assert (begun : {stated_once}) by exact known; "
                "apply Rle_trans with (1 := begun); right; simpl INR; by_field"
            )
        is_now = not relation.left.has(symbols_of(self.claim)(q.next_local_iterate))
        now = "e" if is_now else "(e + 1)%nat"
        at_zero = "rewrite starts_at_server; simpl INR; right; by_field"
        split = f"destruct (Nat.eq_dec e 0) as [-> | later]; [{at_zero} |].\n" if is_now and first else ""
        return (
            f"assert (bounds : forall k, ({first} <= k <= steps_of_client S i)%nat -> {measured} <= {bound}).\n"
            "{ clear e He e_below e_large. intros k Hk.\n"
            f"  apply (from_step_to_step (fun k => {measured}) (fun k => {bound})\n"
            f"    (fun k => {factor}) (fun k => {offset}) {first} (steps_of_client S i)); [| | | | exact Hk].\n"
            f"  - {start}.\n"
            f"  - clear k Hk; intros k Hk; {known}. of_signs.\n"
            f"  - clear k Hk; intros k Hk; {known}.\n"
            f"    pose proof ({applied}) as known. rewrite (own_next S k i normalised_S) in known.\n"
            f"    assert (stepped : {later} <= {goal}) by exact known.\n"
            "    apply Rle_trans with (1 := stepped); right; cbv beta; by_field.\n"
            f"  - clear k Hk; intros k Hk; {known}. rewrite S_INR. right. by_field. }}\n"
            f"{split}apply Rle_trans with (1 := bounds {now} ltac:(lia)); right; "
            "rewrite ?plus_INR; simpl (INR 1); by_field."
        )
