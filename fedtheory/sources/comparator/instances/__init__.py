"""Families of instances with short rounds."""
