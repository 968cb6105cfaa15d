"""Normal forms: vectors as combinations of basis vectors, scalars of inner products, function values and one.

All scalars are in expectation.  A vector that is declared as noise has mean
zero given all vectors that do not contain it, and different clients' noises
are independent.  The weights of averages over clients are non-negative and sum to
one; the rules for noise and sampling need the value of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

import sympy as sp

from fedtheory.kernel import indices
from fedtheory.kernel.context import Context
from fedtheory.kernel.expressions import (
    Average,
    Expectation,
    Expr,
    Gradient,
    Inner,
    LocalSum,
    Selected,
    Value,
    inner,
    is_length,
    parts_of,
)
from fedtheory.kernel.noise import expect_random_inner, is_noise
from fedtheory.kernel.quotients import ONE, Quotient, Rejected, quotient
from fedtheory.kernel.range_sums import sum_over_range
from fedtheory.kernel.signs import is_positive
from fedtheory.kernel.work import cache_with_work

Form = Mapping[Expr, Quotient]
"""Coefficients of basis vectors, or of monomials: inner products of basis vectors, function values, and one."""
_MINUS_ONE = quotient(sp.S.NegativeOne)


def add_forms(forms: Iterable[Form]) -> Form:
    """Return the sum of normal forms."""
    total: dict[Expr, Quotient] = {}
    for form in forms:
        for monomial, coefficient in form.items():
            total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def scale_form(form: Form, factor: Quotient) -> Form:
    """Return a multiple of a normal form."""
    return {monomial: factor * coefficient for monomial, coefficient in form.items()}


def difference(one: Form, other: Form) -> Form:
    """Subtract one normal form from another."""
    return add_forms([one, scale_form(other, _MINUS_ONE)])


def write_form(form: Form) -> Expr:
    """Return a vector's normal form as an expression, so that points of gradients and values can be compared."""
    return sp.Add(*(coefficient.expression * basis for basis, coefficient in form.items()))


def vector(expression: Expr, context: Context) -> Form:
    """Return a vector as a linear combination of basis vectors."""
    if isinstance(expression, Selected | Expectation) and not context.of_a_round:
        raise Rejected(f"{expression} is defined for a round only")
    rules: dict[type, Callable[[], Form]] = {
        sp.Add: lambda: add_forms(vector(part, context) for part in expression.args),
        sp.Mul: lambda: _scale_factor(expression, context, vector, _is_vector),
        Average: lambda: _average_vector(Average, vector(expression.args[0], context), context),
        Selected: lambda: _average_vector(Selected, vector(expression.args[0], context), context),
        LocalSum: lambda: _sum_vector(vector(expression.args[0], context), context),
        Expectation: lambda: _take_expectation(vector(expression.args[0], context), context),
        Gradient: lambda: _expand_gradient(expression, context),
        sp.Symbol: lambda: _write_symbol(expression, context),
    }
    rule = next((rules[kind] for kind in rules if isinstance(expression, kind)), None)
    if rule is None and expression != 0:
        raise Rejected(f"{expression} is not a vector of the context")
    return rule() if rule is not None else {}


def _write_symbol(symbol: sp.Symbol, context: Context) -> Form:
    """Return the linear form of a symbol for a vector."""
    if symbol in context.definitions:
        return vector(context.definitions[symbol], context)
    if symbol not in context.vectors | context.client_vectors:
        if symbol in context.objectives | context.client_objectives:
            raise Rejected(f"{symbol} is an objective, not a vector: expected a point, or a gradient at one")
        raise Rejected(f"{symbol} is not a vector of the context: the claim's assumptions do not define it")
    return {symbol: ONE}


@cache_with_work(2**14)
def scalar(expression: Expr, context: Context) -> Form:
    """Return a scalar as a linear combination of monomials; results are cached by expression and context."""
    rules: dict[type, Callable[[], Form]] = {
        sp.Add: lambda: add_forms(scalar(part, context) for part in expression.args),
        Expectation: lambda: scalar(expression.args[0], context),
        Average: lambda: _average_scalars(scalar(expression.args[0], context), context),
        LocalSum: lambda: _sum_of_scalars(scalar(expression.args[0], context), context),
        Inner: lambda: _multiply_forms(
            vector(expression.args[0], context), vector(expression.args[1], context), context
        ),
        Value: lambda: _expand_value(expression, context),
    }
    rule = next((rules[kind] for kind in rules if isinstance(expression, kind)), None)
    if rule is not None:
        return rule()
    if is_length(expression):
        return _measure_length(vector(expression.base.args[0], context), context)
    if not _is_random(expression, context):
        return {sp.S.One: quotient(context.numbers.known(expression))} if expression != 0 else {}
    if not isinstance(expression, sp.Mul):
        raise Rejected(f"{expression} is not linear in inner products and function values")
    lengths = [factor for factor in expression.args if is_length(factor)]
    if len(lengths) == 2:
        return _multiply_lengths(expression, lengths, context)
    return _scale_factor(expression, context, scalar, _is_random)


