"""The sources, one module or package each, with a `SOURCE`: adding one here is all that a new paper needs."""
