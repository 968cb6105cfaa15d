"""Settings for all tests: random examples at a desk, the same ones on every run of continuous integration."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ["FEDTHEORY_CACHE"] = ""  # what a test sees is computed by the code that it tests

settings.register_profile("steady", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("steady")
