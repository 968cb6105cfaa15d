"""Which term of the theorem dominates on my run, and how much room is left?"""

import fedtheory as ft

run = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["1"]], [["1"]]],
        "linear": [["1"], ["-1"]],
        "start": ["3"],
        "noise": "1",
    },
    "algorithm": {"local_step_size": "1/20", "local_steps": 4, "rounds": 50},
}
found = ft.check("renard2022:thm-2.1", run, arithmetic="rational")
for term in found.worst.terms:
    print(f"{float(term.value):.4f}  {term.latex}")
print(f"left side {float(found.worst.lhs):.4f}, right side {float(found.worst.rhs):.4f}")

# It prints:
# 0.0250  \frac{\eta \sigma^{2}}{M}
# 0.4500  \frac{D^{2}}{2 T \eta \tau}
# 0.0400  4 L \eta^{2} \sigma^{2} \tau
# 0.7200  18 L \eta^{2} \tau^{2} \zeta^{2}
# left side 0.2144, right side 1.2350
