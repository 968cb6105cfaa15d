"""Handwritten digits distributed over clients: the parity of digits, by least squares.

scikit-learn's 1797 images of 8 x 8 pixels are averaged over blocks of 2 x 2, so
that a model has 16 weights and a constant.  The columns are standardised and
divided by two, which makes the largest curvature about 2.  The output is +1
for an odd digit and -1 for an even one; clients are dealt the ten digits.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.errors import MissingExtra
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.federation.problem.split import split_by_dirichlet, split_iid

Split = Literal["IID", "Dirichlet"]
"""Kind of split: images dealt at random, or each digit divided among clients by a Dirichlet distribution."""
SPLITS: tuple[Split, ...] = ("IID", "Dirichlet")

BATCH = 64
"""Size of mini-batches, sampled with replacement, so that clients may have fewer samples."""
CONCENTRATION = 0.1
"""Parameter of the Dirichlet distribution."""


def make_digits_problem(clients: int, split: Split, seed: int = 0) -> Problem:
    """Return the problem with p_i = 1/M, from the zero model; `seed` determines the split.

    Raises `MissingExtra` without scikit-learn.
    """
    inputs, outputs, labels = _load_digits()
    if split == "IID":
        rows = split_iid(len(labels), clients, seed)
    else:
        rows = split_by_dirichlet(labels, clients, CONCENTRATION, seed)
    return least_squares(
        ClientData(tuple(inputs[chosen] for chosen in rows), tuple(outputs[chosen] for chosen in rows)),
        FLOAT.zeros(inputs.shape[1]),
        batch=BATCH,
        description=f"odd digits, {split} split",
    )


@cache
def _load_digits() -> tuple[Array, Array, Array]:
    """Return inputs (1797, 17), outputs (1797,) and digits (1797,)."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingExtra("data", "the data set 'digits'") from None
    pixels, labels = load_digits(return_X_y=True)
    blocks = pixels.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(pixels), 16)
    standardised = (blocks - blocks.mean(axis=0)) / blocks.std(axis=0)
    inputs = np.column_stack([standardised / 2, np.ones(len(labels))])
    return inputs, np.where(labels % 2 == 1, 1.0, -1.0), labels
