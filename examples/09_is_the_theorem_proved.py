"""Is the theorem that I want to cite proved, under which conditions, and is there a better one?"""

import fedtheory as ft
from fedtheory.language.registry import list_sharper_claims

theorem = ft.all_claims()["liu2022:thm-1"]
proof = ft.prove(theorem)
print(proof)
print("conditions:", *theorem.conditions)
for sharper in list_sharper_claims(theorem):
    print(sharper.id, ft.prove(sharper).verdict)

# It prints:
# <Proof liu2022:thm-1: proved>
# conditions: s <= 1/L
# liu2022:thm-1.sharp proved
