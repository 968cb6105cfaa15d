"""Families of instances without noise."""
