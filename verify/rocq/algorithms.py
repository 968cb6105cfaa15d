"""Write algorithms that are given by definitions in Rocq: the state of a run, local steps, and the end of a round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from fedtheory.federation.definition import (
    Compressed,
    Gradient,
    Local,
    Mixed,
    Parameter,
    Participants,
    Weighted,
    eta,
    eta_g,
    eta_sum,
    importance,
    optimum,
    start,
)
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import select_algorithm_assumptions
from fedtheory.language.claim import Claim
from fedtheory.proofs.definitions import definition_of
from verify.rocq.names import require_new_words
from verify.rocq.numbers import number
from verify.rocq.places import AT_STEP
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Mean, Multiple, Sum, Term, text
from verify.rocq.theorem import Binder

ZERO = Atom("zero", zero=True)
_CLIENTS = "(clients_of A)"
_SIZES = {True: "size_of A", False: "step_size_of i k"}
"""Text of the size of local step k of client i."""
Env = Mapping[Expr, Term]
"""Terms of the vectors of a definition, by symbol."""


@dataclass(frozen=True)
class Notation:
    """Names of a definition's numbers, gradients and sums in Rocq."""

    numbers: Mapping[Expr, str]
    objective: str
    noise: Atom | None
    """Name of the noise; None for full gradients."""
    at_step: bool
    """Whether the names are those of one step of the library, where proofs compare normal forms."""


