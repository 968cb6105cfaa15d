"""Vocabulary for local steps of a round compared with gradient descent on F from the same start.

The definitions are those of `library/Interval.v` and `library/Lengths.v`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.names import name_quantities, translate
from verify.rocq.numbers import number
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.run import RunVocabulary
from verify.rocq.terms import Atom, Mean, Multiple, Named, Sum, is_own, text
from verify.rocq.theorem import Binder, Exported, declare_index, declare_real, list_relations, project
from verify.rocq.vocabulary import CLIENTS, MEAN, Vocabulary, gradient

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
        used = set(self.claim.notation.values())
        if used & {q.client_dissimilarity, q.mean_divergence}:
            self.parameters[a.bounded_dissimilarity] = OWN_DISSIMILARITY
            each = Atom("delta i", kind="S", own=True)
            whole = f"mean {CLIENTS} delta"
            self.scalars = {
                symbol(q.client_dissimilarity): each,
                symbol(q.mean_divergence): Named(whole, Mean(each)),
            }
            self.numbers[symbol(q.mean_divergence)] = whole
        if q.nearest_start in used:
            near = "‖server_model S - x_star‖² <= 1 / omega"
            self.more = [*_OMEGA, Binder("nearest_start_S", near)]

    def gather(self) -> None:
        """Set all clients to the server's model."""
        super().gather()
        model, symbol = Atom("server_model S"), self.symbols
        self.vectors[symbol(q.centralised_model)] = model
        downhill = Multiple("step_size S", gradient(MEAN, model))
        self.vectors[symbol(q.next_centralised_model)] = Sum(model, downhill, "-")


_OMEGA = declare_real("omega", positive=True)
OWN_DISSIMILARITY = (
    Binder("delta", "nat -> R"),
    Binder("delta_nonnegative", "forall i, 0 <= delta i"),
    Binder("own_dissimilarity_S", "own_dissimilarity S delta"),
)


def state_in_run(goal: str) -> str:
    """Translate a statement on a step to step k of round n of a run."""
    goal = re.sub(r"\(v\)|\bv\b", "(centralised A n k)", goal)
    return re.sub(r"\bS\b", "(step_at A n k)", goal)


class PathInRun:
    """The hypotheses of a theorem about each local step of a run, and the arguments for a theorem about one step."""

    def __init__(self, claim: Claim, conditions: tuple[Expr, ...]) -> None:
        self.run = RunVocabulary(replace(claim, place="run"))
        symbol = self.run.symbols
        self.run.names |= {symbol(q.client_dissimilarity): "delta i", symbol(q.nearest_start): "omega"}
        self.run.names[symbol(q.mean_divergence)] = "mean (clients_of A) delta"
        self.conditions = conditions
        self.vocabulary = PathVocabulary(claim, quiet=True)

    def binders(self, used: set[sp.Symbol], *, own: bool) -> list[Binder]:
        """Return the variables and hypotheses."""
        parameters = [binder for binder in self.run.binders(used) if not self._is_replaced(binder)]
        if self.run.symbols(q.optimum) in used and all(binder.name != "x_star" for binder in parameters):
            minimiser = Binder("minimiser_x_star", "minimiser (step_at A O O) x_star")
            parameters += [Binder("x_star", "space_of A"), minimiser]
        if self.vocabulary.parameters:
            *numbers, bound = OWN_DISSIMILARITY
            parameters += [*numbers, Binder("own_dissimilarity_A", f"always A (fun S => {bound.type})")]
        if self.vocabulary.more:
            near = "forall n, (n < rounds_of A)%nat -> ‖server A n - x_star‖² <= 1 / omega"
            parameters += [*_OMEGA, Binder("nearest_start_A", near)]
        parameters += [Binder("n", "nat"), Binder("k", "nat")]
        parameters += [Binder("Hn", "(n < rounds_of A)%nat"), Binder("Hk", "(k < steps_of A)%nat")]
        return parameters + ([*declare_index("i", "number (clients_of A)")] if own else [])

    def _is_replaced(self, binder: Binder) -> bool:
        return bool(self.vocabulary.parameters) and binder.name in (
            "zeta",
            "zeta_nonnegative",
            "bounded_dissimilarity_A",
        )

    @property
    def called(self) -> dict[Quantity, str]:
        """Return the names of the claim's quantities."""
        of_step = {quantity: state_in_run(name) for quantity, name in self.vocabulary.called.items()}
        index = self.run.symbols(q.local_step_index)
        return of_step | name_quantities(self.run.symbols, {**self.run.names, index: "INR k"})

    @property
    def known(self) -> list[str]:
        """Return tactics for the start of every proof."""
        return [
            "pose proof (mean_nonneg (clients_of A) delta (fun i _ => delta_nonnegative i)) as delta_known."
        ] * bool(self.vocabulary.parameters)

    @property
    def arguments(self) -> Mapping[str, str]:
        """Return the arguments for the variables and hypotheses of a theorem about a step."""
        own = {
            "v": "centralised A n k",
            "own_dissimilarity_S": "own_dissimilarity_A n k",
            "nearest_start_S": "nearest_start_A n Hn",
        }
        return self.run.at_step | own


