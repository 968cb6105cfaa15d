"""Origins of hypotheses of theorems: an assumption or a condition of its claim, or the definition of a quantity.

Each rule maps a hypothesis at one step to its possible origins. A hypothesis without a rule, or without an origin in
the claim, would be an addition by the exporter: such a theorem is not exported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel.expressions import Expectation
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.numbers import POSITIVE, divisors, numbers_of, sides_of, symbols_of
from fedtheory.proofs.run_conditions import split_minima
from verify.rocq.origin_rules import EXPECTED, HYPOTHESIS_RULES, INDICES, POSITIVE_CONSTANTS, SIGNS, STANDING
from verify.rocq.paper_exports import Source
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, Exported, Theorem, describe_condition

_EACH_CLIENT = r"(?:forall i, (?:\(i < number \(clients_of A\)\)%nat -> )?)?"
_DATA = re.compile(
    r"(?:(?:run|sampled_run|schedule|server|step|round|R|nat|bool|Prop|space_of A|step_space S"
    r"|\(?objective \(space_of A\)\)?|draws \(step_clients S\))(?: -> )?)+"
)
"""Types of variables without a hypothesis."""
_AT_STEP = (
    (r"^always A \(fun S => (.*)\)$", r"\1"),
    (r"^always A (\w+)$", r"\1 S"),
    (r"^(?:forall [\w ]+, )?(?:\(n < (?:updates|rounds_of) A\)%nat -> )?(?:\(k < steps_of A\)%nat -> )?", ""),
    (r"\(step_at A (?:n k|O O)\)|\(step_of_round A[\w ]* [nO]\)|\(step_of S e\)", "S"),
    (r"\(past n(?: k)?\)|\(past_steps e\)|\bpast n k\b|\bpast n\b|\bpast_steps e\b", "past"),
    (r"\(noise_there n k\)", "noise_there"),
)
"""Substitutions from statements about every step of a run to one step."""


@dataclass(frozen=True)
class _Known:
    """The quantities of a claim and of the claims that its proof uses."""

    claim: Claim
    assumptions: frozenset[Assumption]
    quantities: Sequence[Quantity]
    names: Mapping[Quantity, str]
    divisors: frozenset[Quantity]
    """Quantities in denominators of the claim."""
    is_expected: bool
    """Whether the statement contains expectations."""
    conditions: frozenset[str]
    """The claim's conditions, in the form of `Binder.origin`."""


def find_origins(known: Exported) -> Theorem:
    """Return the theorem with the origin of each hypothesis; raises `NotExported` if one has none."""
    speaks = _collect_known(known)
    parameters = [replace(one, origin=_find_origin(one, speaks)) for one in known.theorem.binders]
    return replace(known.theorem, binders=parameters)


def _collect_known(known: Exported) -> _Known:
    """Collect the quantities, assumptions and conditions of a claim and of the claims that it uses."""
    claim = known.claim
    found = {quantity.name: quantity for one in _list_claims(known) for quantity in one.notation.values()}
    quantities = [found[name] for name in sorted(found)]
    symbols = symbols_of(claim)
    below = (symbols.quantity(symbol) for symbol in divisors(sides_of(claim)))
    divided = frozenset(quantity for quantity in below if quantity is not None)
    is_expected = any(sp.sympify(side).has(Expectation) for one in _list_claims(known) for side in sides_of(one))
    assumptions = frozenset(claim.assumptions)
    stated = (*claim.conditions, *split_minima(claim.conditions, numbers_of(claim)))
    conditions = frozenset(map(describe_condition, stated))
    return _Known(claim, assumptions, tuple(quantities), known.theorem.names, divided, is_expected, conditions)


def _list_claims(known: Exported) -> Iterator[Claim]:
    """Yield a claim and all claims that its proof uses."""
    yield known.claim
    for used in known.uses:
        yield from _list_claims(used)


def _find_origin(binder: Binder, known: _Known) -> str:
    """Return the origin of a hypothesis; raises `NotExported` if it encodes nothing of the claim."""
    if _DATA.fullmatch(binder.type):
        return ""
    # A hypothesis may be written from a condition of the claim.
    stated = binder.origin if binder.origin in known.conditions else None
    found = stated or _explain_domain(binder, known) or _explain_rule(binder.type, known)
    if found is None:
        raise NotExported(f"the hypothesis {binder.name} encodes no assumption and no quantity of the claim")
    return found


def _explain_domain(binder: Binder, known: _Known) -> str | None:
    """Return the domain of a symbol that a claim quantifies over."""
    match = re.fullmatch(r"(\d+) (<=?) each_(\d+)", binder.type)
    if match is None or int(match[3]) > len(known.claim.for_all):
        return None
    symbol, values = [*known.claim.for_all.items()][int(match[3]) - 1]
    is_strict, least = match[2] == "<", int(match[1])
    is_domain = all(one > least if is_strict else one >= least for one in map(sp.sympify, values))
    return f"the values of {symbol}" if is_domain else None


def _explain_rule(goal: str, known: _Known) -> str | None:
    """Return the assumption or quantity that a type encodes by one of the rules; None if no rule matches."""
    at_step = goal
    for pattern, plain in _AT_STEP:
        at_step = re.sub(pattern, plain, at_step)
    for rule in HYPOTHESIS_RULES:
        if re.fullmatch(rule.pattern, at_step) or re.fullmatch(rule.pattern, goal):
            found = _find_first(rule.sources, known)
            if found is not None:
                return rule.words or found
    for pattern, words in (*INDICES, *STANDING, *(EXPECTED if known.is_expected else ())):
        if re.fullmatch(pattern, at_step) or re.fullmatch(pattern, goal):
            return words
    return _explain_sign(at_step, known)


def _explain_sign(goal: str, known: _Known) -> str | None:
    """Return the quantity that a hypothesis declares to be non-negative, positive, or a count."""
    match = re.fullmatch(rf"{_EACH_CLIENT}(\d+) (<=?) (.*)", goal)
    if match is None:
        return None
    is_strict, name = match[2] == "<", match[3]
    found = None if is_strict and name not in POSITIVE_CONSTANTS else _find_first(SIGNS.get(name, ()), known)
    if found is not None:
        return found
    for quantity in known.quantities:
        # In claims about numbers every sign comes from a definition; in other claims only signs of denominators do.
        is_sign = not is_strict or quantity in POSITIVE or quantity in known.divisors
        if (quantity.name == name and is_sign) or (known.names.get(quantity) == name and quantity in known.divisors):
            return _describe_origin(quantity)
    return None


def _find_first(sources: Sequence[Source], known: _Known) -> str | None:
    """Return the first origin that the claim has."""
    return next((_describe_origin(one) for one in sources if one in known.assumptions or one in known.quantities), None)


def _describe_origin(source: Source) -> str:
    """Return a source as text."""
    return f"{'assumption' if isinstance(source, Assumption) else 'definition'}: {source.name}"
