"""Axes of the charts of Section 5."""

from fedtheory.language.exhibits import Axis

CLOCK_TIME = Axis("clock time $t$, in updates of the slowest client")
EXCESS = r"$\mathbb{E}\,\mathcal{L}(\theta^n)-\mathcal{L}(\theta^*)$"
