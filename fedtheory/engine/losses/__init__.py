"""Runs on losses that are not quadratic: all outcomes of two-point noise are enumerated."""

from fedtheory.engine.losses.run import LossRun

__all__ = ["LossRun"]
