"""Proof rules about small step sizes; trusted like the kernel.

`fedtheory.proofs` imports them.
"""

import importlib

# `proofs` is imported first, because its modules and these use each other.
importlib.import_module("fedtheory.proofs")
