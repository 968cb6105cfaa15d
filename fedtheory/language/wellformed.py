"""Checks that a user's claim is well formed: every field has the right type; each mistake is one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Kind, Operator, Place, Rate, Relation, Verdict
from fedtheory.language.claim_choices import list_symbol_values
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from fedtheory.language.vocabulary import list_assumptions, vocabulary
from fedtheory.plain_names import require_plain, require_readable

_TEXTS = ("id", "title", "locator", "note", "printed", "implemented_by", "corrects", "sharpens")
_CHOICES = {"kind": Kind, "relation": Operator, "place": Place, "verdict": Verdict}
_MAY_BE_MISSING = ("printed", "implemented_by", "corrects", "sharpens", "verdict")

_NUMBER = "a number, a quantity or a SymPy expression of finite numbers (at most 1200 digits)"
_LONGEST = 4000
"""Limit on the bits of a number in a claim."""
_LARGEST_EXPONENT = 1000


def require_wellformed(claim: Claim) -> None:
    """Raise `InputError`, naming the field, if a field has an invalid value; nothing is evaluated."""
    for name in _TEXTS:
        value = getattr(claim, name)
        _expect(name, isinstance(value, str) or (value is None and name in _MAY_BE_MISSING), "a string", value)
    # Invisible characters would make an id look like another one, such as that of a paper's claim.
    is_seen = claim.id.strip() == claim.id and claim.id.isprintable()
    _expect("id", bool(claim.id) and is_seen, "a name of visible characters", claim.id)
    require_plain("id", claim.id)
    for name in ("title", "locator", "note", "printed"):
        require_readable(name, getattr(claim, name) or "")
    for name, allowed in _CHOICES.items():
        value, words = getattr(claim, name), get_args(allowed)
        fits = (isinstance(value, str) and value in words) or (value is None and name in _MAY_BE_MISSING)
        _expect(name, fits, f"one of {', '.join(words)}", value)
    _require_meanings(claim)
    for field, side in _list_sides(claim):
        _expect(field, not isinstance(side, Rate), "a side; a rate stands by itself, as rate=Rate(...)", side)
        _expect(field, _is_number(side), _NUMBER, side)
        _expect(field, _has_small_powers(side), f"exponents of at most {_LARGEST_EXPONENT}, without powers", side)
    _require_bound(claim)
    _require_unique_meaning(claim)
    for symbol, quantity in {**claim.where, **claim.notation}.items():
        _require_new_name(f"where[{symbol}]", quantity)


def _require_bound(claim: Claim) -> None:
    """Raise `InputError` if a symbol has no meaning, or if the conditions allow no value of a free number."""
    unbound = claim.unbound_symbols
    if unbound:
        missing = ", ".join(sorted(map(_get_called_name, unbound)))
        raise InputError(
            claim.id,
            f"`where` does not give the quantity of {missing}: expected one of `fedtheory quantities`, "
            "or in `for_all` the values to try for a free number, such as for_all={beta: [0, '1/2', 1]}",
        )
    if claim.choice_conditions:
        expected = "symbols of `where`, which have one value, as the claim states a rate"
        _expect("conditions", claim.rate is None, expected, claim.choice_conditions[0])
        list_symbol_values(claim)


def _require_unique_meaning(claim: Claim) -> None:
    """Raise `InputError` if a symbol of several quantities occurs, and `where` does not select one."""
    sides = {side.symbol for _, side in _list_sides(claim) if isinstance(side, RunQuantity)}
    for symbol in sorted(sides & claim.for_all.keys(), key=str):
        raise InputError(claim.id, f"{symbol} is the symbol of a side: expected a different one in `for_all`")
    written = [side for field, side in _list_sides(claim) if field != "rate" and not isinstance(side, RunQuantity)]
    used = set().union(*(sp.sympify(side).free_symbols for side in written)) - claim.where.keys()
    for symbol in sorted(used & claim.notation.keys(), key=str):
        names = _list_names(symbol)
        if len(names) > 1:
            raise InputError(claim.id, f"{symbol} may be {' or '.join(names)}: give it a symbol in `where`")


def _get_called_name(symbol: sp.Symbol) -> str:
    """Return the name of a symbol; for a quantity's own symbol, the name of the quantity."""
    names = _list_names(symbol)
    return f"the symbol of quantities.{names[-1]}" if names else str(symbol)


