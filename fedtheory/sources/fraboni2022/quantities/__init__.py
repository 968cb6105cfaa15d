"""Quantities of updates with stale models: weights and types, clocks and schedules, the problems of the updates."""

import importlib

# The vocabulary is complete only with these chapters, which use those of the language: it is loaded first.
importlib.import_module("fedtheory.language.quantities")
