"""I know the constants of my problem, not its data.  Which step size does the theorem recommend?

The sharper one of two proved bounds allows a larger step.
"""

import fedtheory as ft

constants = {"L": 1, "M": 10, "tau": 5, "T": 1000, "D": 2, "sigma": 1, "zeta": 0.5}
plan = ft.plan(constants, claims=["renard2022:thm-2.1", "renard2022:thm-2.1.sharp"])
frame = plan.to_frame()
print(frame[["best_step_size", "bound_at_best"]].astype(float).round(4))
print("take the step size of", plan.recommended.claim.id)

# It prints:
#                           best_step_size  bound_at_best
# id
# renard2022:thm-2.1                0.0113         0.0534
# renard2022:thm-2.1.sharp          0.0273         0.0233
# take the step size of renard2022:thm-2.1.sharp
