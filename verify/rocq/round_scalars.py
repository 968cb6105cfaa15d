"""Prove relations about one round between expected squared norms, with variances of sampling and noise.

First each square is expressed by quantities at the start of the round, by Lemma 5.1 of Vlaski & Sayed
(`library/Round.v`); the difference is a sum of the certificate's terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import sympy as sp

from fedtheory.kernel import InequalityRef
from fedtheory.kernel import Term as Part
from fedtheory.kernel.expressions import Average, Expectation, Expr, Gradient, Inner, LocalSum, Selected, Value
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from verify.rocq.inequalities import write_inequality
from verify.rocq.places import AT_STEP
from verify.rocq.reading import KnownSlack
from verify.rocq.refusals import NotExported
from verify.rocq.round_changes import ZERO, expand_square_by_changes, split, write_if_sampled
from verify.rocq.round_premises import Premises
from verify.rocq.round_roots import Roots
from verify.rocq.round_vocabulary import CHANGE, INDEPENDENT, NOISE, START, RoundReader

KNOWN = (
    "pose proof (clients_at_least_one S) as M_large. "
    "try match goal with U : uniform_draws ?d |- _ => "
    "pose proof (participants_large _ d); pose proof (participants_at_most S d U) end."
)
_OF_CLIENT = "try pose proof (E_large S i)" + "".join(
    f"; try pose proof ({name}_sign i)" for name in ("beta", "sigma", "delta", "apart", "bound")
)


class Scalars:
    """Write proofs of relations between scalars, in the symbols of one claim."""

    def __init__(self, reader: RoundReader, premises: Premises, roots: Roots) -> None:
        self.reader, self.premises, self.roots = reader, premises, roots

    def proof(self, relation: Relation, parts: Sequence[Part]) -> str:
        """Prove a relation that differs from an equation by a sum of terms."""
        opening = [*self.roots.opening(), *self._prove_averages(parts)]
        lines, total = list(self.squares(relation, parts)), []
        for place, part in enumerate(parts, start=1):
            term, tactic = self._write_term(part)
            lines.append(f"assert (term{place} : 0 <= {term}).\n{{ {tactic}. }}")
            total.append(term)
        squares = len(lines) - len(total)
        rewritten = "".join(f"rewrite square{n}; " for n in range(1, squares + 1))
        lines = [*opening, *lines]
        if relation.operator == "==":
            return "\n".join([*lines, f"{rewritten}by_expansion."])
        rewritten += self.roots.rewriting(relation)
        smaller, larger = (self.reader.write_scalar(side) for side in relation.ordered)
        lines.append(f"assert (identity : ({larger}) - ({smaller}) = {' + '.join(total) or '0'}).")
        lines.append(f"{{ {rewritten}by_expansion. }}")
        lines.append("apply (nonneg_by_identity _ _ _ identity).")
        return "\n".join([*lines, "repeat apply Rplus_le_le_0_compat; first [assumption | lra]."])

    def _prove_averages(self, parts: Sequence[Part]) -> Iterator[str]:
        """Prove that client averages in coefficients are not negative."""
        means = {mean for part in parts for mean in part.coefficient.atoms(Average)}
        for place, mean in enumerate(sorted(means, key=sp.default_sort_key), start=1):
            yield f"assert (mean_sign{place} : 0 <= {self.reader.write_scalar(mean)})."
            yield f"{{ apply mean_nonneg; intros i Hi; {_OF_CLIENT}; of_signs. }}"

    # Equations for squares.

    def squares(self, relation: Relation, parts: Sequence[Part]) -> Iterator[str]:
        """Yield equations for the expected squares of vectors with sampling or noise."""
        names = (f"square{place}" for place in count(1))
        for square in _list_random(relation, [one for part in parts for one in self._list_squares(part.reason)]):
            mean = isinstance(square, Average)
            inside = square.args[0] if mean else square
            vector, same = inside.args[0].args
            if vector != same:
                raise NotExported("an expected inner product of two different vectors of a round is not exported")
            goal = self.reader.write_scalar(square)
            if self.reader.vocabulary.is_of_each_participant(vector):
                yield write_if_sampled(next(names), goal, vector, self.reader, mean=mean)
            elif self.reader.is_drawn(vector):
                yield self._prove_sampled(next(names), goal, vector)
            elif self._has_start_noise_only(vector):
                yield self._prove_start_noise(next(names), goal, vector, mean=mean)

    def _has_start_noise_only(self, vector: Expr) -> bool:
        """Return whether a vector contains noise of samples at the start of the round, and no other noise."""
        samples = self.reader.vocabulary.symbols(q.gradient_at_server_model)
        return {total.args[0] for total in vector.atoms(LocalSum)} == {samples}

    def _prove_sampled(self, name: str, goal: str, vector: Expr) -> str:
        """Return an equation for the mean square of a vector with an average over participants."""
        symbol = self.reader.vocabulary.symbols
        if vector.has(START, CHANGE, symbol(q.stochastic_gradient), symbol(q.next_server_model)):
            return expand_square_by_changes(name, goal, vector, split(vector, self.reader.vocabulary), self.reader)
        (selected,) = vector.atoms(Selected)
        parts = [part for part in sp.Add.make_args(vector) if part.has(Selected)]
        factor, rest = parts[0] / selected, vector - parts[0]
        if len(parts) != 1 or factor.has(Selected, Inner):
            raise NotExported("a square with several averages over participants is not exported")
        whole, member, other = (
            self.reader.write_vector(one) if one != 0 else ZERO for one in (vector, selected.args[0], rest)
        )
        c = self.reader.number(factor)
        if (parts_of := self._split_parts(selected.args[0])) is not None:
            self.reader.vocabulary.required |= {NOISE, INDEPENDENT}
            return _expand_square(name, goal, (member, other, c), parts_of, is_expected=vector.has(Expectation))
        self.reader.vocabulary.required.add(NOISE)
        start = "grad (client_objective S i) (server_model S)"
        return (
            f"assert ({name} : {goal} = ‖({other}) + ({c}) • grad (F S) (server_model S)‖² + ({c}) ^ 2 * "
            "(1 / participants D * mean (step_clients S) (fun i => (1 / E_of S i) ^ 2 * start_variance S i) + "
            f"left_of_differences S D * mean (step_clients S) (fun i => ‖{start} - grad (F S) (server_model S)‖²))).\n"
            "{ rewrite (drawn_gradient S past unbiased_S D uniform_D uniform_shares_S several_clients_S "
            f"(fun s => ({whole})%vec) (fun i => ({member})%vec) ({other})%vec ({c})); [reflexivity | | |].\n"
            "  - pose proof (unbiased_start S past unbiased_S). unfold minus. in_past.\n"
            "  - intros s w. rewrite ?dot_minus, ?dot_plus, ?dot_scale, ?dot_minus, ?dot_plus, ?dot_scale. ring.\n"
            "  - intros i w. unfold start_noise. pose proof (E_large S i). pushed. of_client. }"
        )

    def _split_parts(self, held: Expr) -> tuple[str, str] | None:
        """Return a client's vector as a known part and noise; None unless it is a result or a minimiser."""
        symbol = self.reader.vocabulary.symbols
        result, best = symbol(q.local_result), symbol(q.client_optimum)
        mean, rest = "expected (local_result S i)", "local_result S i - expected (local_result S i)"
        return {
            result: (mean, rest),
            Expectation(result): (mean, ZERO),
            result - Expectation(result): (ZERO, rest),
            best: ("optimum i", ZERO),
        }.get(held)

    def _prove_start_noise(self, name: str, goal: str, vector: Expr, *, mean: bool) -> str:
        """Return an equation for the mean square of noise at the start of the round, or for its client average."""
        parts = [part for part in sp.Add.make_args(vector) if _find_outside(part)]
        if len(parts) != 1 or not parts[0].has(LocalSum):
            raise NotExported("a square with other noise than that at the start of a round is not exported")
        (total,) = parts[0].atoms(LocalSum)
        self.reader.vocabulary.required.add(NOISE)
        factor = self.reader.number(parts[0] / total)
        whole = self.reader.write_vector(vector)
        shown_of = (
            f"apply (square_of_start_noise S past unbiased_S ({whole})%vec ({factor}) i Hi); intros w; "
            "unfold start_noise; pushed; of_client"
        )
        square = f"({factor}) ^ 2 * start_variance S i"
        if not mean:
            return f"assert ({name} : {goal} = {square}).\n{{ {shown_of}. }}"
        whole_mean = f"mean (step_clients S) (fun i => {square})"
        return f"assert ({name} : {goal} = {whole_mean}).\n{{ apply mean_ext; intros i Hi; {shown_of}. }}"

    # Terms of the certificate.

    def _write_term(self, part: Part) -> tuple[str, str]:
        """Return a term of the certificate as text, and a tactic for its sign."""
        slack, tactic = self._write_slack(part.reason, summed=part.summed)
        factor = self.reader.number(self.reader.with_names(_combine_fractions(part.coefficient)))
        term = f"({factor}) * ({slack})"
        shown_of = f"apply Rmult_le_pos; [of_signs | {tactic}]"
        if not part.averaged:
            return term, f"{_OF_CLIENT}; {shown_of}" if " i" in term else shown_of
        return f"mean (step_clients S) (fun i => {term})", f"apply mean_nonneg; intros i Hi; {_OF_CLIENT}; {shown_of}"

    def _write_slack(self, inequality: InequalityRef, *, summed: bool) -> tuple[str, str]:
        """Return the slack of an inequality, or its sum over a client's steps, as text, and a tactic for its sign."""
        if inequality == InequalityRef("assumption", ("variance at the server's model",)) and summed:
            symbol = self.reader.vocabulary.symbols
            self.reader.vocabulary.used |= {symbol(q.relative_noise), symbol(q.absolute_noise)}
            return (
                "E_of S i * (beta i ^ 2 * ‖optimum i - server_model S‖² + sigma i ^ 2) - start_variance S i",
                "apply (variance_of_start S optimum beta sigma i own_variance_S Hi)",
            )
        if summed and (of_steps := self._sum_steps(inequality)) is not None:
            return of_steps
        if summed and inequality.kind == "assumption":
            return self.premises.sum_over_steps(str(inequality.about[0]), self.reader)
        if summed:
            raise NotExported(f"the sum of {inequality.kind} over the steps of a round is not in the library")
        found = (
            self.list_participant_facts(inequality)
            or self._list_objective_facts(inequality)
            or write_inequality(inequality, self.reader)
        )
        return self.reader.text(self.reader.read_slack(found)), found.tactic

    def _sum_steps(self, inequality: InequalityRef) -> tuple[str, str] | None:
        """Return the sum of an inequality over the steps of a client, and a tactic; None if the library has none."""
        symbol = self.reader.vocabulary.symbols
        if inequality == InequalityRef("assumption", ("mean-square smoothness",)):
            moved, changed = (
                self._write_total(symbol(one) - symbol(other))
                for one, other in (
                    (q.local_iterate, q.server_model),
                    (q.stochastic_gradient, q.gradient_at_server_model),
                )
            )
            self.reader.vocabulary.used.add(symbol(q.mean_square_smoothness))
            return (
                f"(bound i ^ 2) * {moved} - {changed}",
                "apply (smoothness_of_steps S bound i mean_square_smooth_S Hi)",
            )
        if inequality.kind != "square" or len(sums := sp.sympify(inequality.about[0]).atoms(LocalSum)) != 1:
            return None
        (total,) = sums
        member, steps = total.args[0], symbol(q.client_local_steps)
        if sp.expand(inequality.about[0] - member + total / steps) != 0:
            return None
        of_step, whole = (self.reader.write_vector(one) for one in (member, total / steps))
        slack = f"{self._write_total(member)} - E_of S i * ‖{whole}‖²"
        return slack, f"apply (deviations_of_steps S (fun e i => ({of_step})%vec) i)"

    def _write_total(self, vector: Expr) -> str:
        """Return the sum of the squared norms over the steps of a round, as text."""
        return self.reader.write_scalar(LocalSum(Inner(vector, vector)))

    def list_participant_facts(self, inequality: InequalityRef) -> KnownSlack | None:
        """Return the facts on averages over participants."""
        square = self._write_sampled_square(inequality)
        if square is None:
            return None
        if inequality.kind == "square":
            return KnownSlack(square, "apply mean_nonneg; intros s Hs; apply dot_self")
        held = sp.sympify(inequality.about[0])
        member = self.reader.write_vector(held)
        tactic = f"apply (mean_of_drawn S D uniform_D uniform_shares_S (fun i => ({member})%vec))"
        return KnownSlack(Average(Inner(held, held)) - square, tactic)

    def _list_squares(self, inequality: InequalityRef) -> list[Expr]:
        """Return the squares in an inequality, in expectation over the sampling."""
        if inequality.kind == "assumption" and inequality.about[0] in self.reader.known:
            known: Expr = self.reader.known[str(inequality.about[0])].slack
            return sorted(known.atoms(Expectation), key=sp.default_sort_key)
        square = self._write_sampled_square(inequality)
        return [] if square is None else [square]

    def _write_sampled_square(self, inequality: InequalityRef) -> Expr | None:
        """Return the square of an average over participants in an inequality, in expectation over the sampling."""
        if inequality.kind not in ("square", "mean_of_drawn"):
            return None
        vector = sp.sympify(inequality.about[0])
        if inequality.kind == "mean_of_drawn":
            return Expectation(Inner(Selected(vector), Selected(vector)))
        if not vector.has(Selected):
            return None
        whole = split(vector, self.reader.vocabulary).whole
        return Expectation(Inner(whole, whole))

    def _list_objective_facts(self, inequality: InequalityRef) -> KnownSlack | None:
        """Return the facts on F by its constants, and on the distance of the clients' minimisers."""
        symbol = self.reader.vocabulary.symbols
        if inequality == InequalityRef("assumption", ("distance of the minimisers",)):
            between = symbol(q.client_optimum) - symbol(q.optimum)
            slack = symbol(q.client_optimum_distance) ** 2 - Inner(between, between)
            return KnownSlack(slack, "rewrite apart_S; lra")
        if inequality.kind not in ("lipschitz_gradient", "strong_convexity"):
            return None
        objective, at, around = map(sp.sympify, inequality.about)
        if self.reader.vocabulary.objectives.get(objective) != AT_STEP.mean:
            return None
        points = " ".join(f"({self.reader.write_vector(one)})%vec" for one in (at, around))
        between = Inner(at - around, at - around)
        if inequality.kind == "lipschitz_gradient":
            changed = Gradient(objective, at) - Gradient(objective, around)
            slack = symbol(q.objective_smoothness) ** 2 * between - Inner(changed, changed)
            return KnownSlack(
                slack, f"pose proof (lipschitz S (F S) L_F {points} L_F_positive smooth_mean_S) as known; lra"
            )
        slope = Inner(Gradient(objective, around), at - around)
        slack = Value(objective, at) - Value(objective, around) - slope - symbol(q.smallest_curvature) / 2 * between
        known = f"strong_convexity S nu_F (F S) {points} strongly_convex_mean_S"
        return KnownSlack(slack, f"pose proof ({known}) as known; lra")