def _multiply_lengths(expression: Expr, lengths: Sequence[Expr], context: Context) -> Form:
    """Return the normal form of a number times the product of two norms."""
    factor = context.numbers.known(sp.Mul(*(one for one in expression.args if one not in lengths)))
    left, right = (scalar(one, context) for one in lengths)
    pairs = product(left.items(), right.items())
    found = add_forms(scale_form(_multiply_normal(one, other, context), c * d) for (one, c), (other, d) in pairs)
    return scale_form(found, quotient(factor))


def _multiply_normal(left: Expr, right: Expr, context: Context) -> Form:
    """Return the product of two norms in normal form: of one vector, its inner product with itself."""
    return scalar(left.base, context) if left == right else {left * right: ONE}


def _scale_factor(expression: Expr, context: Context, form: Callable[..., Form], belongs: Callable[..., bool]) -> Form:
    """Return the normal form of a product of numbers and one factor that is a vector or random."""
    inside = [factor for factor in expression.args if belongs(factor, context)]
    if len(inside) != 1:
        raise Rejected(f"expected one vector or random factor in {expression}, got {len(inside)}")
    factor = sp.Mul(*(f for f in expression.args if f is not inside[0]))
    return scale_form(form(inside[0], context), quotient(context.numbers.known(factor)))


def _is_vector(expression: Expr, context: Context) -> bool:
    known = context.vectors | context.client_vectors | context.definitions.keys()
    if isinstance(expression, Inner | Value):
        return False
    return (
        isinstance(expression, Gradient) or expression in known or any(_is_vector(a, context) for a in expression.args)
    )


def _is_random(expression: Expr, context: Context) -> bool:
    return bool(parts_of(expression, Inner, Value)) or _is_vector(expression, context)


# Averages over clients or participants, sums over local steps, expectations.


def _average_vector(mean: type, form: Form, context: Context) -> Form:
    """Return the average of a vector over clients, or over the participants; factors shared by all clients move out."""
    found = []
    for basis, coefficient in form.items():
        for shared, own in context.numbers.parts(coefficient):
            inside = indices.differs(basis, context)
            if not inside and own == 1:
                found.append({basis: shared})
            elif inside:
                found.append({mean(own * basis): shared})
            elif mean is Average:
                found.append({basis: shared * quotient(Average(own))})
            else:
                raise Rejected(f"the participants' average of {own} is a random number")
    return {b: c for b, c in add_forms(found).items() if not indices.is_mean_gradient_at_minimiser(b, context)}


def _sum_vector(form: Form, context: Context) -> Form:
    """Return the sum of a vector over a client's local steps."""
    steps = quotient(context.number_of_steps)
    _require_no_step_number(form, context)
    sums = [{_sum(b, context): c} if indices.changes(b, context) else {b: steps * c} for b, c in form.items()]
    return add_forms(sums)


def _sum(content: Expr, context: Context) -> Expr:
    """Return a sum over local steps of an expression.

    The sum of an average over clients that take equally many steps is the average of the sums.
    """
    if not isinstance(content, Average) or context.numbers.differs(context.number_of_steps):
        return LocalSum(content)
    own, inside = indices.split_average(content, context)
    return Average(own * LocalSum(inside))


def _require_no_step_number(form: Form, context: Context) -> None:
    if any(context.step_number in c.expression.free_symbols for c in form.values()):
        raise Rejected(f"{context.step_number} changes from local step to local step, and stands under a sum over them")


def _take_expectation(form: Form, context: Context) -> Form:
    """Return the expectation of a random vector.

    Noise vanishes, and the sum over participants becomes the client average.
    """
    found = []
    for basis, coefficient in form.items():
        if is_noise(basis, context):
            continue
        if isinstance(basis, Selected):
            all_clients = _take_expectation(_average_vector(Average, {basis.args[0]: ONE}, context), context)
            found.append(scale_form(all_clients, coefficient))
        elif basis.free_symbols & (context.noise | context.random) or basis.atoms(Selected):
            raise Rejected(f"the expectation of {basis} is not known")
        else:
            found.append({basis: coefficient})
    return add_forms(found)


def _average_scalars(form: Form, context: Context) -> Form:
    """Return the client average of a scalar form."""
    parts = ((m, part) for m, c in form.items() for part in context.numbers.parts(c))
    return add_forms(scale_form(_average_scalar(own, monomial, context), shared) for monomial, (shared, own) in parts)


def _average_scalar(own: Expr, monomial: Expr, context: Context) -> Form:
    """Return the client average of own * monomial."""
    if not indices.differs(monomial, context):
        return {monomial: ONE if own == 1 else quotient(Average(own))}
    if isinstance(monomial, Inner):
        shared = [side for side in monomial.args if not indices.differs(side, context)]
        if shared:
            (inside,) = (side for side in monomial.args if indices.differs(side, context))
            mean = _average_vector(Average, {inside: quotient(own)}, context)
            return add_forms(scale_form(_multiply_basis(b, shared[0], context), c) for b, c in mean.items())
    if isinstance(monomial, LocalSum) and not context.numbers.differs(context.number_of_steps):
        return _sum_of_scalars(_average_scalar(own, monomial.args[0], context), context)
    return {Average(own * monomial): ONE}


