"""Quantities of the chapter's problems: moments of a client's samples."""

import importlib

# The vocabulary is complete only with these chapters, which use those of the language: it is loaded first.
importlib.import_module("fedtheory.language.quantities")
