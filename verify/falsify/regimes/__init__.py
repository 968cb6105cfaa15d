"""Search for counterexamples by regimes: all pairs of extreme features of a run, followed by local ascents."""

from verify.falsify.regimes.coverage import NO_PAIRS, Pairs, Regime
from verify.falsify.regimes.regime_search import Search, search_regimes

__all__ = ["NO_PAIRS", "Pairs", "Regime", "Search", "search_regimes"]
