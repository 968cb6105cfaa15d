"""Assumptions on clocks, weights of updates, and clients that take turns."""

import importlib

# The vocabulary is complete only with these chapters, which use those of the language: it is loaded first.
importlib.import_module("fedtheory.language.assumptions")
