"""With 60 local steps for each client in all, how often should the server average?"""

import numpy as np

import fedtheory as ft

problem = ft.quadratic(
    hessians=np.array([[[1.0]], [[3.0]]]), linear=np.array([[1.0], [-1.0]]), start=np.array([2.0]), noise=np.ones(2)
)
for local_steps in (1, 2, 5, 10, 30):
    run = ft.run_on(problem, local_step_size=0.05, local_steps=local_steps, rounds=60 // local_steps)
    found = ft.simulate(run)
    print(f"{local_steps:3} local steps, {run.algorithm.rounds:3} rounds: error {found.suboptimality[-1]:.5f}")

# It prints:
#   1 local steps,  60 rounds: error 0.00659
#   2 local steps,  30 rounds: error 0.00696
#   5 local steps,  12 rounds: error 0.01023
#  10 local steps,   6 rounds: error 0.02147
#  30 local steps,   2 rounds: error 0.08534
