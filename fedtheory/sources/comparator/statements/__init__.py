"""The statements: a module for each setting."""

from fedtheory.sources.comparator.statements import full_rounds

CLAIMS = (*full_rounds.CLAIMS,)
