"""The bound explorer of a claim's page: its right side as a function of sliders, for one symbol each."""

from report.explorer.section import ExplorerSection, explorer_section
from report.explorer.subject import no_explorer

__all__ = ["ExplorerSection", "explorer_section", "no_explorer"]
