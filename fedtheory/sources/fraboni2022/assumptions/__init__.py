"""Assumptions on clocks, weights of updates, and clients that take turns."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.assumptions")
