"""Claims as data, stated in SymPy in the notation of their source.

A claim names two sides and a relation, its conditions and assumptions, and the quantity of a run that each symbol
stands for.  The typeset statement, its values on a run, the verdict and the page follow from these data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr, parts_of
from fedtheory.language.assumptions import Assumption, uniform_shares
from fedtheory.language.meaning_latex import typeset_meaning
from fedtheory.language.quantities.problem import importance
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from fedtheory.language.typesetting import format_plain, latex, weigh_clients
from fedtheory.shown import Card, Shown, inline

Kind = Literal[
    "algorithm",
    "assumption",
    "bound",
    "condition",
    "cost",
    "definition",
    "experiment",
    "identity",
    "inequality",
    "limit",
    "rate",
    "step",
]
Verdict = Literal["proved", "supported", "asymptotic", "refuted", "undecided", "not applicable", "definition"]
Fault = Literal["statement", "proof step", "misprint"]
"""Fault of a refuted claim: the statement is false, a step of its proof fails, or the publication has a misprint."""
Place = Literal["run", "step", "path", "round", "points"]
Operator = Literal["<", "<=", "==", ">=", ">"]

_OPERATOR_LATEX = {"<": "<", "<=": r"\le", "==": "=", ">=": r"\ge", ">": ">"}


@dataclass(frozen=True, eq=False)
class Relation:
    """``left operator right``: one link of a statement."""

    left: Expr
    operator: Operator
    right: Expr

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Both sides, in the order of the statement."""
        return self.left, self.right

    def transform(self, change: Callable[[Expr], Expr]) -> Relation:
        """Return the relation after applying `change` to both sides."""
        return Relation(change(self.left), self.operator, change(self.right))

    def atoms(self, *kinds: type) -> set[Expr]:
        """Return the parts of the given classes on either side."""
        return {*parts_of(self.left, *kinds), *parts_of(self.right, *kinds)}

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols on either side."""
        return {*self.left.free_symbols, *self.right.free_symbols}

    @property
    def ordered(self) -> tuple[Expr, Expr]:
        """The smaller side and the larger one, as claimed; for an equation the order of the statement."""
        return self.in_order(self.left, self.right)

    def in_order(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return a pair of values of both sides in the order of `ordered`."""
        return (right, left) if self.operator in (">=", ">") else (left, right)

    @property
    def slack(self) -> Expr:
        """Return the slack of the statement: the larger side minus the smaller one."""
        smaller, larger = self.ordered
        return larger - smaller

    @property
    def latex(self) -> str:
        """The relation in LaTeX."""
        return rf"{latex(self.left)} {_OPERATOR_LATEX[self.operator]} {latex(self.right)}"


