"""Quantities of the notes: gaps at the ends of intervals, and divergences of the clients' gradients."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
