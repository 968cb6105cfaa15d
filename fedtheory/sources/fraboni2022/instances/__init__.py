"""Families of instances for clocks, unequal reporting, types of clients, and the examples of the paper."""
