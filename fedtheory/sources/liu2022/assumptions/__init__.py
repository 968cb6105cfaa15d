"""Assumptions on the step sizes of the slides."""

import importlib

# The vocabulary is complete only with these chapters, which use those of the language: it is loaded first.
importlib.import_module("fedtheory.language.assumptions")
