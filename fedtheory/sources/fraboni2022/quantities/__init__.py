"""Quantities of updates with stale models: weights and types, clocks and schedules, the problems of the updates."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
