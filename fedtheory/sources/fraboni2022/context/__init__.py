"""Context of proofs about updates with stale models: meanings of quantities, and facts on them.

`fedtheory.proofs` gathers these modules, which are as much trusted as the kernel is.
"""

import importlib

# Proofs are complete only with these modules, which use those of `proofs`: they are loaded first.
importlib.import_module("fedtheory.proofs")
