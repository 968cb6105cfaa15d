"""How do I send a run to a colleague, so that exactly the same numbers come out?"""

import numpy as np

import fedtheory as ft
from fedtheory.runfile import run_table, run_toml

problem = ft.quadratic(np.array([[[1.0]], [[1.0]]]), np.array([[0.5], [-0.5]]), np.array([1.0]))
run = ft.run_on(problem, local_step_size=0.25, local_steps=2, rounds=3)
text = run_toml(run_table(run))
print(text)
print(ft.simulate(run_table(run), arithmetic="rational").suboptimality[-1])

# It prints:
# [problem]
# kind = "quadratic"
# hessians = [[[1.0]], [[1.0]]]
# linear = [[0.5], [-0.5]]
# start = [1.0]
#
# [algorithm]
# name = "fedavg"
# local_step_size = 0.25
# local_steps = 2
# rounds = 3
#
# 531441/33554432
