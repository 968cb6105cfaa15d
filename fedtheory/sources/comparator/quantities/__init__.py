"""Quantities of the bounds with curvatures: the drift that each client's curvature weights."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