def _expand_square(
    name: str, goal: str, vector: tuple[str, str, str], parts: tuple[str, str], *, is_expected: bool
) -> str:
    """Expand the square of a + c v for the average v of the participants' vectors."""
    member, other, c = vector
    known, rest = (f"(fun i => ({part})%vec)" for part in parts)
    mean = f"vmean (step_clients S) {known}"
    apart_from_mean = f"mean (step_clients S) (fun i => ‖({parts[0]}) - {mean}‖²)"
    of_squares = f"(mean (step_clients S) (fun i => ‖{parts[0]}‖²) - ‖{mean}‖²)"
    spread = apart_from_mean if is_expected else of_squares
    noise = f"mean (step_clients S) (fun i => ‖{parts[1]}‖²)"
    needs = "uniform_D uniform_shares_S several_clients_S past (unbiased_start S past unbiased_S)"
    given = f"(fun i => ({member})%vec) {known} {rest}"
    return (
        f"assert ({name} : {goal} = ‖({other}) + ({c}) • {mean}‖² + ({c}) ^ 2 * "
        f"(1 / participants D * {noise} + left_of_differences S D * {spread})).\n"
        f"{{ transitivity (mean (outcomes D) (fun s => ‖({other}) + ({c}) • "
        f"selected S D (fun i => ({member})%vec) s‖²)).\n"
        "  - apply mean_ext. intros s _. apply same_squares. intros w. "
        "rewrite ?dot_minus, ?dot_plus, ?dot_scale, ?dot_minus, ?dot_plus, ?dot_scale, ?dot_zero. ring.\n"
        f"  - rewrite <- ?spread_of_known. apply (drawn_square S D {needs} {given}); by_parts. }}"
    )


