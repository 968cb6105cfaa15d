"""Quantities of the chapter's problems: moments of a client's samples."""

import importlib

# The language is imported first, because its chapters and these modules use each other.
importlib.import_module("fedtheory.language.quantities")