def _list_names(symbol: sp.Symbol) -> list[str]:
    """Return the names of the quantities that have this symbol as their own."""
    quantities = (entry.quantity for entry in vocabulary())
    return [one.name for one in quantities if isinstance(one, RunQuantity) and one.symbol == symbol]


def _require_meanings(claim: Claim) -> None:
    for name in ("where", "for_all"):
        _expect(name, isinstance(getattr(claim, name), Mapping), "a dictionary", getattr(claim, name))
    for symbol, quantity in claim.where.items():
        keys = "SymPy symbols as keys, as in where={eta: quantities.local_step_size}"
        _expect("where", isinstance(symbol, sp.Symbol), keys, symbol)
        known = isinstance(quantity, str) and any(entry.quantity.name == quantity for entry in vocabulary())
        _expect("where", not known, f"quantities.{quantity} for {symbol}, without quotes", quantity)
        _expect("where", isinstance(quantity, Quantity), f"a quantity of the vocabulary for {symbol}", quantity)
    for symbol, values in claim.for_all.items():
        _expect("for_all", isinstance(symbol, sp.Symbol), "SymPy symbols as keys", symbol)
        _expect("for_all", _is_list(values) and len(values) > 0, f"a list of values for {symbol}", values)
        for value in values:
            # Roots and functions may be complex, and no run can have their values.
            is_exact = _is_number(value) and isinstance(value, int | float | sp.Rational | sp.Float)
            _expect("for_all", is_exact or _is_fraction(value), "integers, fractions or decimals", value)
    for name in ("conditions", "assumptions", "chain", "also"):
        _expect(name, _is_list(getattr(claim, name)), "a list", getattr(claim, name))
    for assumption in claim.assumptions:
        _expect(
            "assumptions",
            isinstance(assumption, Assumption),
            "assumptions of fedtheory.assumptions (`fedtheory assumptions` lists them)",
            assumption,
        )
        _require_new_assumption(assumption)
    _require_distinct_symbols(claim)
    texts = [condition for condition in claim.conditions if isinstance(condition, str)]
    _expect("conditions", not texts, "a list of relations without quotes, such as [eta <= 1/(4*L)]", "".join(texts))
    for condition in claim.conditions:
        expected = "relations such as eta <= 1/(4*L), with symbols for which they may be true or false"
        _expect("conditions", isinstance(condition, sp.core.relational.Relational), expected, condition)


def _require_distinct_symbols(claim: Claim) -> None:
    """Raise `InputError` if two symbols have the same name, although SymPy distinguishes them."""
    names = [str(symbol) for symbol in [*claim.where, *(claim.for_all.keys() - claim.where.keys())]]
    for name in names:
        require_plain("symbols", name)
        _expect("symbols", names.count(name) == 1, "different names for the symbols", name)


def _require_new_name(field: str, quantity: Quantity) -> None:
    """Raise `InputError` if a user-defined quantity looks like another one, or has its name."""
    require_plain(f"{field}.name", quantity.name)
    require_readable(f"{field}.latex", quantity.latex)
    require_readable(f"{field}.meaning", quantity.meaning)
    named = [entry.quantity for entry in vocabulary() if entry.quantity.name == quantity.name]
    is_own = not named or any(one == quantity for one in named)
    _expect(f"{field}.name", is_own, "a name that no quantity of fedtheory has", quantity.name)


def _require_new_assumption(assumption: Assumption) -> None:
    """Raise `InputError` if a user-defined assumption looks like one of fedtheory's, or has its name."""
    require_plain("assumptions", assumption.name)
    require_readable(f"assumptions[{assumption.name}].statement", assumption.statement)
    named = [entry.assumption for entry in list_assumptions() if entry.assumption.name == assumption.name]
    is_own = not named or any(one == assumption for one in named)
    _expect("assumptions", is_own, "names that no assumption of fedtheory has", assumption.name)


