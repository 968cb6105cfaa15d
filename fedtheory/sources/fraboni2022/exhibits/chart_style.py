"""Axes and colours of the charts of Section 5."""

from fedtheory.language.exhibits import BLUE, GREEN, RED, Axis

CLOCK_TIME = Axis("clock time $t$, in updates of the slowest client")
EXCESS = r"$\mathbb{E}\,\mathcal{L}(\theta^n)-\mathcal{L}(\theta^*)$"
SCHEME_COLOURS = {"synchronous": BLUE, "FedFix-0.5": GREEN, "asynchronous": RED}
