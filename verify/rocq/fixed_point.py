"""Export claims that an algorithm which starts at the optimum stays there, as theorems about its definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fedtheory.federation.definition import optimum
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.proofs.numbers import symbols_of
from verify.rocq.algorithms import Algorithm, Env, Notation
from verify.rocq.links import Links
from verify.rocq.names import name_of
from verify.rocq.numbers import SignProofs, number
from verify.rocq.reading import Reader
from verify.rocq.refusals import NotExported
from verify.rocq.step import write_operator
from verify.rocq.terms import Atom, Dot, Mean, Number, Sum, Term
from verify.rocq.theorem import Binder, Theorem
from verify.rocq.vocabulary import Vocabulary

_NOISE = Atom("gradient_noise S i", own=True, zero=True)
SINGLE = "assert (single : steps_of A = 1%nat) by (apply only_step; exact condition1)."


def write_theorem_of_fixed_point(claim: Claim, certificate: FixedPoint) -> Theorem:
    """Return the theorem that no vector of an algorithm changes, from its definition."""
    known = Algorithm(claim)
    goal = _define_displacement(known)
    lemmas = (
        (_state_step(claim, known),) if certificate.local_step == "single" or known.definition.steps_are_rounds else ()
    )
    proof = _prove_single(known, lemmas[0]) if lemmas else _prove_idle(known)
    (relation,) = claim.relations
    conditions = SignProofs({symbols_of(claim)(q.local_steps): "tau A"}, claim.conditions).hypotheses()
    parameters = [Binder("A", "run"), Binder("quiet_A", "forall n k i, noise_of A n k i = zero")]
    parameters += [Binder("size_positive", "0 < size_of A")] if known.same_size else []
    parameters += [*known.own, *known.bounds(), Binder("x_star", "space_of A")]
    parameters += [Binder("minimiser_x_star", "minimiser (step_at A O O) x_star"), *conditions]
    if relation.left != symbols_of(claim)(q.optimum_displacement_sq):
        raise NotExported(f"expected a bound on {q.optimum_displacement_sq.name}, got another statement")
    statement = f"{_name_displacement(known)} {write_operator(relation)} {number(relation.right, {})}"
    definitions = f"{known.text()}{known.at_optimum()}{goal}"
    name, needs = name_of(claim.id), ("Definitions",)
    names: dict[Quantity, str] = {q.local_steps: "tau A", q.optimum_displacement_sq: _name_displacement(known)}
    return Theorem(name, parameters, statement, proof, lemmas, needs, names=names, definitions=definitions)


def _name_displacement(known: Algorithm) -> str:
    """Return the squared displacement of all vectors after a round from the optimum, as text."""
    return f"optimum_displacement_sq {known.applied} x_star"


def _count_steps(known: Algorithm) -> str:
    """Return the number of local steps of a round, equal for all clients, as text."""
    if not known.same_size:
        return ""
    return "1 " if known.definition.steps_are_rounds else "(steps_of A) "


def _define_displacement(known: Algorithm) -> str:
    """Return the definition of the squared displacement."""
    parameters = " ".join(map(str, [Binder("A", "run"), *known.own, Binder("x_star", "space_of A")]))
    shared = [f"‖{one} after - {one} before‖²" for one in known.definition.server]
    own = [f"mean (clients_of A) (fun i => ‖{one} after i - {one} before i‖²)" for one in known.definition.client]
    return (
        f"Definition optimum_displacement_sq {parameters} : R :=\n"
        f"  let before := at_optimum {known.applied} x_star in\n"
        f"  let after := ended {known.applied} {_count_steps(known)}before O in\n"
        f"  {' + '.join([*shared, *own])}.\n"
    )


def _prove_single(known: Algorithm, lemma: Theorem) -> str:
    """Prove a round with a single step by a lemma about that step."""
    arguments = {"S": "step_at A O O", "quiet_S": "quiet_A O O", "step_size_positive": "size_positive"}
    lines = ["unfold optimum_displacement_sq."]
    if not known.definition.steps_are_rounds:
        lines = [SINGLE, *lines, "rewrite single."]
    return "\n".join([*lines, f"exact ({lemma.apply(**arguments)})."])


def _state_step(claim: Claim, known: Algorithm) -> Theorem:
    """Return the change of the vectors in a round with one step, as one scalar."""
    links = Links(Reader(Vocabulary(replace(claim, place="step"), quiet=True)), SignProofs({}))
    place = Notation(known.numbers("step_size S", "share (step_clients S) i"), "", _NOISE, at_step=True)
    rest = {
        one: known.term(one, where, {optimum: Atom("x_star")}, replace(place, noise=None))
        for one, where in known.definition.at_optimum.items()
    }
    parts = [*_list_distances(known, rest, write_round(known, rest, place))]
    total = parts[0]
    for part in parts[1:]:
        total = Sum(total, part)
    parameters = [Binder("S", "step"), Binder("quiet_S", "quiet S"), Binder("step_size_positive", "0 < step_size S")]
    parameters += [*known.own, *known.bounds(), Binder("x_star", "step_space S")]
    parameters.append(Binder("minimiser_x_star", "minimiser S x_star"))
    proof = f"{links.opening}\n{links.identity(total, Number('0'))}"
    return Theorem(f"{name_of(claim.id)}_at_step", parameters, f"{links.text(total)} = 0", proof)


def write_round(known: Algorithm, states: Env, place: Notation) -> dict[object, Term]:
    """Return the map of a round with a single step."""
    local = known.local
    begun = {**states, local.vector: known.term(local.vector, local.start, states, place)}
    moved = {**states, local.vector: known.term(local.vector, local.step, begun, place)}
    ends = {**known.definition.server_update, **known.definition.client_update}
    return {**states, **{one: known.term(one, end, moved, place) for one, end in ends.items()}}


def _list_distances(known: Algorithm, before: Env, after: Env) -> Iterator[Term]:
    """Yield the squared displacement of each vector: of the server's, and averaged over clients of theirs."""
    for one in (*known.definition.server, *known.definition.client):
        displacement = Sum(after[one], before[one], "-")
        square = Dot(displacement, displacement)
        yield square if one in known.definition.server else Mean(square)


