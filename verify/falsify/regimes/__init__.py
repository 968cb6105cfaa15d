"""A search for counterexamples by regimes: every pair of directions in which a run can be extreme, and climbs."""

from verify.falsify.regimes.coverage import NO_PAIRS, Pairs, Regime
from verify.falsify.regimes.search import Search, search_regimes

__all__ = ["NO_PAIRS", "Pairs", "Regime", "Search", "search_regimes"]
