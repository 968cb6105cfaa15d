"""The page of the toy problem: its curves, its numbers, and whether the theorem covers its runs."""

from __future__ import annotations

from fedtheory.engine.sampling import ReplicaMeans
from fedtheory.errors import NotApplicable
from fedtheory.language.exhibits import Coverage, Page, RunFile, Table
from fedtheory.language.numbers import format_decimal
from fedtheory.sources.renard2022.exhibits.charts import draw_accuracy, draw_loss, draw_sampling_error
from fedtheory.sources.renard2022.exhibits.toy_problem import (
    BATCH,
    CLIENTS,
    CONCENTRATION,
    DATA,
    LOCAL_STEPS,
    ROUNDS,
    STEP_SIZE,
    ToyRun,
    make_toy_runs,
)

_INTRODUCTION = (
    "A linear model with the squared loss classifies two handwritten digits. "
    rf"{CLIENTS} clients train it by FedAvg with mini-batches: batches of {BATCH} drawn with replacement, "
    rf"$\tau={LOCAL_STEPS}$ local steps of size $\eta={STEP_SIZE}$, $T={ROUNDS}$ rounds. "
    "Client weights are proportional to the numbers of rows, so that both splits have the same objective, the loss "
    "of the whole training set."
)
_PROGRAM = """from fedtheory.sources.renard2022.exhibits.toy_problem import make_toy_runs

for toy in make_toy_runs():
    print(toy.name, toy.loss[-1], toy.inside)"""
_RUN_FILE = f"""[problem]
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


def make_toy_page() -> Page:
    """Run the toy problem and describe it; raises `MissingExtra` without scikit-learn."""
    runs = make_toy_runs()
    return Page(
        name="toy-problem",
        title="The toy problem on real digits",
        occasion="The source's toy problem, on real digits",
        contents="exact loss, sampled loss, and accuracy",
        locator="section 3.1",
        introduction=_INTRODUCTION,
        charts=[draw_loss(runs), draw_sampling_error(runs), draw_accuracy(runs)],
        table=Table([toy.name for toy in runs], [(name, [value(toy) for toy in runs]) for name, value in _ROWS]),
        coverage=[_find_coverage(runs)],
        program=_PROGRAM,
        run_file=RunFile(
            "digits.toml",
            "A run file of the same kind, with all the data for training and equal client weights",
            _RUN_FILE,
        ),
    )


def _find_coverage(runs: list[ToyRun]) -> Coverage:
    return Coverage(
        heading="Does Theorem 2.1 cover it?",
        claim="renard2022:thm-2.1",
        runs={toy.name: {"As it stands": toy.run, "With equal weights": toy.with_equal_weights} for toy in runs},
        measured="the average over all rounds and local steps",
        remark="mini-batch noise and dissimilarity are bounded only on a ball that contains the run; their bounds "
        "there are large",
    )


def _format_final(estimate: ReplicaMeans) -> str:
    mean, reach = 100 * estimate.mean[-1], 100 * (estimate.high[-1] - estimate.mean[-1])
    return f"{mean:.2f} ± {reach:.2f} %" if reach >= 0.005 else f"{mean:.2f} % in all replicas"


def _format_variance(toy: ToyRun) -> str:
    try:
        bound = toy.run.noise_variance
    except NotApplicable:
        return "unbounded"
    return format_decimal(bound.value)


_ROWS = (
    ("rows of each client", lambda toy: ", ".join(map(str, sorted(toy.sizes)))),
    (
        r"smallest eigenvalue of $\nabla^2 L_D$",
        lambda toy: format_decimal(toy.run.arithmetic.smallest_eigenvalue(toy.run.problem.hessian), 3),
    ),
    ("smoothness $L$ of the clients", lambda toy: format_decimal(toy.run.smoothness)),
    (r"$1/(4L)$", lambda toy: format_decimal(1 / (4 * toy.run.smoothness))),
    (
        r"noise at the optimum, largest client, $\mathbb E\|g_i(w^*)-\nabla F_i(w^*)\|^2$",
        lambda toy: format_decimal(toy.noise_at_optimum),
    ),
    (r"$\sigma^2$ on a ball that contains the run", _format_variance),
    ("smallest loss $F^*$", lambda toy: format_decimal(toy.run.problem.optimal_value)),
    ("exact expected loss after the last round", lambda toy: format_decimal(toy.loss[-1], 6)),
    (
        "sampled loss after the last round",
        lambda toy: f"{toy.sampled_loss.mean[-1]:.6g} ± {toy.sampled_loss.high[-1] - toy.sampled_loss.mean[-1]:.2g}",
    ),
    ("rounds at which the exact loss lies in the sampled interval", lambda toy: f"{toy.inside} of {len(toy.loss)}"),
    ("training accuracy after the last round", lambda toy: _format_final(toy.train_accuracy)),
    ("test accuracy after the last round", lambda toy: _format_final(toy.test_accuracy)),
)
