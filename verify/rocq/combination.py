"""Export claims about runs that are combinations of other claims and facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import sympy as sp

from fedtheory.kernel import slack
from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.averages import Averaged
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.parts import Part
from fedtheory.proofs.proof import conditions_of
from verify.rocq.names import list_sides, name_of
from verify.rocq.number_claims import NumbersVocabulary, is_of_numbers
from verify.rocq.numbers import number
from verify.rocq.paper_exports import list_vocabularies
from verify.rocq.refusals import NotExported
from verify.rocq.run import STEP_SIZES
from verify.rocq.sampled import choose_vocabulary
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.step import write_operator
from verify.rocq.theorem import Exported, Theorem, project, prove_conjunction


def write_theorem_of_combination(
    claim: Claim, certificate: Combination, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return the theorem of a claim, and the claims that its proof uses."""
    if len(claim.relations) != len(certificate.links):
        raise NotExported("expected one link of the certificate for each relation")
    return _CombinationWriter(claim, certificate, export_id).theorem()


class _CombinationWriter:
    def __init__(self, claim: Claim, certificate: Combination, export_id: Callable[[str], Exported]) -> None:
        self.claim, self.certificate, self.export_id = claim, certificate, export_id
        self.run = _choose_vocabulary(claim, certificate)
        if certificate.known and not self.run.has_orderings:
            raise NotExported("its certificate uses inequalities between numbers")
        self.run.names |= {root.letter: f"sqrt ({self.run.number(root.of)})" for root in certificate.roots}
        self.signs = self.run.signs(conditions_of(claim, certificate.relaxed))
        self.used: set[sp.Symbol] = set()
        self.uses: dict[str, Exported] = {}

    def theorem(self) -> tuple[Theorem, list[Exported]]:
        """Return the claim as a theorem with its proof."""
        claim = self.claim
        links = zip(claim.relations, self.certificate.links, strict=True)
        proofs = [self._prove_link(relation, parts) for relation, parts in links]
        goal = " /\\\n  ".join(
            f"{self._write_number(one.left)} {write_operator(one)} {self._write_number(one.right)}"
            for one in claim.relations
        )
        parameters = [*self.run.binders(self.used), *self.signs.hypotheses()]
        if missing := self.run.required - {binder.name for binder in parameters} - {"i", "Hi"} - self.run.witnesses:
            raise NotExported(f"a used claim has hypotheses that this claim lacks: {', '.join(sorted(missing))}")
        start = [self.run.known, *self._note_orderings(), *self._prove_roots(), *self.signs.prepare_conditions()]
        proof = "\n".join([*start, prove_conjunction(proofs)])
        theorem = Theorem(
            name_of(claim.id),
            parameters,
            goal,
            proof,
            (),
            self.run.needs,
            library=self.run.library,
            names=self.run.quantity_names,
        )
        return theorem, list(self.uses.values())

    def _note_orderings(self) -> Iterator[str]:
        """Yield tactics that state inequalities between numbers, from which signs follow."""
        for premise in self.certificate.known:
            yield self.run.note_ordering(premise, self._export_used(premise.claim))

    def _export_used(self, claim_id: str) -> Exported:
        """Return the exported form of a claim that the certificate uses."""
        return self.uses.setdefault(claim_id, self.export_id(claim_id))

    def _prove_roots(self) -> list[str]:
        """Return tactics for square roots of numbers: they are positive, and their squares are the numbers."""
        sizes = [fact.slack(self.run.symbols) for known, fact in STEP_SIZES.items() if known in self.claim.assumptions]
        powers = sp.Tuple(*list_sides(self.claim), *sizes).atoms(sp.Pow)
        lines = []
        for base in sorted({one.base for one in powers if one.exp.is_Rational and one.exp.q == 2}, key=str):
            name = self._write_number(base)
            lines.append(f"assert (0 < {name}) by positive.")
            lines.append(f"assert (0 < sqrt ({name})) by (apply sqrt_lt_R0; assumption).")
            lines.append(f"assert ({name} = sqrt ({name}) ^ 2) by (rewrite pow2_sqrt; lra).")
        return lines

    def _write_number(self, expression: Expr) -> str:
        """Return a number as text, and record its symbols as used."""
        self.used |= sp.sympify(expression).free_symbols
        return self.run.number(expression)

    def _prove_link(self, relation: Relation, parts: Sequence[Part]) -> str:
        """Return the proof of a relation, split into cases if the vocabulary requires it."""
        write_operator(relation)
        shown = self._prove_relation(relation, parts)
        return self.run.split_cases(shown, relation, parts, self._find_slack, self._prove_relation)

    def _find_slack(self, part: Part) -> Expr:
        """Return the slack of a premise."""
        return self._prove_premise(part, 0)[0]

    def _prove_relation(
        self, relation: Relation, parts: Sequence[Part], known: str = "", rest: Expr = sp.S.Zero
    ) -> str:
        """Prove a relation by its premises and the remaining difference."""
        lines, total = [], []
        sums = {self._write_number(one): one for one in _list_sums(relation.left, relation.right)}
        for place, part in enumerate(parts, start=1):
            found, premise, tactic, is_zero = self._prove_sum(part, place)
            sums |= (
                {premise: found}
                if isinstance(found, ClientSum)
                else {self._write_number(s): s for s in _list_sums(found)}
            )
            coefficient = self._write_number(part.coefficient)
            sign = "=" if is_zero else ">="
            lines.append(f"assert (premise{place} : {premise} {sign} 0).")
            lines.append(f"{{ {'' if is_zero else 'apply Rle_ge; '}{tactic}. }}")
            product = f"({coefficient}) * ({premise})"
            if is_zero:
                lines.append(f"assert (term{place} : 0 <= {product}) by (first [lra | rewrite premise{place}; lra]).")
            elif relation.operator != "==":
                lines.append(f"assert (term{place} : 0 <= {product}).")
                lines.append(f"{{ apply Rmult_le_pos; [{self.signs.nonnegative(part.coefficient)} | lra]. }}")
            total.append(product)
        smaller, larger = relation.ordered
        if rest != 0:
            lines.append(f"assert (left : 0 <= {self._write_number(rest)}) by ({self.signs.nonnegative(rest)}).")
            total.append(self._write_number(rest))
        whole = " + ".join(total) or "0"
        difference = f"{self._write_number(larger)} - ({self._write_number(smaller)})"
        spread = [*([known] if known else []), *(self.run.split_sums(sums) if sums else []), self.run.identity]
        shown = spread[0] if len(spread) == 1 else f"({'; '.join(spread)})"
        lines.append(f"assert (identity : {difference} = {whole}) by {shown}.")
        if relation.operator == "==":
            zeros = "".join(f"try rewrite premise{place} in identity; " for place, _ in enumerate(parts, start=1))
            lines.append(f"{zeros}{self.run.close_equation(len(parts))}.")
        else:
            flip = "apply Rle_ge; " if relation.operator == ">=" else ""
            lines.append(f"{flip}apply (nonneg_by_identity _ _ _ identity); lra.")
        return "\n".join(lines)

    def _prove_sum(self, part: Part, place: int) -> tuple[Expr, str, str, bool]:
        """Return a premise or its sum over clients: expression, text, tactic, and whether it is zero."""
        found, tactic, is_zero = self._prove_premise(part, place)
        text = self._write_number(found)
        if part.over is None:
            return found, text, tactic, is_zero
        over = self._write_number(part.over)
        if is_zero:
            shown = f"apply sum_zero; {self.run.introduce_client}; replace ({text}) with 0; [ring | symmetry; {tactic}]"
        else:
            sign = self.signs.nonnegative(part.over)
            shown = f"apply sum_nonneg; {self.run.introduce_client}; apply Rmult_le_pos; [{sign} | {tactic}]"
        return ClientSum(part.over * found), self.run.write_sum(f"({over}) * ({text})"), shown, is_zero

    def _prove_premise(self, part: Part, place: int) -> tuple[Expr, str, bool]:
        """Return the slack of a premise, a tactic that proves it, and whether the slack is zero."""
        premise = part.premise
        if isinstance(premise, Fact):
            if premise in STEP_SIZES.values():
                found = premise.slack(self.run.symbols)
                self.used |= sp.sympify(found).free_symbols
                return found, "pose proof step_size_A as fact; lra", True
            tactic = self.run.fact(premise.name)
            found = premise.slack(self.run.symbols)
            self.used |= sp.sympify(found).free_symbols
            return found, tactic, premise.is_zero
        if isinstance(premise, str | Derived):
            derived = premise if isinstance(premise, Derived) else Derived(premise)
            bound = {"i", "Hi"} if part.over is not None else self.run.list_averaged(derived)
            return self._prove_derived(derived, place, bound)
        if isinstance(premise, sp.Eq):
            return slack(premise), self.run.equation(premise), True
        return slack(premise), self.run.ordering(premise, self.signs), False

    def _prove_derived(self, premise: Derived, place: int, bound: set[str]) -> tuple[Expr, str, bool]:
        """Return the slack of a relation that follows from another claim, a tactic, and whether it is an equation."""
        own = self.run.derive(premise, self._export_used)
        if own is not None:
            return *own, self.uses[premise.claim].claim.relations[premise.link].operator == "=="
        if type(premise) is not Derived and not self.run.list_averaged(premise):
            raise NotExported(f"the library has no law for {premise.label}")
        return self._prove_claim(premise, place, bound)

    def _prove_claim(self, derived: Derived, place: int, bound: set[str]) -> tuple[Expr, str, bool]:
        """Return the slack of a claim about the run, a tactic that applies its theorem, and if it is an equation."""
        known = self._export_used(derived.claim)
        if known.claim.place != "run":
            raise NotExported(f"{derived.claim} is not about runs")
        relation = known.claim.relations[derived.link]
        found = self.run.translate(relation.slack, known.claim)
        arguments = {k: v for k, v in self.run.substitute_arguments(known.claim).items() if k not in bound}
        lines = []
        conditions = [binder for binder in known.general.binders if binder.name.startswith("condition")]
        own = [self.run.translate(one, known.claim) for one in known.conditions]
        needed = [one for one, here in zip(known.conditions, own, strict=True) if not self.run.is_of_each(here)]
        for binder, condition in zip(conditions, needed, strict=True):
            gap = self.run.translate(slack(condition), known.claim)
            name = f"needed_{binder.name}_{place}"
            text = self.signs.ordering(self.run.translate(condition, known.claim))
            lines.append(
                f"assert ({name} : {text}) by (first [assumption | apply le_by_slack; {self.signs.nonnegative(gap)}])"
            )
            arguments[binder.name] = name
        self.run.required |= {binder.name for binder in known.general.binders} - arguments.keys() - bound
        self.run.required |= {"given"} if "given n i" in arguments.get("given_A", "") else set()
        self.run.required |= {word for text in arguments.values() for word in re.findall(r"\w+_A\b", text)}
        count = len(known.claim.relations)
        applied = project(known.general.apply(**arguments), derived.link, count)
        if isinstance(derived, Averaged):
            lines += self.run.average(derived, found, applied, self._write_number)
            return derived.slack(self.run.symbols, found), ". ".join(lines), False
        lines.append(f"pose proof ({applied}) as fact; {self._reorder_divisors(relation.slack, known.claim)}lra")
        return found, ". ".join(lines), relation.operator == "=="

    def _reorder_divisors(self, premise: Expr, known: Claim) -> str:
        """Return a tactic that writes divisors as the other theorem does; empty if both have the same order.

        SymPy orders factors by the names of symbols, and ``lra`` does not compare divisors.
        """
        own = self.run.translate(premise, known)
        theirs = {one: self.run.translate(one, known) for one in premise.free_symbols}
        names = {one: self.run.names[mine] for one, mine in theirs.items() if mine in self.run.names}
        if premise.has(ClientSum) or len(names) < len(theirs):
            return ""
        if _list_divisors(own, self.run.names) == _list_divisors(premise, names):
            return ""
        return f"replace ({number(own, self.run.names)}) with ({number(premise, names)}) by by_field; "


def _choose_vocabulary(claim: Claim, certificate: Combination) -> ScalarVocabulary:
    """Return the vocabulary of a claim: that of a paper, numbers only, or a run of the library."""
    own = next(list_vocabularies(claim, certificate), None)
    if own is not None:
        return own
    if a.same_local_work not in claim.assumptions and is_of_numbers(claim, certificate):
        return NumbersVocabulary(claim, certificate)
    return choose_vocabulary(claim)


def _list_divisors(expression: Expr, names: Mapping[sp.Symbol, str]) -> set[str]:
    """Return the divisors in a number, as Rocq text."""
    quotients = expression.atoms(sp.Mul, sp.Pow)
    return {number(sp.fraction(one, exact=True)[1], names) for one in quotients}


def _list_sums(*sides: Expr) -> list[Expr]:
    """Return the sums over clients in expressions, in a fixed order."""
    return sorted(sp.Tuple(*sides).atoms(ClientSum), key=str)
