"""An algorithm as data: vectors of the server and of each client, a local step, the end of a round.

    server vectors   s,    start  s^0
    client vectors   c_i,  start  c_i^0
    local steps      y_i^{k+1} = linear in y_i^k, c_i, s and the stochastic gradient at one point
    end of a round   c_i'  = linear in c_i, s, y_i^tau and sums over clients    (for participants; others keep c_i)
                     s'    = linear in s and sums over clients of their vectors at that time

Everything is linear in vectors, and the coefficients are symbols of the
run: hence first and second moments have closed forms on quadratics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.federation.definition.content import digest_of
from fedtheory.federation.definition.language import (
    OF_CLIENTS,
    OVER_CLIENTS,
    SUMS,
    SYMBOLS,
    Compressed,
    Gradient,
    optimum,
    start,
)
from fedtheory.federation.definition.linear import Parts, collect_linear_parts
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.plain_names import require_plain, require_readable


@dataclass(frozen=True)
class Local:
    """A vector of the local steps: its start in a round, and its update in a step."""

    vector: Expr
    start: Expr
    step: Expr


@dataclass(frozen=True)
class Parameter:
    """A parameter of the algorithm, under its key in a run file."""

    letter: Expr
    key: str
    meaning: str
    allowed: sp.Set
    """The set of admissible numbers."""
    default: str | int | None = None
    """The default; None if a run file must give the parameter."""
    is_flag: bool = False
    """Whether the key is true or false, for the numbers 1 and 0."""


_KEEP_A_GRADIENT = (
    "a client can keep an earlier gradient as a vector: after one local step it is (start of y_i - y_i)/eta"
)


def _suggest_alternative(part: Expr) -> str:
    """Return advice for an expression that an update may not use; empty if there is none."""
    if part.has(Gradient):
        return f": gradients are taken in local steps; {_KEEP_A_GRADIENT}"
    if part.has(*SUMS):
        return ": clients are combined at the end of a round; the server can keep the result as a server vector"
    return ""


@dataclass(frozen=True, eq=False)
class FederatedAlgorithm:
    """An algorithm as data; an invalid part raises an `InputError` that names it."""

    name: str
    local: Local | tuple[Local, ...]
    model: Expr
    """The model whose errors are measured: a vector of the server, or the average of one of the clients."""
    server: Mapping[Expr, Expr] = field(default_factory=dict)
    """The server's vectors and their starts, rational multiples of `start`."""
    client: Mapping[Expr, Expr] = field(default_factory=dict)
    """The clients' vectors and their starts."""
    server_update: Mapping[Expr, Expr] = field(default_factory=dict)
    client_update: Mapping[Expr, Expr] = field(default_factory=dict)
    coins: Mapping[Expr, Expr] = field(default_factory=dict)
    """Symbols that are 1 with a probability and 0 else: one coin for all, tossed in every round."""
    parameters: tuple[Parameter, ...] = ()
    steps_are_rounds: bool = False
    """Whether a round is a single local step."""
    at_optimum: Mapping[Expr, Expr] = field(default_factory=dict)
    """Fixed points of all vectors if the model is x*: multiples of x* and, for a client's vector, of its full gradient
    there, written ``Gradient(optimum)``.  Empty if they are not stated."""
    description: str = ""

    def __post_init__(self) -> None:
        self._check_types()
        self._check_names()
        self._check_starts()
        self._check_updates()
        self._check_optimum()
        self._check_model()
        for vector, expression in self.expressions():
            self._check_symbols(vector, expression)

    @property
    def steps(self) -> tuple[Local, ...]:
        """The local vectors."""
        return self.local if isinstance(self.local, tuple) else (self.local,)

    @cached_property
    def symbols(self) -> frozenset[Expr]:
        """Symbols of the run's numbers, of coins and of parameters."""
        return SYMBOLS | self.coins.keys() | {parameter.letter for parameter in self.parameters}

    @cached_property
    def digest(self) -> str:
        """Digest of the content, without names and descriptions."""
        return digest_of(self)

    @property
    def local_vectors(self) -> list[Expr]:
        """y, in the definition's order."""
        return [step.vector for step in self.steps]

    def expressions(self) -> Iterator[tuple[Expr, Expr]]:
        """Yield each vector with its start, and with its update."""
        yield from self.server.items()
        yield from self.client.items()
        for step in self.steps:
            yield step.vector, step.start
            yield step.vector, step.step
        yield from self.client_update.items()
        yield from self.server_update.items()
        yield sp.Symbol("model"), self.model

    def uses(self, part: type | Expr) -> bool:
        """Return whether the definition has such a node, or such a symbol, anywhere."""
        return any(sp.sympify(expression).has(part) for _, expression in self.expressions())

    def nodes(self, kind: type) -> set[Expr]:
        """Return all nodes of a kind in the definition."""
        return {node for _, expression in self.expressions() for node in sp.sympify(expression).atoms(kind)}

    @property
    def needs_all_clients(self) -> bool:
        """Whether clients use vectors of other clients, so that all clients must participate."""
        return any(sp.sympify(update).has(*OVER_CLIENTS) for update in self.client_update.values())

    def parts(self, vector: Expr, expression: Expr) -> Parts:
        """Return an expression as a linear combination of vectors, gradients, compressed vectors and client sums."""
        if (vector, expression) not in self._linear_cache:
            vectors = {start, optimum, *self.server, *self.client, *self.local_vectors}
            nodes = (Gradient, Compressed, *OVER_CLIENTS)
            found = collect_linear_parts(
                expression, lambda part: part in vectors or isinstance(part, nodes), f"{self.name}: {vector}"
            )
            self._linear_cache[vector, expression] = found
        return self._linear_cache[vector, expression]

    @cached_property
    def _linear_cache(self) -> dict[tuple[Expr, Expr], Parts]:
        """Cached linear combinations, which runs use in every step."""
        return {}

    def _reject(self, vector: Expr | str, reason: str) -> InputError:
        """Return the error for a vector of this algorithm."""
        return InputError(f"{self.name}: {vector}", reason)

    def _check_types(self) -> None:
        """Raise `InputError` unless all fields have the types that the language expects."""
        for part in ("server", "client", "server_update", "client_update", "coins", "at_optimum"):
            given = getattr(self, part)
            if not isinstance(given, Mapping):
                raise InputError(self.name, f"expected `{part}` to be a dictionary, got {given!r}")
        if not self.steps or not all(isinstance(step, Local) for step in self.steps):
            raise InputError(self.name, f"expected `local` to be Local(vector, start, step), got {self.local!r}")
        for vector, expression in self.expressions():
            if not isinstance(sp.sympify(vector), sp.Symbol) or not isinstance(sp.sympify(expression), sp.Expr):
                raise self._reject(vector, f"expected a symbol and an expression, got {expression!r}")

    def _check_names(self) -> None:
        """Raise `InputError` if a symbol has two meanings, or if a probability has a symbol without meaning.

        SymPy may distinguish two symbols of one name, but readers and proofs do not.
        """
        self._check_texts()
        vectors = [start, optimum, *self.server, *self.client, *self.local_vectors]
        letters = [parameter.letter for parameter in self.parameters]
        numbers = [*SYMBOLS, *self.coins, *letters]
        for symbols in ([*vectors, *numbers], map(str, vectors), map(str, numbers)):
            for symbol in (symbol for symbol, count in Counter(symbols).items() if count > 1):
                raise self._reject(symbol, "has two meanings: use two different symbols")
        keys = Counter(parameter.key for parameter in self.parameters)
        for key in (key for key, count in keys.items() if count > 1):
            raise InputError(self.name, f"expected different keys for the parameters, got {key} twice")
        counts = {node.args[1] for node in self.nodes(Compressed)}
        for name, given in (("probability", set(self.coins.values())), ("number of coordinates", counts)):
            for symbol in sorted(set().union(*(sp.sympify(one).free_symbols for one in given)) - {*letters}, key=str):
                raise InputError(self.name, f"the {name} has the symbol {symbol}, which is not a parameter")

    def _check_texts(self) -> None:
        """Raise `InputError` if a name has confusable characters, or a text invisible ones."""
        require_plain("name", self.name)
        require_readable(f"{self.name}: description", self.description)
        for symbol in [*self.server, *self.client, *self.local_vectors, *self.coins]:
            require_plain(self.name, str(symbol))
        for parameter in self.parameters:
            require_plain(self.name, str(parameter.letter))
            require_plain(self.name, parameter.key)
            require_readable(f"{self.name}: {parameter.key}", parameter.meaning)

    def _check_starts(self) -> None:
        for vector, expression in [*self.server.items(), *self.client.items()]:
            self._expect(vector, expression, {start}, ())
            for symbol in sorted(sp.sympify(expression).free_symbols - {start}, key=str):
                raise self._reject(vector, f"expected a multiple of {start} as start, got one with the symbol {symbol}")
        for vector in self.server_update.keys() - self.server.keys():
            raise self._reject(vector, "has no start: add it to `server`")
        for vector in self.client_update.keys() - self.client.keys():
            raise self._reject(vector, "has no start: add it to `client`")

    def _check_updates(self) -> None:
        own = {*self.server, *self.client}
        at_end = own.union(self.local_vectors)
        for step in self.steps:
            self._expect(step.vector, step.start, own, ())
            self._expect(step.vector, step.step, at_end, (Gradient,))
        self._check_gradients()
        for vector, expression in self.client_update.items():
            self._expect(vector, expression, at_end, (Compressed, *OVER_CLIENTS))
        for vector, expression in self.server_update.items():
            self._expect(vector, expression, set(self.server), SUMS)
        self._expect(sp.Symbol("model"), self.model, set(self.server), (Average,))

    def _check_optimum(self) -> None:
        """Raise `InputError` unless `at_optimum` has all vectors, in symbols that have a value there."""
        for vector in self.at_optimum.keys() ^ {*self.server, *self.client} if self.at_optimum else ():
            raise self._reject(vector, "expected all vectors of the server and of the clients in `at_optimum`")
        for vector, expression in self.at_optimum.items():
            is_own = vector in self.client
            # No coin has been tossed there.
            vectors, symbols = {optimum}, self.symbols - self.coins.keys() - (set() if is_own else OF_CLIENTS)
            for part, scale in self.parts(vector, expression).items():
                if part not in (vectors | {Gradient(optimum)} if is_own else vectors):
                    raise self._reject(vector, f"`at_optimum` cannot depend on {part}")
                for symbol in sorted(scale.free_symbols - symbols, key=str):
                    raise self._reject(vector, f"undeclared symbol {symbol} in `at_optimum`")

    def _check_model(self) -> None:
        """Raise `InputError` if the model's own numbers differ between clients or between rounds."""
        for symbol in sorted(sp.sympify(self.model).free_symbols & (OF_CLIENTS | self.coins.keys()), key=str):
            raise self._reject("model", f"{symbol} differs between clients or rounds: expected one number")

    def _check_gradients(self) -> None:
        found = {node for step in self.steps for node in sp.sympify(step.step).atoms(Gradient)}
        if len(found) > 1:
            points = ", ".join(sorted(str(node.args[0]) for node in found))
            raise InputError(
                self.name,
                f"expected gradients at one point in a local step, got {points}: two points are not supported; "
                + _KEEP_A_GRADIENT,
            )

    def _expect(self, vector: Expr, expression: Expr, vectors: set[Expr], nodes: Any) -> None:
        """Raise `InputError` unless an expression is linear in the given vectors, and in `nodes` of known vectors."""
        for part in self.parts(vector, expression):
            if part in vectors:
                continue
            if not isinstance(part, nodes):
                raise self._reject(vector, f"{part} is not known here{_suggest_alternative(part)}")
            is_of_model = isinstance(part, Average) and part in sp.sympify(self.model).atoms(Average)
            inside = {*self.server, *self.client, *(() if is_of_model else self.local_vectors)}
            self._expect(vector, part.args[0], inside, (Compressed,) if isinstance(part, OVER_CLIENTS) else ())

    def _check_symbols(self, vector: Expr, expression: Expr) -> None:
        vectors = {start, *self.server, *self.client, *self.local_vectors}
        unknown = sp.sympify(expression).free_symbols - vectors - self.symbols
        if vector in self.server_update and expression is self.server_update[vector]:
            self._require_common_factors(vector, expression)
        for symbol in sorted(unknown, key=str):
            raise self._reject(
                vector,
                f"undeclared symbol {symbol}: expected a vector, a number of the run such as eta, or a number of the "
                f"algorithm's own, declared with parameters=(Parameter({symbol}, {str(symbol)!r}, ...),)",
            )

    def _require_common_factors(self, vector: Expr, expression: Expr) -> None:
        """Raise `InputError` if the server uses a client's number outside a sum over clients."""
        for part, scale in self.parts(vector, expression).items():
            for symbol in sorted(scale.free_symbols & OF_CLIENTS, key=str):
                raise self._reject(
                    vector, f"expected a factor of {part} that is the same for all clients, got {symbol}"
                )
