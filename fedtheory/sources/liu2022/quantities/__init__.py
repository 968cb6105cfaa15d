"""Quantities of the loops in the slides."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
