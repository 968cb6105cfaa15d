"""Claims as data, stated in SymPy in the notation of their source.

A claim names two sides and a relation, the conditions and assumptions under
which it is made, and for each symbol the quantity of a run that it stands for.
Everything else follows from it: the typeset statement, its value on a run, the
verdict, the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr, parts_of
from fedtheory.language.assumptions import Assumption, uniform_shares
from fedtheory.language.meaning_latex import typeset_meaning
from fedtheory.language.quantities.problem import importance
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from fedtheory.language.typesetting import latex, plain, weigh_clients
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
        """Both sides as they stand."""
        return self.left, self.right

    def transform(self, change: Callable[[Expr], Expr]) -> Relation:
        """Return the relation between what becomes of the sides."""
        return Relation(change(self.left), self.operator, change(self.right))

    def atoms(self, *kinds: type) -> set[Expr]:
        """Return the parts of these kinds on either side."""
        found: set[Expr] = parts_of(self.left, *kinds) | parts_of(self.right, *kinds)
        return found

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols on either side."""
        found: set[sp.Symbol] = self.left.free_symbols | self.right.free_symbols
        return found

    @property
    def ordered(self) -> tuple[Expr, Expr]:
        """The side that is claimed to be smaller, and the other one; of an equation as they stand."""
        return self.in_order(self.left, self.right)

    def in_order(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return a pair that belongs to both sides, such as their values, in the order of `ordered`."""
        return (right, left) if self.operator in (">=", ">") else (left, right)

    @property
    def slack(self) -> Expr:
        """Return the slack of the statement: the larger side minus the smaller one."""
        smaller, larger = self.ordered
        return larger - smaller

    @property
    def latex(self) -> str:
        """The link, typeset."""
        return rf"{latex(self.left)} {_OPERATOR_LATEX[self.operator]} {latex(self.right)}"


@dataclass(frozen=True, eq=False)
class Rate:
    """A claim that a quantity is O(order) as variables go to their limits: ever more rounds, ever smaller steps.

    The hidden constant is the same for all values of the variables.
    """

    measured: Expr
    order: Expr
    variable: sp.Symbol | tuple[sp.Symbol, ...]
    """Stands for rounds, iterations, clients or local steps, which grow, or for a step size, which shrinks.

    Where the order names others of them, these vary as well.  A tuple names all variables that vary, and keeps every
    other quantity fixed."""
    step_size: Expr | None = None
    """The local step size as a function of the variables; None keeps it constant."""
    local_steps: Expr | None = None
    """The number of local steps, rounded down, at the same number of iterations; None keeps it constant."""
    constant: Expr | None = None
    """The constant of the O(.), where one is stated: then measured <= constant * order on every rung."""
    direct: tuple[RunQuantity, ...] = field(init=False)
    """The quantities that are given unchanged, instead of a symbol that `where` binds."""

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
        """The variables that are given; the first one is the horizontal axis of figures."""
        return self.variable if isinstance(self.variable, tuple) else (self.variable,)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Everything of the rate that has symbols."""
        given = (self.measured, self.order, *self.variables, self.step_size, self.local_steps, self.constant)
        return tuple(sp.sympify(expression) for expression in given if expression is not None)

    @property
    def latex(self) -> str:
        """The rate, typeset."""
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

    Give `lhs` and `rhs` (with `relation`) or `chain`, with one link ``a <= b``
    or several ``a <= b == c``, `rate` for an O(.) statement, or
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
    """Expressions and operators in turn; one link is the same as `lhs`, `relation` and `rhs`."""
    also: Sequence[Relation] = ()
    """Further relations that the statement makes."""
    rate: Rate | None = None
    where: Mapping[sp.Symbol, Quantity] = field(default_factory=dict)
    conditions: Sequence[Expr] = ()
    assumptions: Sequence[Assumption] = ()
    place: Place = "run"
    """Place at which the sides are evaluated: on the whole run, on every local step in expectation, on every
    local step of a sampled path, on all outcomes of one round, or on triples of points."""
    for_all: Mapping[sp.Symbol, Sequence[Expr]] = field(default_factory=dict)
    """Values that are tried for symbols under a universal quantifier."""
    printed: str | None = None
    """LaTeX of the statement as the source prints it; derived from the sides where missing."""
    note: str = ""
    """Note to the reader: how the publication was read, or its error."""
    implemented_by: str | None = None
    """``module:name`` of what implements a definition, an algorithm or an assumption."""
    corrects: str | None = None
    """Id of the printed claim that this one repairs."""
    fault: Literal["misprint"] | None = None
    """For a refuted claim: the print differs from a true statement by a slip whose intended reading is evident, such
    as a lost sign or a wrong index.  The other faults follow from the kind."""
    sharpens: str | None = None
    """Id of the printed claim whose bound this one improves, under its assumptions or others that are stated."""
    verdict: Verdict | None = None
    """The recorded verdict; `fedtheory verify` compares."""
    supposed: tuple[Assumption, ...] = ()
    """Assumptions of the default setting, for a user-defined claim that names none."""
    of_constants: tuple[Assumption, ...] = ()
    """Assumptions that its constants imply, such as bounded variance where the statement mentions sigma."""
    is_published: bool = False
    """Whether a source states it, which sets this for its claims; the id of a claim of your own may begin like one."""

    def summary(self) -> str:
        """Return the id and the recorded verdict."""
        return self.id if self.verdict is None else f"{self.id}, recorded as {self.verdict}"

    def card(self) -> Card:
        """Return the typeset statement with its premises, and the meaning of its symbols."""
        facts = {"conditions": ", ".join(inline(latex(condition)) for condition in self.conditions)}
        facts["assumptions"] = ", ".join(assumption.name for assumption in self.assumptions)
        facts["supposed setting"] = ", ".join(assumption.name for assumption in self.supposed)
        facts["recorded verdict"] = self.verdict or ""
        symbols = [
            [inline(latex(symbol)), quantity.name, typeset_meaning(quantity.meaning)]
            for symbol, quantity in self.notation.items()
        ]
        title = f"{self.id} \u00b7 {self.title}" if self.title else self.id
        stated = {name: text for name, text in facts.items() if text}
        return Card(title, self.statement or None, stated, ("symbol", "stands for", "formula"), symbols)

    @property
    def slug(self) -> str:
        """The id as a name for files and figures."""
        return self.id.replace(":", "-").replace(".", "-")

    @property
    def source(self) -> str:
        """Key of the source, the part of the id before the colon."""
        return self.id.partition(":")[0]

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """The links of the statement; empty for rates and bare definitions."""
        further = (Relation(_expression(r.left), r.operator, _expression(r.right)) for r in self.also)
        return (*self._main_relations(), *further)

    @property
    def is_testable(self) -> bool:
        """Whether there is a relation or a rate that a run could violate; a bare definition has neither."""
        return bool(self.relations) or self.rate is not None

    def _main_relations(self) -> tuple[Relation, ...]:
        if self.chain:
            sides, operators = self.chain[0::2], self.chain[1::2]
            links = zip(sides, operators, sides[1:], strict=False)
            return tuple(Relation(_expression(a), o, _expression(b)) for a, o, b in links)  # type: ignore[arg-type]
        if self.lhs is None:
            return ()
        return (Relation(_expression(self.lhs), self.relation, _expression(self.rhs)),)

    @cached_property
    def notation(self) -> dict[sp.Symbol, Quantity]:
        """Map each symbol to its quantity, sides included; raises `InputError` if one stands for two."""
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
        """Within it, means over clients are typeset as the claim has them: weighted where shares may be unequal.

        Sums of what types of clients have run over types.
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
        """Return an expression of this claim as a line of text, with the vocabulary's names for its longer symbols."""
        if expression not in self._text_cache:
            names = {symbol: quantity.name for symbol, quantity in self.notation.items()}
            self._text_cache[expression] = plain(sp.sympify(expression), names)
        return self._text_cache[expression]

    @cached_property
    def _text_cache(self) -> dict[Expr, str]:
        """The expressions needed so far, as lines of text."""
        return {}

    @property
    def statement(self) -> str:
        """LaTeX of the statement as printed, or as encoded where no print is given."""
        return self.printed if self.printed is not None else self.encoded

    def __post_init__(self) -> None:
        # What the signs of symbols make true, such as mu > 0, asks for nothing more.
        if isinstance(self.conditions, Sequence):
            each = (
                part for given in self.conditions for part in (given.args if isinstance(given, sp.And) else (given,))
            )
            asked = tuple(condition for condition in each if condition is not True and condition is not sp.true)
            object.__setattr__(self, "conditions", asked)
        if isinstance(self.chain, Sequence) and len(self.chain) == 3 and not isinstance(self.chain, str):
            for name, value in zip(("lhs", "relation", "rhs", "chain"), (*self.chain, ()), strict=True):
                object.__setattr__(self, name, value)

    def with_repair(self, **changed: Any) -> tuple[Claim, Claim]:
        """This claim as printed, and its repair, ``id.fixed``: it says the same, but for what is given here.

        What is said about the print only, such as a note, does not go over to the repair.
        """
        shared = {"id": f"{self.id}.fixed", "title": f"{self.title}, repaired", "locator": f"{self.locator}, repaired"}
        of_the_print = dict.fromkeys(("printed", "implemented_by", "fault", "sharpens", "verdict"))
        return self, replace(self, **{**shared, "corrects": self.id, "note": "", **of_the_print, **changed})

    @cached_property
    def unbound_symbols(self) -> frozenset[sp.Symbol]:
        """Symbols with no meaning: neither in `where` nor in `for_all`."""
        return frozenset(self.used_symbols - self.notation.keys() - self.for_all.keys())

    @cached_property
    def used_symbols(self) -> frozenset[sp.Symbol]:
        """Symbols of the statement and its conditions."""
        return frozenset().union(*(expression.free_symbols for expression in self._expressions()))


def _expression(side: Expr | RunQuantity) -> Expr:
    if isinstance(side, str):
        raise InputError("claim", f"expected a SymPy expression or a quantity as a side, got the string {side!r}")
    return side.symbol if isinstance(side, RunQuantity) else sp.sympify(side)
