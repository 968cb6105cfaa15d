"""Show it."""
