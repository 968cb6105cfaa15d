"""A search for counterexamples by regimes: every pair of directions in which a run can be extreme, and climbs."""

from verify.falsify.regimes.coverage import Regime
from verify.falsify.regimes.search import Search, regime_runs, search_regimes

__all__ = ["Regime", "Search", "regime_runs", "search_regimes"]
