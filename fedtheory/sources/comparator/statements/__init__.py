"""The statements: a module for each setting."""

from fedtheory.sources.comparator.statements import full_rounds, strong_convexity

CLAIMS = (*full_rounds.CLAIMS, *strong_convexity.CLAIMS)
