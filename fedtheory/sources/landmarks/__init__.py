"""Landmarks: one statement with explicit constants for each algorithm that is given by a definition.

They follow the named papers, but do not quote them.
"""
