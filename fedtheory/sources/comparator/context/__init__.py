"""Kinds of certificates of this source, which `fedtheory.proofs` imports; trusted like the kernel."""

import importlib

# `proofs` is imported first, because its modules and these use each other.
importlib.import_module("fedtheory.proofs")