def _list_sides(claim: Claim) -> Iterator[tuple[str, object]]:
    """Yield everything that must be a number, with its field."""
    _require_chain(claim)
    if claim.lhs is not None or claim.rhs is not None:
        yield from (("lhs", claim.lhs), ("rhs", claim.rhs))
    yield from (("chain", side) for side in claim.chain[0::2])
    for relation in claim.also:
        _expect("also", isinstance(relation, Relation), "relations", relation)
        _expect("also", relation.operator in get_args(Operator), "a known relation sign", relation.operator)
        yield from (("also", relation.left), ("also", relation.right))
    for condition in claim.conditions:
        yield from (("conditions", condition.lhs), ("conditions", condition.rhs))
    if claim.rate is not None:
        has_more = claim.lhs is not None or claim.rhs is not None or bool(claim.chain) or bool(claim.also)
        _expect("rate", not has_more, "a rate alone, and its relations in another claim", claim.rate)
        yield from _list_sides_of_rate(claim.rate)


def _require_chain(claim: Claim) -> None:
    operators, words = claim.chain[1::2], get_args(Operator)
    complete = not claim.chain or (len(claim.chain) >= 3 and len(claim.chain) % 2 == 1)
    _expect("chain", complete, "expressions and relation signs in turn", list(claim.chain))
    for operator in operators:
        _expect("chain", isinstance(operator, str) and operator in words, f"one of {', '.join(words)}", operator)


def _list_sides_of_rate(rate: object) -> Iterator[tuple[str, object]]:
    """Yield the sides of a rate with their names, after a check of the rate."""
    _expect("rate", isinstance(rate, Rate), "a Rate", rate)
    assert isinstance(rate, Rate)
    expected = "a symbol as its variable, or a tuple of different symbols"
    are_symbols = all(isinstance(variable, sp.Symbol) for variable in rate.variables)
    is_list = len(rate.variables) > 0 and are_symbols and len({*rate.variables}) == len(rate.variables)
    _expect("rate", is_list, expected, rate.variable)
    yield from (("rate", rate.measured), ("rate", rate.order))
    optional = (rate.step_size, rate.local_steps, rate.constant)
    yield from (("rate", side) for side in optional if side is not None)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_fraction(value: object) -> bool:
    """Return whether a value is a whole number or a fraction as text, such as "1/3"."""
    return isinstance(value, str) and re.fullmatch(r"-?\d{1,40}(/\d{1,40})?", value) is not None


def _is_number(side: object) -> bool:
    """Return whether a value is a scalar expression; strings are not, because SymPy would execute them as Python."""
    if isinstance(side, RunQuantity):
        return True
    if isinstance(side, bool) or not isinstance(side, int | float | sp.Expr):
        return False
    if isinstance(side, int) and side.bit_length() > _LONGEST:
        return False
    expression = sp.sympify(side)
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I) and all(map(_is_short, expression.atoms(sp.Number)))


def _has_small_powers(side: Any) -> bool:
    """Return whether all exponents are small enough for SymPy and rationals."""
    exponents = [] if isinstance(side, RunQuantity) else [power.exp for power in sp.sympify(side).atoms(sp.Pow)]
    numbers = [number for exponent in exponents for number in exponent.atoms(sp.Number)]
    return not any(e.atoms(sp.Pow) for e in exponents) and all(abs(n) <= _LARGEST_EXPONENT for n in numbers)


def _is_short(number: sp.Number) -> bool:
    """Return whether a number can be printed, and is not infinite or close to the limits of floats."""
    if isinstance(number, sp.Rational):
        return bool(max(abs(int(number.p)), int(number.q)).bit_length() <= _LONGEST)
    return bool(number == 0 or 1e-300 <= abs(number) <= 1e300)


def _expect(field: str, holds: bool, expected: str, given: Any) -> None:
    if not holds:
        shown = "a number that is too long" if isinstance(given, int) and given.bit_length() > _LONGEST else repr(given)
        raise InputError(field, f"expected {expected}, got {shown if len(shown) <= 60 else shown[:57] + '...'}")
