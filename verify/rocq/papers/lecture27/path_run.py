"""Vocabulary for local steps of a round compared with gradient descent on F from the same start.

The definitions are those of `library/Interval.v` and `library/Lengths.v`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import POWER, StepIndex
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import conditions_of
from verify.rocq.hypotheses import state_at
from verify.rocq.names import name_quantities, translate
from verify.rocq.numbers import number
from verify.rocq.places import IN_RUN
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import STEP_OF_RUN, RunVocabulary
from verify.rocq.terms import Atom, Mean, Multiple, Named, Sum, is_own
from verify.rocq.theorem import Binder, Exported, declare_index, declare_real, list_relations, project
from verify.rocq.vocabulary import Vocabulary

NEEDS = ("Lengths", "Interval")
"""The files of the library that these theorems need, in addition to the base."""
SAME = (
    "rewrite ?Nat.add_1_r, ?S_INR, ?plus_INR; cbn [pow INR]; try change (step_size (step_at A n k)) with (size_of A); "
)
SAME += "try change (step_clients (step_at A n k)) with (clients_of A); by_field"
"""A tactic for one number, in the terms of a step and of a run."""


class PathVocabulary(Vocabulary):
    """The symbols of a claim about a local step compared with a step of gradient descent on F."""

    def __post_init__(self) -> None:
        super().__post_init__()
        symbol = self.symbols
        own = {symbol(q.client_dissimilarity): "delta i", symbol(q.nearest_start): "omega", POWER: "power"}
        self.numbers |= own
        used, clients = set(self.claim.notation.values()), self.place.clients
        if used & {q.client_dissimilarity, q.mean_divergence}:
            own_bound = [state_at(one, self.place.step) for one in OWN_DISSIMILARITY]
            self.parameters[a.bounded_dissimilarity] = own_bound
            each = Atom("delta i", kind="S", own=True)
            whole = f"mean {clients} delta"
            self.scalars = {
                symbol(q.client_dissimilarity): each,
                symbol(q.mean_divergence): Named(whole, Mean(each)),
            }
            self.numbers[symbol(q.mean_divergence)] = whole
        if q.nearest_start in used:
            near = f"‖server_model {self.place.step} - x_star‖² <= 1 / omega"
            self.more = [*_OMEGA, Binder("nearest_start_S", near)]

    def gather(self) -> None:
        """Set all clients to the server's model."""
        super().gather()
        model, symbol = Atom(f"server_model {self.place.step}"), self.symbols
        self.vectors[symbol(q.centralised_model)] = model
        downhill = Multiple(f"step_size {self.place.step}", self.place.gradient(self.place.mean, model))
        self.vectors[symbol(q.next_centralised_model)] = Sum(model, downhill, "-")


_OMEGA = declare_real("omega", positive=True)
OWN_DISSIMILARITY = (
    Binder("delta", "nat -> R"),
    Binder("delta_nonnegative", "forall i, 0 <= delta i"),
    Binder("own_dissimilarity_S", "own_dissimilarity {step} delta"),
)


def name_in_run(claim: Claim, base: Expr | None = None) -> PathVocabulary:
    """Return the symbols of a claim at step k of round n of a run, with a power of the base."""
    vocabulary = PathVocabulary(claim, quiet=True, place=IN_RUN)
    vocabulary.numbers[vocabulary.symbols(q.local_step_index)] = "INR k"
    if base is not None:
        vocabulary.numbers[POWER] = f"({number(base, vocabulary.numbers)}) ^ k"
    return vocabulary


class PathInRun:
    """The hypotheses of a theorem about each local step of a run, and the arguments for a theorem about one step."""

    def __init__(self, claim: Claim, conditions: tuple[Expr, ...]) -> None:
        self.run = RunVocabulary(replace(claim, place="run"))
        symbol = self.run.symbols
        self.run.names |= {symbol(q.client_dissimilarity): "delta i", symbol(q.nearest_start): "omega"}
        self.run.names[symbol(q.mean_divergence)] = "mean (clients_of A) delta"
        self.conditions = conditions
        self.vocabulary = name_in_run(claim)

    def binders(self, used: set[sp.Symbol], *, own: bool) -> list[Binder]:
        """Return the variables and hypotheses."""
        parameters = [binder for binder in self.run.binders(used) if not self._is_replaced(binder)]
        if self.run.symbols(q.optimum) in used and all(binder.name != "x_star" for binder in parameters):
            minimiser = Binder("minimiser_x_star", "minimiser (step_at A O O) x_star")
            parameters += [Binder("x_star", "space_of A"), minimiser]
        if self.vocabulary.parameters:
            *numbers, bound = OWN_DISSIMILARITY
            parameters += [*numbers, Binder("own_dissimilarity_A", f"always A (fun S => {state_at(bound, 'S').type})")]
        if self.vocabulary.more:
            near = "forall n, (n < rounds_of A)%nat -> ‖server A n - x_star‖² <= 1 / omega"
            parameters += [*_OMEGA, Binder("nearest_start_A", near)]
        parameters += STEP_OF_RUN
        return parameters + ([*declare_index("i", "number (clients_of A)")] if own else [])

    def _is_replaced(self, binder: Binder) -> bool:
        """Return whether a hypothesis on the common dissimilarity is replaced by those on single clients."""
        return bool(self.vocabulary.parameters) and binder.name in (
            "zeta",
            "zeta_nonnegative",
            "bounded_dissimilarity_A",
        )

    @property
    def quantity_names(self) -> dict[Quantity, str]:
        """Return the names of the claim's quantities."""
        index = self.run.symbols(q.local_step_index)
        return self.vocabulary.quantity_names | name_quantities(self.run.symbols, {**self.run.names, index: "INR k"})

    @property
    def known(self) -> list[str]:
        """Return tactics for the start of every proof."""
        return [
            "pose proof (mean_nonneg (clients_of A) delta (fun i _ => delta_nonnegative i)) as delta_known."
        ] * bool(self.vocabulary.parameters)

    def arguments(self, k: str = "k") -> dict[str, str]:
        """Return the arguments for the variables and hypotheses of a theorem about a step, at step k of round n."""
        own = {
            "v": f"centralised A n {k}",
            "own_dissimilarity_S": f"own_dissimilarity_A n {k}",
            "nearest_start_S": "nearest_start_A n Hn",
        }
        return self.run.step_arguments(k) | own


