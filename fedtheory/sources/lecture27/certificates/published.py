"""Certificates of the statements and lemmas as published."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import (
    Term,
    assumption,
    cocoercivity,
    convexity,
    length_of_mean,
    lipschitz,
    lipschitz_gradient,
    lipschitz_gradient_length,
    optimality,
    root,
    smoothness,
    square,
    triangle,
)
from fedtheory.kernel.expressions import Average, Gradient, Value, inner, norm_sq
from fedtheory.proofs.certificate import Certificate, Link
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import ITERATIONS, ONE
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.links import (
    CauchySchwarz,
    Induction,
    Nonnegative,
    Positive,
    PrefixSum,
    Product,
    Products,
    Squared,
)
from fedtheory.proofs.parts import Part
from fedtheory.sources.lecture27.context.intervals import (
    AtFirstStart,
    AtLastStep,
    AtNextStart,
    SumOverRounds,
    SumOverSteps,
)
from fedtheory.sources.lecture27.statements.assumptions import gap_above_tangent, points_distance_sq
from fedtheory.sources.lecture27.statements.lemmas import (
    distance_after_sq,
    distance_sq,
    gradient,
    progress,
    theta,
    theta_after,
)
from fedtheory.sources.lecture27.statements.notation import *
from fedtheory.sources.lecture27.statements.theorem_2 import loss, rate

_ONE = sp.S.One
DIVERGENCE = "divergence at the centralised model"

# A client compared with centralised gradient descent: their distance, the difference of their gradients due to this
# distance, and the divergence of the client's objective. Young's inequality has the weight of equality.
_BASE = 1 + eta * beta
DIFFERENCE, GRADIENT_CHANGE = w_i - v, Gradient(F_i, w_i) - Gradient(F_i, v)
DEVIATION = Gradient(F_i, v) - Gradient(F, v)
_WEIGHT = eta * beta / (_BASE * (POWER - 1))


# The squared distance is at most (delta_i / beta)^2 ((1 + eta beta)^k - 1)^2 after k steps.
_CLIENT_DISTANCE = Induction(
    measured=norm_sq(DIFFERENCE),
    factor=(1 + _WEIGHT) * _BASE**2,
    offset=(1 + 1 / _WEIGHT) * eta**2 * delta_i**2,
    terms=[
        Term(_WEIGHT, square(DIFFERENCE - eta * GRADIENT_CHANGE + eta / _WEIGHT * DEVIATION)),
        Term((1 + _WEIGHT) * 2 * eta * beta, square(DIFFERENCE)),
        Term((1 + _WEIGHT) * eta**2, lipschitz_gradient(F_i, w_i, v)),
        Term((1 + _WEIGHT) * 2 * eta, convexity(F_i, w_i, v)),
        Term((1 + _WEIGHT) * 2 * eta, convexity(F_i, v, w_i)),
        Term((1 + 1 / _WEIGHT) * eta**2, assumption(DIVERGENCE)),
    ],
    bound=(delta_i / beta * (_BASE**x - 1)) ** 2,
    first=[Term(eta**2, assumption(DIVERGENCE))],
    base=_BASE,
)


# The average of the clients compared with centralised gradient descent: their distance grows at most by the differences
# of the clients' gradients.
_CLIENT, _MEAN = "lecture27:thm-1.g", "lecture27:thm-1"
_TRIANGLE = [Term(_ONE, triangle(w_t - v, -eta * Average(GRADIENT_CHANGE))), Term(eta, length_of_mean(GRADIENT_CHANGE))]


def bound_average_step(distance: sp.Expr, lemma: str = _CLIENT) -> list[Term]:
    """Return the terms of one step of the average, by a lemma that bounds each client's distance."""
    return [
        *_TRIANGLE,
        Term(eta, lipschitz_gradient_length(F_i, w_i, v), averaged=True),
        Term(eta * beta, root(f"{lemma}, relation 2", distance, DIFFERENCE), averaged=True),
    ]


_CLIENT_BOUND = delta_i / beta * (POWER - 1)
_AVERAGE_DISTANCE = Induction(
    measured=norm(w_t - v),
    factor=_ONE,
    offset=eta * beta * Average(_CLIENT_BOUND),
    terms=bound_average_step(_CLIENT_BOUND),
    bound=h(x),
    base=_BASE,
)

