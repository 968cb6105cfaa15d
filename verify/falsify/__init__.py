"""Search for a violation of a claim, and shrink it to one that a reader can check by hand."""

from verify.falsify.search_result import Finding, QuickSearch, falsify, search_further, search_quickly
from verify.falsify.shrink import shrink

__all__ = ["Finding", "QuickSearch", "falsify", "search_further", "search_quickly", "shrink"]
