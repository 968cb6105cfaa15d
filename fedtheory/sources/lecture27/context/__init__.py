"""Proof rules about the gaps at the ends of intervals; as much trusted as the kernel is.

`fedtheory.proofs` gathers them.
"""

import importlib

# Proofs are complete only with these modules, which use those of `proofs`: they are loaded first.
importlib.import_module("fedtheory.proofs")