def name_mean_dissimilarity(expression: Expr, symbol: Callable[[q.Quantity], sp.Symbol]) -> Expr:
    """Write the average of the delta_i in an expression as delta."""
    own, whole = symbol(q.client_dissimilarity), symbol(q.mean_divergence)
    return sp.sympify(expression).replace(
        lambda part: isinstance(part, Average), lambda part: sp.expand(part.args[0]).subs(own, whole)
    )


class KnownOnPath:
    """Statements of other claims about the same step, as hypotheses of a theorem about a step."""

    def __init__(self, claim: Claim, certificate: Certificate, export_id: Callable[[str], Exported]) -> None:
        self.claim, self.named = claim, str(certificate.links)
        self.uses = [export_id(name) for name in certificate.lemmas]
        if any(used.conditions and not self._has_own_conditions(used, certificate) for used in self.uses):
            raise NotExported("its certificate uses other claims about runs, under other conditions")

    def _has_own_conditions(self, used: Exported, certificate: Certificate) -> bool:
        """Return whether the conditions of a used claim's theorem are those of the claim that uses it."""
        conditions = tuple(conditions_of(self.claim, certificate.relaxed))
        own = PathInRun(self.claim, conditions).run.signs(conditions).hypotheses()
        return [one for one in used.theorem.binders if one.name.startswith("condition")] == own

    def parameters(
        self, vocabulary: Vocabulary, base: Expr | None, below: str = "Hk"
    ) -> tuple[dict[str, KnownSlack], list[Binder], list[str]]:
        """Return slacks by claim, hypotheses, and tactics that prove these at step k of round n.

        The tactics use `below`, a proof that k is below the number of steps.
        """
        known, parameters, lines = dict[str, KnownSlack](), list[Binder](), list[str]()
        named = (one for one in list_relations(self.uses) if f"'{one[0]}'" in self.named)
        for place, (name, used, link) in enumerate(named, start=1):
            sides = used.claim.relations[link].sides
            counter, theirs, ours = StepIndex(self.claim, base), symbols_of(used.claim), vocabulary.symbols
            left, right = (counter.write_powers(translate(side, theirs, ours)) for side in sides)
            own, goal = _state_bound(Reader(vocabulary), left, right)
            _, here = _state_bound(Reader(name_in_run(self.claim, base)), left, right)
            hypothesis = f"known{place}_S"
            parameters.append(Binder(hypothesis, goal))
            found = f"{hypothesis} i Hi" if own else hypothesis
            known[name] = KnownSlack(right - left, f"pose proof ({found}) as hypothesis; lra")
            theorem = used.theorem if used.conditions else used.general
            applied = project(theorem.apply(Hk=below), link, len(used.claim.relations))
            opened = "try rename i into this_one, Hi into this_is_one. intros i Hi. " if own else ""
            lines.append(
                f"assert ({hypothesis} : {here}).\n{{ {opened}apply Rle_trans with (1 := {applied}). right. {SAME}. }}"
            )
        return known, parameters, lines


def _state_bound(reader: Reader, left: Expr, right: Expr) -> tuple[bool, str]:
    """Return whether a bound concerns each client, and its statement."""
    smaller, larger = reader.scalar(left), reader.scalar(right)
    of_client = reader.vocabulary.symbols(q.client_dissimilarity) in right.free_symbols
    own = is_own(smaller) or is_own(larger) or of_client
    each = f"forall i, (i < number {reader.vocabulary.place.clients})%nat -> " if own else ""
    return own, f"{each}{reader.text(smaller)} <= {reader.text(larger)}"
