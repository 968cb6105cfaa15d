"""Prove inequalities at a local step from the terms of a certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Expr
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from verify.rocq.inequalities import write_inequality
from verify.rocq.numbers import SignProofs
from verify.rocq.places import Place
from verify.rocq.reading import KnownSlack, Reader
from verify.rocq.refusals import NotExported
from verify.rocq.terms import Atom, Atoms, Dot, Mean, Multiple, Number, Sum, Term, is_own, reify
from verify.rocq.theorem import Binder, Theorem

_ASIDE = "rename i into this_one, Hi into this_is_one"
"""A tactic that introduces a variable for every client, in theorems about client i."""


class Links:
    """Write proofs about one local step, in the symbols of one claim."""

    def __init__(self, reader: Reader, signs: SignProofs) -> None:
        self.reader, self.signs = reader, signs
        reader.signs = signs
        self.used: set[sp.Symbol] = set()
        self.own = False
        """Whether what is shown is said of each client i."""

    @property
    def opening(self) -> str:
        """Return a tactic for the start of every proof: there is a client."""
        return f"pose proof (clients_at_least_one {self._place.step}) as M_large."

    @property
    def _place(self) -> Place:
        """Return the names of the step that the vocabulary uses."""
        return self.reader.vocabulary.place

    def state(
        self, name: str, sides: tuple[Term, Term], proof: str, binders: Sequence[Binder], known: Sequence[str] = ()
    ) -> Theorem:
        """Return the lemma that one side is at most the other, with tactics for known facts before its proof."""
        body = "\n".join([self.opening, *known, *self.signs.prepare_conditions(), proof])
        return Theorem(name, [*binders, *self.signs.hypotheses()], " <= ".join(map(self.text, sides)), body)

    def side(self, expression: Expr) -> Term:
        """Return a scalar as a term, and count its symbols as used."""
        self.used |= sp.sympify(expression).free_symbols
        term = self.reader.scalar(expression)
        self.own = self.own or is_own(term)
        return term

    def text(self, term: Term) -> str:
        """Return a term as text."""
        return self.reader.text(term)

    def inequality(self, smaller: Term, larger: Term, parts: Sequence[Part]) -> str:
        """Prove that one side is at most the other, whose excess is a sum of terms."""
        lines, total = [], None
        self.reader.lengths.used.clear()
        for place, part in enumerate(parts, start=1):
            term, tactic = self._write_term(part)
            lines.append(f"assert (term{place} : 0 <= {self.text(term)}).\n{{ {tactic}. }}")
            total = term if total is None else Sum(total, term)
        lines = [*self._prove_multiples(), *lines]
        total = Number("0") if total is None else total
        slack = Sum(larger, smaller, "-")
        lines.append(f"assert (identity : {self.text(slack)} = {self.text(total)}).")
        lines.append(f"{{ {self.identity(slack, total)} }}")
        lines.append("apply (nonneg_by_identity _ _ _ identity).")
        split = "apply Rplus_le_le_0_compat; [| assumption]. " * (len(parts) - 1)
        lines.append(split + ("assumption." if parts else "lra."))
        return "\n".join(lines)

    def _prove_multiples(self) -> Iterator[str]:
        """Prove that norms are multiples of others, where this is used."""
        for same in self.reader.lengths.same.values():
            if same.name not in self.reader.lengths.used:
                continue
            own, factor = is_own(same.of), self.reader.number(same.factor)
            one, other = (self.text(side) for side in (same.of, same.written))
            each, opened = "", ""
            if own:
                each = f"forall i, (i < number {self._place.clients})%nat -> "
                opened = f"try ({_ASIDE}). intros i Hi. "
            sign = self.signs.nonnegative(same.factor)
            square = Multiple(f"({factor}) ^ 2", Dot(same.written, same.written))
            kept, self.own = self.own, own
            shown = self.identity(Dot(same.of, same.of), square)
            self.own = kept
            yield (
                f"assert ({same.name} : {each}length ({one})%vec = ({factor}) * length ({other})%vec).\n"
                f"{{ {opened}assert (squares : ‖{one}‖² = {self.text(square)}).\n{{ {shown} }}\n"
                f"apply length_of_multiple; [{sign} | exact squares]. }}"
            )

    def _write_term(self, part: Part) -> tuple[Term, str]:
        """Return one term of a certificate with its coefficient, and a tactic that proves it non-negative."""
        if part.summed:
            raise NotExported("sums over local steps are not exported")
        found = write_inequality(part.reason, self.reader)
        if not isinstance(found.slack, Term):
            self.used |= sp.sympify(found.slack).free_symbols
        self.used |= sp.sympify(part.coefficient).free_symbols
        term, tactic = self._write_multiple(part.coefficient, found)
        if not part.averaged:
            return term, tactic
        aside = f"{_ASIDE}; " if self.own else ""
        return Mean(term), f"apply mean_nonneg; {aside}intros i Hi; {tactic}"

    def _write_multiple(self, coefficient: Expr, found: KnownSlack) -> tuple[Term, str]:
        """Return a multiple of a slack, and a tactic that proves it non-negative."""
        slack = self.reader.read_slack(found)
        share = self.reader.vocabulary.symbols(q.importance)
        if coefficient == 1:
            return slack, found.tactic
        if sp.sympify(coefficient).has(share):
            return self._bound_share(coefficient, share, slack, found.tactic)
        factor = self.reader.number(coefficient)
        sign = self.signs.nonnegative(coefficient)
        return Multiple(factor, slack), f"apply Rmult_le_pos; [{sign} | {found.tactic}]"

    def _bound_share(self, coefficient: Expr, share: sp.Symbol, slack: Term, tactic: str) -> tuple[Term, str]:
        """Return a slack times a number that is linear in the client weight p_i, which is at most the largest one."""
        largest = self.reader.vocabulary.symbols(q.largest_importance)
        both = sp.Poly(sp.expand(coefficient), share)
        if both.degree() > 1:
            raise NotExported(f"the coefficient {coefficient} is not linear in {share}")
        alone, times = (both.coeff_monomial(power) for power in (1, share))
        known = f"pose proof (share_nonneg {self._place.clients} i Hi) as share_known"
        known += "; pose proof (largest_share_S i Hi) as share_below" if coefficient.has(largest) else ""
        total: Term = Multiple(
            self.reader.number(times), Multiple(self.reader.vocabulary.numbers[share], slack, own=True)
        )
        total = Sum(Multiple(self.reader.number(alone), slack), total) if alone != 0 else total
        signs = replace(self.signs, least=[(largest, share), *self.signs.least])
        product = f"({self.reader.number(coefficient)}) * ({self.text(slack)})"
        shown = f"replace ({self.text(total)}) with ({product}) by (field; nonzero)"
        return total, f"{known}; {shown}; apply Rmult_le_pos; [{signs.nonnegative(coefficient)} | {tactic}]"

    def identity(self, left: Term, right: Term) -> str:
        """Prove that two scalars are equal, by normal forms."""
        atoms = Atoms()
        if not self._is_uniform:
            atoms.place("number", f"share {self._place.clients} i")
        sides = [reify(side, atoms) for side in (left, right)]
        client, known = ("i", "Hi") if self.own else ("O", f"(several {self._place.clients})")
        return "\n".join(
            [
                f"pose (W := {self._declare_atoms(atoms)} : world ({self._place.space})).",
                "assert (admissible_W : admissible W) by (subst W; admissible_atoms).",
                f"change (seval W {sides[0]} {client} = seval W {sides[1]} {client}).",
                f"apply (equal_by_coefficients W admissible_W _ _ {client} {known}).",
                "subst W; by_coefficients.",
            ]
        )

    @property
    def _is_uniform(self) -> bool:
        """Return whether the claim assumes equal client weights."""
        return a.uniform_shares in self.reader.vocabulary.claim.assumptions

    def _declare_atoms(self, atoms: Atoms) -> str:
        """Return the record that lists the vectors and numbers of an identity."""
        own, shared, values = (_select_atoms(atoms, kind) for kind in ("own", "shared", "value"))
        vanishing = _write_cases([_write_truth(atom.vanishing) for atom in own], "false")
        fields = {
            "of": f"step_clients {self._place.step}",
            "shared_atom": f"fun k => {_write_cases([f'({atom.text})%vec' for atom in shared], 'zero')}",
            "own_atom": f"fun k i => {_write_cases([f'({atom.text})%vec' for atom in own], 'zero')}",
            "own_value": f"fun k i => {_write_cases([atom.text for atom in values], '0')}",
            "own_number": f"fun k i => {_write_cases([str(number) for number in atoms.lists['number']], '0')}",
            "noisy_shared": f"fun k => {_write_cases([_write_truth(atom.noisy) for atom in shared], 'false')}",
            "noisy": f"fun k => {_write_cases([_write_truth(atom.noisy) for atom in own], 'false')}",
            "zeros_shared": f"fun k => {_write_cases([_write_truth(atom.zero) for atom in shared], 'false')}",
            "zeros": f"fun k => {_write_cases([_write_truth(atom.zero) for atom in own], 'false')}",
            "vanishing": f"fun fs k => match fs with nil => {vanishing} | _ => false end",
            "common_share": f"Some (/ M {self._place.step})" if self._is_uniform else "None",
        }
        return "{| " + ";\n  ".join(f"{name} := {body}" for name, body in fields.items()) + " |}"


def _select_atoms(atoms: Atoms, kind: str) -> list[Atom]:
    """Return the vectors of a kind; numbers are left out."""
    return [atom for atom in atoms.lists[kind] if isinstance(atom, Atom)]


def _write_truth(value: bool) -> str:
    """Return a truth value in Rocq."""
    return "true" if value else "false"


def _write_cases(bodies: Sequence[str], otherwise: str) -> str:
    """Return a match of an index k with the bodies, and `otherwise` beyond them."""
    if not bodies or set(bodies) == {otherwise}:
        return otherwise
    shown = " | ".join(f"{place}%nat => {body}" for place, body in enumerate(bodies))
    return f"match k with {shown} | _ => {otherwise} end"
