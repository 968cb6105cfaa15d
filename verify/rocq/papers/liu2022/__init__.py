"""Exports of claims about each step of a run to Rocq, and the reason why those about the published loop have none."""