def _prove_idle(known: Algorithm) -> str:
    """Prove that no local step changes anything, so that the end of a round does not either."""
    local, rest = known.local.vector, f"(at_optimum {known.applied} x_star)"
    vectors = [*known.definition.server, *known.definition.client]
    fields = " ".join(map(str, vectors))
    after = f"(ended {known.applied} {_count_steps(known)}{rest} O)"
    lines = [
        f"assert (rests : forall k i, {local} {known.applied} {rest} O k i = {local}_start {known.applied} {rest} i).",
        f"{{ intros k i. induction k as [| k IH]; [reflexivity |]. cbn [{local}]. rewrite IH, (quiet_A O k i).",
        f"  unfold {local}_start. cbn [at_optimum {fields}]. by_linear. }}",
    ]
    for place, one in enumerate(vectors, start=1):
        each, index = ("forall i, ", " i") if one in known.definition.client else ("", "")
        lines += [
            f"assert (still{place} : {each}{one} {after}{index} = {one} {rest}{index}).",
            f"{{ intros. cbn [ended {fields}]. try destruct (is_drawn _).",
            f"  all: without_sums ltac:(rewrite ?rests; unfold {local}_start; cbn [at_optimum {fields}]).",
            f"  all: rewrite ?rests; unfold {local}_start; cbn [at_optimum {fields}]; by_linear. }}",
        ]
    lines.append("unfold optimum_displacement_sq. cbv zeta.")
    for place, one in enumerate(vectors, start=1):
        if one in known.definition.server:
            lines.append(f"rewrite still{place}, minus_self, dot_zero.")
        else:
            shown = f"intros i _; rewrite still{place}, minus_self; apply dot_zero"
            lines.append(f"rewrite (mean_ext _ _ (fun _ => 0)) by ({shown}). rewrite mean_const.")
    return "\n".join([*lines, "ring."])
