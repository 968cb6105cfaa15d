"""Families of instances with sampled clients and unequal local work."""
