"""From the definition of an algorithm to what a local step and the end of a round make of vectors of the kernel.

Expressions are read as the definition has them, coefficient by coefficient.
Sums over clients are means where everybody takes part with its importance; of
vectors that vanish they vanish whoever is drawn, and what is the same for all
clients stays what it is when neighbours exchange it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import sympy as sp

from fedtheory.federation.algorithms import definition
from fedtheory.federation.definition import (
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Mixed,
    eta,
    eta_g,
    eta_sum,
    importance,
    mean_tau,
    optimum,
    tau,
)
from fedtheory.kernel import Form, Numbers, Rejected, Theory, remainder, vector
from fedtheory.kernel import expressions as kernel
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.indices import differs
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import OfAlgorithm
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Notion
from fedtheory.proofs.numbers import letters_of
from fedtheory.proofs.theory import theory_of

Vectors = Mapping[Expr, Expr]
"""What the vectors of a definition are, in the kernel's letters."""

PARAMETERS: Mapping[str, Notion] = {"probability": q.communication_probability, "momentum": q.momentum}
"""What the numbers of algorithms are called in claims, by their keys in run files."""


def definition_of(claim: Claim) -> FederatedAlgorithm:
    """The definition of the one algorithm that a claim is about; `Rejected` where there is none, or several."""
    named = {name for one in claim.assumptions if isinstance(one, OfAlgorithm) for name in one.names}
    if len(named) != 1:
        raise Rejected("the claim is about no algorithm, or about several: expected one whose definition is known")
    return definition(*named)


@cache
def _own(_name: str, latex: str) -> sp.Dummy:
    return sp.Dummy(latex, real=True)


@dataclass(frozen=True, eq=False)
class Round:
    """A round of the algorithm of a claim, without noise and in the mean over what compression leaves out."""

    claim: Claim
    algorithm: FederatedAlgorithm
    theory: Theory
    numbers: Mapping[Expr, Expr]
    """The letters of its numbers."""
    coins: Mapping[Expr, Expr]

    def number(self, scale: Expr) -> Expr:
        """A coefficient of the definition, in the letters of the claim."""
        return sp.sympify(scale).xreplace({**self.numbers, **self.coins})

    def expression(self, of: Expr, expression: Expr, vectors: Vectors) -> Expr:
        """A linear combination, where `vectors` says what the vectors in it are."""
        parts = self.algorithm.parts(of, expression)
        return sp.Add(*(self.number(scale) * self._part(of, part, vectors) for part, scale in parts.items()))

    def _part(self, of: Expr, part: Expr, vectors: Vectors) -> Expr:
        if part in vectors:
            return vectors[part]
        inside = self.expression(of, part.args[0], vectors)
        if isinstance(part, Gradient):
            return kernel.Gradient(letters_of(self.claim)(q.client_objective), inside)
        return inside if isinstance(part, Compressed) else self._over_clients(part, inside)

    def _over_clients(self, part: Expr, inside: Expr) -> Expr:
        form = self.form(inside)
        if not form or isinstance(part, Average):
            return Average(inside) if form else sp.S.Zero
        if isinstance(part, Mixed):
            if any(differs(basis, self.theory) or self.theory.numbers.differs(c) for basis, c in form.items()):
                raise Rejected(f"what neighbours make of {inside} depends on the graph")
            return inside
        for needed in (a.full_participation, a.importance_weights):
            if needed not in self.claim.assumptions:
                raise Rejected(f"{part} is no mean over all clients without the assumption of {needed.name}")
        return Average(inside)

    def form(self, of: Expr) -> Form:
        """The normal form of a vector, without what cancels."""
        return remainder(vector(of, self.theory), self.theory.numbers)

    def local_step(self, vectors: Vectors) -> dict[Expr, Expr]:
        """What a local step makes of the local vectors."""
        return {one.vector: self.expression(one.vector, one.step, vectors) for one in self.algorithm.steps}

    def local_start(self, vectors: Vectors) -> dict[Expr, Expr]:
        """The local vectors where local work starts."""
        return {one.vector: self.expression(one.vector, one.start, vectors) for one in self.algorithm.steps}

    def end(self, vectors: Vectors) -> dict[Expr, Expr]:
        """What the end of a round makes of the vectors of the server and of the clients that take part."""
        ends = {**self.algorithm.server_update, **self.algorithm.client_update}
        return {of: self.expression(of, expression, vectors) for of, expression in ends.items()}


def rounds_of(claim: Claim) -> Iterator[Round]:
    """A round of the algorithm of a claim, for each outcome of its coins."""
    algorithm, theory = definition_of(claim), theory_of(claim)
    shared, own = _numbers(claim, algorithm)
    numbers: Numbers = replace(
        theory.numbers,
        letters=theory.numbers.letters | frozenset(shared.values()),
        of_clients=theory.numbers.of_clients | frozenset(own.values()),
    )
    for sides in product((1, 0), repeat=len(algorithm.coins)):
        coins = dict(zip(algorithm.coins, map(sp.Integer, sides), strict=True))
        yield Round(claim, algorithm, replace(theory, numbers=numbers), {**own, **shared}, coins)


def _numbers(claim: Claim, algorithm: FederatedAlgorithm) -> tuple[dict[Expr, Expr], dict[Expr, Expr]]:
    """The letters of numbers that all clients share, and of those that each has one of."""
    letter = letters_of(claim)

    def named(of: Expr, notion: Notion | None) -> Expr:
        return letter(notion) if notion is not None and letter.has(notion) else _own(algorithm.name, of.name)

    shared = {one.letter: named(one.letter, PARAMETERS.get(one.key)) for one in algorithm.parameters}
    shared |= {eta_g: named(eta_g, q.server_step_size), mean_tau: _own(algorithm.name, mean_tau.name)}
    own = {eta: q.client_step_size, tau: q.client_local_steps, importance: q.importance, eta_sum: None}
    if a.same_step_size in claim.assumptions:
        del own[eta]
        shared[eta] = named(eta, q.local_step_size)
    return shared, {of: named(of, notion) for of, notion in own.items()}


def at_rest(one: Round) -> dict[Expr, Expr]:
    """Where the vectors of the server and of the clients rest at the optimum, by the definition."""
    if not one.algorithm.at_optimum:
        raise Rejected(f"{one.algorithm.name} does not say where its vectors rest at the optimum")
    at = {optimum: letters_of(one.claim)(q.optimum)}
    return {of: one.expression(of, expression, at) for of, expression in one.algorithm.at_optimum.items()}