class Algorithm:
    """The definition of the algorithm that a claim concerns."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.definition = claim, definition_of(claim)
        self.same_size = a.same_step_size in claim.assumptions
        self.is_full = a.full_participation in claim.assumptions and a.importance_weights in claim.assumptions
        self.given = {key: n for one in select_algorithm_assumptions(claim.assumptions) for key, n in one.numbers}
        if len(self.definition.steps) != 1 or self.definition.uses(Compressed):
            raise NotExported("algorithms with one local vector and without compression are exported")

        known = self.definition
        vectors = [*known.server, *known.client, self.local.vector]
        require_new_words([self.name, *map(str, vectors), *(one.key for one in known.parameters)])

    @property
    def name(self) -> str:
        """Return the name of the record of its vectors."""
        return f"{self.definition.name}_state"

    @property
    def local(self) -> Local:
        """Return its local vector."""
        return self.definition.steps[0]

    @cached_property
    def parameters(self) -> dict[Expr, Parameter]:
        """Return its parameters without given values, by symbol."""
        return {one.letter: one for one in self.definition.parameters if one.key not in self.given}

    @cached_property
    def own(self) -> list[Binder]:
        """Return the variables for its parameters, besides those of every run."""
        found = [Binder(one.key, "R") for one in self.parameters.values()]
        if self._uses_part(eta_g) and a.server_step_of_one not in self.claim.assumptions:
            found.append(Binder("server_step_size", "R"))
        found += [Binder(str(coin_name(n)), "R") for n, _ in enumerate(self.definition.coins)]
        if not self.same_size:
            found += [Binder("step_size_of", "nat -> nat -> R"), Binder("steps_of_client", "nat -> nat")]
        if self._uses_part(Mixed):
            found.append(Binder("mixing", "nat -> nat -> R"))
        if self._uses_part(Weighted) and not self.is_full:
            found.append(Binder("weights", "nat -> R"))
        if self._has_passive_state or self._uses_part(Participants):
            found.append(Binder("is_drawn", "nat -> bool"))
        return found

    @property
    def applied(self) -> str:
        """Return the first arguments of its functions."""
        return " ".join(["A", *(binder.name for binder in self.own)])

    def numbers(self, size: str, share: str) -> dict[Expr, str]:
        """Return the names of its numbers."""
        known = {symbol: one.key for symbol, one in self.parameters.items()}
        known |= {coin: coin_name(n) for n, coin in enumerate(self.definition.coins)}
        sizes = "sum (steps_of_client i) (step_size_of i)"
        return {**known, eta: size, eta_g: "server_step_size", eta_sum: sizes, importance: share}

    def bounds(self) -> Iterator[Binder]:
        """Yield hypotheses about its parameters."""
        for one in self.parameters.values():
            if not isinstance(one.allowed, sp.Interval):
                raise NotExported(f"expected an interval of values of {one.key}, got {one.allowed}")
            if one.is_flag:
                continue
            low, high = one.allowed.start, one.allowed.end
            is_open = one.allowed.left_open
            yield Binder(
                f"{one.key}_{'positive' if is_open else 'nonnegative'}", f"{low} {'<' if is_open else '<='} {one.key}"
            )
            if high.is_finite:
                yield Binder(f"{one.key}_bounded", f"{one.key} {'<' if one.allowed.right_open else '<='} {high}")

    @property
    def _has_passive_state(self) -> bool:
        """Return whether clients that are not sampled keep their state."""
        known = self.definition
        return bool(known.client_update) and not known.needs_all_clients and not self.is_full

    def _uses_part(self, part: object) -> bool:
        """Return whether an expression of the definition contains a part."""
        return any(sp.sympify(expression).has(part) for _, expression in self.definition.expressions())

    # Vectors.

    def term(self, of: Expr, expression: Expr, vectors: Env, place: Notation) -> Term:
        """Return a linear combination of vectors, in the order of the definition."""
        total: Term | None = None
        for part, scale in self.definition.parts(of, expression).items():
            factor = self._number(scale)
            if factor == 0:
                continue
            is_less = total is not None and factor.as_coeff_Mul()[0].is_negative
            factor = -factor if is_less else factor
            member = self._part(of, part, vectors, place)
            member = member if factor == 1 else Multiple(number(factor, place.numbers), member)
            total = member if total is None else Sum(total, member, "-" if is_less else "+")
        return ZERO if total is None else total

    def _number(self, scale: Expr) -> Expr:
        """Return a scale with the parameters whose values the claim fixes."""
        known: dict[Expr, Expr] = {
            one.letter: sp.Integer(self.given[one.key]) for one in self.definition.parameters if one.key in self.given
        }
        if a.server_step_of_one in self.claim.assumptions:
            known[eta_g] = sp.S.One
        return sp.sympify(scale).xreplace(known)

    def _part(self, of: Expr, part: Expr, vectors: Env, place: Notation) -> Term:
        """Return a part of a vector's new value as a term: a vector, a gradient, or a sum over clients."""
        if part in vectors:
            return vectors[part]
        inside = self.term(of, part.args[0], vectors, place)
        if isinstance(part, Gradient):
            slope = (
                AT_STEP.gradient(AT_STEP.own, inside)
                if place.at_step
                else Atom(f"grad ({place.objective}) ({text(inside, _CLIENTS)})", own=True)
            )
            return slope if place.noise is None else Sum(slope, place.noise)
        if isinstance(part, Average) or (isinstance(part, Weighted) and self.is_full):
            return Mean(inside)
        if isinstance(part, Mixed):
            # The difference of the clients' vectors follows from the difference of their messages.
            return inside if place.at_step else Atom(f"heard {_CLIENTS} mixing ({_write_each(inside)}) i", own=True)
        if isinstance(part, Weighted) and not place.at_step:
            return Atom(f"vsum (number {_CLIENTS}) (fun i => weights i • ({text(inside, _CLIENTS)}))%vec")
        if isinstance(part, Participants) and not place.at_step:
            member = f"share {_CLIENTS} i • ({text(inside, _CLIENTS)})"
            return Atom(f"vsum (number {_CLIENTS}) (fun i => if is_drawn i then {member} else zero)%vec")
        raise NotExported(f"{type(part).__name__} has no meaning in the library")

    # Definitions.

    def text(self) -> str:
        """Return the definition in terms of the library."""
        return "\n".join([f"(** {self.definition.name}, by its definition. *)", *self._write_lines()]) + "\n"

    def _write_lines(self) -> Iterator[str]:
        """Yield the definitions of the state, the start, the local vector, the round and the run."""
        known, parameters = self.definition, " ".join(map(str, [Binder("A", "run"), *self.own]))
        state, local = f"{self.name} (space_of A)", self.local
        fields = [f"{one} : V" for one in known.server] + [f"{one} : nat -> V" for one in known.client]
        yield f"Record {self.name} {{V : space}} := {{ {'; '.join(fields)} }}."
        yield f"Arguments {self.name} : clear implicits."
        starts = self._record({**known.server, **known.client}, {start: Atom("start A")})
        yield f"Definition begun {parameters} : {state} := {starts}."
        now = self.states("s")
        yield f"Definition {local.vector}_start {parameters} (s : {state}) (i : nat) : space_of A :="
        yield f"  {self._write(local.vector, local.start, now)}."
        yield f"Fixpoint {local.vector} {parameters} (s : {state}) (n k i : nat) : space_of A :="
        yield "  match k with"
        yield f"  | O => {local.vector}_start {self.applied} s i"
        yield f"  | S k => let {local.vector}_k := {local.vector} {self.applied} s n k i in"
        here = {**now, local.vector: Atom(f"{local.vector}_k", own=True)}
        yield f"      {self._write(local.vector, local.step, here)}"
        yield "  end."
        steps = "steps" if self.same_size else "(steps_of_client i)"
        prove_end = {**now, local.vector: Atom(f"{local.vector} {self.applied} s n {steps} i", own=True)}
        ends = {**known.server, **known.client} | {one: one for one in (*known.server, *known.client)}
        ends |= {**known.server_update, **known.client_update}
        count = "(steps : nat) " if self.same_size else ""
        yield f"Definition ended {parameters} {count}(s : {state}) (n : nat) : {state} :="
        yield f"  {self._record(ends, prove_end, kept=self._has_passive_state)}."

    def states(self, of: str) -> dict[Expr, Term]:
        """Return the vectors of the named state."""
        known = self.definition
        shared = {one: Atom(f"{one} {of}") for one in known.server}
        return {**shared, **{one: Atom(f"{one} {of} i", own=True) for one in known.client}}

    def run(self) -> str:
        """Return the states of a run, the steps of its rounds as steps of the library, and its model."""
        parameters = " ".join(map(str, [Binder("A", "run"), *self.own]))
        steps = "1 " if self.definition.steps_are_rounds else "(steps_of A) "
        ended = f"ended {self.applied} {steps}(after {self.applied} n) n"
        state, now = f"{self.name} (space_of A)", f"(after {self.applied} n)"
        shown = self._write(sp.Symbol("model"), self.definition.model, self.states("s"))
        lines = [
            f"Fixpoint after {parameters} (n : nat) : {state} :=",
            f"  match n with O => begun {self.applied} | S n => {ended} end.",
            f"Definition model {parameters} (s : {state}) : space_of A := {shown}.",
            f"Definition step_of_round {parameters} (n : nat) : step :=",
            "  {| step_space := space_of A; step_clients := clients_of A; client_objective := objective_of A;",
            f"     local_iterate := {self.local.vector}_start {self.applied} {now}; gradient_noise := noise_of A n O;",
            f"     step_size := size_of A; server_model := model {self.applied} {now} |}}.",
        ]
        return "\n".join(lines) + "\n"

    def at_optimum(self) -> str:
        """Return the values of its vectors at the optimum."""
        parameters = " ".join(map(str, [Binder("A", "run"), *self.own]))
        if not self.definition.at_optimum:
            raise NotExported(f"{self.definition.name} does not state its vectors at the optimum (`at_optimum`)")
        record = self._record(self.definition.at_optimum, {optimum: Atom("x_star")}, is_mean=True)
        return f"Definition at_optimum {parameters} (x_star : space_of A) : {self.name} (space_of A) := {record}.\n"

    @cached_property
    def in_run(self) -> Notation:
        """Return the names of its parts in a run."""
        names = self.numbers(_SIZES[self.same_size], "share (clients_of A) i")
        return Notation(names, "objective_of A i", Atom("noise_of A n k i", own=True), at_step=False)

    def _write(self, of: Expr, expression: Expr, vectors: Env, *, is_mean: bool = False) -> str:
        """Return an expression as text; with `is_mean` its expectation, without noise."""
        place = replace(self.in_run, noise=None) if is_mean else self.in_run
        return f"({text(self.term(of, expression, vectors, place), _CLIENTS)})%vec"

    def _record(self, ends: Mapping[Expr, Expr], vectors: Env, *, kept: bool = False, is_mean: bool = False) -> str:
        """Return the state with these vectors as text; with `kept` clients that do not participate keep theirs."""
        fields = []
        for one, end in ends.items():
            goal = self._write(one, end, vectors, is_mean=is_mean)
            if one in self.definition.client:
                goal = f"fun i => if is_drawn i then {goal} else {one} s i" if kept else f"fun i => {goal}"
            fields.append(f"{one} := {goal}")
        return f"{{| {'; '.join(fields)} |}}"


def _write_each(of: Term) -> str:
    """Return the function of a client with this vector as value."""
    return f"fun i => ({text(of, _CLIENTS)})%vec"


def coin_name(place: int) -> str:
    """Return the name of a random decision with values 1 and 0."""
    return f"coin{place or ''}"