# Lemma 4: within an interval the distance from the optimum is at most that at its start. The decrease of the loss in a
# step is a multiple of the squared gradient, which by convexity and Cauchy-Schwarz is at least theta^2 / R.
_NO_INCREASE = [
    Term(2 * eta, cocoercivity(F, w_star, v)),
    Term(2 * eta, cocoercivity(F, v, w_star)),
    Term(2 * eta / beta - eta**2, square(Gradient(F, v))),
]
_DISTANCE_IN_INTERVAL = Induction(
    measured=distance_sq,
    factor=_ONE,
    offset=sp.S.Zero,
    terms=_NO_INCREASE,
    bound=1 / omega,
    start=[Term(_ONE, assumption("nearest start"))],
)
_DISTANCE = "lecture27:lemma-4.distance"
_DECREASE_PER_GRADIENT = eta * (1 - beta * eta / 2)
_theta, _theta_next, _gradient_sq, _distance_sq, _product = sp.symbols("theta theta' G R a", real=True)
_change = sp.Symbol("c", real=True)
_SCALARS = {
    _theta: theta,
    _gradient_sq: norm_sq(gradient),
    _distance_sq: distance_sq,
    _product: inner(gradient, v - w_star),
}
_GAP_SIGN = Nonnegative(_theta, [Term(_ONE, optimality(F, v))])
_GRADIENT_FACTS: dict[str, Nonnegative | CauchySchwarz] = {
    "theta(t)": _GAP_SIGN,
    "squared gradient": Nonnegative(_gradient_sq, [Term(_ONE, square(gradient))]),
    "convexity": Nonnegative(_product - _theta, [Term(_ONE, convexity(F, w_star, v))]),
    "distance": Nonnegative(1 - omega * _distance_sq, [Term(omega, assumption(f"{_DISTANCE}, relation 1"))]),
    "Cauchy-Schwarz": CauchySchwarz(_gradient_sq, _distance_sq, _product),
}
_DESCENDED = [Term(_ONE, smoothness(F, v_next, v))]
_DECREASE = [
    Product(_ONE, ["descent"]),
    Product(_DECREASE_PER_GRADIENT, ["squared gradient", "distance"]),
    Product(_DECREASE_PER_GRADIENT * omega, ["Cauchy-Schwarz"]),
    Product(_DECREASE_PER_GRADIENT * omega, ["convexity", "convexity"]),
    Product(2 * _DECREASE_PER_GRADIENT * omega, ["convexity", "theta(t)"]),
]
"""The decrease of the loss in a step, minus its lower bound as a multiple of theta^2 / R."""
_DECREASING = Products(
    scalars={**_SCALARS, _change: Value(F, v_next) - Value(F, v)},
    facts={**_GRADIENT_FACTS, "descent": Nonnegative(-_change - _DECREASE_PER_GRADIENT * _gradient_sq, _DESCENDED)},
    divided_by=["theta(t)", "theta(t)"],
    parts=_DECREASE,
)
_PROGRESS = [Term(2 * eta, cocoercivity(F, w_star, v)), Term(2 * eta, optimality(F, v))]
"""2 eta <gradient, v - w*> minus eta/beta times the squared gradient."""
_GRADIENT_PRODUCT = Products(
    scalars={_theta: theta, _gradient_sq: norm_sq(gradient), _product: inner(gradient, v - w_star)},
    facts={
        "theta(t)": _GAP_SIGN,
        "co-coercivity": Nonnegative(
            _product - _gradient_sq / (2 * beta) - _theta, [Term(_ONE, cocoercivity(F, w_star, v))]
        ),
    },
    divided_by=["theta(t)"],
    parts=[Product(_ONE, ["co-coercivity"])],
)
_before, _after = sp.symbols("d d'", real=True)
_STRICTLY_CLOSER = Products(
    scalars={_theta: theta, _before: distance_sq, _after: distance_after_sq},
    facts={
        "theta(t)": _GAP_SIGN,
        "step": Nonnegative(
            _before - _after - 2 * eta * _theta,
            [Term(2 * eta, cocoercivity(F, w_star, v)), Term(eta / beta - eta**2, square(gradient))],
        ),
    },
    divided_by=["theta(t)"],
    parts=[Product(_ONE, ["step"])],
)
_RECIPROCAL = Products(
    scalars={**_SCALARS, _theta_next: theta_after},
    facts={
        **_GRADIENT_FACTS,
        "theta(t+1)": Nonnegative(_theta_next, [Term(_ONE, optimality(F, v_next))]),
        "descent": Nonnegative(_theta - _theta_next - _DECREASE_PER_GRADIENT * _gradient_sq, _DESCENDED),
    },
    divided_by=["theta(t)", "theta(t+1)"],
    parts=[
        *_DECREASE,
        Product(_DECREASE_PER_GRADIENT * omega, ["theta(t)", "descent"]),
        Product(_DECREASE_PER_GRADIENT**2 * omega, ["theta(t)", "squared gradient"]),
    ],
)


