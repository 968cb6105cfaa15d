"""Exports of claims about schedules and updates to Rocq: names, lemmas and hypotheses."""
