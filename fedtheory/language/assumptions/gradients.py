"""Assumptions on the stochastic gradients: unbiased, bounded variance, bounded, without noise."""

from __future__ import annotations

from fedtheory.language.assumptions.assumption import Assumption, Boundedness, expect

full_gradients = Assumption(
    "full gradients",
    r"every client uses its full gradient, without noise",
    lambda run: expect((run.noise_forms == 0).all(), "the gradients are noisy"),
)
unbiased_gradients = Assumption(
    "unbiased gradients", r"$\mathbb E[g_i(x)]=\nabla\mathcal L_i(x)$", lambda run: run.problem.oracle
)
unbiased_bounded_variance = Boundedness(
    "unbiased gradients of bounded variance",
    r"stochastic gradients are unbiased and $\mathbb E\|g_i(x)-\nabla F_i(x)\|^2\le\sigma^2$ on the stated region",
    lambda run: run.noise_variance,
)
bounded_second_moment = Boundedness(
    "bounded second moment",
    r"$\mathbb E\|g_i(x)\|^2\le G^2$ on the stated region",
    lambda run: run.second_moment,
)
smooth_noise = Assumption(
    "smooth noise",
    r"$\mathbb E\|n_i(x)-n_i(y)\|^2\le2\ell\left(F_i(y)-F_i(x)-\langle\nabla F_i(x),y-x\rangle\right)$ for the noise "
    r"$n_i=g_i-\nabla F_i$ of one draw",
    lambda run: run.noise_smoothness,
)
