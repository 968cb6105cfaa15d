"""Context of proofs about updates with stale models: definitions of quantities, and facts about them.

`fedtheory.proofs` imports these modules; they are trusted like the kernel.
"""

import importlib

# `proofs` is imported first, because its modules and these use each other.
importlib.import_module("fedtheory.proofs")
