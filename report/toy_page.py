"""The page of the toy problem: its figures, its numbers, and what the theorem says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.engine.sampling import Estimate
from fedtheory.errors import NotApplicable
from fedtheory.language.registry import find
from report.figures.style import Figure
from report.figures.toy import accuracy_over_rounds, loss_over_rounds, sampling_error
from report.numbers import decimal
from report.toy import BATCH, CLIENTS, CONCENTRATION, DATA, LOCAL_STEPS, ROUNDS, STEP_SIZE, ToyRun, toy_runs
from verify.check import check

THEOREM = "renard2022:thm-2.1"

SETTING = (
    rf"batches of {BATCH} drawn with replacement, $\tau={LOCAL_STEPS}$ local steps of size $\eta={STEP_SIZE}$, "
    rf"$T={ROUNDS}$ rounds."
)
RUN_FILE = f"""[problem]
kind = "least-squares"
data = "{DATA}"
clients = {CLIENTS}
split = "dirichlet"
concentration = {CONCENTRATION}
batch = {BATCH}

[algorithm]
local_step_size = {STEP_SIZE}
local_steps = {LOCAL_STEPS}
rounds = {ROUNDS}
"""


@dataclass(frozen=True)
class ToyPage:
    """Everything on the toy problem's page."""

    clients: int
    setting: str
    names: Sequence[str]
    figures: Sequence[Figure]
    rows: Sequence[tuple[str, Sequence[str]]]
    """For each quantity its name and its value for each split."""
    theorem: Sequence[str]
    """For each split, whether the convergence theorem applies."""
    run_file: str


def toy_page() -> ToyPage:
    """Run the toy problem and describe it; `MissingExtra` without scikit-learn."""
    runs = toy_runs()
    return ToyPage(
        clients=CLIENTS,
        setting=SETTING,
        names=[toy.name for toy in runs],
        figures=[loss_over_rounds(runs), sampling_error(runs), accuracy_over_rounds(runs)],
        rows=[(name, [value(toy) for toy in runs]) for name, value in _ROWS],
        theorem=[_theorem(toy) for toy in runs],
        run_file=RUN_FILE,
    )


def _final(estimate: Estimate) -> str:
    mean, reach = 100 * estimate.mean[-1], 100 * (estimate.high[-1] - estimate.mean[-1])
    return f"{mean:.2f} ± {reach:.2f} %" if reach >= 0.005 else f"{mean:.2f} % in all replicas"


def _variance(toy: ToyRun) -> str:
    try:
        bound = toy.run.noise_variance
    except NotApplicable:
        return "unbounded"
    return decimal(bound.value)


_ROWS = (
    ("rows of each client", lambda toy: ", ".join(map(str, sorted(toy.sizes)))),
    (
        r"smallest eigenvalue of $\nabla^2 L_D$",
        lambda toy: decimal(toy.run.arithmetic.smallest_eigenvalue(toy.run.problem.hessian), 3),
    ),
    ("smoothness $L$ of the clients", lambda toy: decimal(toy.run.smoothness)),
    (r"$1/(4L)$", lambda toy: decimal(1 / (4 * toy.run.smoothness))),
    (
        r"noise at the optimum, largest client, $\mathbb E\|g_i(w^*)-\nabla F_i(w^*)\|^2$",
        lambda toy: decimal(toy.noise_at_optimum),
    ),
    (r"$\sigma^2$ on a ball that contains the run", _variance),
    ("smallest loss $F^*$", lambda toy: decimal(toy.run.problem.optimal_value)),
    ("exact expected loss after the last round", lambda toy: decimal(toy.loss[-1], 6)),
    (
        "sampled loss after the last round",
        lambda toy: f"{toy.sampled_loss.mean[-1]:.6g} ± {toy.sampled_loss.high[-1] - toy.sampled_loss.mean[-1]:.2g}",
    ),
    ("rounds at which the exact loss lies in the sampled interval", lambda toy: f"{toy.inside} of {len(toy.loss)}"),
    ("training accuracy after the last round", lambda toy: _final(toy.train_accuracy)),
    ("test accuracy after the last round", lambda toy: _final(toy.test_accuracy)),
)


def _theorem(toy: ToyRun) -> str:
    as_it_is, equal = check(find(THEOREM), toy.run), check(find(THEOREM), toy.with_equal_shares)
    first = "" if as_it_is.applicable else f"As it stands it does not apply, because of {as_it_is.reason}. "
    worst = equal.worst
    if worst is None:
        return f"{first}With equal shares it does not apply either, because of {equal.reason}."
    return (
        f"{first}With equal shares it promises at most {decimal(worst.rhs)} for the average over all rounds and local "
        f"steps, where the exact value is {decimal(worst.lhs)}: mini-batch noise and dissimilarity are bounded only on "
        "a ball that contains the run, and there they are large."
    )
