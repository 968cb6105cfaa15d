"""The bound explorer on a claim's page: its right side as a function of one slider per symbol."""

from report.explorer.section import ExplorerSection, explorer_section
from report.explorer.subject import no_explorer

__all__ = ["ExplorerSection", "explorer_section", "no_explorer"]
