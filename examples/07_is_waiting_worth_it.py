"""One of my clients is four times slower.  Should the server wait for it?

Both runs last 24 units of time; the weights make up for unequal reporting.
"""

import numpy as np

import fedtheory as ft

problem = ft.quadratic(
    hessians=np.ones((3, 1, 1)), linear=np.array([[1.0], [0.0], [-1.0]]), start=np.array([4.0]), noise=np.ones(3)
)
for policy in ("sync", "async"):
    clock = {"policy": policy, "times": [1, 1, 4]}
    weights = "time-based" if policy == "async" else "importance"
    run = ft.run_on(problem, local_step_size=0.05, local_steps=2, time=24, clock=clock, aggregation=weights)
    found = ft.simulate(run)
    print(f"{policy:6} {len(found.times) - 1:3} updates, error {found.suboptimality[-1]:.5f}")

# It prints:
# sync     6 updates, error 2.33894
# async   24 updates, error 0.03307
