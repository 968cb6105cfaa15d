"""I have a data frame with a column of clients.  How curved are their losses, and how far apart are their optima?"""

import numpy as np
import pandas as pd

import fedtheory as ft

rng = np.random.default_rng(0)
frame = pd.DataFrame({"age": rng.normal(size=60), "rooms": rng.normal(size=60)})
frame["hospital"] = np.repeat(["east", "north", "west"], 20)
frame["price"] = frame["age"] * frame["hospital"].map({"east": 1, "north": 2, "west": 3}) + frame["rooms"]

problem = ft.problem_from(frame, "price", client="hospital")
run = ft.run_on(problem, local_step_size=0.05, rounds=1)
print(problem)
print(f"L = {run.smoothness:.3f}, mu = {run.strong_convexity:.3f}")
print(problem.client_optima.round(3))

# It prints:
# <Problem least squares on given rows: 3 clients in 3 dimensions>
# L = 3.008, mu = 0.644
# [[1. 1. 0.]
#  [2. 1. 0.]
#  [3. 1. 0.]]
