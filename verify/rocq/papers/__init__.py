"""Exports to Rocq that one paper alone needs, in a folder for each paper."""
