"""Numbers of runs in sentences."""


def number_or_divergence(value: float) -> str:
    """A number of a run, or that it diverges."""
    return "divergence" if value == float("inf") else f"{value:.3g}"