def _sum_of_scalars(form: Form, context: Context) -> Form:
    return add_forms(_sum_of_multiple(monomial, c, context) for monomial, c in form.items())


def _sum_of_multiple(monomial: Expr, coefficient: Quotient, context: Context) -> Form:
    """Return the sum over steps of a monomial whose coefficient may contain the step index.

    The monomial itself is constant.
    """
    if context.step_number not in coefficient.expression.free_symbols:
        return scale_form(_sum_of_scalar(monomial, context), coefficient)
    if indices.changes(monomial, context):
        _require_no_step_number({monomial: coefficient}, context)
    return {monomial: sum_over_range(coefficient, context.step_number, sp.S.Zero, context.number_of_steps)}


def _sum_of_scalar(monomial: Expr, context: Context) -> Form:
    if not indices.changes(monomial, context):
        return {monomial: quotient(context.number_of_steps)}
    if isinstance(monomial, Inner):
        fixed = [side for side in monomial.args if not indices.changes(side, context)]
        if fixed:
            (inside,) = (side for side in monomial.args if indices.changes(side, context))
            return _multiply_basis(_sum(inside, context), fixed[0], context)
    return {_sum(monomial, context): ONE}


# Inner products, norms, gradients, values.


def length(of: Expr) -> Expr:
    """``|v|``."""
    return sp.sqrt(Inner(of, of))


def _measure_length(form: Form, context: Context) -> Form:
    """Return the norm of a vector, as a multiple of the norm of a vector whose first coefficient is one."""
    if (context.noise or context.random) and not (context.of_a_round and _is_known_at_start(form, context)):
        raise Rejected("norms are defined only for vectors that are not random")
    if not form:
        return {}
    first = form[min(form, key=sp.default_sort_key)].expression
    size = next((one for one in (first, -first) if is_positive(one, context.numbers)), sp.S.One)
    factor = first if size == -first else size
    return {length(write_form(scale_form(form, quotient(1 / factor)))): quotient(size)}


def _is_known_at_start(form: Form, context: Context) -> bool:
    """Return whether a vector is determined by the start of a round."""
    random = context.noise | context.random
    return not any(basis.free_symbols & random or basis.atoms(Selected) for basis in form)


def _multiply_forms(left: Form, right: Form, context: Context) -> Form:
    """Return the inner product of two vector forms, expanded by bilinearity."""
    pairs = product(left.items(), right.items())
    return add_forms(scale_form(_multiply_basis(a, b, context), c * d) for (a, c), (b, d) in pairs)


def _multiply_basis(left: Expr, right: Expr, context: Context) -> Form:
    """Return the expected inner product of two basis vectors."""
    if context.participants is not None and (isinstance(left, Selected) or isinstance(right, Selected)):
        return _multiply_sampled(left, right, context)
    found = expect_random_inner(left, right, context)
    return {inner(left, right): ONE} if found is None else found


def _multiply_sampled(left: Expr, right: Expr, context: Context) -> Form:
    """Compute inner products for L of M sampled clients: a pair is sampled with probability L (L - 1)/(M (M - 1))."""
    drawn, clients = context.participants, context.clients
    inside = [argument for side in (left, right) for argument in (side.args if isinstance(side, Selected) else (side,))]
    if any(part.atoms(Selected) for part in inside):
        raise Rejected("a vector that depends on the participants is not independent of them")
    if not (isinstance(left, Selected) and isinstance(right, Selected)):
        chosen, other = (left, right) if isinstance(left, Selected) else (right, left)
        mean = _average_vector(Average, vector(chosen.args[0], context), context)
        return add_forms(scale_form(_multiply_basis(b, other, context), c) for b, c in mean.items())
    if clients is None or drawn is None or context.numbers.at_least.get(clients, 1) < 2:
        # Two different participants exist only if several are sampled: the two averages are left unevaluated.
        return {inner(left, right): ONE}
    alone = scalar(Average(Inner(left.args[0], right.args[0])), context)
    mean, other_mean = (_average_vector(Average, vector(side.args[0], context), context) for side in (left, right))
    together = _multiply_forms(mean, other_mean, context)
    own_share = quotient((clients - drawn) / (drawn * (clients - 1)))
    shared = quotient(clients * (drawn - 1) / (drawn * (clients - 1)))
    return add_forms([scale_form(alone, own_share), scale_form(together, shared)])


def _expand_gradient(expression: Expr, context: Context) -> Form:
    """Return the form of a gradient; empty at the minimiser, a client average for F."""
    objective, point = expression.args
    context.require_objective(objective)
    at = write_form(vector(point, context))
    if context.minimisers.get(objective) == at:
        return {}
    if objective in context.means and not indices.differs(at, context):
        return vector(Average(Gradient(context.means[objective], at)), context)
    return {Gradient(objective, at): ONE}


def _expand_value(expression: Expr, context: Context) -> Form:
    """Return the form of an objective's value; a client average for F."""
    objective, point = expression.args
    context.require_objective(objective)
    at = write_form(vector(point, context))
    if objective in context.means and not indices.differs(at, context):
        return {Average(Value(context.means[objective], at)): ONE}
    return {Value(objective, at): ONE}