# Theorem 2: the reciprocals of the gaps telescope over the steps of an interval and over the intervals; an aggregation
# reduces them by the cost of drift in the loss.
_DESCENT, _EACH_INTERVAL, _GAPS, _AGGREGATION, _LOSS = (
    f"lecture27:{name}" for name in ("lemma-4.descent", "thm-2.each-interval", "thm-2.gaps", "thm-2.jump", "thm-1.loss")
)
_OVER_GAPS = 1 / (theta_end * theta_next_start)
_DRIFT_LOSS = Part(loss * (1 / epsilon**2 - _OVER_GAPS), ONE)

_gap, _points_sq = sp.symbols("g' r", real=True)


def _derive_tangent(objective: sp.Symbol) -> list[Link]:
    """Derive the three relations of the error of a linear approximation: squared, and its two signs."""
    above, below = [Term(_ONE, convexity(objective, w, w_other))], [Term(_ONE, smoothness(objective, w, w_other))]
    within = Products(
        scalars={_gap: gap_above_tangent(objective), _points_sq: points_distance_sq},
        facts={
            "above": Nonnegative(_gap, above),
            "below": Nonnegative(beta / 2 * _points_sq - _gap, below),
        },
        parts=[Product(_ONE, ["below", "below"]), Product(sp.Integer(2), ["below", "above"])],
    )
    return [within, above, below]


