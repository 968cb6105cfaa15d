"""Export claims about the numbers of a round with client sampling; they may contain averages and square roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.facts import CURVATURE, ONE
from fedtheory.proofs.parts import Part
from fedtheory.proofs.roots import Root, name_roots
from verify.rocq.names import name_of
from verify.rocq.numbers import name_parts, number
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import DRAW, NUMBERS, RoundVocabulary
from verify.rocq.rounds import LIBRARY
from verify.rocq.step import write_operator
from verify.rocq.theorem import Binder, Theorem, describe_condition, prove_conjunction

_SOME_VECTOR = Binder("some_vector", "exists v : step_space S, 0 < ‖v‖²")
_KNOWN = (
    "pose proof (clients_at_least_one S) as M_large. pose proof (participants_large _ D) as participants_known. "
    "pose proof (participants_at_most S D uniform_D) as not_more."
)


def is_of_round_numbers(claim: Claim) -> bool:
    """Return whether a claim about runs concerns only numbers of their rounds, with client sampling."""
    known = {*NUMBERS}
    is_drawn = claim.place == "run" and a.uniform_sampling in claim.assumptions
    return is_drawn and all(quantity in known for quantity in claim.notation.values())


def write_theorem_of_round_numbers(claim: Claim, certificate: Combination) -> Theorem:
    """Return a relation between numbers that is a sum of facts and conditions, as a theorem about any round."""
    if certificate.known or certificate.relaxed is not None or len(certificate.roots) > 1:
        raise NotExported("claims about numbers of a round are exported as sums of facts with at most one root")
    return _RoundNumbersWriter(claim, certificate).theorem()


class _RoundNumbersWriter:
    def __init__(self, claim: Claim, certificate: Combination) -> None:
        self.claim, self.certificate = claim, certificate
        self.vocabulary = RoundVocabulary(replace(claim, place="round"))
        self.vocabulary.required.add(DRAW)
        self.names = dict(self.vocabulary.numbers)
        self.means: dict[Expr, sp.Symbol] = {}
        for root in certificate.roots:
            self.names[root.letter] = f"sqrt ({self._write_number(root.of)})"

    def theorem(self) -> Theorem:
        """Return the claim as a theorem with its proof."""
        roots = [tactic for root in self.certificate.roots for tactic in self._prove_root(root)]
        links = zip(self.claim.relations, self.certificate.links, strict=True)
        relations = [(name_roots(self.certificate.roots, relation), parts) for relation, parts in links]
        proofs = ["\n".join(self._prove_link(relation, parts)) for relation, parts in relations]
        goal = [f"{self._write_number(r.left)} {write_operator(r)} {self._write_number(r.right)}" for r, _ in relations]
        statement = " /\\\n  ".join(goal)
        conditions = [
            Binder(
                f"condition{place}",
                f"{self._write_number(one.lts)} {'<' if _is_strict(one) else '<='} {self._write_number(one.gts)}",
                describe_condition(one),
            )
            for place, one in enumerate(self.claim.conditions, start=1)
        ]
        proof = "\n".join(
            [_KNOWN, *self._prove_averages(), *self._prove_denominators(), *roots, prove_conjunction(proofs)]
        )
        parameters = [
            *self.vocabulary.binders(),
            *self._list_needed(),
            *conditions,
        ]
        return Theorem(
            name_of(self.claim.id),
            parameters,
            statement,
            proof,
            library=(*LIBRARY, "Curvature"),
            names=self.vocabulary.quantity_names,
        )

    @property
    def _parts(self) -> list[Part]:
        """Return the parts of the proofs about roots and of all relations."""
        of_roots = [part for root in self.certificate.roots for part in root.parts]
        return [*of_roots, *(part for link in self.certificate.links for part in link)]

    def _list_needed(self) -> Iterator[Binder]:
        """Yield hypotheses on signs and, for a curvature, that the space has a vector that is not zero."""
        for symbol in self.claim.for_all:
            if symbol.is_nonnegative and not symbol.is_positive:
                yield Binder(f"{self.names[symbol]}_nonnegative", f"0 <= {self.names[symbol]}")
        if any(part.premise is CURVATURE for part in self._parts):
            yield _SOME_VECTOR

    def _write_number(self, expression: Expr) -> str:
        """Return a number as text; it may contain averages over the clients."""
        return number(self._replace_averages(expression), self.names)

    def _replace_averages(self, expression: Expr) -> Expr:
        """Return a number with symbols for averages over the clients."""
        expression = sp.sympify(expression)
        self.vocabulary.used |= expression.free_symbols
        for one in sorted(expression.atoms(Average), key=sp.default_sort_key):
            if one not in self.means:
                self.means[one] = symbol = sp.Symbol(f"mean_{len(self.means)}", nonnegative=True)
                member = number(one.args[0], self.vocabulary.numbers)
                self.names[symbol] = f"(mean (step_clients S) (fun i => {member}))"
        found: Expr = expression.xreplace(self.means)
        return found

    def _prove_averages(self) -> Iterator[str]:
        """Prove that averages of non-negative numbers are not negative."""
        for place, symbol in enumerate(self.means.values(), start=1):
            mean = self.names[symbol]
            yield f"assert (mean_sign{place} : 0 <= {mean})."
            yield "{ apply mean_nonneg; intros i Hi; pose proof (E_large S i); of_signs. }"

    def _prove_denominators(self) -> Iterator[str]:
        """Prove that denominators with averages are positive."""
        sums: dict[str, None] = {}
        for part in self._parts:
            powers = self._replace_averages(part.coefficient).atoms(sp.Pow)
            bases = sorted((one.base for one in powers if one.exp.is_negative and one.base.is_Add), key=str)
            sums |= {number(base, self.names): None for base in bases if base.free_symbols & {*self.means.values()}}
        for place, one in enumerate(sums, start=1):
            yield f"assert (below{place} : 0 < {one}) by sum_positive."

    # Roots.

    def _prove_root(self, root: Root) -> Iterator[str]:
        """Prove that the argument of a root is not negative, and give the root's square."""
        base, symbol = self._write_number(root.of), self.names[root.letter]
        yield f"assert (above : {base} >= {self._write_number(root.least)})."
        yield "{ " + "\n".join(self._prove_link(Relation(root.of, ">=", root.least), root.parts)) + " }"
        yield f"assert (root_square : {symbol} ^ 2 - ({base}) = 0) by (rewrite pow2_sqrt; lra)."
        yield f"assert (root_sign : 0 <= {symbol}) by apply sqrt_pos."
        if root.letter.is_positive:
            yield f"assert (root_positive : 0 < {symbol}) by (apply sqrt_lt_R0; lra)."
        if any(name_roots([root], one).slack.has(1 / (1 - root.letter)) for one in self.claim.relations):
            rest = number(*self._name_denominators(1 - self._replace_averages(root.of)))
            yield f"assert (rest : 1 - ({base}) = {rest}) by by_field."
            yield f"assert (rest_positive : 0 < {rest}) by positive."
            yield f"assert (root_below : {symbol} < 1) by (apply root_below_one; lra)."

    def _name_denominators(self, expression: Expr) -> tuple[Expr, dict[sp.Symbol, str]]:
        """Return a number as a product with symbols for sums in denominators, and the texts of these symbols."""
        means = {*self.means.values()}
        bases = {one.base for one in expression.atoms(sp.Pow) if one.base.is_Add and one.base.free_symbols & means}
        sums = name_parts(bases, positive=True)
        names = self.names | {symbol: f"({number(one, self.names)})" for one, symbol in sums.items()}
        return sp.factor(sp.together(expression.xreplace(sums))), names

    # The relations of the claim.

    def _prove_link(self, relation: Relation, parts: Sequence[Part]) -> Iterator[str]:
        """Prove a relation as a sum of multiples of non-negative terms."""
        total: list[str] = []
        rest = self._replace_averages(relation.slack)
        for place, part in enumerate(parts, start=1):
            premise, tactic = self._prove_premise(part)
            coefficient = self._replace_averages(part.coefficient)
            rest -= coefficient * self._replace_averages(premise)
            term = f"({number(coefficient, self.names)}) * ({self._write_number(premise)})"
            yield f"assert (term{place} : 0 <= {term})."
            yield f"{{ apply Rmult_le_pos; [of_signs | {tactic}]. }}"
            total.append(term)
        smaller, larger = map(self._write_number, relation.ordered)
        of_roots = [*self._subtract_root_squares(rest)]
        whole = " + ".join([*total, *of_roots]) or "0"
        yield f"assert (identity : {larger} - ({smaller}) = {whole}) by by_field."
        yield from ["rewrite root_square in identity." for _ in of_roots]
        flip = "apply Rle_ge; " if relation.operator == ">=" else ""
        yield f"{flip}lra."

    def _subtract_root_squares(self, rest: Expr) -> Iterator[str]:
        """Yield tactics for the remainder of a sum: a multiple of a root's square minus its argument."""
        for root in self.certificate.roots:
            zero = root.letter**2 - self._replace_averages(root.of)
            factor = sp.factor(sp.cancel(sp.together(rest / zero)))
            if factor != 0:
                square = f"{self.names[root.letter]} ^ 2 - ({self._write_number(root.of)})"
                yield f"({number(factor, self.names)}) * ({square})"

    def _prove_premise(self, part: Part) -> tuple[Expr, str]:
        """Return the slack of a fact or a condition, and a tactic that proves it non-negative."""
        if part.over is not None:
            raise NotExported("claims about numbers of a round are exported without sums over clients")
        symbol = self.vocabulary.symbols
        if part.premise is ONE:
            return sp.S.One, "lra"
        if part.premise is CURVATURE:
            known = "curvature (F S) L_F nu_F smooth_mean_S strongly_convex_mean_S some_vector"
            return CURVATURE.slack(symbol), f"pose proof ({known}) as fact; lra"
        if isinstance(part.premise, sp.Rel):
            return part.premise.gts - part.premise.lts, "lra"
        raise NotExported("claims about numbers of a round are exported by facts and conditions")


def _is_strict(condition: Expr) -> bool:
    """Return whether a condition is a strict inequality."""
    return isinstance(condition, sp.Lt | sp.Gt)
