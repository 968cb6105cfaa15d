"""Exports of claims about the steps of single clients, and about numbers of rounds with sampled clients, to Rocq."""
