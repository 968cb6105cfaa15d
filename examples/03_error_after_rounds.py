"""What is the expected error of FedAvg after ten rounds, exactly?

Nothing is sampled: means and second moments follow a linear recursion.
"""

import numpy as np

import fedtheory as ft

problem = ft.quadratic(
    hessians=np.array([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]),
    linear=np.array([[1.0, 0.0], [-1.0, 0.5]]),
    start=np.array([3.0, -2.0]),
    noise=np.array([1.0, 1.0]),
)
simulation = ft.simulate(ft.run_on(problem, local_step_size="1/20", local_steps=5, rounds=10))
print(simulation.to_frame().round(5).iloc[[0, 1, 5, 10]])

# It prints:
#        time  suboptimality  distance_sq  gradient_sq
# round
# 0       0.0        9.28125     14.06250     25.31250
# 1       1.0        4.62658      7.18001     12.36291
# 5       5.0        0.32969      0.57140      0.79135
# 10     10.0        0.02227      0.04180      0.04862