@dataclass(frozen=True, eq=False)
class Rate:
    """A claim that a quantity is O(order) as variables, such as rounds or step sizes, tend to their limits.

    The hidden constant is the same for all values of the variables.
    """

    measured: Expr
    order: Expr
    variable: sp.Symbol | tuple[sp.Symbol, ...]
    """The variables: rounds, iterations, clients or local steps, which grow, or a step size, which decreases.

    A single symbol varies together with the other such quantities in the order.  A tuple lists all variables that vary,
    and keeps every other quantity fixed."""
    step_size: Expr | None = None
    """The local step size as a function of the variables; None keeps it constant."""
    local_steps: Expr | None = None
    """The number of local steps, rounded down, at the same number of iterations; None keeps it constant."""
    constant: Expr | None = None
    """The constant of the O(.), if it is stated: then measured <= constant * order on every run of the sequence."""
    direct: tuple[RunQuantity, ...] = field(init=False)
    """Quantities that are given directly, instead of a symbol of `where`."""

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if isinstance(value, RunQuantity)}
        for name, quantity in given.items():
            object.__setattr__(self, name, quantity.symbol)
        several = self.variable if isinstance(self.variable, tuple) else ()
        if several:
            symbols = tuple(each.symbol if isinstance(each, RunQuantity) else each for each in several)
            object.__setattr__(self, "variable", symbols)
        among = (each for each in several if isinstance(each, RunQuantity))
        object.__setattr__(self, "direct", (*given.values(), *among))

    @property
    def variables(self) -> tuple[sp.Symbol, ...]:
        """The given variables; the first one is the horizontal axis of figures."""
        return self.variable if isinstance(self.variable, tuple) else (self.variable,)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of the rate."""
        given = (self.measured, self.order, *self.variables, self.step_size, self.local_steps, self.constant)
        return tuple(sp.sympify(expression) for expression in given if expression is not None)

    @property
    def latex(self) -> str:
        """The rate in LaTeX."""
        order = latex(self.order)
        if self.constant is None:
            rate = rf"{latex(self.measured)} = O\left({order}\right)"
        else:
            rate = rf"{latex(self.measured)} \le {latex(self.constant * self.order)}"
        chosen = {"step size": self.step_size, "local steps": self.local_steps}
        settings = [rf"\text{{{name} }}{latex(setting)}" for name, setting in chosen.items() if setting is not None]
        return r"\quad\text{with }".join([rate, *settings])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Claim(Shown):
    """One statement of a source, or of a user.

    The statement is given by `lhs` and `rhs` (with `relation`), by `chain`, with one relation ``a <= b``
    or several ``a <= b == c``, by `rate` for an O(.) statement, or by
    `implemented_by` for a definition, algorithm or assumption.
    """

    id: str
    kind: Kind = "bound"
    title: str = ""
    locator: str = ""
    lhs: Expr | RunQuantity | None = None
    relation: Operator = "<="
    rhs: Expr | RunQuantity | None = None
    chain: Sequence[Expr | RunQuantity | str] = ()
    """Expressions and operators in turn; a chain with one relation equals `lhs`, `relation` and `rhs`."""
    also: Sequence[Relation] = ()
    """Further relations of the statement."""
    rate: Rate | None = None
    where: Mapping[sp.Symbol, Quantity] = field(default_factory=dict)
    conditions: Sequence[Expr] = ()
    assumptions: Sequence[Assumption] = ()
    place: Place = "run"
    """Place of the evaluation: on the whole run, on every local step in expectation, on every
    local step of a sampled path, on all outcomes of one round, or on triples of points."""
    for_all: Mapping[sp.Symbol, Sequence[Expr]] = field(default_factory=dict)
    """Values of symbols under a universal quantifier that are checked, if `conditions` allow them."""
    printed: str | None = None
    """LaTeX of the statement as published; by default derived from the sides."""
    note: str = ""
    """Note to the reader: the interpretation of the publication, or its error."""
    implemented_by: str | None = None
    """``module:name`` of the implementation of a definition, an algorithm or an assumption."""
    corrects: str | None = None
    """Id of the published claim that this one corrects."""
    fault: Literal["misprint"] | None = None
    """For a refuted claim: the publication differs from a true statement by an obvious slip, such as a lost sign or a
    wrong index.  The other faults follow from the kind of the claim."""
    sharpens: str | None = None
    """Id of the published claim whose bound this one improves, under its assumptions or others that are stated."""
    verdict: Verdict | None = None
    """The recorded verdict, which `fedtheory verify` compares with its own."""
    supposed: tuple[Assumption, ...] = ()
    """Assumptions of the default setting, for a user-defined claim without a setting."""
    of_constants: tuple[Assumption, ...] = ()
    """Assumptions that its constants imply, such as bounded variance if the statement contains sigma."""
    is_published: bool = False
    """Whether a source states the claim; sources set this for their claims, because a user's id may look the same."""

    def summary(self) -> str:
        """Return the id and the recorded verdict."""
        return self.id if self.verdict is None else f"{self.id}, recorded as {self.verdict}"

    def card(self) -> Card:
        """Return the typeset statement with its assumptions and conditions, and the meaning of its symbols."""
        facts = {"conditions": ", ".join(inline(latex(condition)) for condition in self.conditions)}
        facts["assumptions"] = ", ".join(assumption.name for assumption in self.assumptions)
        facts["supposed setting"] = ", ".join(assumption.name for assumption in self.supposed)
        facts["recorded verdict"] = self.verdict or ""
        symbols = [
            [inline(latex(symbol)), quantity.name, typeset_meaning(quantity.meaning)]
            for symbol, quantity in self.notation.items()
        ]
        symbols += [[inline(latex(symbol)), values, ""] for symbol, values in self.symbols_with_values.items()]
        title = f"{self.id} \u00b7 {self.title}" if self.title else self.id
        stated = {name: text for name, text in facts.items() if text}
        return Card(title, self.statement or None, stated, ("symbol", "stands for", "formula"), symbols)

    @property
    def slug(self) -> str:
        """The id in a form for names of files and figures."""
        return self.id.replace(":", "-").replace(".", "-")

    @property
    def source(self) -> str:
        """Key of the source, the part of the id before the colon."""
        return self.id.partition(":")[0]

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """The relations of the statement; empty for rates and definitions."""
        further = (Relation(_read_expression(r.left), r.operator, _read_expression(r.right)) for r in self.also)
        return (*self._main_relations(), *further)

    @property
    def is_testable(self) -> bool:
        """Whether there is a relation or a rate that a run could violate, which a definition does not have."""
        return bool(self.relations) or self.rate is not None

    def _main_relations(self) -> tuple[Relation, ...]:
        if self.chain:
            sides, operators = self.chain[0::2], self.chain[1::2]
            links = zip(sides, operators, sides[1:], strict=False)
            return tuple(Relation(_read_expression(a), o, _read_expression(b)) for a, o, b in links)  # type: ignore[arg-type]
        if self.lhs is None:
            return ()
        return (Relation(_read_expression(self.lhs), self.relation, _read_expression(self.rhs)),)

    @cached_property
    def notation(self) -> dict[sp.Symbol, Quantity]:
        """Map each symbol to its quantity, sides included; raise `InputError` if one stands for two."""
        sides = (self.lhs, self.rhs, *self.chain, *(self.rate.direct if self.rate else ()))
        known = dict(self.where)
        for side in sides:
            if isinstance(side, RunQuantity) and known.setdefault(side.symbol, side) is not side:
                both = f"both {known[side.symbol].name} and {side.name}"
                raise InputError(self.id, f"{side.symbol} stands for {both}: give one of them a symbol in `where`")
        used = set().union(*(expression.free_symbols for expression in self._expressions()))
        return {symbol: known[symbol] for symbol in sorted(used & known.keys(), key=str)}

    def _expressions(self) -> list[Expr]:
        sides = [side for relation in self.relations for side in relation.sides]
        rate = self.rate.expressions if self.rate else ()
        return [sp.S.Zero, *sides, *rate, *self.conditions]

    def typesetting(self) -> AbstractContextManager[None]:
        """Return a context in which averages over clients, and sums over types, are typeset in the claim's notation.

        Averages are weighted if weights may differ.
        """
        symbols = (latex(symbol) for symbol, quantity in self.where.items() if quantity is importance)
        quantities = ((symbol, one) for symbol, one in self.where.items() if isinstance(one, RunQuantity))
        of_types = frozenset(symbol for symbol, quantity in quantities if quantity.of_types)
        return weigh_clients(None if uniform_shares in self.assumptions else next(symbols, "p_{i}"), of_types)

    @property
    def links(self) -> list[str]:
        """LaTeX of each relation, or of the rate."""
        with self.typesetting():
            return [relation.latex for relation in self.relations] + ([self.rate.latex] if self.rate else [])

    @property
    def encoded(self) -> str:
        """LaTeX of the statement as encoded and evaluated."""
        return r",\quad ".join(self.links)

    def in_words(self, expression: Expr) -> str:
        """Return an expression of this claim as a line of text, with names of quantities in place of long symbols."""
        if expression not in self._text_cache:
            names = {symbol: quantity.name for symbol, quantity in self.notation.items()}
            self._text_cache[expression] = format_plain(sp.sympify(expression), names)
        return self._text_cache[expression]

    @cached_property
    def _text_cache(self) -> dict[Expr, str]:
        return {}

    @property
    def statement(self) -> str:
        """LaTeX of the statement as published, or as encoded if no published form is given."""
        return self.printed if self.printed is not None else self.encoded

    def __post_init__(self) -> None:
        self._copy_containers()
        # Conditions that follow from the signs of symbols, such as mu > 0, are omitted.
        if isinstance(self.conditions, Sequence):
            parts = (part for one in self.conditions for part in (one.args if isinstance(one, sp.And) else (one,)))
            stated = tuple(part for part in parts if part is not True and part is not sp.true)
            object.__setattr__(self, "conditions", stated)
        if isinstance(self.chain, Sequence) and len(self.chain) == 3 and not isinstance(self.chain, str):
            for name, value in zip(("lhs", "relation", "rhs", "chain"), (*self.chain, ()), strict=True):
                object.__setattr__(self, name, value)

    def _copy_containers(self) -> None:
        """Copy sequences and mappings to constant ones, since cached proofs and numbers belong to one statement."""
        for name in ("chain", "also", "assumptions"):
            object.__setattr__(self, name, _copy_sequence(getattr(self, name)))
        for name in ("where", "for_all"):
            if isinstance(given := getattr(self, name), Mapping):
                copied = {key: _copy_sequence(value) for key, value in given.items()}
                object.__setattr__(self, name, MappingProxyType(copied))

    def __deepcopy__(self, _memo: object) -> Claim:
        return self

    def with_repair(self, **changed: Any) -> tuple[Claim, Claim]:
        """Return this published claim, and its correction ``id.fixed``, which differs in the given fields.

        Fields about the publication only, such as a note, are not copied to the correction.
        """
        named = {"id": f"{self.id}.fixed", "title": f"{self.title}, corrected", "locator": f"{self.locator}, corrected"}
        of_publication = dict.fromkeys(("printed", "implemented_by", "fault", "sharpens", "verdict"))
        return self, replace(self, **{**named, "corrects": self.id, "note": "", **of_publication, **changed})

    @property
    def symbols_with_values(self) -> dict[sp.Symbol, str]:
        """Map each symbol under a quantifier to the values that are tried for it, in words."""
        return {s: f"any number; tried values: {', '.join(map(str, values))}" for s, values in self.for_all.items()}

    @cached_property
    def run_conditions(self) -> tuple[Expr, ...]:
        """The conditions on a run: those without symbols under a quantifier."""
        return tuple(condition for condition in self.conditions if condition not in self.choice_conditions)

    @cached_property
    def choice_conditions(self) -> tuple[Expr, ...]:
        """The conditions that restrict symbols under a quantifier."""
        varied = self.for_all.keys() - self.where.keys()
        return tuple(condition for condition in self.conditions if condition.free_symbols & varied)

    @cached_property
    def unbound_symbols(self) -> frozenset[sp.Symbol]:
        """Symbols without a meaning: neither in `where` nor in `for_all`."""
        return frozenset(self.used_symbols - self.notation.keys() - self.for_all.keys())

    @cached_property
    def used_symbols(self) -> frozenset[sp.Symbol]:
        """Symbols of the statement and its conditions."""
        return frozenset().union(*(expression.free_symbols for expression in self._expressions()))


def _read_expression(side: Expr | RunQuantity) -> Expr:
    if isinstance(side, str):
        raise InputError("claim", f"expected a SymPy expression or a quantity as a side, got the string {side!r}")
    return side.symbol if isinstance(side, RunQuantity) else sp.sympify(side)


def _copy_sequence(given: Any) -> Any:
    """Return a sequence as a tuple; anything else, such as a text that is reported later, as it is."""
    return tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else given
