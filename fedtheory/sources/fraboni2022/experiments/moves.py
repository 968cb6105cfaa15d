"""Expected squared distance between two consecutive models of the server, for each update."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.moments import Trajectory
from fedtheory.engine.moments.local import compute_step_maps


def compute_squared_moves(trajectory: Trajectory) -> Array:
    """Return E|theta^{n+1} - theta^n|^2, (N,), of an asynchronous run with equal local work."""
    recursion, algorithm = trajectory.recursion, trajectory.algorithm
    identity = np.eye(trajectory.problem.dimension + 1)
    (local_steps,) = set(algorithm.work.steps)
    displacements = np.linalg.matrix_power(compute_step_maps(recursion.centred, recursion.work), local_steps) - identity
    moves = []
    for n, (update, live) in enumerate(trajectory.rounds()):
        # Minus the identity on the newest model, the maps to the next model become maps to the difference.
        maps = dict(recursion.maps_after(displacements, live, update))
        maps[live.newest] = maps[live.newest] - identity
        _, moment = live.combine(maps)
        noise = recursion.noise(live, update) if trajectory.noise is None else trajectory.noise[n]
        noise_covariance = recursion.server_step_size**2 * noise.server
        moves.append(float(moment[1:, 1:].trace() + noise_covariance.trace()))
    return np.array(moves)
