"""Exports of claims about runs with sampled clients, and about steps that contract, to Rocq."""