CERTIFICATES = [
    Combination(claim="lecture27:resource", links=[[Part(b / tau, ITERATIONS)], []]),
    Certificate(claim="lecture27:smooth-property-2", links=[*_derive_tangent(F_i), *_derive_tangent(F)]),
    Certificate(
        claim="lecture27:smooth-property-1",
        links=[[Term(_ONE, cocoercivity(F_i, w_other, w))], [Term(_ONE, cocoercivity(F, w_other, w))]],
    ),
    Certificate(
        claim="lecture27:lemma-3",
        links=[_NO_INCREASE],
        relaxed=[eta <= 2 / beta],
    ),
    Certificate(
        claim="lecture27:lemma-3.proof",
        links=[
            _PROGRESS,
            [Term(_ONE, optimality(F, v))],
            _GRADIENT_PRODUCT,
            _PROGRESS,
            [],
            _STRICTLY_CLOSER,
            Positive(),
        ],
    ),
    Certificate(claim="lecture27:lemma-3.proof.factor.fixed", links=[[]], relaxed=[]),
    Certificate(claim="lecture27:thm-1.g", links=[_CLIENT_DISTANCE, _CLIENT_DISTANCE]),
    Certificate(
        claim="lecture27:thm-1.step",
        links=[
            _TRIANGLE,
            [Term(_ONE, lipschitz_gradient(F_i, w_i, v))],
            [Term(_ONE, assumption(f"{_CLIENT}, relation 2"))],
            bound_average_step(g(x)),
            bound_average_step(g(x)),
        ],
        lemmas=[_CLIENT],
    ),
    Certificate(
        claim="lecture27:thm-1.g-step",
        links=[
            Squared(
                length=norm(w_i_next - v_next),
                bound=_BASE * norm(DIFFERENCE) + eta * delta_i,
                terms=[
                    Term(_ONE, triangle(DIFFERENCE, -eta * GRADIENT_CHANGE, -eta * DEVIATION)),
                    Term(eta, lipschitz_gradient_length(F_i, w_i, v)),
                    Term(eta, root(DIVERGENCE, delta_i, DEVIATION)),
                ],
            ),
            [Term(_BASE**2, assumption(f"{_CLIENT}, relation 2"))],
            [],
        ],
        lemmas=[_CLIENT],
    ),
    Certificate(
        claim="lecture27:lemma-3.any-point",
        links=[
            [
                Term(2 * eta, convexity(F, w, v)),
                Term(2 * eta, smoothness(F, v_next, v)),
                Term(eta**2 * (1 - beta * eta), square(gradient)),
            ]
        ],
    ),
    Certificate(claim=_DISTANCE, links=[_DISTANCE_IN_INTERVAL, _DISTANCE_IN_INTERVAL], relaxed=[eta <= 2 / beta]),
    Certificate(claim="lecture27:lemma-4.consequence", links=[_DECREASING, Positive()], lemmas=[_DISTANCE]),
    Certificate(claim="lecture27:lemma-4", links=[_RECIPROCAL, Positive()], lemmas=[_DISTANCE]),
    Certificate(
        claim=_DESCENT, links=[[Term(_ONE, smoothness(F, v_next, v)), Term(_DECREASE_PER_GRADIENT, square(gradient))]]
    ),
    Combination(
        claim="lecture27:thm-2.gaps",
        links=[[Part(_ONE, SumOverSteps(_DESCENT)), Part(_ONE, epsilon <= theta_end)]],
    ),
    Combination(claim=_EACH_INTERVAL, links=[[Part(_ONE, SumOverSteps("lecture27:lemma-4"))]]),
    Combination(
        claim="lecture27:thm-2.interval",
        links=[[Part(_ONE, _EACH_INTERVAL)], [Part(_ONE, SumOverRounds(_EACH_INTERVAL))], [Part(progress, ITERATIONS)]],
    ),
    Combination(
        claim=_AGGREGATION,
        links=[[], [Part(_OVER_GAPS, AtLastStep(_LOSS)), Part(_OVER_GAPS, AtLastStep(_LOSS, 1))], [_DRIFT_LOSS]],
        known=[AtNextStart(_GAPS)],
    ),
    Combination(
        claim="lecture27:thm-2.round",
        links=[
            [
                Part(_ONE, _EACH_INTERVAL),
                Part(_ONE, Derived(_AGGREGATION, 1)),
                _DRIFT_LOSS,
            ]
        ],
        known=[AtNextStart(_GAPS)],
    ),
    Combination(
        claim="lecture27:thm-2.last",
        links=[
            [Part(1 / theta_first, ONE)],
            [Part(_ONE, SumOverRounds("lecture27:thm-2.round")), Part(-progress, ITERATIONS)],
            [Part(loss * (1 / epsilon**2 - 1 / (final_gap * theta_last)), ONE)],
            [Part(loss / (tau * epsilon**2), ITERATIONS)],
        ],
        known=[Derived(_GAPS), AtNextStart(_GAPS), AtFirstStart(_GAPS)],
    ),
    Combination(
        claim="lecture27:thm-2",
        links=[
            [
                Part(final_gap / (T * rate), Derived("lecture27:thm-2.last", 0)),
                Part(final_gap / (T * rate), Derived("lecture27:thm-2.last", 1)),
                Part(final_gap / (T * rate) * loss / (tau * epsilon**2), ITERATIONS),
            ]
        ],
        known=[AtFirstStart(_GAPS)],
    ),
    Certificate(claim="lecture27:thm-1.sum", links=[PrefixSum()]),
    Certificate(claim=_MEAN, links=[_AVERAGE_DISTANCE, _AVERAGE_DISTANCE], lemmas=[_CLIENT]),
    Certificate(
        claim="lecture27:thm-1.loss",
        links=[
            [Term(_ONE, lipschitz(F, w_t_next, v_next))],
            [Term(rho, assumption(f"{_MEAN}, relation 1"))],
            [Term(_ONE, lipschitz(F, w_t, v)), Term(rho, assumption(f"{_MEAN}, relation 2"))],
        ],
        lemmas=[_MEAN],
    ),
]
