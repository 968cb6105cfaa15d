"""Claims about one round in which clients are drawn: what its letters are called in `library/Round.v`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Inner, LocalSum, PastSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Notion
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Term, text
from verify.rocq.theorem import Binder
from verify.rocq.vocabulary import CLIENTS, Vocabulary

NUMBERS: Mapping[Notion, str] = {
    q.clients: "M S",
    q.participants: "participants D",
    q.participates: "participates D s i",
    q.effective_step_size: "step_size S",
    q.client_local_steps: "E_of S i",
    q.client_step_size: "size_of_client S i",
}
VECTORS: Mapping[Notion, str] = {
    q.server_model: "server_model S",
    q.local_iterate: "iterate S e i",
    q.stochastic_gradient: "sample S e i",
    q.gradient_at_server_model: "sample_at_start S e i",
    q.local_result: "local_result S i",
    q.next_server_model: "next_server_model S D s",
    q.small_step_optimum: "w_bar",
}
_SHARED = (q.server_model, q.next_server_model, q.small_step_optimum)
_SAID = {
    a.uniform_shares: ("uniform_shares_S", "uniform_shares S"),
    a.normalised_steps: ("normalised_S", "normalised_steps S"),
    a.several_clients: ("several_clients_S", "2 <= M S"),
}
_HERE = (a.uniform_sampling, a.unit_server_step, a.same_step_size)
_OWN = (q.client_local_steps, q.client_step_size, q.participates)


class RoundVocabulary(Vocabulary):
    """The letters of a claim about a round, as terms of Rocq."""

    def __post_init__(self) -> None:
        """Read the claim's letters; `NotExported` for what the library's rounds are not."""
        needed = (a.uniform_sampling, a.unit_server_step, a.uniform_shares)
        if any(assumption not in self.claim.assumptions for assumption in needed):
            raise NotExported("the library knows rounds whose participants are drawn uniformly, of equal shares")
        super().__post_init__()
        self.numbers = {self.letters(notion): name for notion, name in NUMBERS.items()} | {
            symbol: f"each_{n}" for n, symbol in enumerate(self.claim.for_all, start=1)
        }
        self.vectors |= {
            self.letters(notion): Atom(name, own=notion not in _SHARED) for notion, name in VECTORS.items()
        }

    def binders(self, said: str, letters: set[sp.Symbol]) -> Iterator[Binder]:
        """The variables and hypotheses of a theorem that says something, in which some letters occur."""
        yield Binder("S", "round")
        yield Binder("step_size_positive", "0 < step_size S")
        for assumption in self.claim.assumptions:
            if assumption in _SAID:
                yield Binder(*_SAID[assumption])
            elif assumption == a.same_step_size:
                yield Binder("same_size_S", "same_size S")
                yield Binder("size_positive", "0 < size_of_client S O")
            elif assumption not in _HERE:
                raise NotExported(f"the assumption {assumption.name!r} has no definition in the library")
        for symbol in self.claim.for_all:
            yield Binder(self.numbers[symbol], "R")
            if symbol.is_positive:
                yield Binder(f"{self.numbers[symbol]}_positive", f"0 < {self.numbers[symbol]}")
        yield from self._random(said)
        if self.letters(q.small_step_optimum) in letters:
            yield Binder("w_bar", "step_space S")
            yield Binder("small_step_optimum_S", "small_step_optimum S w_bar")

    def _random(self, said: str) -> Iterator[Binder]:
        if " D " in said:
            yield Binder("D", "draws (step_clients S)")
            yield Binder("uniform_D", "uniform_draws D")
        if "expected" in said:
            yield Binder("past", "step_space S -> Prop")
            yield Binder("unbiased_S", "unbiased_round S past")
            yield Binder("expected", "step_space S -> step_space S")
            yield Binder("given", "conditional_mean S past expected")

    def is_own(self, expression: Expr) -> bool:
        """Whether something is said of each client, outside of means over them."""
        return bool(_outside(expression, (Average, Selected)) & {self.letters(notion) for notion in self._own()})

    def of_outcome(self, expression: Expr) -> bool:
        """Whether something is said of each outcome of the draw, outside of expectations."""
        random = {self.letters(q.participates), self.letters(q.next_server_model)}
        kept = sp.sympify(expression).replace(lambda part: isinstance(part, Expectation), lambda _: sp.S.Zero)
        return bool(kept.atoms(Selected) or kept.free_symbols & random)

    def _own(self) -> list[Notion]:
        return [*_OWN, q.client_objective, *(notion for notion in VECTORS if notion not in _SHARED)]


def _outside(expression: Expr, heads: tuple[type, ...]) -> set[sp.Symbol]:
    """The letters that do not stand inside of some heads."""
    if isinstance(expression, heads):
        return set()
    if not expression.args:
        return set(expression.free_symbols)
    return set().union(*(_outside(argument, heads) for argument in expression.args))


class RoundReader(Reader):
    """Reads vectors with sums over local steps, means over participants, and means given the past."""

    def vector(self, expression: Expr) -> Term:
        """A vector."""
        match expression:
            case LocalSum():
                member = text(self.vector(expression.args[0]), CLIENTS)
                return Atom(f"local_sum S (fun e i => ({member})%vec) i", own=True)
            case Selected():
                return Atom(f"selected S D {self._of_each(expression)} s")
            case Expectation():
                return self._expected(expression.args[0])
            case PastSum():
                raise NotExported("sums over the steps so far are not in the library of rounds")
        return super().vector(expression)

    def _expected(self, of: Expr) -> Term:
        if isinstance(of, Selected):
            return Atom(f"expected (mean_of_draws S D {self._of_each(of)})")
        if of.has(Selected, self.vocabulary.letters(q.next_server_model)):
            raise NotExported("the mean of a sum with those that are drawn is not exported")
        return Atom(f"expected ({text(self.vector(of), CLIENTS)})", own=True)

    def _of_each(self, mean: Expr) -> str:
        return f"(fun i => ({text(self.vector(mean.args[0]), CLIENTS)})%vec)"

    def scalar(self, expression: Expr) -> Term:
        """A scalar; the mean of a number over the draws is one over their outcomes."""
        if isinstance(expression, Expectation) and not expression.has(Inner):
            inside = text(self.scalar(expression.args[0]), CLIENTS)
            return Atom(f"mean (outcomes D) (fun s => {inside})", kind="S")
        return super().scalar(expression)


def is_of_round(claim: Claim) -> bool:
    """Whether a claim speaks of sums over steps, of draws, or of rounds whose step sizes are any."""
    sides = sp.Tuple(*(side for one in claim.relations for side in (one.left, one.right)))
    letters = {symbol for symbol, notion in claim.notation.items() if notion == q.participates}
    has_sums = sides.has(Average, LocalSum, PastSum, Selected) or bool(sides.free_symbols & letters)
    return claim.place == "round" and (has_sums or a.normalised_steps not in claim.assumptions)
