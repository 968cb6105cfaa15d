"""Mean squares of participants' vectors, from samples at the start of a round and changes by its steps.

With normalised step sizes, every vector of a round is a sum of three parts: a vector known at the start, a multiple of
the samples there, and a multiple of the changes, both in expectation over the participants (`library/Changes.v`).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, LocalSum, Selected
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from verify.rocq.refusals import NotExported
from verify.rocq.round_vocabulary import CHANGE, NOISE, START, RoundReader, RoundVocabulary

ZERO = "(zero : step_space S)"


@dataclass(frozen=True)
class ChangeParts:
    """A vector in three parts: the known part, and the coefficients of the samples at the start and of the changes."""

    known: Expr
    start: Expr
    change: Expr

    @property
    def whole(self) -> Expr:
        """Return the sum of the parts."""
        return sp.sympify(self.known + self.start * START + self.change * CHANGE)


def split(vector: Expr, vocabulary: RoundVocabulary) -> ChangeParts:
    """Split a vector of the participants into these parts; raises `NotExported` if it has others."""
    if a.normalised_steps not in vocabulary.claim.assumptions:
        raise NotExported("changes by local steps are exported for normalised step sizes")
    symbol = vocabulary.symbols
    size = {symbol(q.client_step_size): symbol(q.effective_step_size) / symbol(q.client_local_steps)}
    samples = symbol(q.client_step_size) * LocalSum(symbol(q.stochastic_gradient))
    result = {symbol(q.local_result): symbol(q.server_model) - samples}
    moved = {symbol(q.next_server_model): Selected(symbol(q.local_result))}
    written = sp.sympify(vector).xreplace(moved).xreplace(result).xreplace(size)
    written = written.replace(LocalSum, lambda of: _rewrite_step_sums(of, vocabulary))
    written = sp.expand(_rewrite_participant_means(written, vocabulary).replace(Selected, lambda of: of))
    start, change = (sp.factor(written.coeff(part)) for part in (START, CHANGE))
    known = sp.factor(written.xreplace({START: sp.S.Zero, CHANGE: sp.S.Zero}))
    if vocabulary.is_own(known) or any(map(vocabulary.is_own, (start, change))) or known.has(LocalSum, Average):
        raise NotExported("expected multiples of samples and of changes by local steps as vectors of participants")
    return ChangeParts(known, start, change)


def _rewrite_step_sums(member: Expr, vocabulary: RoundVocabulary) -> Expr:
    """Return a sum over the steps of a round in averages of gradient changes and the gradient at the start."""
    symbol = vocabulary.symbols
    member, sample, at_start = sp.expand(member), symbol(q.stochastic_gradient), symbol(q.gradient_at_server_model)
    moved, begun = member.coeff(sample), member.coeff(at_start)
    if sp.expand(member - moved * sample - begun * at_start) != 0:
        return LocalSum(member)
    steps: Expr = symbol(q.client_local_steps) * (moved * CHANGE + (moved + begun) * START)
    return steps


def _rewrite_participant_means(vector: Expr, vocabulary: RoundVocabulary) -> Expr:
    """Write averages over participants, where possible, as averages over all clients."""
    symbol = vocabulary.symbols
    share = symbol(q.participants) / symbol(q.clients)
    found: Expr = vector.replace(
        lambda part: isinstance(part, Average) and part.has(symbol(q.participates)),
        lambda part: share * Selected(part.args[0] / symbol(q.participates)),
    )
    return found


def expand_square_by_changes(name: str, goal: str, vector: Expr, parts: ChangeParts, reader: RoundReader) -> str:
    """Return an equation for the mean square of a vector, by its parts."""
    reader.vocabulary.files.add("Changes")
    whole = reader.write_vector(vector)
    known = reader.write_vector(parts.known) if parts.known != 0 else ZERO
    c, d = map(reader.number, (parts.start, parts.change))
    given = f"(fun s => ({whole})%vec)"
    if parts.known == 0 and parts.start == 0:
        return (
            f"assert ({name} : {goal} = ({d}) ^ 2 * energy_of_changes S D).\n"
            f"{{ apply (square_of_changes S D {given} ({d})); by_changes. }}"
        )
    reader.vocabulary.required.add(NOISE)
    start = "grad (client_objective S i) (server_model S)"
    needs = "uniform_D uniform_shares_S past unbiased_S several_clients_S"
    return (
        f"assert ({name} : {goal} = ‖({known}) + ({c}) • grad (F S) (server_model S)‖² + ({c}) ^ 2 * "
        "(1 / participants D * mean (step_clients S) (fun i => (1 / E_of S i) ^ 2 * start_variance S i) + "
        f"left_of_differences S D * mean (step_clients S) (fun i => ‖{start} - grad (F S) (server_model S)‖²)) + "
        f"2 * ({d}) * ⟨change_in_the_mean S, {known}⟩ + 2 * ({c}) * ({d}) * change_with_start S D + "
        f"({d}) ^ 2 * energy_of_changes S D).\n"
        f"{{ apply (square_with_changes S D {needs} {given} ({known})%vec ({c}) ({d})); [| by_changes].\n"
        "  pose proof (unbiased_start S past unbiased_S). unfold minus. in_past. }"
    )


def write_if_sampled(name: str, goal: str, vector: Expr, reader: RoundReader, *, mean: bool) -> str:
    """Return an equation for the mean square of a client's vector if it is sampled, or for its average over clients."""
    reader.vocabulary.files.add("Changes")
    held = sp.expand(vector / reader.vocabulary.symbols(q.participates))
    whole = reader.write_vector(held)
    square = f"participants D / M S * ‖{whole}‖²"
    shown = (
        f"rewrite <- (square_if_drawn S D uniform_D ({whole})%vec i Hi); apply mean_ext; intros s Hs; "
        "apply same_squares; intros w; rewrite ?dot_scale; pose proof (E_large S i); field; nonzero"
    )
    if not mean:
        return f"assert ({name} : {goal} = {square}).\n{{ {shown}. }}"
    of_each = f"mean (step_clients S) (fun i => {square})"
    return f"assert ({name} : {goal} = {of_each}).\n{{ apply mean_ext; intros i Hi; {shown}. }}"
