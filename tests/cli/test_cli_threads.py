"""The front door keeps linear algebra to one thread, unless somebody asks for more."""

from __future__ import annotations

import os

from fedtheory.__main__ import one_thread_each


def test_one_thread_unless_the_environment_says_how_many(monkeypatch) -> None:
    """What is given stays."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    one_thread_each()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "1"
