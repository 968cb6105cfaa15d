"""Settings of the algorithm: rounds, local steps, step sizes, and the indices of round and step."""

from __future__ import annotations

from typing import Any

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.measuring.terms import define_in_numbers
from fedtheory.language.quantities.quantity import RunQuantity, per_round, per_step, setting

rounds = RunQuantity(
    "rounds",
    "T",
    "number of server updates",
    lambda run: run.arithmetic.number(run.algorithm.rounds, "T"),
    primitive="setting",
)


def _read_steps(run: Run) -> Any:
    """Return the clients' common number of local steps; raise NotApplicable if they differ."""
    steps = run.algorithm.work.common_steps
    if steps is None:
        raise NotApplicable("the clients take different numbers of local steps")
    return run.arithmetic.number(steps, "local_steps")


round_index = per_round(
    "round_index",
    "n",
    "number of the server update, from 1 on",
    lambda run: run.arithmetic.array(list(range(1, run.algorithm.rounds + 1)))[:, None, None],
    primitive="setting",
)
local_step_index = RunQuantity(
    "local_step_index",
    "k",
    "number of local steps that a round has taken, from 0 on",
    lambda run: run.arithmetic.array(list(range(max(run.algorithm.work.steps))))[None, :, None],
    per_step=True,
    primitive="setting",
)
local_steps = setting("local_steps", r"\tau", "local steps per round, the same for all clients", _read_steps)
iterations = define_in_numbers(
    "iterations",
    "T",
    "number of local steps of the whole run, rounds times local steps",
    rounds.symbol * local_steps.symbol,
    of=[rounds, local_steps],
)


def _read_step_size(run: Run) -> object:
    """Return the common step size; raise NotApplicable if it differs between clients or steps."""
    size = run.algorithm.work.common_step_size
    if run.algorithm.work.schedule is not None:
        raise NotApplicable("the step size changes along the run")
    if size is None:
        raise NotApplicable("the clients use different step sizes")
    return size


local_step_size = setting("local_step_size", r"\eta", "local step size, the same for all clients", _read_step_size)


def _list_sizes_at_steps(run: Run) -> Any:
    """Return the common step size at each round and local step."""
    _read_steps(run)
    work = run.algorithm.work
    if (work.step_sizes != work.step_sizes[0]).any():
        raise NotApplicable("the clients use different step sizes")
    rounds, steps = range(run.algorithm.rounds), range(max(work.steps))
    sizes = [[[work.sizes_at(n, k)[0]] for k in steps] for n in rounds]
    return run.arithmetic.array(sizes)


step_size_at_step = per_step(
    "step_size_at_step",
    r"\eta_{t,k}",
    "for each local step k = 0 .. tau-1 of each round t: its size, the same for all clients",
    _list_sizes_at_steps,
    primitive="setting",
)
server_step_size = setting(
    "server_step_size", r"\eta_g", "server step size", lambda run: run.algorithm.aggregation.server_step_size
)
client_local_steps = setting(
    "client_local_steps",
    "E_k",
    "local steps of each client",
    lambda run: place_on_clients(run.arithmetic.array(list(run.algorithm.work.steps))),
)


def _list_client_step_sizes(run: Run) -> Any:
    work = run.algorithm.work
    if work.schedule is not None:
        raise NotApplicable("the step sizes change from step to step")
    return place_on_clients(work.step_sizes)


client_step_size = setting(
    "client_step_size",
    r"\mu_k",
    "local step size of each client, the same at all of its steps",
    _list_client_step_sizes,
)


def _read_effective_step_size(run: Run) -> Any:
    size = run.algorithm.work.common_effective_step
    if size is None:
        raise NotApplicable("the clients' step sizes times their numbers of local steps differ")
    return size


effective_step_size = setting(
    "effective_step_size", r"\mu", "mu = mu_k E_k, the same for all clients", _read_effective_step_size
)
