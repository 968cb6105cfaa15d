"""Language of definitions in SymPy: symbols for numbers, and updates of vectors.

Vectors are symbols that the definition declares.  Each stands for a vector of the
server, or for one vector of each client.
"""

from __future__ import annotations

import sympy as sp
from sympy.printing.latex import LatexPrinter

from fedtheory.kernel.expressions import Average, Expr

start = sp.Symbol("x^0", real=True)
"""x^0, the start of the models: the only vector in the starts of the server and of the clients."""
optimum = sp.Symbol("x^*", real=True)
"""x^*, the minimiser of F, used to state the fixed points of vectors."""

eta = sp.Symbol(r"\eta_i", positive=True)
"""The local step size of a client, at the present round and local step."""
eta_sum = sp.Symbol("h_i", positive=True)
"""The sum of a client's step sizes over the local steps of the round."""
eta_g = sp.Symbol(r"\eta_g", positive=True)
"""The server's step size."""
tau = sp.Symbol(r"\tau_i", positive=True, integer=True)
"""The number of local steps of a client."""
mean_tau = sp.Symbol(r"\bar\tau", positive=True)
"""sum_i p_i tau_i."""
importance = sp.Symbol("p_i", positive=True)
"""The client weight p_i."""

OF_CLIENTS = frozenset({eta, eta_sum, tau, importance})
"""Symbols that may differ from client to client."""
SYMBOLS = OF_CLIENTS | {eta_g, mean_tau}


class Gradient(sp.Function):  # type: ignore[misc]
    """The client's stochastic gradient at a point, ``g_i(y)``: a local step evaluates one."""

    nargs = 1

    def _latex(self, printer: LatexPrinter) -> str:
        return rf"g_i({printer.doprint(self.args[0])})"


class Weighted(sp.Function):  # type: ignore[misc]
    """``sum_i w_i v_i`` with the round's weights w_i: the sum that the server receives from its participants."""

    nargs = 1

    def _latex(self, printer: LatexPrinter) -> str:
        return rf"\sum_i w_i {_add_brackets(self.args[0], printer)}"


class Participants(sp.Function):  # type: ignore[misc]
    """``sum_{i in S} p_i v_i`` over the participants of the round, each counted once."""

    nargs = 1

    def _latex(self, printer: LatexPrinter) -> str:
        return rf"\sum_{{i\in S}} p_i {_add_brackets(self.args[0], printer)}"


class Mixed(sp.Function):  # type: ignore[misc]
    """``sum_j W_ij v_j`` with the run's mixing matrix: the message that client i receives from its neighbours."""

    nargs = 1

    def _latex(self, printer: LatexPrinter) -> str:
        return rf"\sum_j W_{{ij}} {_add_brackets(self.args[0], printer)}"


class Compressed(sp.Function):  # type: ignore[misc]
    """``(d/k) v_i`` on k random coordinates of d and zero elsewhere, sampled by each client; the expectation is v_i."""

    nargs = 2

    def _latex(self, printer: LatexPrinter) -> str:
        vector, kept = self.args
        return rf"\mathcal C_{{{printer.doprint(kept)}}}\left({printer.doprint(vector)}\right)"


SUMS = (Weighted, Participants, Average)
"""Sums of the clients' vectors at the server."""
OVER_CLIENTS = (*SUMS, Mixed)


def _add_brackets(expression: Expr, printer: LatexPrinter) -> str:
    text = printer.doprint(expression)
    return rf"\left({text}\right)" if isinstance(expression, sp.Add) else str(text)
