"""Facts on the slides' quantities, which `fedtheory.proofs` gathers; as much trusted as the kernel is."""

import importlib

# Proofs are complete only with these facts, which use those of `proofs`: they are loaded first.
importlib.import_module("fedtheory.proofs")