def _combine_fractions(coefficient: Expr) -> Expr:
    """Return a number without fractions in denominators."""
    denominators = [
        power.base for power in sp.sympify(coefficient).atoms(sp.Pow) if power.exp.is_negative and power.base.is_Add
    ]
    is_nested = any(power.exp.is_negative for base in denominators for power in base.atoms(sp.Pow))
    return sp.factor(coefficient) if is_nested else coefficient


def _list_random(relation: Relation, more: Sequence[Expr]) -> list[Expr]:
    """Return the random squares in a relation and in `more`, or their averages over the clients."""
    sides = sp.Tuple(relation.left, relation.right, *more)
    squares = {one for one in sides.atoms(Expectation) if isinstance(one.args[0], Inner)}
    means = [one for one in sides.atoms(Average) if one.args[0] in squares]
    alone = squares - {one.args[0] for one in means}
    return sorted([*means, *alone], key=sp.default_sort_key)


def _find_outside(part: Expr) -> bool:
    """Return whether a sum over steps stands outside of expectations."""
    kept = part.replace(lambda one: isinstance(one, Expectation), lambda _: sp.S.Zero)
    return bool(kept.has(LocalSum))


class OutcomeScalars(Scalars):
    """Write vectors of an outcome by samples at the start of the round and changes by its steps."""

    def squares(self, relation: Relation, parts: Sequence[Part]) -> Iterator[str]:
        """Yield equations for the squares of participants' vectors."""
        del parts
        products = sp.Tuple(relation.left, relation.right).atoms(Inner)
        drawn = sorted(filter(self.reader.is_drawn, products), key=sp.default_sort_key)
        for place, product in enumerate(drawn, start=1):
            vector, same = product.args
            if vector != same:
                raise NotExported("an inner product of two different vectors of participants is not exported")
            self.reader.vocabulary.files.add("Changes")
            whole = split(vector, self.reader.vocabulary).whole
            goal, parted = (self.reader.write_scalar(Inner(one, one)) for one in (vector, whole))
            yield f"assert (square{place} : {goal} = {parted}).\n{{ apply same_squares. by_changes. }}"

    def list_participant_facts(self, inequality: InequalityRef) -> KnownSlack | None:
        """Prove that squares of participants' vectors are not negative."""
        if inequality.kind != "square" or not sp.sympify(inequality.about[0]).has(Selected):
            return None
        whole = split(sp.sympify(inequality.about[0]), self.reader.vocabulary).whole
        return KnownSlack(Inner(whole, whole), "apply dot_self")