def powers_in(expression: Expr, index: sp.Symbol) -> set[Expr]:
    """Return the bases of powers whose exponent is the index of a step."""
    return {one.base for one in sp.sympify(expression).atoms(sp.Pow) if one.exp.has(index)}


def write_power(expression: Expr, base: Expr | None, index: sp.Symbol) -> Expr:
    """Write base^(k + m) in an expression as base^m times a symbol."""

    def is_power(part: Expr) -> bool:
        return bool(part.is_Pow and part.exp.has(index) and sp.expand(part.base - base) == 0)

    return sp.sympify(expression).replace(is_power, lambda part: POWER * base ** (part.exp - index))


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
        if any(used.conditions and not self._is_under_ours(used, certificate) for used in self.uses):
            raise NotExported("its certificate uses other claims about runs, under other conditions")

    def _is_under_ours(self, used: Exported, certificate: Certificate) -> bool:
        """Return whether the conditions of a used claim's theorem are those of the claim that uses it."""
        conditions = tuple(self.claim.conditions if certificate.relaxed is None else certificate.relaxed)
        own = PathInRun(self.claim, conditions).run.signs(conditions).hypotheses()
        return [one for one in used.theorem.binders if one.name.startswith("condition")] == own

    def parameters(
        self, vocabulary: Vocabulary, base: Expr | None
    ) -> tuple[dict[str, KnownSlack], list[Binder], list[str]]:
        """Return slacks by claim, hypotheses, and tactics that prove these at step k of round n of a run."""
        known, parameters, lines = dict[str, KnownSlack](), list[Binder](), list[str]()
        named = (one for one in list_relations(self.uses) if f"'{one[0]}'" in self.named)
        for place, (name, used, link) in enumerate(named, start=1):
            sides = used.claim.relations[link].sides
            left, right = (self._translate(side, used.claim, vocabulary, base) for side in sides)
            reader = Reader(vocabulary)
            smaller, larger = reader.scalar(left), reader.scalar(right)
            own = is_own(smaller) or is_own(larger) or "delta i" in text(larger, CLIENTS)
            each = f"forall i, (i < number {CLIENTS})%nat -> " if own else ""
            hypothesis = f"known{place}_S"
            power = "" if base is None else state_in_run(f"({number(base, vocabulary.numbers)}) ^ k")
            parameters.append(Binder(hypothesis, f"{each}{text(smaller, CLIENTS)} <= {text(larger, CLIENTS)}"))
            found = f"{hypothesis} i Hi" if own else hypothesis
            known[name] = KnownSlack(right - left, f"pose proof ({found}) as hypothesis; lra")
            theorem = used.theorem if used.conditions else used.general
            applied = project(theorem.applied(), link, len(used.claim.relations))
            here = re.sub(r"\bpower\b", f"({power})", state_in_run(parameters[-1].type))
            opened = "try rename i into this_one, Hi into this_is_one. intros i Hi. " if own else ""
            lines.append(
                f"assert ({hypothesis} : {here}).\n{{ {opened}apply Rle_trans with (1 := {applied}). right. {SAME}. }}"
            )
        return known, parameters, lines

    def _translate(self, side: Expr, theirs: Claim, vocabulary: Vocabulary, base: Expr | None) -> Expr:
        ours = vocabulary.symbols
        return write_power(translate(side, symbols_of(theirs), ours), base, ours(q.local_step_index))
