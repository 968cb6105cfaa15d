"""Export sums over the steps of an interval of a relation that holds at every local step, by induction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.parts import AnyPremise
from verify.rocq.names import name_of, name_quantities
from verify.rocq.numbers import number
from verify.rocq.papers.lecture27.path_run import NEEDS, PathInRun
from verify.rocq.refusals import NotExported
from verify.rocq.run import KNOWN
from verify.rocq.step import write_operator
from verify.rocq.theorem import Binder, Exported, Theorem, project


def is_of_interval(certificate: Combination) -> bool:
    """Return whether a claim is the sum over an interval of another claim about each step, up to orderings."""
    parts = [part for link in certificate.links for part in link]
    is_sum = bool(parts) and _is_telescoped(parts[0].premise) and len(certificate.links) == 1
    return is_sum and all(
        part.coefficient == 1 and (isinstance(part.premise, sp.Rel) or _is_telescoped(part.premise)) for part in parts
    )


def _is_telescoped(premise: AnyPremise) -> bool:
    """Return whether a premise is the sum over an interval of a claim about each step."""
    return isinstance(premise, Derived) and premise.kind == "telescoped"


def write_theorem_of_interval(
    claim: Claim, certificate: Combination, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]]:
    """Return the theorem on an interval; raises `NotExported` if its steps have other assumptions or conditions."""
    premise, (relation,) = certificate.links[0][0].premise, claim.relations
    assert isinstance(premise, Derived)
    known = export_id(premise.claim)
    if (claim.assumptions, claim.conditions) != (known.claim.assumptions, known.claim.conditions):
        raise NotExported("sums over an interval are exported under the assumptions and conditions of each step")
    symbol, names = symbols_of(claim), _name_numbers(claim, "O", "(steps_of A)", "tau A")
    parameters, induction = _prove_sum(known, premise)
    least = "lra."
    if symbol(q.smallest_gap) in relation.slack.free_symbols:
        names[symbol(q.smallest_gap)] = "epsilon"
        bound = f"forall n, (n < rounds_of A)%nat -> epsilon <= {_write_gap('(steps_of A)')}"
        parameters += [Binder("epsilon", "R"), Binder("epsilon_A", bound)]
        least = "pose proof (epsilon_A n Hn) as least. lra."
    whole = "pose proof (sums (steps_of A) (Nat.le_refl _)) as whole. fold (tau A) in whole."
    goal = f"{number(relation.left, names)} {write_operator(relation)} {number(relation.right, names)}"
    proof = "\n".join([KNOWN, *induction, whole, least])
    return Theorem(name_of(claim.id), parameters, goal, proof, needs=NEEDS, names=name_quantities(symbol, names)), [
        known
    ]


def _prove_sum(known: Exported, premise: Derived) -> tuple[list[Binder], list[str]]:
    """Return the hypotheses of a claim about each step of an interval, and tactics for its sum over m steps."""
    claim, theorem = known.claim, known.theorem
    total = premise.derive(symbols_of(claim), claim.relations)
    sums, step = (number(total, _name_numbers(claim, *ends)) for ends in (("O", "m", "INR m"), ("m", "(S m)", "1")))
    parameters, arguments = _list_hypotheses(known)
    applied = project(theorem.apply(**arguments), premise.link, len(claim.relations))
    nonzero = ""
    if "<> 0" in theorem.statement:
        # The denominators of the statement are not zero at any step.
        parameters.append(Binder("nonzero", f"forall m, (m <= steps_of A)%nat -> {_write_gap('m')} <> 0"))
        nonzero = " (nonzero m ltac:(lia)) (nonzero (S m) ltac:(lia))"
    return parameters, [
        f"assert (sums : forall m, (m <= steps_of A)%nat -> 0 <= {sums}).",
        "{ induction m as [| m before]; intros Hm; [simpl INR; lra |].",
        "  assert (Hk : (m < steps_of A)%nat) by lia. pose proof (before ltac:(lia)) as so_far.",
        f"  assert (step : 0 <= {step}).",
        f"  {{ pose proof ({applied}{nonzero}) as known. cbn in known |- *. lra. }}",
        "  rewrite ?S_INR. lra. }",
    ]


def _list_hypotheses(known: Exported) -> tuple[list[Binder], Mapping[str, str]]:
    """Return the hypotheses of a theorem about each step in a run, and their arguments at step m of round n."""
    claim, parameters = known.claim, list(known.theorem.binders)
    arguments: Mapping[str, str] = {"k": "m"}
    if parameters[0].type != "run":
        path = PathInRun(claim, tuple(claim.conditions))
        parameters = path.binders({symbols_of(claim)(q.optimum)}, own=False)
        parameters += path.run.signs(claim.conditions).hypotheses()
        arguments = path.arguments("m")
    return [binder for binder in parameters if binder.name not in ("k", "Hk")], arguments


def _name_numbers(claim: Claim, first: str, last: str, steps: str) -> dict[sp.Symbol, str]:
    """Return the names of a run's numbers, with the gaps at two steps and the number of steps between them."""
    symbol = symbols_of(claim)
    return PathInRun(claim, tuple(claim.conditions)).run.names | {
        symbol(q.interval_start_gap): _write_gap(first),
        symbol(q.interval_end_gap): _write_gap(last),
        symbol(q.local_steps): steps,
    }


def _write_gap(step: str) -> str:
    """Return the error of the centralised model at a step, as text."""
    return f"(value (F_of A) (centralised A n {step}) - value (F_of A) x_star)"
