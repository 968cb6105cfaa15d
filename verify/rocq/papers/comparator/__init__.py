"""Export of claims about exponentially weighted averages to Rocq."""
