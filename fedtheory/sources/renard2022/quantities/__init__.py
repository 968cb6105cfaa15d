"""Quantities of the proofs: vectors of ones, and the distance after the local steps of a round."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
