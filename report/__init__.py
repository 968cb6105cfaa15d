"""Reports: pages, figures and tables of verdicts.

`error_figure`, `bound_figure` and `save_figure` are public; they draw runs and claims for papers and notebooks.
"""

from report.pictures import bound_figure, error_figure, save_figure

__all__ = ["bound_figure", "error_figure", "save_figure"]
