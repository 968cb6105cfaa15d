"""Exports of claims about the published loop to Rocq: there are none, and the reason is reported."""
