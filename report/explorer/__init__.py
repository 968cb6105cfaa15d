"""The bound explorer on a claim's page: its right side as a function of one slider per symbol."""

from report.explorer.section import ExplorerSection, make_explorer_section
from report.explorer.subject import explain_missing_explorer

__all__ = ["ExplorerSection", "explain_missing_explorer", "make_explorer_section"]
